"""The regressor: one learner fed with named features, which may come and go."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from river import base

from burkholder.river.model import StreamModel
from burkholder.river.rows import table_rows


class BurkholderRegressor(StreamModel, base.MiniBatchRegressor):
    """Online regression with a certificate; nothing to tune by default.

    Parameters
    ----------
    learner
        "auto", or any name of `burkholder list`.
    loss
        "squared", "absolute", "huber", "pinball" or "epsilon-insensitive".
    intercept
        Whether to add a constant feature.
    options
        Further options of the learner and the loss, such as {"radius": 10.0, "quantile": 0.9}.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> model = BurkholderRegressor(loss="absolute")
    >>> evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE()).get() < 0.5
    True
    >>> model.certificate().rounds
    300
    """

    classifies = False

    def __init__(self, learner: str = "auto", loss: str = "squared", intercept: bool = True, options: dict[str, Any] | None = None) -> None:
        super().__init__(learner, loss, intercept, options)

    def learn_one(self, x: dict[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """One round."""
        self._learners[0].update(x, y, w)

    def predict_one(self, x: dict[Hashable, Any]) -> float:
        """ŷ; changes nothing."""
        return float(self._learners[0].predict(x))

    def predict_many(self, X: Any) -> Any:
        """ŷ for the rows of a data frame."""
        import pandas as pd

        return pd.Series(self._learners[0].predict_many(list(table_rows(X))), index=X.index, dtype=float)

    def certificate(self) -> Any:
        """What is guaranteed, over the rounds so far."""
        return self._learners[0].certificate()
