"""
Ten digits
==========

1,797 images of 64 pixels, one pass.
"""

from sklearn.datasets import load_digits

from burkholder.sklearn import BurkholderClassifier

X, y = load_digits(return_X_y=True)
model = BurkholderClassifier().fit(X[:1000], y[:1000])
print(f"accuracy on the rest: {model.score(X[1000:], y[1000:]):.3f}")
import matplotlib.pyplot as plt

figure, axes = plt.subplots()
axes.imshow(model.predict_proba(X[1000:1020]), aspect="auto")
axes.set(xlabel="digit", ylabel="image", title="probabilities")
