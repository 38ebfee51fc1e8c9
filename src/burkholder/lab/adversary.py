"""Adversarial search: the predictable process with the largest E V that we can find.

Trees are evolved. Every generation a population of trees is evaluated exactly, all paths at once; the best survive
and are changed: single nodes, whole levels, scales, nodes set to zero (stopping), features that follow the state.
A search proves nothing when it fails: the verdict is "not refuted", with how hard it looked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import TANGENT, BurkholderFunction
from burkholder.lab.expectation import Expectation, advance, expectation
from burkholder.lab.trees import Tree

TOLERANCE = 1e-9  # E V above this, relative to the size of its terms, refutes


@dataclass(frozen=True)
class Attack:
    """The worst tree found and its exact expectation."""

    best: Expectation
    tree: Tree
    evaluations: int  # trees evaluated
    seconds: float

    @property
    def refuted(self) -> bool:
        return self.best.low > TOLERANCE * self.best.magnitude

    @property
    def verdict(self) -> str:
        if self.refuted:
            return f"refuted: E V = {self.best.value:.6g} > 0 on a tree of {self.tree.rounds} rounds"
        return f"not refuted: largest E V found {self.best.value:.6g} in {self.evaluations} trees of {self.tree.rounds} rounds"

    def to_dict(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "refuted": self.refuted,
            "expectation": self.best.to_dict(),
            "rounds": self.tree.rounds,
            "evaluations": self.evaluations,
            "seconds": self.seconds,
        }


@dataclass
class _Population:
    """Many trees side by side: features (trees, nodes, dim), plays and increments (trees, nodes) a level."""

    x: list[np.ndarray]
    yhat: list[np.ndarray]
    high: list[np.ndarray]
    low: list[np.ndarray]

    def take(self, index: np.ndarray) -> _Population:
        return _Population(*([level[index].copy() for level in part] for part in (self.x, self.yhat, self.high, self.low)))

    def join(self, other: _Population) -> _Population:
        parts = zip((self.x, self.yhat, self.high, self.low), (other.x, other.yhat, other.high, other.low))
        return _Population(*([np.concatenate(pair) for pair in zip(a, b)] for a, b in parts))

    def tree(self, i: int, branching: int, general: bool) -> Tree:
        high = tuple(level[i] for level in self.high) if general else None
        low = tuple(level[i] for level in self.low) if general else None
        return Tree(tuple(level[i] for level in self.x), tuple(level[i] for level in self.yhat), high, low, branching)


def admitted(function: BurkholderFunction, x: np.ndarray) -> np.ndarray:
    """Features scaled down to what the function assumes of them."""
    flat = x.reshape(-1, x.shape[-1])
    for seen, limit in function.sizes(flat).values():
        factor = np.minimum(1.0, limit / np.maximum(seen, 1e-300))
        flat = flat * factor[:, None]
    return flat.reshape(x.shape)


class _Search:
    def __init__(self, function: BurkholderFunction, rounds: int, dim: int, general: bool, seed: int) -> None:
        self.function, self.rounds, self.dim, self.general = function, rounds, dim, general
        self.branching = 4 if function.in_expectation else 2
        self.rng = np.random.default_rng(seed)
        self.evaluations = 0

    def fresh(self, count: int) -> _Population:
        """Random trees: features of the function's own domain, some constant in time, some over all nodes."""
        rng, f = self.rng, self.function
        x, yhat, high, low = [], [], [], []
        one = f.features(rng, count, self.dim)
        still = rng.random(count) < 0.5
        for t in range(self.rounds):
            nodes = self.branching**t
            own = f.features(rng, count * nodes, self.dim).reshape(count, nodes, self.dim)
            own = np.where(still[:, None, None], one[:, None, :] * 2.0 ** rng.normal(0, 0.3, (count, nodes, 1)), own)
            x.append(admitted(f, own))
            yhat.append(f.plays(rng, x[-1].reshape(-1, self.dim)).reshape(count, nodes))
            a, b = self.increments((count, nodes))
            high.append(a)
            low.append(b)
        return _Population(x, yhat, high, low)

    def increments(self, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        limit = self.function.lipschitz
        if not self.general:
            return np.full(shape, limit), np.full(shape, limit)
        small = limit * 10.0 ** self.rng.uniform(-2, 0, shape)
        upper = self.rng.random(shape) < 0.5
        return np.where(upper, small, limit), np.where(upper, limit, small)

    def evaluate(self, population: _Population) -> np.ndarray:
        """E V / size of every tree, exactly, all trees and paths in one batch."""
        f, b = self.function, self.branching
        count = len(population.x[0])
        tau = tuple(np.broadcast_to(part, (count, *np.shape(part))).copy() for part in f.zero(self.dim))
        weight = np.ones(count)
        coin = np.array([1.0, 1.0, -1.0, -1.0]) if b == 4 else np.array([1.0, 1.0])
        for t in range(self.rounds):
            x = np.repeat(population.x[t].reshape(-1, self.dim), b, axis=0)
            yhat = np.repeat(population.yhat[t].ravel(), b)
            up, down = population.high[t].ravel(), population.low[t].ravel()
            delta = np.tile(np.stack([up, -down], axis=1), (1, b // 2)).ravel()
            chance = np.tile(np.stack([down, up], axis=1) / (up + down)[:, None], (1, b // 2)).ravel() * 2 / b
            tau = advance(f, tuple(np.repeat(part, b, axis=0) for part in tau), x, yhat, delta, np.tile(coin, len(up)))
            weight = np.repeat(weight, b) * chance
        with np.errstate(over="ignore", invalid="ignore"):
            values, sizes = np.asarray(f.target(tau), float), np.asarray(f.magnitude(tau), float)
            mean = (weight * values).reshape(count, -1).sum(1)
            size = (weight * np.maximum(sizes, np.abs(values))).reshape(count, -1).sum(1)
            score = mean / np.maximum(size, 1e-290)
        self.evaluations += count
        # The tree that never moves has E V = V(0): it says nothing, and everything homogeneous would end there.
        moves = np.any([np.any(level != 0, axis=(1, 2)) for level in population.x], axis=0)
        return np.where(np.isfinite(score) & moves, score, -np.inf)

    def changed(self, population: _Population) -> _Population:
        """A mutated copy: each tree gets one kind of change, from fine to coarse."""
        rng, f = self.rng, self.function
        new = population.take(np.arange(len(population.x[0])))
        count = len(new.x[0])
        kind = rng.integers(0, 6, count)[:, None]
        fine = 10.0 ** rng.uniform(-3, 0, (count, 1))
        for t in range(self.rounds):
            nodes = self.branching**t
            touched = (rng.random((count, nodes)) < rng.uniform(0.05, 1.0, (count, 1)))[..., None]
            x = new.x[t]
            size = np.abs(x).max(axis=(1, 2), keepdims=True) + 1e-12
            noise = fine[..., None] * rng.standard_normal(x.shape)
            options = [
                x * np.exp(noise[..., :1]),  # scales of nodes
                x + noise * size,  # directions
                x * np.exp(fine[..., None] * rng.standard_normal((count, 1, 1))),  # the whole level
                x * (rng.random((count, nodes, 1)) < 0.7),  # stop at some nodes
                np.where(x == 0, size * rng.standard_normal(x.shape), x),  # start again
                f.features(rng, count * nodes, self.dim).reshape(x.shape),  # somewhere else
            ]
            chosen = np.choose(kind[..., None], options)
            new.x[t] = admitted(f, np.where(touched, chosen, x))
            redraw = touched[..., 0] & (rng.random((count, 1)) < 0.3)
            new.yhat[t] = np.where(redraw, f.plays(rng, new.x[t].reshape(-1, self.dim)).reshape(count, nodes), new.yhat[t])
            if self.general:
                a, b = self.increments((count, nodes))
                new.high[t], new.low[t] = np.where(redraw, a, new.high[t]), np.where(redraw, b, new.low[t])
        return new


def search(
    function: BurkholderFunction,
    rounds: int = 4,
    dim: int = 1,
    seconds: float = 2.0,
    seed: int = 0,
    general: bool | None = None,
    population: int = 64,
) -> Attack:
    """Look for a tree with E V > 0, for about `seconds`; `general` increments by default where the function is
    claimed for them (its tangent majorant holds for every mean-zero δ)."""
    if not 1 <= rounds <= (5 if function.in_expectation else 10):
        raise BadInput("rounds", rounds, "the search enumerates every path: give 1 to 10 rounds (5 with coins)")
    general = (TANGENT in function.structure) if general is None else general
    state = _Search(function, rounds, dim, general, seed)
    began = time.perf_counter()
    current = state.fresh(4 * population)
    score = state.evaluate(current)
    deadline = time.perf_counter() + seconds  # counted from here: the first evaluation may have had to compile
    while True:
        keep = np.argsort(score)[::-1][:population]
        current, score = current.take(keep), score[keep]
        if time.perf_counter() > deadline:
            break
        parents = current.take(state.rng.integers(0, population, 3 * population) % max(1, len(score)))
        others = state.changed(parents).join(state.fresh(max(1, population // 8)))
        score = np.concatenate([score, state.evaluate(others)])
        current = current.join(others)
    tree = current.tree(0, state.branching, general)
    return Attack(expectation(function, tree), tree, state.evaluations, time.perf_counter() - began)
