"""Quantiles of a residual given its row: as clever as one likes, for the guarantee is carried outside.

Around a point forecast (the centre), for each level: a pinball `Auto` on the features and on what the last residuals say, and
the quantiles of the last 200 and 1,000 residuals, plain and over their expected size, which another `Auto` learns. `Experts`
with the pinball loss mix the five, in units of the slow mean residual: while few labels are known the first scale is no
guide, so for `WARM` labels their median is played.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burkholder.auto import Auto
from burkholder.errors import BadInput
from burkholder.experts import Experts
from burkholder.experts.rows import Row as Forecasts
from burkholder.intervals import lags
from burkholder.intervals.windows import CANDIDATES, LENGTHS, Windows, sweep
from burkholder.learning.rows import Row

WARM = 30
NARROWEST = 0.1  # of the slow mean residual: no smaller size is expected; half of it is the least half width
TINY = 1e-70  # a smaller scale is no guide, and no width is smaller: labels, at most 1e60 in size, over it stay numbers
FARTHEST = 1e140  # in units of the scale: times any weight, `Experts` can learn it
NAMES = ("features", *(f"{kind} {length}" for kind in ("plain", "scaled") for length in LENGTHS))


class Rows(NamedTuple):
    """Rows as places and values, in compressed form."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray

    def behind(self, features: np.ndarray) -> Rows:
        """The same rows with these dense features in front."""
        n, extra = features.shape
        if n == 1:
            indices, values = (
                self.indices[int(self.indptr[0]) : int(self.indptr[1])],
                self.values[int(self.indptr[0]) : int(self.indptr[1])],
            )
            ends = np.array([0, extra + len(indices)])
            return Rows(ends, np.concatenate([np.arange(extra), indices + extra]), np.concatenate([features[0], values]))
        lengths = np.diff(self.indptr)
        indptr = np.concatenate([[0], np.cumsum(lengths + extra)])
        where = np.repeat(np.arange(n) * extra + extra, lengths) + np.arange(lengths.sum())
        indices, values = np.empty(indptr[-1], np.int64), np.empty(indptr[-1])
        part = slice(int(self.indptr[0]), int(self.indptr[-1]))
        indices[where], values[where] = self.indices[part] + extra, self.values[part]
        front = (indptr[:-1, None] + np.arange(extra)).ravel()
        indices[front], values[front] = np.tile(np.arange(extra), n), features.ravel()
        return Rows(indptr, indices, values)

    def only(self) -> Row:
        """The single row, as `Auto` plays it."""
        return Row("sparse", self.indices, self.values)


class Asked(NamedTuple):
    """What was said of one row, with all that learning from it later needs."""

    centre: float
    features: np.ndarray
    scale: float  # the slow mean residual; 0 while none is known
    expected: float  # `Auto`'s forecast of the residual's size
    spread: float  # the same, never 0
    forecasts: np.ndarray  # levels × experts, in residuals
    answers: np.ndarray  # the mixtures, in units of the scale
    warm: bool
    quantiles: np.ndarray  # of y, in order
    width: float  # half the width of the outermost levels, never far below the scale; 0 while no residual but 0 was seen


class Conditional:
    """One of these for each set of levels."""

    def __init__(self, levels: tuple[float, ...]) -> None:
        self.levels = np.array(levels)
        self.memory = lags.empty()
        self.windows = Windows()
        self.size = Auto("absolute")
        self.features = [Auto("pinball", quantile=level) for level in levels]
        self.mixtures = [Experts("pinball", quantile=level, outside=()) for level in levels]
        for mixture in self.mixtures:
            mixture.admit(NAMES)

    # --- one row -----------------------------------------------------------------------------------------------
    def ask(self, row: Rows, centre: float) -> Asked:
        """Nothing is stored."""
        features, scale, labels = np.empty((1, lags.FEATURES)), np.empty(1), np.empty(1)
        lags.sweep(self.memory, np.array([centre]), np.zeros(1), np.zeros(1), features, scale, labels, False)
        full = row.behind(features).only()
        expected = self.size._play(full)[0]
        spread = float(_spread(np.array([expected]), scale)[0])
        forecasts = np.empty((len(self.levels), 1 + CANDIDATES))
        forecasts[:, 0] = [auto._play(full)[0] for auto in self.features]
        forecasts[:, 1:] = self.windows.quantiles(self.levels, spread)
        warm, answers = bool(labels[0] >= WARM and scale[0] > TINY), np.zeros(len(self.levels))
        if warm:
            said = forecasts / scale[0]
            answers[:] = [mixture._play(Forecasts(said[k], NAMES))[0] for k, mixture in enumerate(self.mixtures)]
        quantiles, width = _joined(np.array([centre]), scale, forecasts[None], answers[None], np.array([warm]))
        return Asked(centre, features[0], float(scale[0]), expected, spread, forecasts, answers, warm, quantiles[0], float(width[0]))

    def check_round(self, row: Rows, asked: Asked, y: float, weight: float) -> None:
        """Refuse what a learner inside would refuse, before any of them has learned."""
        residual = y - asked.centre
        full = row.behind(asked.features[None]).only()
        self.size.check_round(full, abs(residual), weight)
        for auto in self.features:
            auto.check_round(full, residual, weight)
        if asked.warm:
            said = np.nanmax(np.abs(np.append(asked.forecasts.ravel(), residual)))
            if not (asked.scale > TINY and said <= FARTHEST * asked.scale and np.abs(asked.answers).max() <= FARTHEST):
                raise BadInput("y", y, f"it, or what was forecast, is beyond {FARTHEST:g} times the usual error")

    def learn(self, row: Rows, asked: Asked, y: float, weight: float, late: int) -> None:
        """From what was said then."""
        residual = y - asked.centre
        full = row.behind(asked.features[None]).only()
        self.size._learn(full, asked.expected, abs(residual), weight, late)
        for k, auto in enumerate(self.features):
            auto._learn(full, float(asked.forecasts[k, 0]), residual, weight, late)
        if asked.warm:
            for k, mixture in enumerate(self.mixtures):
                said = Forecasts(asked.forecasts[k] / asked.scale, NAMES)
                mixture._learn(said, (said.values, float(asked.answers[k])), residual / asked.scale, weight, late)
        self.windows.push(residual, asked.spread, weight)
        lags.sweep(self.memory, np.array([asked.centre]), np.array([y]), np.array([weight]), np.empty((1, lags.FEATURES)), *_NOWHERE, True)

    # --- many rows ---------------------------------------------------------------------------------------------
    def run(
        self, rows: Rows, centre: np.ndarray, y: np.ndarray | None = None, weight: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(quantiles, widths) of every row, each before its label is learned; without labels nothing is. The same bits as one by one."""
        n, learns = len(centre), weight is not None
        label, heavy = (centre, np.zeros(n)) if y is None or weight is None else (y, weight)
        residual = label - centre
        features, scale, labels = np.empty((n, lags.FEATURES)), np.empty(n), np.empty(n)
        lags.sweep(self.memory, centre, label, heavy, features, scale, labels, learns)
        full = rows.behind(features)

        def said(auto: Auto, target: np.ndarray) -> np.ndarray:
            return auto.run_batch(*full, target, weight) if learns else auto.predict_batch(*full)

        spread = _spread(said(self.size, np.abs(residual)), scale)
        windows, found = self.windows, np.empty((n, len(self.levels), CANDIDATES))
        sweep(windows.ring, windows.met, windows.ordered, self.levels, spread, residual, heavy, found, learns)
        forecasts = np.concatenate([np.stack([said(auto, residual) for auto in self.features], axis=1)[:, :, None], found], axis=2)
        answers, warm = np.zeros((n, len(self.levels))), (labels >= WARM) & (scale > TINY)
        unit = scale[warm]
        for k, mixture in enumerate(self.mixtures if warm.any() else ()):
            columns = dict(zip(NAMES, (forecasts[warm, k] / unit[:, None]).T))
            if learns:
                answers[warm, k] = mixture.run(columns, residual[warm] / unit, heavy[warm], trace=0, weights=False).predictions
            else:
                answers[warm, k] = mixture.predict_many(columns)
        return _joined(centre, scale, forecasts, answers, warm)

    def undo(self) -> Callable[[], None]:
        """Remember everything; the result puts it back."""
        parts = [learner._undo() for learner in (self.size, *self.features, *self.mixtures)]
        kept = self.memory.copy(), self.windows.ring.copy(), self.windows.met.copy()

        def back() -> None:
            for part in parts:
                part()
            self.memory, self.windows.ring, self.windows.met = kept
            self.windows.rebuild()

        return back

    @property
    def largest(self) -> float:
        """The largest residual seen."""
        return float(self.memory[lags.LARGEST])

    # --- saved -------------------------------------------------------------------------------------------------
    def parts(self) -> dict[str, Any]:
        """Its learners by name."""
        named = {"size": self.size}
        named |= {f"features{k}": auto for k, auto in enumerate(self.features)}
        return named | {f"mixture{k}": mixture for k, mixture in enumerate(self.mixtures)}


_NOWHERE = np.empty(1), np.empty(1)


def each(rows: Rows) -> list[Rows]:
    """The rows one by one."""
    ends = rows.indptr.tolist()
    return [Rows(np.array([0, b - a]), rows.indices[a:b], rows.values[a:b]) for a, b in zip(ends[:-1], ends[1:])]


def _spread(expected: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The size a residual is expected to have: positive, and no small part of what is usual."""
    return np.maximum(expected, np.where(scale > TINY, NARROWEST * scale, 1.0))


def _joined(
    centre: np.ndarray, scale: np.ndarray, forecasts: np.ndarray, answers: np.ndarray, warm: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The mixtures where they are warm, else the experts' median; in order, around the centre."""
    awake = np.where(np.isnan(forecasts[..., 1:2]), forecasts[..., :1], forecasts)  # before the first label only Auto speaks
    chosen = np.where(warm[:, None], answers * scale[:, None], np.median(awake, axis=2))
    ordered = np.sort(chosen, axis=1)
    floor = np.maximum(np.where(warm, 0.5 * NARROWEST, 1.0) * scale, TINY)  # quantiles of few labels say little of the width
    width = np.where(scale > 0.0, np.maximum(0.5 * (ordered[:, -1] - ordered[:, 0]), floor), 0.0)
    return centre[:, None] + ordered, width
