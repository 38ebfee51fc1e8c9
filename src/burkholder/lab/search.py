"""Searching for a violation: random starts of every scale, then many small evolution strategies at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from burkholder.functions.properties import Points
from burkholder.lab.places import Sampler, choose, join, take

TOLERANCE = 1e-9  # relative residuals below this are rounding, not violations
CLEAR = 1e-3  # a violation that nobody will argue with: no need to look on for long
BATCH = 256, 4096  # from, up to: a slow function is not asked for more than it can answer in time
PARENTS = 48
CHILDREN = 32

Residual = Callable[[Points], np.ndarray]  # relative, one number a point; positive: violated


@dataclass
class Pool:
    """The best points of one dimension so far, best first."""

    sampler: Sampler
    points: Points | None = None
    scores: np.ndarray = field(default_factory=lambda: np.empty(0))
    children: int = CHILDREN

    @property
    def best(self) -> float:
        return -np.inf if self.points is None else float(self.scores[0])

    def admit(self, fresh: Points, scores: np.ndarray) -> None:
        together = fresh if self.points is None else join([self.points, fresh])
        both = scores if self.points is None else np.concatenate([self.scores, scores])
        order = np.argsort(-both, kind="stable")[:PARENTS]
        self.points, self.scores = take(together, order), both[order]

    def climb(self, residual: Residual) -> int:
        """One generation: every parent has children at steps of many sizes, and yields to its best if better."""
        assert self.points is not None
        count, several = len(self.scores), self.children
        children = take(self.points, np.repeat(np.arange(count), several))
        children = self.sampler.move(children, 10.0 ** self.sampler.rng.uniform(-4.0, 0.3, count * several))
        scores = finite(residual, children).reshape(count, several)
        champion = np.argmax(scores, axis=1)
        top = scores[np.arange(count), champion]
        better = top > self.scores
        points = choose(better, take(children, np.arange(count) * several + champion), self.points)
        scores = np.where(better, top, self.scores)
        order = np.argsort(-scores, kind="stable")
        self.points, self.scores = take(points, order), scores[order]
        return count * several


@dataclass(frozen=True)
class Found:
    """The worst points of a search, the largest relative residual, and what the search cost."""

    pools: list[Pool]
    relative: float
    points: int
    seconds: float

    def violations(self, most: int = 24) -> Iterator[tuple[Sampler, Points]]:
        """Points above the tolerance, worst first, from every dimension."""
        ranked = sorted(
            ((float(score), n, k) for n, pool in enumerate(self.pools) for k, score in enumerate(pool.scores[:most]) if score > TOLERANCE),
            reverse=True,
        )
        for _, n, k in ranked[:most]:
            points = self.pools[n].points
            assert points is not None
            yield self.pools[n].sampler, take(points, np.s_[k : k + 1])


def search(residual: Residual, samplers: list[Sampler], seconds: float, points: int) -> Found:
    """The largest relative residual: half of the effort on fresh points, half on climbing from the best of them.

    A clear violation ends the first half at once; a short climb then makes it as clear as it can be. The limit is in
    seconds of this thread's own work, so that a busy machine searches as hard as a quiet one.
    """
    started, spent = time.perf_counter(), time.thread_time()
    pools = [Pool(sampler) for sampler in samplers]
    tried = turns = 0
    batch = BATCH[0]
    while (tried < points // 2 and time.thread_time() - spent < 0.5 * seconds) or turns < len(pools):
        pool = pools[turns % len(pools)]
        began = time.thread_time()
        fresh = pool.sampler.draw(batch)
        pool.admit(fresh, finite(residual, fresh))
        tried += batch
        turns += 1
        if time.thread_time() - began < 0.02 * seconds:
            batch = min(2 * batch, BATCH[1])
        if turns >= len(pools) and max(pool.best for pool in pools) > CLEAR:
            break
    generations = 0
    if batch < BATCH[1]:
        pools = [max(pools, key=lambda pool: pool.best)]
        pools[0].children = 8
    while tried < points and time.thread_time() - spent < seconds:
        tried += sum(pool.climb(residual) for pool in pools)
        generations += 1
        if generations >= 10 and max(pool.best for pool in pools) > CLEAR:
            break
    return Found(pools, max(pool.best for pool in pools), tried, time.perf_counter() - started)


def genuine(residual: Residual, sampler: Sampler, point: Points) -> bool:
    """Whether a violation survives a jitter of 1e-11: rounding noise changes sign, a true one does not."""
    near = sampler.move(take(point, np.zeros(32, int)), np.full(32, 1e-11))
    return bool(np.all(finite(residual, near) > 0.3 * finite(residual, point)[0]))


def tidy(residual: Residual, sampler: Sampler, point: Points) -> tuple[Points, int]:
    """The violation with the fewest digits that keeps at least half of it: (point, digits)."""
    goal = 0.5 * finite(residual, point)[0]
    for digits in (1, 2, 3, 4, 6, 9, 12):
        shorter = sampler.rounded(point, digits)
        if finite(residual, shorter)[0] >= goal:
            return shorter, digits
    return point, 17


def finite(residual: Residual, points: Points) -> np.ndarray:
    """The residual, with −∞ where it is not a number (overflow far out)."""
    with np.errstate(all="ignore"):
        relative = residual(points)
    return np.where(np.isfinite(relative), relative, -np.inf)
