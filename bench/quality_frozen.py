"""Fitted, then only predicting: 70 % of the rows (the first 10,000) to learn from, scored on the rest, in order and shuffled.

In order there are the folds of TimeSeriesSplit, too. Log loss over LogisticRegression's, and 1 − R² over Ridge's, both on standardised
columns; HistGradientBoosting beside them.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from burkholder.sklearn import BurkholderClassifier, BurkholderRegressor


def frozen(X: np.ndarray, y: np.ndarray, loss: str) -> dict[str, Any]:
    """Scores (the smaller the better) of the estimator, of the linear peer and of boosting."""
    cut = int(0.7 * len(y))
    return scored([(np.arange(cut), np.arange(cut, len(y)))], X, y, loss)


def by_time(X: np.ndarray, y: np.ndarray, loss: str) -> dict[str, Any]:
    """The same, as means over scikit-learn's TimeSeriesSplit."""
    return scored(list(TimeSeriesSplit().split(X)), X, y, loss)


def scored(parts: list[tuple[np.ndarray, np.ndarray]], X: np.ndarray, y: np.ndarray, loss: str) -> dict[str, Any]:
    """Mean scores over (rows to fit, rows to score); parts that lack a class are left out."""
    classes = loss in ("logistic", "classes")
    if classes:
        models = (
            BurkholderClassifier(),
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
            HistGradientBoostingClassifier(),
        )
        every = np.unique(y)
        parts = [part for part in parts if len(np.unique(y[part[0]])) == len(every)]
    else:
        models = (BurkholderRegressor(), make_pipeline(StandardScaler(), Ridge()), HistGradientBoostingRegressor())
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in models:
            found = []
            for fitted, rest in parts:
                model.fit(X[fitted], y[fitted])
                if classes:
                    found.append(log_loss(y[rest], model.predict_proba(X[rest]), labels=every))
                else:
                    found.append(1.0 - r2_score(y[rest], model.predict(X[rest])))
            scores.append(float(np.mean(found)) if found else np.nan)
    return {"auto": scores[0], "linear": scores[1], "boosting": scores[2], "ratio": scores[0] / scores[1]}
