"""
In a river pipeline
===================

Approval ratings; river's progressive validation.
"""

from river import datasets, evaluate, linear_model, metrics, preprocessing

from burkholder.river import BurkholderRegressor

theirs = preprocessing.StandardScaler() | linear_model.LinearRegression()
ours = BurkholderRegressor(loss="absolute")
for name, model in (("river", theirs), ("burkholder", ours)):
    print(name, evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE()))
figure = ours.certificate().plot()
