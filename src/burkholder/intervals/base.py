"""What intervals and quantiles share: rows, the centre, the quantiles inside, late labels, saving.

A round: read the row, ask for the point forecast and for the quantiles around it, correct them outside (`_outer`), and when the
label is there let everybody learn and settle the account (`_settle`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burkholder.auto.reading import Reading
from burkholder.auto.targets import HEAVIEST
from burkholder.errors import BadInput
from burkholder.experts.models import copied
from burkholder.intervals import book, lags, tracker
from burkholder.intervals.around import LARGEST, around, checked
from burkholder.intervals.conditional import Asked, Conditional, Rows
from burkholder.learning import frames
from burkholder.learning.protocol import OnlineLearner, Stretch
from burkholder.learning.rows import Row, Table
from burkholder.learning.rows import Rows as Memory
from burkholder.learning.runs import Run
from burkholder.learning.weights import checked_weights


class Given(NamedTuple):
    """A row as it was read, and as the model is asked."""

    row: Row
    x: Any


class Memo(NamedTuple):
    """What was said and played, and what was known then."""

    asked: Asked
    last: float  # the last label then
    outer: np.ndarray  # what was played, as `_settle` takes it
    weight: float  # the weight learned by then


class Many(NamedTuple):
    """Many rows, and each as the model is asked."""

    table: Table
    xs: list[Any] | None

    @property
    def rows(self) -> int:
        return self.table.rows

    def part(self, start: int, stop: int) -> Many:
        return Many(self.table.part(start, stop), None if self.xs is None else self.xs[start:stop])


class Banded(OnlineLearner):
    """A learner whose predictions are several numbers around a point forecast.

    A kind says how many numbers of a play `_settle` needs (`played`), and what it aims at as a list of numbers (`aimed`), from which
    `aim` makes the argument it was made with.
    """

    scalar = False  # it answers with several numbers

    @property
    @abstractmethod
    def played(self) -> int: ...

    @property
    @abstractmethod
    def aimed(self) -> list[float]: ...

    @staticmethod
    @abstractmethod
    def aim(saved: list[float]) -> Any: ...

    def __init__(self, levels: tuple[float, ...], trackers: int, model: Any, learns: bool, max_pending: int) -> None:
        super().__init__(max_pending)
        self.levels = np.array(levels)
        self.reading = Reading()
        self.centre = around(model, learns)
        self.inside = Conditional(levels)
        self.accounts = np.zeros((trackers, tracker.SLOTS))
        self.book = book.empty(len(levels))

    # --- what a kind of bands fills in ---------------------------------------------------------------------------
    @abstractmethod
    def _outer(self, quantiles: np.ndarray, width: np.ndarray) -> np.ndarray:
        """What is played now for every row, as `_settle` takes it, one row each."""

    @abstractmethod
    def _settle(
        self, outer: np.ndarray, quantiles: np.ndarray, width: float, centre: float, y: float, weight: float, at: float, late: int
    ) -> None:
        """Enter a round that was played."""

    @abstractmethod
    def _sweep(self, quantiles: np.ndarray, width: np.ndarray, centre: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Stretch:
        """Every row in turn: play, then settle."""

    @property
    @abstractmethod
    def shown(self) -> slice:
        """Where in a play the numbers are that the user sees."""

    def _shown(self, outer: np.ndarray) -> Any:
        """What the user sees of one row that was played."""
        return outer[self.shown].copy()

    # --- one round -----------------------------------------------------------------------------------------------
    def _read(self, x: Any) -> Given:
        row = self.reading.read(x)
        return Given(row, copied(x) if self.centre.asks else None)

    def _places(self, row: Row) -> tuple[Rows, tuple[Any, ...]]:
        indices, values, new = self.reading.places(row)
        return Rows(np.array([0, len(indices)]), indices, np.asarray(values, float)), new

    def _play(self, given: Given) -> tuple[Any, Memo]:
        rows, _ = self._places(given.row)
        last = float(self.inside.memory[lags.LAST_Y])
        asked = self.inside.ask(rows, self.centre.ask(given.x, rows, last))
        outer = self._outer(asked.quantiles[None], np.array([asked.width]))[0]
        return self._shown(outer), Memo(asked, last, outer, self._weight)

    def _learn(self, given: Given, memo: Memo, y: Any, weight: float, late: int) -> None:
        label = checked(y, "y")
        if weight > HEAVIEST:
            raise BadInput("weight", weight, f"give weights of at most {HEAVIEST:g}")
        rows, new = self._places(given.row)
        asked = memo.asked
        self.inside.check_round(rows, asked, label, weight)
        self.centre.check_round(rows, memo.last, label, weight)
        self.centre.learn(given.x, rows, memo.last, asked.centre, label, weight, late)
        self.reading.keep(given.row.kind, len(given.row.values), new)
        self.inside.learn(rows, asked, label, weight, late)
        self._settle(memo.outer, asked.quantiles, asked.width, asked.centre, label, weight, memo.weight, late)

    @property
    def rows(self) -> Memory:
        """How rows are read, as every learner reads them."""
        return self.reading.rows

    def point(self, x: Any) -> float:
        """The point forecast that the prediction for this row is put around. Changes nothing."""
        with self._lock:
            return self._play(self._read(x))[1].asked.centre

    @property
    def _weight(self) -> float:
        return float(self.accounts[0, tracker.WEIGHT] + self.accounts[0, tracker.WEIGHT_REST])

    # --- many rows -------------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> Many:
        asks = self.centre.asks
        if asks and frames.is_frame(X):
            X = frames.dicts(X)
        table = self.reading.table(X)
        if not asks:
            return Many(table, None)
        xs = list(X.toarray() if hasattr(X, "toarray") else X)
        return Many(table, [copied(x) for x in xs])

    def _targets(self, y: Any, rows: int) -> np.ndarray:
        try:
            labels = np.array([float("nan") if one is None else one for one in y], dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise BadInput("y", y, "give one number a row") from None
        if labels.shape != (rows,):
            raise BadInput("y", labels.shape, f"there are {rows} rows: give one label for each")
        for place in np.flatnonzero(~(np.abs(labels) <= LARGEST))[:1].tolist():
            checked(labels[place], f"y[{place}]")
        return labels

    def _recorded(self, table: Any, targets: Any, weights: np.ndarray | None, trace: int) -> Run:
        for place in np.flatnonzero((np.zeros(0) if weights is None else weights) > HEAVIEST)[:1].tolist():
            raise BadInput(f"weight[{place}]", float(weights[place]), f"give weights of at most {HEAVIEST:g}")  # type: ignore[index]
        return super()._recorded(table, targets, weights, trace)

    def _run(self, table: Many, targets: np.ndarray, weights: np.ndarray | None) -> Stretch:
        weight = np.ones(len(targets)) if weights is None else weights
        rows = _compressed(table.table)
        last, label = np.empty(len(targets)), float(self.inside.memory[lags.LAST_Y])
        for t in range(len(targets)):
            last[t] = label
            label = float(targets[t]) if weight[t] > 0.0 else label
        centre = self.centre.run(table.xs, rows, last, targets, weight)
        self.reading.keep_table(table.table)
        quantiles, width = self.inside.run(rows, centre, targets, weight)
        return self._sweep(quantiles, width, centre, targets, weight)

    def run_batch(self, indptr: Any, indices: Any, values: Any, y: Any, weight: Any = None) -> Any:
        """Predictions for a chunk of sparse rows (CSR arrays), each made before its label is learned; all of them, or none."""
        return self.run_rows(indptr, indices, values, y, weight).predictions

    def run_rows(self, indptr: Any, indices: Any, values: Any, y: Any, weight: Any = None) -> Run:
        """The same, with all that a run tells."""
        with self._lock:
            if self.centre.asks:
                raise BadInput("model", "a name, or a model", "rows of a chunk have no names: say at which place the forecast is")
            table = Many(self.reading.compressed(indptr, indices, values), None)
            return self._recorded(table, self._targets(y, table.rows), checked_weights(weight, table.rows), 0)

    def forecast_rows(self, indptr: Any, indices: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
        """(point forecasts, predictions around them) for sparse rows (CSR arrays); nothing is learned."""
        with self._lock:
            if self.centre.asks:
                raise BadInput("model", "a name, or a model", "rows of a chunk have no names: say at which place the forecast is")
            return self._forecasts(Many(self.reading.compressed(indptr, indices, values), None))

    def check_labels(self, y: Any) -> None:
        """Refuse labels that could not be learned."""
        self._targets(y, len(y))

    def _forecasts(self, table: Many) -> tuple[np.ndarray, np.ndarray]:
        rows, last = _compressed(table.table), float(self.inside.memory[lags.LAST_Y])
        centre = self.centre.predict(table.xs, rows, last)
        return centre, self._outer(*self.inside.run(rows, centre))[:, self.shown].copy()

    def _predict_many(self, table: Many) -> np.ndarray:
        return self._forecasts(table)[1]

    def _undo(self) -> Callable[[], None]:
        parts = [self.centre.undo(), self.inside.undo()]
        names, accounts, kept = self.reading.mark(), self.accounts.copy(), self.book.copy()

        def back() -> None:
            for part in parts:
                part()
            self.reading.back_to(names)
            self.accounts, self.book = accounts, kept

        return back

    @property
    def rounds(self) -> int:
        """How many labels were learned."""
        return int(self.accounts[0, tracker.ROUNDS])

    # --- saved -------------------------------------------------------------------------------------------------------
    def state_dict(self) -> Any:
        """(header, arrays): plain data, and numpy arrays."""
        from burkholder.intervals import schema

        with self._lock:
            return schema.out(self)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        """The learner that `state_dict` described."""
        from burkholder.intervals import schema

        return schema.back(cls, header, arrays)


def _compressed(table: Table) -> Rows:
    start, stop = int(table.indptr[0]), int(table.indptr[-1])
    return Rows(table.indptr - start, table.indices[start:stop], np.asarray(table.values[start:stop], float))
