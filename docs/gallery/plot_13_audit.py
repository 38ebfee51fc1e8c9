"""
Auditing somebody else's model
==============================

A tree's predictions: how much better could a linear model have been?
"""

from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeRegressor

import burkholder as bk

X, y = load_diabetes(return_X_y=True)
yhat = cross_val_predict(DecisionTreeRegressor(max_depth=3, random_state=0), X, y)
certificate = bk.Audit(loss="absolute").run(X, yhat, y)
for radius in (1.0, 100.0, 1000.0):
    print(f"regret to linear predictors of size {radius:g}: at most {certificate.realised(radius=radius) / len(y):.2f} a row")
figure = certificate.plot()
