"""Any river regressors as experts: their forecasts aggregated, never far behind the best mixture of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from river import base, dummy, linear_model, preprocessing, stats

from burkholder.errors import BadInput
from burkholder.experts import Experts
from burkholder.river.rows import table_rows
from burkholder.storage.portable import Portable


class ExpertRegressor(Portable, base.Ensemble, base.MiniBatchRegressor):
    """Aggregate regression models with a certificate against every mixture of them.

    Each model is a black box: it predicts, and it learns. Nothing needs tuning.

    Parameters
    ----------
    models
        river regressors, or pipelines that end in one.
    loss
        "absolute", "squared", "huber", "pinball" or "epsilon-insensitive".
    method
        "huber-root", "ml-poly", "boa", "squint" or "ewa": see `burkholder.Experts`.
    options
        Further options of `burkholder.Experts`, such as {"bound": 1.0}.

    Examples
    --------
    >>> from river import datasets, dummy, evaluate, linear_model, metrics, preprocessing, stats
    >>> linear = preprocessing.StandardScaler() | linear_model.LinearRegression()
    >>> models = [dummy.StatisticRegressor(stats.Mean()), linear]
    >>> model = ExpertRegressor(models, loss="squared")
    >>> evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE()).get() < 3.0
    True
    >>> len(model.weights())  # the two models, and what is made of their forecasts
    8
    """

    def __init__(
        self, models: Sequence[base.Regressor], loss: str = "squared", method: str = "huber-root", options: dict[str, Any] | None = None
    ) -> None:
        self.loss = loss
        self.method = method
        self.options = options
        if not models:
            raise BadInput("models", models, "give at least one regressor")
        super().__init__(list(models))  # type: ignore[arg-type]
        self._experts = Experts(loss, method=method, **(options or {}))
        self._names = _names(self.models)

    @property
    def _min_number_of_models(self) -> int:
        return 1

    def _forecasts(self, x: dict[Hashable, Any]) -> dict[str, Any]:
        """What each model says; a model that says nothing sleeps in this round."""
        return {name: model.predict_one(x) for name, model in zip(self._names, self.models)}

    def predict_one(self, x: dict[Hashable, Any]) -> float:
        """ŷ; changes nothing."""
        return float(self._experts.predict(self._forecasts(x)))

    def learn_one(self, x: dict[Hashable, Any], y: Any) -> None:
        """Settle what each model would have predicted, then let each model learn."""
        self._experts.update(self._forecasts(x), float(y))
        for model in self.models:
            model.learn_one(x, y)

    def learn_many(self, X: Any, y: Any) -> None:
        """The rows of a data frame, as `learn_one` on each in turn."""
        for x, target in zip(table_rows(X), y):
            self.learn_one(x, target)

    def predict_many(self, X: Any) -> Any:
        """ŷ for the rows of a data frame."""
        import pandas as pd

        return pd.Series([self.predict_one(x) for x in table_rows(X)], index=X.index, dtype=float)

    def weights(self) -> dict[str, float]:
        """The weight of every model now."""
        return self._experts.weights()

    def certificate(self) -> Any:
        """What is guaranteed against every mixture of the models."""
        return self._experts.certificate()

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Any:
        """A fresh aggregator over fresh models (river would copy what the models have learned)."""
        params = dict(new_params or {})
        if not include_attributes:
            params.setdefault("models", [model.clone() for model in self.models])
        return super().clone(params, include_attributes)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"models": [preprocessing.StandardScaler() | linear_model.LinearRegression(), dummy.StatisticRegressor(stats.Mean())]}


def _names(models: Sequence[Any]) -> list[str]:
    return [f"{place} {type(getattr(model, '_last_step', model)).__name__}" for place, model in enumerate(models)]
