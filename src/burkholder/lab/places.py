"""Where properties are tried: batches of (τ, x, ŷ, law of α) of every scale, and moves that stay in the domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.functions.base import BurkholderFunction, Tau


@dataclass(frozen=True)
class Places:
    """A batch of points. α takes the values −low and high (in units of L) with mean zero."""

    tau: Tau
    x: np.ndarray
    yhat: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, which: Any) -> Places:
        return Places(tuple(part[which] for part in self.tau), self.x[which], self.yhat[which],
                      self.low[which], self.high[which])

    def describe(self, digits: int | None = None, round_too: bool = True) -> dict[str, Any]:
        """The first point (its state, and the round played from there), as numbers a person can type."""
        def show(array: np.ndarray) -> Any:
            if digits is None:
                return array.tolist()
            listed = np.vectorize(lambda z: float(f"{z:.{digits - 1}e}"), otypes=[float])(array)
            return listed.tolist()

        names = {f"tau[{k}]": show(part[0]) for k, part in enumerate(self.tau)}
        if not round_too:
            return names
        return {**names, "x": show(self.x[0]), "yhat": show(self.yhat[0]),
                "delta": [-show(self.low[0]), show(self.high[0])]}


def join(parts: Sequence[Places]) -> Places:
    """Several batches as one."""
    return Places(tuple(np.concatenate(pieces) for pieces in zip(*(p.tau for p in parts), strict=True)),
                  np.concatenate([p.x for p in parts]), np.concatenate([p.yhat for p in parts]),
                  np.concatenate([p.low for p in parts]), np.concatenate([p.high for p in parts]))


class Sampler:
    """Draws points of a function's domain and moves them about.

    A function that states its domain (`points`) has its states moved by what keeps cones: every part of τ is
    scaled by a factor of its own, and mixed with another state's. A function that does not is only ever examined at
    states that play reaches from ζ₀: its states move by playing on.
    """

    def __init__(self, function: BurkholderFunction, dim: int, rng: np.random.Generator) -> None:
        self.function, self.dim, self.rng = function, dim, rng
        self.free = type(function).points is not BurkholderFunction.points
        # a clock or a counter, known by its whole numbers, is never moved
        self.clocks = tuple(bool(np.all(part == np.floor(part)) and np.any(part != 0))
                            for part in function.points(rng, 256, dim)[0])
        self.limits = bool(function.sizes(np.zeros((1, dim))))

    def draw(self, count: int) -> Places:
        tau, x = self.function.points(self.rng, count, self.dim)
        state = tuple(np.asarray(part, float) for part in tau)
        return Places(state, np.asarray(x, float), self._plays(x), *self._law(count))

    def move(self, here: Places, size: np.ndarray) -> Places:
        """One random step of relative size `size` from every point."""
        count = len(here)
        tau = self._move_tau(here, size)
        spread = size[:, None]
        x = here.x * np.exp(spread * self.rng.standard_normal((count, 1)))
        x = x * np.where(self.rng.random((count, 1)) < 0.5, 1.0, 1.0 + spread * self.rng.standard_normal(x.shape))
        largest = np.max(np.abs(x), axis=-1, keepdims=True)
        x = x + np.where(self.rng.random((count, 1)) < 0.5, 0.0, spread * largest * self.rng.standard_normal(x.shape))
        yhat = here.yhat * np.exp(size * self.rng.standard_normal(count))
        low, high = (np.clip(part * np.exp(size * self.rng.standard_normal(count)), 1e-6, 1.0)
                     for part in (here.low, here.high))
        keep = self.rng.random(count) < 0.5
        return Places(tau, self._within(x), yhat, np.where(keep, here.low, low), np.where(keep, here.high, high))

    def rounded(self, here: Places, digits: int) -> Places:
        """The same points with every number cut to a few significant digits (in the domain up to that rounding)."""
        def cut(array: np.ndarray) -> np.ndarray:
            size = np.abs(array)
            unit = 10.0 ** (np.floor(np.log10(np.where(size > 0, size, 1.0))) - digits + 1)
            return np.where(size > 0, np.round(array / unit) * unit, 0.0)

        return Places(tuple(cut(part) for part in here.tau), self._within(cut(here.x)), cut(here.yhat),
                      np.minimum(cut(here.low), 1.0), np.minimum(cut(here.high), 1.0))

    def _move_tau(self, here: Places, size: np.ndarray) -> Tau:
        count = len(here)
        if not self.free:
            again = self.rng.random(count) < 0.3
            delta = self.function.lipschitz * self.rng.uniform(-1, 1, count)
            played = self.function.advance(here.tau, self._within(here.x * size[:, None]), np.zeros(count), delta)
            return tuple(np.where(_across(again, old), new, old) for old, new in zip(here.tau, played, strict=True))
        other = self.rng.permutation(count)
        mix = np.minimum(size, 1.0) * (self.rng.random(count) < 0.2) * self.rng.random(count)
        if any(self.clocks):  # states at different times do not mix
            mix[:] = 0.0
        moved = []
        for part, clock in zip(here.tau, self.clocks, strict=True):
            if clock:
                moved.append(part)
                continue
            factor = np.exp(size * self.rng.standard_normal(count) * (self.rng.random(count) < 0.7))
            new = part * _across(factor, part)
            if part.ndim == 2:  # a vector: its coordinates move on their own, each keeping its sign
                single = np.exp(size[:, None] * self.rng.standard_normal(part.shape))
                new = new * np.where(self.rng.random((count, 1)) < 0.5, 1.0, single)
            moved.append((1.0 - _across(mix, part)) * new + _across(mix, part) * part[other])
        return tuple(moved)

    def _law(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Two-point laws of mean zero on [-L, L]: signs half of the time, lopsided ones otherwise."""
        wide, narrow = np.ones(count), 10.0 ** self.rng.uniform(-4, 0, count)
        kind = self.rng.integers(0, 4, count)
        return np.where(kind == 2, narrow, wide), np.where(kind == 3, narrow, wide)

    def _plays(self, x: np.ndarray) -> np.ndarray:
        plays = getattr(self.function, "plays", None)
        if plays is not None:
            return np.asarray(plays(self.rng, x), float)
        return np.zeros(len(x))

    def _within(self, x: np.ndarray) -> np.ndarray:
        """Features that were moved out of what the function admits, pulled back by a factor."""
        if not self.limits:
            return x
        for seen, limit in self.function.sizes(x).values():
            over = np.maximum(np.asarray(seen) / limit, 1.0)
            x = x / (over[:, None] if over.ndim == 1 else over)
        return x


def _across(factor: np.ndarray, part: np.ndarray) -> np.ndarray:
    """A number per point, shaped to multiply a part of τ."""
    return factor.reshape(factor.shape + (1,) * (part.ndim - 1))
