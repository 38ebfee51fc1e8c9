"""
Two classes from a data frame
=============================

scikit-learn's breast cancer table, as a frame: nothing is scaled, nothing is tuned.
"""

from sklearn.datasets import load_breast_cancer

import burkholder as bk

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
order = X.sample(frac=1.0, random_state=0).index
run = bk.Auto("logistic").run(X.loc[order], y.loc[order])
errors = ((run.predictions > 0) != (y.loc[order] == 1)).mean()
print(f"progressive error rate {errors:.3f}, log loss {run.mean_loss:.3f}")
figure = run.plot()
