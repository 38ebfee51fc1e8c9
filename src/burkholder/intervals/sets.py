"""Prediction sets: the classes that may be it, from anybody's probabilities, with the coverage promised on every path.

A class of probability p has the score 1 − p; the set holds the classes whose score is at most a threshold, which is the quantile
of the last scores moved by the tracker. The likeliest class is always in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from burkholder.auto.targets import HEAVIEST
from burkholder.errors import BadInput
from burkholder.intervals import book, tracker
from burkholder.intervals.certificate import CoverageCertificate, coverage_line, rests_on
from burkholder.intervals.windows import LENGTHS, Windows
from burkholder.learning import frames
from burkholder.learning.certificate import Comparators
from burkholder.learning.protocol import Listed, OnlineLearner, Stretch
from burkholder.learning.rounding import UNIT, add
from burkholder.learning.schema import LARGEST, Array, Schema, all_of, check_header, check_plays, limit, name, number, one_of, whole
from burkholder.learning.tickets import MAX_PENDING, Played

WIDTH = 0.2  # what the tracker moves the threshold by, in its own unit
PLACE = len(LENGTHS) - 1  # the longest window of plain scores
SIZE, SIZE_REST = 0, 1


class Row(NamedTuple):
    """Classes and their probabilities."""

    classes: tuple[Any, ...]
    p: np.ndarray


class Memo(NamedTuple):
    """What was played: the quantile of the last scores, the threshold, and the weight learned by then."""

    base: float
    threshold: float
    weight: float


class PredictionSets(OnlineLearner):
    """Sets of classes, online, nothing to tune.

    `predict` takes probabilities, as a mapping from class to number or as an array over the classes 0, 1, …, and gives the
    classes that may be it, the likeliest first; `update` takes them with the class that it was.

    >>> rng = np.random.default_rng(1)
    >>> sets = PredictionSets(coverage=0.9)
    >>> for _ in range(400):
    ...     p = rng.dirichlet([0.3, 0.3, 0.3])
    ...     sets.update(p, int(rng.choice(3, p=p)))
    >>> sets.predict([0.98, 0.01, 0.01]), sets.predict([0.5, 0.45, 0.05])
    ((0,), (0, 1))
    >>> certificate = sets.certificate()
    >>> abs(certificate.coverage - 0.9) <= certificate.coverage_bound
    True
    """

    def __init__(self, coverage: float = 0.9, *, max_pending: int = MAX_PENDING) -> None:
        super().__init__(max_pending)
        if isinstance(coverage, bool) or not isinstance(coverage, (int, float)) or not 0.0 < coverage < 1.0:
            raise BadInput("coverage", coverage, "give a number strictly between 0 and 1")
        self.coverage = float(coverage)
        self.account, self.book, self.windows, self.sums = tracker.empty(), book.empty(1), Windows(), np.zeros(2)

    # --- one round ---------------------------------------------------------------------------------------------
    def _read(self, x: Any) -> Row:
        try:
            if isinstance(x, Mapping):
                row = Row(tuple(x), np.array([float(p) for p in x.values()]))
            else:
                p = np.array(x, dtype=float)
                row = Row(tuple(range(p.size)), p)
        except (TypeError, ValueError, OverflowError):
            raise BadInput("x", x, "give probabilities: a mapping from class to number, or an array") from None
        if row.p.ndim != 1 or not row.p.size or None in row.classes or not all(map(name, row.classes)):
            raise BadInput("x", x, "give the probability of at least one class, each with a name")
        if not ((row.p >= 0.0) & (row.p <= 1.0 + 1e-9)).all():
            raise BadInput("x", x, "probabilities lie in [0, 1]")
        return row

    def _play(self, row: Row) -> tuple[tuple[Any, ...], Memo]:
        base = float(self.windows.quantiles(np.array([self.coverage]), 1.0)[0, PLACE])
        base = self.coverage if math.isnan(base) else base
        threshold = base + WIDTH * tracker.correction(tracker.surplus(self.account, self.coverage))
        order = np.argsort(-row.p, kind="stable")
        held = tuple(row.classes[j] for k, j in enumerate(order) if k == 0 or 1.0 - row.p[j] <= threshold)
        return held, Memo(base, threshold, float(self.account[tracker.WEIGHT] + self.account[tracker.WEIGHT_REST]))

    def _learn(self, row: Row, memo: Memo, y: Any, weight: float, late: int) -> None:
        label = self._label(y)
        if weight > HEAVIEST:
            raise BadInput("weight", weight, f"give weights of at most {HEAVIEST:g}")
        order = np.argsort(-row.p, kind="stable")
        listed = label in row.classes
        score = 1.0 - float(row.p[row.classes.index(label)]) if listed else 1.0
        own = listed and score <= memo.threshold
        seen = own or row.classes[int(order[0])] == label
        slack = 64.0 * UNIT * (1.0 + abs(memo.threshold)) / WIDTH
        # a class that was not listed is missed whatever the threshold: beyond the tracker's power
        width = WIDTH if listed else 0.0
        tracker.settle(self.account, (score - memo.base) / WIDTH, width, slack, own, weight, memo.weight, late)
        if seen and not own:
            self.account[tracker.GAINED] += weight
        book.enter(self.book, 0, self.coverage, memo.threshold, 0.0, score, weight)
        size = sum(1 for k, j in enumerate(order) if k == 0 or 1.0 - row.p[j] <= memo.threshold)
        add(self.sums, SIZE, SIZE_REST, weight * size)
        self.windows.push(score, 1.0, weight)

    @staticmethod
    def _label(y: Any, argument: str = "y") -> Any:
        label = y.item() if isinstance(y, np.generic) else y
        if not name(label) or label is None:
            raise BadInput(argument, y, "give the class that it was")
        return label

    # --- many rows ---------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> Listed:
        try:
            found = frames.dicts(X) if frames.is_frame(X) else list(X)
        except TypeError:
            raise BadInput("X", X, "give a row of probabilities a round") from None
        out = []
        for t, x in enumerate(found):
            try:
                out.append(self._read(x))
            except BadInput as error:
                raise BadInput(f"X[{t}]", error.value, error.remedy) from None
        return Listed(out)

    def _targets(self, y: Any, rows: int) -> list[Any]:
        labels = [self._label(one, f"y[{t}]") for t, one in enumerate(y)]
        if len(labels) != rows:
            raise BadInput("y", f"{len(labels)} labels", f"there are {rows} rows: give one label for each")
        return labels

    def _run(self, table: Listed, targets: list[Any], weights: np.ndarray | None) -> Stretch:
        shown, paid = [], np.empty(table.rows)
        for t, (row, y) in enumerate(zip(table.values, targets)):
            held, memo = self._play(row)
            shown.append(held)
            score = 1.0 - float(row.p[row.classes.index(y)]) if y in row.classes else 1.0
            paid[t] = book.pinball(self.coverage, memo.threshold, score)
            self._learn(row, memo, y, 1.0 if weights is None else float(weights[t]), 0)
        return Stretch(shown, paid, {"sizes": np.array([len(held) for held in shown])})

    def _predict_many(self, table: Listed) -> list[tuple[Any, ...]]:
        return [self._play(row)[0] for row in table.values]

    def _undo(self) -> Callable[[], None]:
        kept = self.account.copy(), self.book.copy(), self.sums.copy(), self.windows.ring.copy(), self.windows.met.copy()

        def back() -> None:
            self.account, self.book, self.sums, self.windows.ring, self.windows.met = kept
            self.windows.rebuild()

        return back

    @property
    def rounds(self) -> int:
        """How many labels were learned."""
        return int(self.account[tracker.ROUNDS])

    @property
    def cumulative_loss(self) -> float:
        """The thresholds' pinball losses so far."""
        return float(book.losses_of(self.book)[0])

    def certificate(self) -> SetsCertificate:
        """Coverage seen and promised, and the mean size of the sets."""
        with self._lock:
            weight = float(self.account[tracker.WEIGHT] + self.account[tracker.WEIGHT_REST])
            line, numbers = coverage_line(self.account, self.coverage, "the class was in its set in")
            return SetsCertificate(
                learner="prediction sets",
                loss="pinball loss of the threshold",
                rounds=self.rounds,
                cumulative_loss=self.cumulative_loss,
                weight=weight,
                comparators=Comparators("fixed thresholds u for 1 − p", "|u|", 1.0),
                notes=(rests_on(self.account),),
                others=(line,),
                levels=np.array([self.coverage]),
                entries=self.book.copy(),
                radius=1.0,
                coverages=(numbers,),
                mean_size=float(self.sums[SIZE] + self.sums[SIZE_REST]) / weight if weight else math.nan,
            )

    # --- saved -------------------------------------------------------------------------------------------------
    def state_dict(self) -> Any:
        """(header, arrays): plain data, and numpy arrays."""
        with self._lock:
            waiting = self._tickets.waiting.items()
            header = {
                "version": 1,
                "coverage": self.coverage,
                "max_pending": self.max_pending,
                "tickets": self._tickets.issued,
                "pending": [[id, one.round, list(one.memo), list(one.row.classes), one.row.p.tolist()] for id, one in waiting],
            }
            arrays = {"account": self.account, "book": self.book, "sums": self.sums, "ring": self.windows.ring, "met": self.windows.met}
            return header, {key: array.copy() for key, array in arrays.items()}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> PredictionSets:
        """The learner that `state_dict` described."""
        check_header(header, _HEADER)
        self = cls(header["coverage"], max_pending=header["max_pending"])
        low = np.where(
            np.isin(np.arange(tracker.SLOTS), (tracker.WEIGHT_REST, tracker.COVERED_REST, tracker.LOW, tracker.HIGH)), -LARGEST, 0.0
        )
        described = {
            "account": Array((tracker.SLOTS,), low=low),
            "book": Array((book.ROWS, 1), low=np.where(np.isin(np.arange(book.ROWS), book.SIGNED), -LARGEST, 0.0)[:, None]),
            "sums": Array((2,), low=np.array([0.0, -LARGEST])),
            "ring": Array(self.windows.ring.shape, low=-_ABOVE, high=1.0),
            "met": Array((1,), "<i8", low=0, high=2**53),
        }
        rules = (
            ("account: not that of a stream", lambda a: tracker.possible(a["account"]) and a["met"][0] <= a["account"][tracker.ROUNDS]),
            ("book: not that of a stream", lambda a: book.possible(a["book"])),
            ("sums: not those of a stream", lambda a: bool(a["sums"][0] <= 1e250 and abs(a["sums"][1]) <= 1e-6 * a["sums"][0])),
        )
        Schema(described, rules).check(arrays)
        self.account, self.book, self.sums = (np.array(arrays[key], float) for key in ("account", "book", "sums"))
        self.windows.ring, self.windows.met = np.array(arrays["ring"], float), np.array(arrays["met"], np.int64)
        self.windows.rebuild()
        numbers = all_of(number)
        kinds = (lambda memo: numbers(memo) and len(memo) == 3, all_of(name), numbers)
        check_plays(header["pending"], header["tickets"], header["max_pending"], self.rounds, kinds)
        self._tickets.issued = header["tickets"]
        for id, when, memo, classes, p in header["pending"]:
            row = self._read(dict(zip(classes, p)))
            if len(row.classes) != len(p) or len(classes) != len(p) or not self._playable(memo):
                raise BadInput(
                    "header 'pending'", id, "one probability a class, a threshold that can be, and a weight that was learned before it"
                )
            self._tickets.waiting[id] = Played(row, Memo(*map(float, memo)), when)
        return self

    def _playable(self, memo: list[float]) -> bool:
        """Whether a play may have rested on these numbers: a quantile of scores, moved by the tracker."""
        base, threshold, weight = memo
        near = -_ABOVE <= base <= 1.0 and abs(threshold) <= 2.0 + WIDTH * tracker.LARGEST
        return near and 0.0 <= weight <= self.account[tracker.WEIGHT] * (1.0 + 1e-6)


@dataclass(frozen=True)
class SetsCertificate(CoverageCertificate):
    """One coverage, and the mean size of the sets."""

    mean_size: float = math.nan

    def told(self) -> dict[str, Any]:
        return {**self.coverages[0], "mean_size": None if math.isnan(self.mean_size) else self.mean_size}


_ABOVE = 1e-8  # of probabilities over 1, and so of scores below 0
_HEADER = {
    "version": one_of(1),
    "coverage": lambda value: number(value) and 0.0 < value < 1.0,
    "max_pending": limit,
    "tickets": whole,
    "pending": lambda value: type(value) is list,
}
