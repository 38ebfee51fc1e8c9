"""Weights for sktime's `OnlineEnsembleForecaster`: an ensemble algorithm with nothing to tune, and a certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts.learner import Experts


class Weights:
    """What `OnlineEnsembleForecaster(forecasters, ensemble_algorithm=…)` asks for: `weights`, and `update(y_pred, y_true)`.

    The rule is one whose prediction is a mixture of the forecasts, as the ensemble plays it ("ml-poly", or "boa", "ewa" with a rate), so
    that the certificate is about the ensemble's very predictions, labels of an update revealed together.

    >>> algorithm = Weights(2, loss="absolute")
    >>> for t in range(30):
    ...     algorithm.update(np.array([[1.0 * t], [2.0 * t]]), np.array([1.0 * t]))
    >>> bool(algorithm.weights[0] > 0.9), algorithm.certificate().rounds
    (True, 30)
    """

    def __init__(self, n_estimators: int, loss: Any = "squared", method: str = "ml-poly", **options: Any) -> None:
        if isinstance(n_estimators, bool) or not isinstance(n_estimators, (int, np.integer)) or n_estimators < 1:
            raise BadInput("n_estimators", n_estimators, "give the number of forecasters")
        if method not in ("ml-poly", "boa", "ewa"):
            raise BadInput("method", method, "give ml-poly, boa or ewa: their predictions are mixtures, as the ensemble's are")
        self.n_estimators = int(n_estimators)
        self.experts = Experts(loss, method=method, **options)
        self.experts.admit(tuple(str(j) for j in range(self.n_estimators)))

    @property
    def weights(self) -> np.ndarray:
        """One weight a forecaster; they sum to 1."""
        return np.array(list(self.experts.weights().values())[: self.n_estimators])

    def update(self, y_pred: Any, y_true: Any) -> None:
        """Forecasts (forecasters × times) and what came: all were made before any of the latter was known."""
        forecasts = np.asarray(y_pred, dtype=float)
        if forecasts.ndim != 2 or forecasts.shape[0] != self.n_estimators:
            raise BadInput("y_pred", forecasts.shape, f"give one row for each of the {self.n_estimators} forecasters")
        self.experts.run(forecasts.T, np.asarray(y_true, dtype=float), together=max(forecasts.shape[1], 1), trace=0, weights=False)

    def certificate(self) -> Any:
        """How far the ensemble can be behind the best mixture of its forecasters."""
        return self.experts.certificate()
