"""Regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from burkholder.errors import BadInput
from burkholder.sklearn.estimator import StreamEstimator, padded_weights


class BurkholderRegressor(RegressorMixin, StreamEstimator):
    """Online regression with a certificate, as a scikit-learn estimator.

    Parameters
    ----------
    learner : "auto" (nothing to tune) or any name of `burkholder list`
    loss : "squared", "absolute", "huber", "pinball" or "epsilon-insensitive"
    options : further options of the learner and the loss, such as {"low": 0.0, "high": 1.0}
    intercept : whether to add a constant feature
    passes : how often `fit` goes through the rows (`partial_fit` goes once)
    shuffle : whether `fit` takes the rows in random order. What is fitted and then only predicts should not end with the last
        rows in mind; turn it off where the rows drift and what comes next is like the last of them
    random_state : of the shuffling
    radius, bound, effort, quantile : options of the learner or the loss, by name; None leaves them alone
    interval : the share of targets that shall lie between the ends that `predict_interval` says; None: no intervals
    categorical_features : "from_dtype": text and categories of data frames become indicators; None: every column is a number

    Attributes
    ----------
    learner_ : the burkholder learner; certificate_ : its certificate; n_iter_ : passes made
    coef_, intercept_ : the weights, where the learner is linear in the features
    feature_importances_ : of Auto
    Missing values (NaN) count as 0, with an indicator of their own.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> model = BurkholderRegressor("adagrad", radius=3.0, passes=5).fit(X, X @ [1.0, -2.0, 0.5] + 3.0)
    >>> bool(model.score(X, X @ [1.0, -2.0, 0.5] + 3.0) > 0.99), model.coef_.shape
    (True, (3,))
    >>> model.certificate_.rounds
    1500
    >>> model = BurkholderRegressor(interval=0.9).fit(X, X[:, 0] + np.random.default_rng(1).standard_normal(300))
    >>> model.predict_interval(X[:2]).shape
    (2, 2)
    """

    _OPTIONS = ("radius", "bound", "effort", "quantile")

    def __init__(
        self,
        learner: str = "auto",
        loss: str = "squared",
        options: dict[str, Any] | None = None,
        intercept: bool = True,
        passes: int = 1,
        *,
        shuffle: bool = True,
        random_state: Any = 0,
        radius: float | None = None,
        bound: float | None = None,
        effort: str | None = None,
        quantile: float | None = None,
        interval: float | None = None,
        categorical_features: str | None = "from_dtype",
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.options = options
        self.intercept = intercept
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.radius = radius
        self.bound = bound
        self.effort = effort
        self.quantile = quantile
        self.interval = interval
        self.categorical_features = categorical_features

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BurkholderRegressor:
        """Start afresh and learn the rows, `passes` times."""
        self._check_settings()
        rows, targets, weight = self._rows_and_targets(X, y, sample_weight, reset=True, y_numeric=True)
        learner, bands = self._open(), self._open_bands()
        for order in self._orders(rows.shape[0]):
            self._teach(learner, bands, rows[order], np.asarray(targets, float)[order], None if weight is None else weight[order])
        self.learner_, self.bands_, self.n_iter_ = learner, bands, int(self.passes)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> BurkholderRegressor:
        """Learn these rows too, once."""
        first = not hasattr(self, "learner_")
        self._check_settings()
        rows, targets, weight = self._rows_and_targets(X, y, sample_weight, reset=first, y_numeric=True)
        learner, bands = (self._open(), self._open_bands()) if first else (self.learner_, self.bands_)
        self._teach(learner, bands, rows, np.asarray(targets, float), weight)
        self.learner_, self.bands_, self.n_iter_ = learner, bands, 1
        return self

    def _open_bands(self) -> Any:
        """Intervals around the learner's forecast, which stands at the first place of their rows."""
        if self.interval is None:
            return None
        from burkholder.intervals.learner import Intervals

        return Intervals(self.interval, model=0)

    def _teach(self, learner: Any, bands: Any, rows: Any, targets: np.ndarray, weight: Any) -> None:
        if bands is None:
            self._feed(learner, rows, targets, weight)
            return
        bands.check_labels(targets)  # before the learner learns what they could not
        rows.sort_indices()
        yhat = learner.run_batch(rows.indptr, rows.indices, rows.data, targets, weight)
        bands.run_batch(*_beside(yhat, rows), targets, weight)

    def predict_interval(self, X: Any) -> np.ndarray:
        """(low, high) of every row, around its prediction; needs `interval`."""
        rows = self._fitted_rows(X)
        if self.bands_ is None:
            raise BadInput("interval", None, "say which share of the targets shall lie in their intervals, such as interval=0.9")
        rows.sort_indices()
        indptr, indices, values = _beside(self._ask(self.learner_, rows), rows)
        return np.asarray(self.bands_.forecast_rows(indptr, indices, values)[1])

    def predict(self, X: Any) -> np.ndarray:
        """ŷ for every row."""
        rows = self._fitted_rows(X)
        return self._ask(self.learner_, rows)

    @property
    def certificate_(self) -> Any:
        """What was promised and what is proved, over the rows learned so far."""
        check_is_fitted(self, "learner_")
        return self.learner_.certificate()

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the features."""
        return self._weights()[1]

    @property
    def intercept_(self) -> float:
        """The weight of the constant."""
        return self._weights()[0]

    def _weights(self) -> tuple[float, np.ndarray]:
        check_is_fitted(self, "learner_")
        return padded_weights(self.learner_, self.n_features_in_)


def _beside(yhat: np.ndarray, rows: Any) -> Any:
    """The rows with the forecast in front."""
    from burkholder.intervals.conditional import Rows

    return Rows(rows.indptr.astype(np.int64), rows.indices, np.asarray(rows.data, float)).behind(np.asarray(yhat, float)[:, None])
