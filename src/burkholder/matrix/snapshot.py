"""A completion learner that stands still, for answering: rankings are worked out once a row."""

from __future__ import annotations

import copy
from typing import Any

from numpy.typing import NDArray

from burkholder.learning.certificate import Certificate
from burkholder.matrix.ids import Id, items


class Snapshot:
    """What a completion learner knew at one moment; there is nothing to teach it. Threads may share it.

    >>> import burkholder as bk
    >>> movies = bk.MatrixCompletion(low=1, high=5)
    >>> movies.update("ann", "alien", 5)
    >>> still = movies.frozen()
    >>> movies.update("ann", "brazil", 1)
    >>> still.top("bob"), still.predict("ann", "alien") == 5.0
    ([('alien', 5.0)], True)
    """

    def __init__(self, learner: Any) -> None:
        self._learner = copy.deepcopy(learner)
        self._known = frozenset(self._learner.known_rows)
        self._ranked: dict[tuple[Id, bool], list[tuple[Id, float]]] = {}

    def predict(self, x: Any, *column: Id) -> float:
        """The rating expected at (row, column)."""
        return self._learner.predict(x, *column)

    def predict_many(self, X: Any, *columns: Any) -> NDArray:
        """The ratings expected at many pairs, compiled."""
        return self._learner.predict_many(X, *columns)

    def top(self, row: Id, k: int = 10, seen: bool = False, without: Any = None) -> list[tuple[Id, float]]:
        """The k columns of highest predicted rating; a row's ranking is kept once it was asked for."""
        if type(k) is not int or k < 1:
            return self._learner.top(row, k, seen)  # refuses it
        if without is not None:
            left_out = set(items(without))
            return [one for one in self.top(row, max(self._learner.columns, 1), True) if one[0] not in left_out][:k]
        if (row, seen) not in self._ranked:
            ranked = self._learner.top(row, max(self._learner.columns, 1), seen)
            if row not in self._known:
                return ranked[:k]  # rows never seen are not collected without end
            self._ranked[row, seen] = ranked
        return self._ranked[row, seen][:k]

    def top_many(self, rows: Any, k: int = 10, seen: bool = False) -> dict[Id, list[tuple[Id, float]]]:
        """`top` for many rows."""
        return {row: self.top(row, k, seen) for row in items(rows)}

    def certificate(self) -> Certificate:
        """What held when it was frozen."""
        return self._learner.certificate()
