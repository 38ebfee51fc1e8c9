"""Where properties are tried: points of every scale in a function's domain, and small moves that stay inside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.functions.properties import Points, draw


def overrides(function: BurkholderFunction, method: str) -> bool:
    """Whether a function brings its own method, by its class or handed in as a plain function.

    >>> from burkholder.functions import SquareFunction
    >>> overrides(SquareFunction(), "bound"), overrides(SquareFunction(), "closed_form")
    (True, False)
    """
    own = getattr(function, "inner", function)  # what a guard stands for
    return getattr(getattr(own, method), "__func__", None) is not getattr(BurkholderFunction, method)


def take(points: Points, which: Any) -> Points:
    """Some points of a batch."""
    return Points(tuple(part[which] for part in points.tau), *(part[which] for part in points[1:]))


def join(batches: Sequence[Points]) -> Points:
    """Several batches as one."""
    tau = tuple(np.concatenate(pieces) for pieces in zip(*(batch.tau for batch in batches), strict=True))
    return Points(tau, *(np.concatenate(pieces) for pieces in zip(*(batch[1:] for batch in batches), strict=True)))


def choose(which: np.ndarray, new: Points, old: Points) -> Points:
    """Point by point, the new one where `which` says so."""
    tau = tuple(np.where(_across(which, a), a, b) for a, b in zip(new.tau, old.tau, strict=True))
    return Points(tau, *(np.where(_across(which, a), a, b) for a, b in zip(new[1:], old[1:], strict=True)))


class Sampler:
    """Draws points of a function's domain and moves them about.

    A function that states its domain (`points`) has its states moved by what keeps cones: every part of τ is
    scaled by a factor of its own, and mixed with another state's. A function that does not is only ever examined
    at states that play reaches from ζ₀: its states move by playing on.
    """

    def __init__(self, function: BurkholderFunction, dim: int, rng: np.random.Generator) -> None:
        self.function, self.dim, self.rng = function, dim, rng
        self.free = overrides(function, "points")
        self.unbounded = not self.free and not overrides(function, "features")
        self.limited = bool(function.sizes(np.zeros((1, dim))))
        self.clocks = clocks(function, rng, dim)

    def draw(self, count: int) -> Points:
        """Random points; a fifth of them simple ones, where extremes often sit: coordinates equal up to sign, or 0."""
        tau, x, yhat, alpha, w = draw(self.function, self.rng, count, self.dim)
        if self.unbounded and self.rng.random() < 0.5:
            tau, x = self._reached(x)
        numbers = [np.asarray(part, float) for part in (x, yhat, alpha, w)]
        state = [np.asarray(part, float) for part in tau]
        if self.free:
            simple = self.rng.random((count, 1)) < 0.2
            numbers[0] = self._within(np.where(simple, self._snapped(numbers[0]), numbers[0]))
            # only parts that take both signs, and no zero of theirs, are free of the other parts: sums of squares
            # and memories are not
            state = [
                np.where(simple & (part != 0), self._snapped(part), part) if np.any(part < 0) and part.ndim == 2 else part for part in state
            ]
        return Points(tuple(state), *numbers)

    def _reached(self, x: np.ndarray) -> tuple[Tau, np.ndarray]:
        """States that play reaches with features of every scale from 1e-9 to 1e9."""
        count, rng = len(x), self.rng
        x = self._within(x * 10.0 ** rng.uniform(-7, 7, (count, 1)))
        start = self.function.zero(self.dim)
        tau: Tau = tuple(np.broadcast_to(part, (count, *np.shape(part))).copy() for part in start)
        for _ in range(int(rng.integers(0, 8))):
            past = self._within(x[:, rng.permutation(self.dim)] * 10.0 ** rng.uniform(-1, 1, (count, 1)))
            delta = self.function.lipschitz * rng.choice([-1.0, 1.0, 0.3], count)
            tau = self.function.advance(tau, past, np.zeros(count), delta)
        return tau, x

    def _snapped(self, vectors: np.ndarray) -> np.ndarray:
        """Each vector's largest coordinate, given to all of them with signs or zeros at random."""
        pattern = self.rng.choice([-1.0, 0.0, 1.0], vectors.shape)
        return pattern * np.max(np.abs(vectors), axis=-1, keepdims=True)

    def move(self, here: Points, size: np.ndarray) -> Points:
        """One random step of relative size `size` from every point."""
        count, rng, limit = len(here.x), self.rng, self.function.lipschitz
        spread = size[:, None]
        x = here.x * np.exp(spread * rng.standard_normal((count, 1)))
        x = x * np.where(rng.random((count, 1)) < 0.5, 1.0, 1.0 + spread * rng.standard_normal(x.shape))
        largest = np.max(np.abs(x), axis=-1, keepdims=True)
        x = x + np.where(rng.random((count, 1)) < 0.5, 0.0, spread * largest * rng.standard_normal(x.shape))
        yhat = here.yhat * np.exp(size * rng.standard_normal(count))
        alpha = np.clip(here.alpha * np.exp(size * rng.standard_normal(count)), -limit, limit)
        alpha = np.where(rng.random(count) < 0.5, here.alpha, alpha)
        # comparators form a set of the function's own (a ball, a simplex): they are exchanged, never moved
        other = rng.permutation(count)
        w = np.where((rng.random(count) < 0.2 * np.minimum(size, 1.0))[:, None], here.w[other], here.w)
        return Points(self._state(here, size, other), self._within(x), yhat, alpha, w)

    def rounded(self, here: Points, digits: int) -> Points:
        """The same points, every number but the comparator's cut to a few significant digits."""
        x = self._within(cut(here.x, digits))
        alpha = np.clip(cut(here.alpha, digits), -self.function.lipschitz, self.function.lipschitz)
        return Points(tuple(cut(part, digits) for part in here.tau), x, cut(here.yhat, digits), alpha, here.w)

    def _state(self, here: Points, size: np.ndarray, other: np.ndarray) -> Tau:
        count, rng = len(here.x), self.rng
        if not self.free:
            again = rng.random(count) < 0.3
            delta = self.function.lipschitz * rng.uniform(-1, 1, count)
            played = self.function.advance(here.tau, self._within(here.x * size[:, None]), np.zeros(count), delta)
            return tuple(np.where(_across(again, old), new, old) for old, new in zip(here.tau, played, strict=True))
        mix = np.minimum(size, 1.0) * (rng.random(count) < 0.2) * rng.random(count)
        if any(self.clocks):  # states at different times do not mix
            mix[:] = 0.0
        moved = []
        for part, clock in zip(here.tau, self.clocks, strict=True):
            if clock:
                moved.append(part)
                continue
            new = part * _across(np.exp(size * rng.standard_normal(count) * (rng.random(count) < 0.7)), part)
            if part.ndim == 2:  # a vector: its coordinates move on their own, each keeping its sign
                single = np.exp(size[:, None] * rng.standard_normal(part.shape))
                new = new * np.where(rng.random((count, 1)) < 0.5, 1.0, single)
            moved.append((1.0 - _across(mix, part)) * new + _across(mix, part) * part[other])
        return tuple(moved)

    def _within(self, x: np.ndarray) -> np.ndarray:
        return within(self.function, x) if self.limited else x


def within(function: BurkholderFunction, x: np.ndarray) -> np.ndarray:
    """Features beyond what the function admits, pulled back by a factor."""
    for seen, limit in function.sizes(x).values():
        x = x / np.maximum(np.asarray(seen) / limit, 1.0)[:, None]
    return x


def clocks(function: BurkholderFunction, rng: np.random.Generator, dim: int) -> tuple[bool, ...]:
    """Which parts of τ count (their numbers are whole at every scale): these are never moved."""
    tau = function.points(rng, 256, dim)[0]
    return tuple(bool(np.all(part == np.floor(part)) and np.any(part != 0)) for part in tau)


def cut(array: np.ndarray, digits: int) -> np.ndarray:
    """Every number to so many significant digits.

    >>> cut(np.array([123.456, -0.0789, 0.0]), 2).tolist()
    [120.0, -0.079, 0.0]
    """
    return np.vectorize(lambda number: float(f"{number:.{digits - 1}e}"), otypes=[float])(array)


def _across(factor: np.ndarray, part: np.ndarray) -> np.ndarray:
    """A number per point, shaped to go with a part of τ."""
    return factor.reshape(factor.shape + (1,) * (part.ndim - 1))
