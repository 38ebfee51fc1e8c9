"""Ratings: matrix completion as a river ranker."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from river import reco

from burkholder.matrix.completion import MatrixCompletion
from burkholder.storage.portable import Portable


class BurkholderRecommender(Portable, reco.base.Ranker):
    """Predict ratings of (user, item) pairs with a certificate; nothing to tune.

    Users and items are named by text or whole numbers. The context `x` is not used.

    Parameters
    ----------
    low, high
        The range of the ratings; booleans are 0 and 1.
    fast
        Four block steps a round instead of as many as the tolerance asks for.

    Examples
    --------
    >>> model = BurkholderRecommender(low=1, high=10)
    >>> for user, item, y in [("Alice", "Superman", 8), ("Alice", "Terminator", 9), ("Bob", "Superman", 8)]:
    ...     model.learn_one(user, item, y)
    >>> model.rank("Bob", {"Superman", "Terminator"})
    ['Terminator', 'Superman']
    """

    def __init__(self, low: float = 0.0, high: float = 5.0, fast: bool = False) -> None:
        super().__init__(seed=None)
        self.low = low
        self.high = high
        self.fast = fast
        self._ratings = MatrixCompletion(low=float(low), high=float(high), fast=fast)

    def learn_one(self, user: Hashable, item: Hashable, y: Any, x: dict[Any, Any] | None = None) -> None:
        """One rating."""
        self._ratings.update((user, item), float(y))

    def predict_one(  # type: ignore[override]
        self, user: Hashable, item: Hashable, x: dict[Any, Any] | None = None
    ) -> float:
        """The rating expected; changes nothing."""
        return self._ratings.predict((user, item))

    def learn_many(self, X: Any, y: Any) -> None:
        """A data frame with columns `user` and `item`, and a rating for each row: as `learn_one` on each in turn."""
        self._ratings.run(X["user"].tolist(), X["item"].tolist(), [float(rating) for rating in y])

    def predict_many(self, X: Any) -> Any:
        """The ratings expected, for a data frame with columns `user` and `item`."""
        import pandas as pd

        return pd.Series(self._ratings.predict_many(X["user"].tolist(), X["item"].tolist()), index=X.index, dtype=float)

    def certificate(self) -> Any:
        """What is guaranteed, over the ratings so far."""
        return self._ratings.certificate()

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"low": 1.0, "high": 10.0, "fast": True}
