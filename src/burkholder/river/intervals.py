"""Intervals around a river regressor, asked as river's own conformal wrapper is."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from river import base, conf

from burkholder.intervals.learner import Intervals


class IntervalRegressor(base.Wrapper, base.Regressor):
    """Prediction intervals whose coverage is promised on every path; nothing to tune.

    Parameters
    ----------
    regressor
        The regressor the intervals are put around; it learns with them.
    coverage
        The share of targets that shall lie in their intervals.

    Examples
    --------
    >>> from river import datasets, linear_model, preprocessing
    >>> model = IntervalRegressor(preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1), coverage=0.9)
    >>> inside = 0
    >>> for x, y in datasets.TrumpApproval().take(500):
    ...     inside += y in model.predict_one(x, with_interval=True)
    ...     model.learn_one(x, y)
    >>> abs(inside / 500 - 0.9) <= model.certificate().coverage_bound
    True
    """

    def __init__(self, regressor: Any, coverage: float = 0.9) -> None:
        self.regressor = regressor
        self.coverage = coverage
        self._intervals = Intervals(coverage, model=regressor)

    @property
    def _wrapped_model(self) -> Any:
        return self.regressor

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        from river import linear_model, preprocessing

        yield {"regressor": preprocessing.StandardScaler() | linear_model.LinearRegression()}

    def learn_one(self, x: dict[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """One round."""
        self._intervals.update(x, y, w)

    def predict_one(self, x: dict[Hashable, Any], with_interval: bool = False) -> Any:
        """ŷ, or the interval; changes nothing."""
        if not with_interval:
            return self._intervals.point(x)
        low, high = self._intervals.predict(x)
        return conf.Interval(lower=low, upper=high)

    def certificate(self) -> Any:
        """Coverage seen and promised, over the rounds so far."""
        return self._intervals.certificate()
