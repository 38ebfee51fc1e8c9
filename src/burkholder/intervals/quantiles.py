"""Quantiles: several levels at once, never crossing, each with its own coverage promise."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.intervals import book, tracker
from burkholder.intervals.base import Banded
from burkholder.intervals.certificate import BandCertificate, comparators, coverage_line, rests_on
from burkholder.intervals.pictures import calibration_figure, shares_below
from burkholder.learning.certificate import Certificate
from burkholder.learning.protocol import Stretch
from burkholder.learning.rounding import UNIT
from burkholder.learning.runs import Run
from burkholder.learning.tickets import MAX_PENDING
from burkholder.machine.compiling import compiled, register_jitable

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


class Quantiles(Banded):
    """Quantile forecasts, online, nothing to tune; `levels` rise, strictly between 0 and 1. The rest as for `Intervals`.

    The loss is the mean pinball loss over the levels, times 2: with levels k/(K+1) a quadrature of the CRPS. Forecasts are put in
    order, which never raises it. Each level's coverage is promised on every path, and `certificate().of(level)` is its own.

    >>> rng = np.random.default_rng(1)
    >>> X = rng.normal(size=(500, 2))
    >>> run = Quantiles((0.1, 0.5, 0.9)).run(X, X[:, 0] + rng.normal(size=500))
    >>> run.quantiles.shape, bool((np.diff(run.quantiles) >= 0).all())
    ((500, 3), True)
    """

    def __init__(
        self, levels: tuple[float, ...] = LEVELS, *, model: Any = None, learns: bool = True, max_pending: int = MAX_PENDING
    ) -> None:
        try:
            numbers = tuple(float(level) for level in levels)
        except (TypeError, ValueError, OverflowError):
            numbers = ()
        ordered = all(a < b for a, b in zip((0.0, *numbers), (*numbers, 1.0)))
        if not numbers or not ordered:
            raise BadInput("levels", levels, "give numbers strictly between 0 and 1, in rising order")
        super().__init__(numbers, len(numbers), model, learns, max_pending)

    @property
    def played(self) -> int:
        """How many numbers a play keeps: one a level."""
        return 2 * len(self.levels)

    @property
    def aimed(self) -> list[float]:
        """What the quantiles aim at, as it is saved."""
        return self.levels.tolist()

    @staticmethod
    def aim(saved: list[float]) -> tuple[float, ...]:
        """The levels of what was saved."""
        return tuple(saved)

    def _outer(self, quantiles: np.ndarray, width: np.ndarray) -> np.ndarray:
        out = np.empty((len(width), 2 * len(self.levels)))
        _plays(self.accounts, self.levels, np.ascontiguousarray(quantiles), width, out)
        return out

    @property
    def shown(self) -> slice:
        """The second half of a play: quantiles in order."""
        return slice(len(self.levels), None)

    def _settle(
        self, outer: np.ndarray, quantiles: np.ndarray, width: float, centre: float, y: float, weight: float, at: float, late: int
    ) -> None:
        _learns(self.accounts, self.book, self.levels, outer, quantiles, width, centre, y, weight, at, late)

    def _sweep(self, quantiles: np.ndarray, width: np.ndarray, centre: np.ndarray, y: np.ndarray, weight: np.ndarray) -> Stretch:
        out, paid = np.empty((len(y), 2 * len(self.levels))), np.empty(len(y))
        _rounds(self.accounts, self.book, self.levels, quantiles, width, centre, y, weight, out, paid)
        return Stretch(out[:, self.shown].copy(), paid, {"centre": centre, "targets": y})

    def run(self, X: Any, y: Any, weight: Any = None, *, trace: int = 100) -> QuantileRun:
        """Every row in turn, predicted before it is learned; all of it, or nothing when an input is bad."""
        run = super().run(X, y, weight, trace=trace)
        return QuantileRun(**{field.name: getattr(run, field.name) for field in fields(Run)})

    @property
    def cumulative_loss(self) -> float:
        """Twice the mean pinball loss over the levels, summed."""
        return float(2.0 * book.losses_of(self.book).mean())

    def certificate(self) -> QuantilesCertificate:
        """Coverage and regret of every level, and of all together."""
        with self._lock:
            said = [
                coverage_line(*pair, f"labels lay at or below the {pair[1]:g} quantile in")
                for pair in zip(self.accounts, self.levels.tolist())
            ]
            radius = self.inside.largest
            return QuantilesCertificate(
                learner="quantiles",
                loss="CRPS",
                rounds=self.rounds,
                cumulative_loss=self.cumulative_loss,
                weight=self._weight,
                comparators=comparators(len(self.levels), radius),
                notes=(rests_on(self.accounts[0]),),
                others=tuple(line for line, _ in said),
                levels=self.levels.copy(),
                entries=self.book.copy(),
                unit=2.0 / len(self.levels),
                radius=radius,
                coverages=tuple({"level": level, **numbers} for level, (_, numbers) in zip(self.levels.tolist(), said)),
            )


@dataclass(frozen=True)
class QuantilesCertificate(BandCertificate):
    """All levels together; `of` one alone."""

    def of(self, level: float) -> BandCertificate:
        """The certificate of one level: its pinball loss, regret and coverage."""
        found = np.flatnonzero(self.levels == level)
        if not len(found):
            raise BadInput("level", level, f"levels: {', '.join(f'{one:g}' for one in self.levels)}")
        k = int(found[0])
        return BandCertificate(
            learner=f"quantile {level:g}",
            loss="pinball",
            rounds=self.rounds,
            cumulative_loss=float(book.losses_of(self.entries)[k]),
            weight=self.weight,
            comparators=comparators(1, self.radius),
            notes=self.notes,
            others=self.others[k : k + 1],
            levels=self.levels[k : k + 1],
            entries=self.entries[:, k : k + 1],
            radius=self.radius,
            coverages=self.coverages[k : k + 1],
        )

    def certificates(self) -> dict[float, Certificate]:
        """One for each level."""
        return {level: self.of(level) for level in self.levels.tolist()}


class QuantileRun(Run):
    """A run whose predictions are rows of quantiles."""

    @property
    def quantiles(self) -> np.ndarray:
        """Rounds × levels, in order in every row."""
        return np.asarray(self.predictions).reshape(-1, len(self.certificate.levels))  # type: ignore[attr-defined]

    @property
    def targets(self) -> np.ndarray:
        """The labels, in the order they came."""
        return np.asarray(self.details.get("targets", ()), float)

    def calibration(self) -> dict[float, float]:
        """For every level, the share of this run's labels, weighted, that lay at or below its quantile.

        >>> rng = np.random.default_rng(1)
        >>> run = Quantiles((0.25, 0.75)).run(np.ones((400, 1)), rng.normal(size=400))
        >>> all(abs(share - level) < 0.05 for level, share in run.calibration().items())
        True
        """
        levels = self.certificate.levels  # type: ignore[attr-defined]
        return shares_below(levels, self.quantiles, self.targets, self.weights)

    def plot_calibration(self, path: str | None = None) -> Any:
        """The share of labels at or below each quantile beside its level, and between neighbours beside what there should be (PIT)."""
        figure = calibration_figure(self.calibration())
        if path is not None:
            figure.savefig(path, dpi=130)
        return figure


@register_jitable
def _one(accounts, levels, quantiles, width, out):
    """Each level's own correction (the first half), and the same in order (the second), which is what is played."""
    m = len(levels)
    for k in range(m):
        out[k] = quantiles[k] + tracker.correction(tracker.surplus(accounts[k], levels[k])) * width
    out[m:] = np.sort(out[:m])


@register_jitable
def _enter(accounts, entries, levels, out, quantiles, width, centre, y, weight, at, late):
    """Settle a round; twice its mean pinball loss."""
    m, paid = len(levels), 0.0
    for k in range(m):
        own, played = y <= out[k], y <= out[m + k]
        score = (y - quantiles[k]) / width if width > 0.0 else 0.0
        slack = 16.0 * UNIT * ((abs(quantiles[k]) + abs(y) + abs(out[k])) / width + abs(score)) if width > 0.0 else 0.0
        tracker.settle(accounts[k], score, width, slack, own, weight, at, late)
        if played and not own:
            accounts[k, tracker.GAINED] += weight
        if own and not played:
            accounts[k, tracker.LOST] += weight
        paid += book.enter(entries, k, levels[k], out[m + k], centre, y, weight)
    return 2.0 * paid / m


@compiled
def _plays(accounts, levels, quantiles, width, out):
    for t in range(len(width)):
        _one(accounts, levels, quantiles[t], width[t], out[t])


@compiled
def _learns(accounts, entries, levels, out, quantiles, width, centre, y, weight, at, late):
    _enter(accounts, entries, levels, out, quantiles, width, centre, y, weight, at, late)


@compiled
def _rounds(accounts, entries, levels, quantiles, width, centre, y, weight, out, paid):
    for t in range(len(y)):
        _one(accounts, levels, quantiles[t], width[t], out[t])
        at = accounts[0, tracker.WEIGHT] + accounts[0, tracker.WEIGHT_REST]
        paid[t] = _enter(accounts, entries, levels, out[t], quantiles[t], width[t], centre[t], y[t], weight[t], at, 0)
