"""Searching for a violation: random starts of every scale, then many small evolution strategies at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from burkholder.lab.places import Places, Sampler, join

TOLERANCE = 1e-9  # relative residuals below this are rounding, not violations
BATCH = 4096
PARENTS = 48
CHILDREN = 32

# residual (positive: violated) and the size of what was subtracted to get it, so that rounding can be told apart
Residual = Callable[[Places], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Found:
    """The worst point of a search. `residual` is absolute, `relative` in units of the numbers it came from."""

    place: Places | None
    residual: float
    relative: float
    points: int
    seconds: float

    @property
    def violated(self) -> bool:
        return self.relative > TOLERANCE


def search(residual: Residual, samplers: list[Sampler], seconds: float, points: int) -> Found:
    """The largest relative residual: half of the effort on fresh points, half on climbing from the best of them.

    A violation found early ends the first half at once; the climb then makes it as clear as it can.
    """
    started = time.perf_counter()
    tried = 0
    pools: list[Places | None] = [None] * len(samplers)
    best: list[np.ndarray] = [np.empty(0)] * len(samplers)
    turn = 0
    while tried < points // 2 and time.perf_counter() - started < 0.5 * seconds:
        k = turn % len(samplers)
        turn += 1
        fresh = samplers[k].draw(BATCH)
        tried += len(fresh)
        pools[k], best[k] = _fittest(pools[k], best[k], fresh, _relative(residual, fresh), PARENTS)
        if turn >= 2 * len(samplers) and max(scores[0] for scores in best if len(scores)) > 1e-3:
            break
    rounds = 0
    while tried < points and time.perf_counter() - started < seconds:
        for k, sampler in enumerate(samplers):
            if pools[k] is not None:
                tried += _climb(residual, sampler, pools, best, k)
        rounds += 1
        if rounds >= 12 and max(scores[0] for scores in best if len(scores)) > 1e-3:
            break
    winner = max(range(len(samplers)), key=lambda k: best[k][0] if len(best[k]) else -np.inf)
    place = pools[winner]
    if place is None or not len(best[winner]):
        return Found(None, 0.0, -np.inf, tried, time.perf_counter() - started)
    worst = place[:1]
    absolute, _ = residual(worst)
    return Found(worst, float(absolute[0]), float(best[winner][0]), tried, time.perf_counter() - started)


def genuine(residual: Residual, sampler: Sampler, place: Places) -> bool:
    """Whether a violation survives a jitter of 1e-11: rounding noise changes sign, a true one does not."""
    near = join([place] * 32)
    jittered = sampler.move(near, np.full(32, 1e-11))
    return bool(np.all(_relative(residual, jittered) > 0.3 * _relative(residual, place)[0]))


def tidy(residual: Residual, sampler: Sampler, place: Places) -> tuple[Places, int]:
    """The violation with the fewest digits that keeps at least half of it: (point, digits)."""
    goal = 0.5 * _relative(residual, place)[0]
    for digits in (1, 2, 3, 4, 6, 9, 12):
        shorter = sampler.rounded(place, digits)
        if _relative(residual, shorter)[0] >= goal:
            return shorter, digits
    return place, 17


def _climb(residual: Residual, sampler: Sampler, pools: list[Places | None], best: list[np.ndarray], k: int) -> int:
    """One generation: every parent has children at steps of many sizes, and is replaced by its best if better."""
    parents = pools[k]
    assert parents is not None
    count = len(parents)
    children = parents[np.repeat(np.arange(count), CHILDREN)]
    sizes = 10.0 ** sampler.rng.uniform(-4.0, 0.3, len(children))
    children = sampler.move(children, sizes)
    scores = _relative(residual, children).reshape(count, CHILDREN)
    champion = np.argmax(scores, axis=1)
    better = scores[np.arange(count), champion] > best[k]
    chosen = children[np.arange(count) * CHILDREN + champion]
    pools[k] = _choose(better, chosen, parents)
    best[k] = np.where(better, scores[np.arange(count), champion], best[k])
    order = np.argsort(-best[k], kind="stable")
    survivors = pools[k]
    assert survivors is not None
    pools[k], best[k] = survivors[order], best[k][order]
    return len(children)


def _relative(residual: Residual, places: Places) -> np.ndarray:
    with np.errstate(all="ignore"):
        absolute, size = residual(places)
        ratio = absolute / np.where(size > 0, size, 1.0)
    return np.where(np.isfinite(ratio), ratio, -np.inf)


def _fittest(pool: Places | None, scores: np.ndarray, fresh: Places, new: np.ndarray,
             keep: int) -> tuple[Places, np.ndarray]:
    together = fresh if pool is None else join([pool, fresh])
    both = np.concatenate([scores, new])
    order = np.argsort(-both, kind="stable")[:keep]
    return together[order], both[order]


def _choose(better: np.ndarray, new: Places, old: Places) -> Places:
    def pick(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.where(better.reshape(better.shape + (1,) * (a.ndim - 1)), a, b)

    return Places(tuple(pick(a, b) for a, b in zip(new.tau, old.tau, strict=True)), pick(new.x, old.x),
                  pick(new.yhat, old.yhat), pick(new.low, old.low), pick(new.high, old.high))
