"""Many plays at once, for learners that can: rows that are vectors are one matrix when they are played, and one table when their
labels come. What is played and learned is what `play` and `reveal` would, one after the other.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.protocol import OnlineLearner
from burkholder.learning.rows import Row, Rows, Table, check_finite
from burkholder.learning.tickets import Played, Ticket

Plays = tuple[list[Row], list[Any], list[Any]]


class Together(OnlineLearner):
    """A learner with `play_many` and `reveal_many`; it may know a shorter way where rows are vectors, or none (None)."""

    @property
    @abstractmethod
    def at_once(self) -> bool:
        """Whether, with rows as they are, many labels are learned by one compiled loop."""

    @abstractmethod
    def _plays(self, X: Any) -> Plays | None:
        """(rows, predictions, memos) of rows played now. Nothing is stored."""

    @abstractmethod
    def _learn_late(self, plays: list[Played], y: Any, weights: np.ndarray | None) -> bool:
        """Learn from what was played, in order, all or nothing; False: not done, there is no shorter way."""

    def play_many(self, X: Any) -> list[Ticket]:
        """`play` for every row of X, in order; all of them, or none.

        >>> import burkholder as bk
        >>> learner = bk.Auto(loss="logistic")
        >>> tickets = learner.play_many([[1.0, 2.0], [0.5, 1.0]])
        >>> learner.reveal_many([ticket.id for ticket in tickets], [1, 0])
        >>> learner.rounds, learner.pending
        (2, 0)
        """
        with self._lock:
            self._tickets.check_room(len(X))
            rows, answers, memos = self._plays(X) or self._one_by_one(X)
            now = self.rounds
            return list(map(Ticket, self._tickets.issue_many([Played(row, memo, now) for row, memo in zip(rows, memos)]), answers))

    def _one_by_one(self, X: Any) -> Plays:
        rows, answers, memos = [], [], []
        for t, x in enumerate(X):
            try:
                row = self._read(x)
                answer, memo = self._play(row)
            except BadInput as error:
                raise BadInput(f"X[{t}]", error.value, error.remedy) from None
            rows.append(row)
            answers.append(answer)
            memos.append(memo)
        return rows, answers, memos

    def reveal_many(self, ids: Any, y: Any, weight: Any = None) -> None:
        """`reveal` for every id, in order; all of them, or none."""
        with self._lock:
            plays = [self._tickets.look(id) for id in ids]
            if len(set(ids)) != len(plays):
                raise BadInput("ids", f"{len(plays)} ids", "give every id once")
            if len(y) != len(plays):
                raise BadInput("y", f"{len(y)} labels", f"there are {len(plays)} ids: give one label for each")
            weights = self._weights(weight, len(plays))
            if not self._learn_late(plays, y, weights):
                self._learn_in_turn(plays, y, weights)
            for id in ids:
                self._tickets.take(id)

    def _learn_in_turn(self, plays: list[Played], y: Any, weights: np.ndarray | None) -> None:
        undo = self._undo()
        try:
            for t, play in enumerate(plays):
                weight = 1.0 if weights is None else float(weights[t])
                try:
                    self._learn(play.row, play.memo, y[t], weight, self.rounds - play.round)
                except BadInput as error:
                    raise BadInput(f"{error.argument}[{t}]", error.value, error.remedy) from None
        except BaseException:
            undo()
            raise


def vectors(rows: Rows, X: Any) -> np.ndarray | None:
    """A copy of X as a matrix, if every row of it is a vector that these rows take."""
    if rows.kind not in (None, "vector") or rows.source is not None or not len(X):
        return None
    if not isinstance(X, np.ndarray) and not all(type(x) in (list, np.ndarray) for x in X):
        return None
    try:
        matrix = np.array(X, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return None
    if matrix.ndim != 2 or (rows.length is not None and matrix.shape[1] != rows.length):
        return None
    check_finite(matrix.reshape(-1), "X")
    return matrix


def rows_of(matrix: np.ndarray) -> list[Row]:
    """Each row of a matrix, as if it had been read alone."""
    keys = np.arange(matrix.shape[1])
    return [Row("vector", keys, values) for values in matrix]


def again(rows: Rows, plays: list[Played]) -> Table | None:
    """The rows of these plays as a table, if all are vectors that these rows take."""
    size = len(plays[0].row.values) if plays else -1
    fits = rows.kind in (None, "vector") and rows.length in (None, size)
    if not fits or any(play.row.kind != "vector" or len(play.row.values) != size for play in plays):
        return None
    return rows.table(np.array([play.row.values for play in plays]))


def late(plays: list[Played], rounds: int) -> np.ndarray:
    """For plays that are learned in this order from now on: how many rounds were learned since each."""
    return rounds + np.arange(len(plays)) - np.array([play.round for play in plays], dtype=int)
