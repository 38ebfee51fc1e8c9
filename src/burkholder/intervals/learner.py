"""Intervals: low and high for every row, around our own forecast or anybody's, with the coverage promised on every path."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.intervals import book, tracker
from burkholder.intervals.base import Banded
from burkholder.intervals.certificate import IntervalsCertificate, comparators, coverage_line, rests_on
from burkholder.learning.protocol import Stretch
from burkholder.learning.rounding import UNIT, add
from burkholder.learning.runs import Run
from burkholder.learning.tickets import MAX_PENDING
from burkholder.machine.compiling import compiled, register_jitable

WIDTH, WIDTH_REST, SCORE, SCORE_REST = 0, 1, 2, 3
LOW, HIGH, HOLLOW = 0, 1, 2  # what is played: both ends, and whether the interval would have been empty


class Intervals(Banded):
    """Prediction intervals, online, nothing to tune.

    coverage       the share of labels that shall lie in their intervals
    model          what the intervals are put around. None: a point forecast of our own, learned from the features. Text or a whole
                   number: the row's feature of that name, or at that place, is the forecast. Else anything with predict
                   (scikit-learn, river, ours) or a function of the row; a model that can learn row by row does, unless
                   learns=False; where it has no answer (None, NaN, not fitted yet) the last label stands in
    max_pending    how many plays may wait for their labels

    Rows are vectors, sparse rows or dicts, as everywhere. Both ends depend on the row, follow drift, and lie as far from the
    forecast as each of them needs. However labels are chosen, the coverage stays within what `certificate` promises.

    >>> rng = np.random.default_rng(1)
    >>> intervals = Intervals(coverage=0.9)
    >>> for t in range(600):
    ...     x = {"size": rng.uniform(1, 5)}
    ...     y = 2.0 * x["size"] + x["size"] * rng.normal()
    ...     low, high = intervals.predict(x)
    ...     intervals.update(x, y)
    >>> narrow, wide = intervals.predict({"size": 1.0}), intervals.predict({"size": 5.0})
    >>> wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])
    True
    >>> certificate = intervals.certificate()
    >>> abs(certificate.coverage - 0.9) <= certificate.coverage_bound
    True
    """

    def __init__(self, coverage: float = 0.9, *, model: Any = None, learns: bool = True, max_pending: int = MAX_PENDING) -> None:
        if isinstance(coverage, bool) or not isinstance(coverage, (int, float)) or not 0.0 < coverage < 1.0:
            raise BadInput("coverage", coverage, "give a number strictly between 0 and 1")
        self.coverage = float(coverage)
        tail = 0.5 * (1.0 - self.coverage)
        super().__init__((tail, 1.0 - tail), 1, model, learns, max_pending)
        self.sums = np.zeros(4)

    @property
    def played(self) -> int:
        """How many numbers a play keeps: the forecast, low and high."""
        return 3

    @property
    def aimed(self) -> list[float]:
        """What the intervals aim at, as it is saved."""
        return [self.coverage]

    @staticmethod
    def aim(saved: list[float]) -> float:
        """The coverage of what was saved."""
        return saved[0]

    def _outer(self, quantiles: np.ndarray, width: np.ndarray) -> np.ndarray:
        out = np.empty((len(width), 3))
        _plays(self.accounts[0], self.coverage, np.ascontiguousarray(quantiles), width, out)
        return out

    shown = slice(LOW, HIGH + 1)

    def _shown(self, outer: np.ndarray) -> tuple[float, float]:
        return float(outer[LOW]), float(outer[HIGH])

    def _settle(
        self, outer: np.ndarray, quantiles: np.ndarray, width: float, centre: float, y: float, weight: float, at: float, late: int
    ) -> None:
        _learns(self.accounts[0], self.book, self.sums, self.levels, outer, quantiles, width, centre, y, weight, at, late)

    def _sweep(self, quantiles: np.ndarray, width: np.ndarray, centre: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Stretch:
        out, paid = np.empty((len(y), 3)), np.empty(len(y))
        _rounds(self.accounts[0], self.book, self.sums, self.coverage, self.levels, quantiles, width, centre, y, weight, out, paid)
        return Stretch(out[:, self.shown].copy(), paid, {"centre": centre, "targets": y})

    def run(self, X: Any, y: Any, weight: Any = None, *, trace: int = 100) -> IntervalRun:
        """Every row in turn, predicted before it is learned; all of it, or nothing when an input is bad."""
        run = super().run(X, y, weight, trace=trace)
        return IntervalRun(**{field.name: getattr(run, field.name) for field in fields(Run)})

    def _undo(self) -> Any:
        inner, sums = super()._undo(), self.sums.copy()

        def back() -> None:
            inner()
            self.sums = sums

        return back

    @property
    def cumulative_loss(self) -> float:
        """The interval scores so far, rounds weighted as given."""
        return float(self.sums[SCORE] + self.sums[SCORE_REST])

    def certificate(self) -> IntervalsCertificate:
        """Coverage seen and promised, mean width, interval score, and the pinball regret of both ends."""
        with self._lock:
            account, weight = self.accounts[0], self._weight
            line, numbers = coverage_line(account, self.coverage, "labels lay in their intervals in")
            radius = self.inside.largest
            return IntervalsCertificate(
                learner="intervals",
                loss="interval score",
                rounds=self.rounds,
                cumulative_loss=self.cumulative_loss,
                weight=weight,
                comparators=comparators(2, radius),
                notes=(rests_on(account),),
                others=(line,),
                levels=self.levels.copy(),
                entries=self.book.copy(),
                unit=1.0 / float(self.levels[0]),
                radius=radius,
                coverages=(numbers,),
                mean_width=float(self.sums[WIDTH] + self.sums[WIDTH_REST]) / weight if weight else math.nan,
            )


class IntervalRun(Run):
    """A run whose predictions are pairs."""

    @property
    def low(self) -> np.ndarray:
        """The lower ends."""
        return np.asarray(self.predictions).reshape(-1, 2)[:, 0]

    @property
    def high(self) -> np.ndarray:
        """The upper ends."""
        return np.asarray(self.predictions).reshape(-1, 2)[:, 1]


@register_jitable
def _one(account, level, low, high, width, out):
    """{y : score(y) ≤ q}; where that is empty, its middle."""
    move = tracker.correction(tracker.surplus(account, level)) * width
    out[LOW], out[HIGH], out[HOLLOW] = low - move, high + move, 0.0
    if out[LOW] > out[HIGH]:
        out[LOW] = out[HIGH] = 0.5 * low + 0.5 * high
        out[HOLLOW] = 1.0


@register_jitable
def _enter(account, entries, sums, levels, out, low, high, width, centre, y, weight, at, late):
    """Settle a round; its interval score."""
    inside = out[LOW] <= y <= out[HIGH]
    score = max(low - y, y - high) / width if width > 0.0 else 0.0
    size = abs(low) + abs(high) + abs(y) + abs(out[LOW]) + abs(out[HIGH])
    slack = 16.0 * UNIT * (size / width + abs(score)) if width > 0.0 else 0.0
    tracker.settle(account, score, width, slack, inside and out[HOLLOW] == 0.0, weight, at, late)
    if inside and out[HOLLOW] != 0.0:
        account[tracker.GAINED] += weight
    paid = book.enter(entries, 0, levels[0], out[LOW], centre, y, weight) + book.enter(entries, 1, levels[1], out[HIGH], centre, y, weight)
    winkler = paid / levels[0]  # 2/α times the pinball losses of both ends
    add(sums, WIDTH, WIDTH_REST, weight * (out[HIGH] - out[LOW]))
    add(sums, SCORE, SCORE_REST, weight * winkler)
    return winkler


@compiled
def _plays(account, level, quantiles, width, out):
    for t in range(len(width)):
        _one(account, level, quantiles[t, 0], quantiles[t, 1], width[t], out[t])


@compiled
def _learns(account, entries, sums, levels, out, quantiles, width, centre, y, weight, at, late):
    _enter(account, entries, sums, levels, out, quantiles[0], quantiles[1], width, centre, y, weight, at, late)


@compiled
def _rounds(account, entries, sums, level, levels, quantiles, width, centre, y, weight, out, paid):
    for t in range(len(y)):
        low, high = quantiles[t, 0], quantiles[t, 1]
        _one(account, level, low, high, width[t], out[t])
        at = account[tracker.WEIGHT] + account[tracker.WEIGHT_REST]
        paid[t] = _enter(account, entries, sums, levels, out[t], low, high, width[t], centre[t], y[t], weight[t], at, 0)
