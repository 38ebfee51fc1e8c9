"""Expectations along martingales: exactly over every path of a tree, or by Monte Carlo with an interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.lab.trees import Tree

MOST_PATHS = 2**21
BLOCK = 2**22  # floats of state handled at once


@dataclass(frozen=True)
class Expectation:
    """E V with an interval; for an exact one the interval is an estimate of rounding alone."""

    value: float
    low: float
    high: float
    paths: int
    method: str  # "exact", "normal" or "empirical Bernstein"
    confidence: float
    magnitude: float  # mean size of the terms: what rounding is relative to

    @property
    def exact(self) -> bool:
        return self.method == "exact"

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "paths": self.paths,
            "method": self.method,
            "confidence": self.confidence,
        }


def leaves(function: BurkholderFunction, tree: Tree) -> Iterator[tuple[Tau, np.ndarray]]:
    """Final states of every path and their probabilities, in blocks that fit in memory."""
    check_coins(function, tree)
    if tree.branching**tree.rounds > MOST_PATHS:
        raise BadInput("rounds", tree.rounds, f"at most {MOST_PATHS} paths are enumerated; use monte_carlo")
    root = tuple(np.asarray(part, float)[None] for part in function.zero(tree.dim))
    size = max(1, sum(part.size for part in root))
    yield from _below(function, tree, 0, 0, root, np.ones(1), size)


def _below(
    function: BurkholderFunction, tree: Tree, t: int, first: int, tau: Tau, weight: np.ndarray, size: int
) -> Iterator[tuple[Tau, np.ndarray]]:
    """Advance the nodes first, first+1, … of level t together while they fit; otherwise one half at a time."""
    while t < tree.rounds:
        count = len(weight)
        if count > 1 and count * size * tree.branching > BLOCK:
            middle = count // 2
            for start, stop in ((0, middle), (middle, count)):
                part = tuple(piece[start:stop] for piece in tau)
                yield from _below(function, tree, t, first + start, part, weight[start:stop], size)
            return
        tau, weight = step(function, tree, t, slice(first, first + count), tau, weight)
        first, t = first * tree.branching, t + 1
    yield tau, weight


def step(function: BurkholderFunction, tree: Tree, t: int, nodes: slice, tau: Tau, weight: np.ndarray) -> tuple[Tau, np.ndarray]:
    """One level down: every node becomes its branches."""
    b = tree.branching
    x, yhat = np.repeat(tree.features[t][nodes], b, axis=0), np.repeat(tree.play(t, nodes), b)
    delta, chance = tree.branches(t, nodes, function.lipschitz)
    before = tuple(np.repeat(part, b, axis=0) for part in tau)
    after = advance(function, before, x, yhat, delta.ravel(), np.tile(tree.coins(), len(weight)))
    return after, (weight[:, None] * chance).ravel()


def advance(function: BurkholderFunction, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray, coin: np.ndarray) -> Tau:
    """The next state, with the learner's own coin for functions that draw one."""
    if function.in_expectation:
        return function.advance(tau, x, yhat, delta, coin)  # type: ignore[call-arg]
    return function.advance(tau, x, yhat, delta)


def check_coins(function: BurkholderFunction, tree: Tree) -> None:
    """A function with coins of its own needs a tree that branches on them."""
    if function.in_expectation != (tree.branching == 4):
        need = 4 if function.in_expectation else 2
        raise BadInput("branching", tree.branching, f"{function.name} needs a tree with branching {need}")


def expectation(function: BurkholderFunction, tree: Tree, of: Callable[[Tau], Any] | None = None) -> Expectation:
    """E V(ζ_n) over every path of the tree, or of another function of the final state.

    >>> from burkholder.functions.registry import get
    >>> from burkholder.lab.trees import constant
    >>> found = expectation(get("square-function-paper"), constant([1.0], rounds=2))
    >>> round(found.value, 6)  # E|ε₁+ε₂| − 2√2
    -1.828427
    """
    sums: list[float] = []
    sizes: list[float] = []
    noises: list[float] = []
    measure = of or function.target
    for tau, weight in leaves(function, tree):
        values = np.asarray(measure(tau), float)
        if values.shape != weight.shape:
            raise BadInput("of", values.shape, f"return one number a path, shape {weight.shape}")
        live = weight > 0
        if np.any(np.isnan(values[live])):
            raise BadInput("of", "NaN", f"{function.name} is not a number on some path of this tree")
        sums.append(float(np.sum(weight[live] * values[live])))
        sizes.append(float(np.sum(weight[live] * np.maximum(np.abs(values), function.magnitude(tau))[live])))
        noises.append(float(np.sum((weight * _noise(measure, tau, values, tree.rounds))[live])))
    value, size = math.fsum(sums), math.fsum(sizes)
    slack = 1e-13 * tree.rounds * size + math.fsum(noises)
    return Expectation(value, value - slack, value + slack, tree.branching**tree.rounds, "exact", 1.0, size)


def _noise(measure: Callable[[Tau], Any], tau: Tau, values: np.ndarray, rounds: int) -> np.ndarray:
    """How far V moves when the state moves by its own rounding error: what cancellation inside V can hide."""
    rng = np.random.default_rng(0)
    error = 4 * (rounds + 1) * np.finfo(float).eps
    with np.errstate(all="ignore"):
        # whole numbers are exact, and may be clocks that count rounds
        moved = tuple(part * (1 + error * rng.choice([-1.0, 1.0], np.shape(part)) * (part != np.rint(part))) for part in tau)
        change = 4 * np.abs(np.asarray(measure(moved), float) - values)
    return np.where(np.isfinite(change), change, 0.0)


Process = Callable[[np.ndarray, Tau], np.ndarray]


def monte_carlo(
    function: BurkholderFunction,
    process: Process,
    rounds: int,
    paths: int = 20_000,
    seed: int = 0,
    confidence: float = 0.99,
    span: tuple[float, float] | None = None,
) -> Expectation:
    """E V along a process, from independent paths with fair signs δ = ±L.

    `process(signs, tau)` sees the signs so far, shape (paths, t), and the state, and returns features (paths, dim).
    The interval is the normal one (Student's t), asymptotic; with `span` = (least, largest possible V) it is the
    empirical Bernstein interval of Maurer and Pontil, valid for every number of paths.
    """
    if paths < 2 or not 0 < confidence < 1 or rounds < 1:
        raise BadInput("paths", paths, "give at least two paths, one round and 0 < confidence < 1")
    rng = np.random.default_rng(seed)
    signs = np.zeros((paths, 0))
    tau: Tau | None = None
    for _ in range(rounds):
        if tau is None:
            dim = np.asarray(process(signs, ())).shape[-1]
            tau = tuple(np.broadcast_to(part, (paths, *np.shape(part))).copy() for part in function.zero(dim))
        x = np.asarray(process(signs, tau), float)
        new = rng.choice([-1.0, 1.0], paths)
        tau = advance(function, tau, x, np.zeros(paths), new * function.lipschitz, rng.choice([-1.0, 1.0], paths))
        signs = np.column_stack([signs, new])
    assert tau is not None
    values = np.asarray(function.target(tau), float)
    return interval(values, confidence, span, float(np.mean(function.magnitude(tau))))


def interval(values: np.ndarray, confidence: float, span: tuple[float, float] | None = None, magnitude: float = 0.0) -> Expectation:
    """The mean of independent values with a two-sided interval."""
    n, mean, deviation = len(values), float(np.mean(values)), float(np.std(values, ddof=1))
    if span is None:
        from scipy.stats import t

        half, method = float(t.ppf(0.5 + confidence / 2, n - 1)) * deviation / math.sqrt(n), "normal"
    else:
        low, high = span
        if np.any(values < low) or np.any(values > high):
            raise BadInput("span", span, f"values from {values.min():.4g} to {values.max():.4g} were seen")
        # Maurer and Pontil 2009, theorem 4, on each side with half the failure probability.
        log = math.log(4 / (1 - confidence))
        half = deviation * math.sqrt(2 * log / n) + 7 * (high - low) * log / (3 * (n - 1))
        method = "empirical Bernstein"
    return Expectation(mean, mean - half, mean + half, n, method, confidence, magnitude)
