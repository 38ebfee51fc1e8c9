"""Fitted, then only predicting: 70 % of the rows (the first 10,000) to learn from, scored on the rest, in order and shuffled.

Log loss over LogisticRegression's, and 1 − R² over Ridge's, both on standardised columns; HistGradientBoosting beside them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from burkholder.sklearn import BurkholderClassifier, BurkholderRegressor


def frozen(X: np.ndarray, y: np.ndarray, loss: str) -> dict[str, Any]:
    """Scores (the smaller the better) of the estimator, of the linear peer and of boosting."""
    cut = int(0.7 * len(y))
    if loss == "logistic":
        models = (
            BurkholderClassifier(),
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
            HistGradientBoostingClassifier(),
        )
    else:
        models = (BurkholderRegressor(), make_pipeline(StandardScaler(), Ridge()), HistGradientBoostingRegressor())
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            model.fit(X[:cut], y[:cut])
            if loss == "logistic":
                scores.append(log_loss(y[cut:], model.predict_proba(X[cut:]), labels=[-1.0, 1.0]))
            else:
                scores.append(1.0 - r2_score(y[cut:], model.predict(X[cut:])))
    return {"auto": scores[0], "linear": scores[1], "boosting": scores[2], "ratio": scores[0] / scores[1]}
