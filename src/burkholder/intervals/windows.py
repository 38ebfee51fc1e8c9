"""Quantiles of the last residuals, plain and over their expected size, in windows of two lengths."""

from __future__ import annotations

import math

import numpy as np

from burkholder.machine.compiling import compiled, register_jitable

LENGTHS = (200, 1000)
KINDS = 2  # residuals as they are; residuals over their expected size
CANDIDATES = KINDS * len(LENGTHS)


class Windows:
    """The last values of each kind in order of arrival (`ring`), and, made from it, in order of size (`ordered`)."""

    def __init__(self) -> None:
        self.ring = np.zeros((KINDS, max(LENGTHS)))
        self.met = np.zeros(1, np.int64)
        self.ordered = np.zeros((KINDS, len(LENGTHS), max(LENGTHS)))

    def rebuild(self) -> None:
        """`ordered` from the ring."""
        longest, met = self.ring.shape[1], int(self.met[0])
        for w, length in enumerate(LENGTHS):
            kept = min(met, length)
            places = np.arange(met - kept, met) % longest
            self.ordered[:, w, :kept] = np.sort(self.ring[:, places], axis=1)

    def quantiles(self, levels: np.ndarray, spread: float) -> np.ndarray:
        """For every level: each kind and window's quantile, in units of the residuals; NaN while a window is empty."""
        out = np.empty((1, len(levels), CANDIDATES))
        sweep(self.ring, self.met, self.ordered, levels, np.array([spread]), np.zeros(1), np.zeros(1), out, False)
        return out[0]

    def push(self, residual: float, spread: float, weight: float) -> None:
        """Let a residual in; one of no weight leaves no trace."""
        if weight > 0.0:
            _push(self.ring, self.met, self.ordered, residual, residual / spread)


@register_jitable
def _at(ordered, count, level):
    """The value at rank level·(count + 1), between neighbours in proportion: covers that share of exchangeable values."""
    place = min(max(level * (count + 1.0) - 1.0, 0.0), count - 1.0)
    below = int(place)
    above = min(below + 1, count - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


@register_jitable
def _replace(ordered, count, old, new, full):
    """Put `new` in its place among the first `count`, in place of `old` when the window is full."""
    at = np.searchsorted(ordered[:count], old) if full else count
    while at > 0 and ordered[at - 1] > new:
        ordered[at] = ordered[at - 1]
        at -= 1
    top = count - 1 if full else count
    while at < top and ordered[at + 1] < new:
        ordered[at] = ordered[at + 1]
        at += 1
    ordered[at] = new


@register_jitable
def _enter(ring, met, ordered, plain, scaled):
    longest, count = ring.shape[1], met[0]
    for kind in range(KINDS):
        value = plain if kind == 0 else scaled
        for w in range(len(LENGTHS)):
            full = count >= LENGTHS[w]
            old = ring[kind, (count - LENGTHS[w]) % longest] if full else 0.0
            _replace(ordered[kind, w], min(count, LENGTHS[w]), old, value, full)
        ring[kind, count % longest] = value
    met[0] += 1


@compiled
def _push(ring, met, ordered, plain, scaled):
    _enter(ring, met, ordered, plain, scaled)


@compiled
def sweep(ring, met, ordered, levels, spread, residual, weight, out, learn):
    """Row by row: the quantiles of what came before, then, where it is to be learned, the row's own residual."""
    for t in range(len(spread)):
        for w in range(len(LENGTHS)):
            count = min(met[0], LENGTHS[w])
            for k in range(len(levels)):
                for kind in range(KINDS):
                    unit = 1.0 if kind == 0 else spread[t]
                    place = kind * len(LENGTHS) + w
                    out[t, k, place] = unit * _at(ordered[kind, w], count, levels[k]) if count > 0 else math.nan
        if learn and weight[t] > 0.0:
            _enter(ring, met, ordered, residual[t], residual[t] / spread[t])
