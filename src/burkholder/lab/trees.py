"""Predictable processes: trees of features, dyadic (Paley–Walsh) or with general mean-zero increments.

A node at depth t is a history of t branches. Branch 0 is the upper value of δ, branch 1 the lower one; functions that
draw a coin of their own branch four ways, 2·coin + δ. The features at a node are chosen before its branch is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from burkholder.errors import BadInput

Array = np.ndarray


@dataclass(frozen=True)
class Tree:
    """Features x (and plays ŷ, 0 unless given) at every node, with the law of δ.

    `features[t]` has shape (branching^t, dim). Dyadic when `high` and `low` are None: δ = ±L with a fair sign.
    Otherwise δ = high with probability low/(low+high), else −low: arrays of shape (branching^t,) a level, so
    every mean-zero increment with two values can be written. Nodes with high = low = 0 stand still.

    >>> tree = constant([1.0], rounds=3)
    >>> tree.rounds, tree.dim, tree.features[2].shape
    (3, 1, (4, 1))
    """

    features: tuple[Array, ...]
    plays: tuple[Array, ...] | None = None
    high: tuple[Array, ...] | None = field(default=None)
    low: tuple[Array, ...] | None = field(default=None)
    branching: int = 2

    def __post_init__(self) -> None:
        if self.branching not in (2, 4):
            raise BadInput("branching", self.branching, "use 2 (δ alone) or 4 (δ and a coin)")
        if not self.features:
            raise BadInput("features", self.features, "give at least one level")
        for t, level in enumerate(self.features):
            if level.ndim != 2 or level.shape[0] != self.branching**t:
                raise BadInput(f"features[{t}]", level.shape, f"give {self.branching**t} rows of features")
            if not np.all(np.isfinite(level)):
                raise BadInput(f"features[{t}]", "a value that is not finite", "give finite features")
        if (self.high is None) != (self.low is None):
            raise BadInput("high", self.high, "give both high and low, or neither")
        if self.high is not None and self.low is not None:
            for t, (up, down) in enumerate(zip(self.high, self.low)):
                if up.shape != (self.branching**t,) or np.any(up < 0) or np.any((up == 0) != (down == 0)):
                    raise BadInput(f"high[{t}]", up, "give positive values, or zero for both high and low")

    @property
    def rounds(self) -> int:
        return len(self.features)

    @property
    def dim(self) -> int:
        return int(self.features[0].shape[1])

    def play(self, t: int, nodes: slice | Array) -> Array:
        """ŷ at nodes of a level."""
        if self.plays is None:
            return np.zeros(len(self.features[t][nodes]))
        return self.plays[t][nodes]

    def branches(self, t: int, nodes: slice | Array, lipschitz: float) -> tuple[Array, Array]:
        """δ and probability of every branch of the nodes: arrays of shape (nodes, branching)."""
        count = len(self.features[t][nodes])
        if self.high is None or self.low is None:
            up = down = np.full(count, lipschitz)
        else:
            up, down = self.high[t][nodes], self.low[t][nodes]
        total = up + down
        chance = np.divide(down, total, out=np.full(count, 0.5), where=total > 0)
        delta, weight = np.stack([up, -down], axis=1), np.stack([chance, 1 - chance], axis=1)
        if self.branching == 4:
            return np.tile(delta, (1, 2)), np.tile(weight, (1, 2)) / 2
        return delta, weight

    def coins(self) -> Array:
        """The learner's own sign on every branch."""
        return np.array([1.0, 1.0, -1.0, -1.0]) if self.branching == 4 else np.array([1.0, 1.0])


def constant(x: Sequence[float] | Array, rounds: int, branching: int = 2) -> Tree:
    """The same features at every node."""
    row = np.atleast_1d(np.asarray(x, float))
    return Tree(tuple(np.tile(row, (branching**t, 1)) for t in range(_rounds(rounds))), branching=branching)


def sequence(x: Array, branching: int = 2) -> Tree:
    """Features that depend on time alone: one row a round."""
    rows = np.atleast_2d(np.asarray(x, float))
    return Tree(tuple(np.tile(row, (branching**t, 1)) for t, row in enumerate(rows)), branching=branching)


def from_process(process: Callable[[Array], Array], rounds: int, branching: int = 2) -> Tree:
    """The tree of a process: `process(history)` maps signs of shape (nodes, t) to features (nodes, dim).

    >>> grows = from_process(lambda signs: 1.0 + np.abs(signs.sum(1, keepdims=True)), rounds=3)
    >>> grows.features[2].ravel()
    array([3., 1., 1., 3.])
    """
    levels = [np.asarray(process(histories(t, branching)), float) for t in range(_rounds(rounds))]
    return Tree(tuple(levels), branching=branching)


def histories(t: int, branching: int = 2) -> Array:
    """The signs of δ on the way to every node of depth t, shape (branching^t, t)."""
    nodes = np.arange(branching**t)[:, None]
    digits = (nodes // branching ** np.arange(t - 1, -1, -1)[None, :]) % branching
    return 1.0 - 2.0 * (digits % 2)


def random(rng: np.random.Generator, rounds: int, dim: int, branching: int = 2, general: bool = False, lipschitz: float = 1.0) -> Tree:
    """Independent features of several scales at every node; general ones with lopsided increments."""
    levels, high, low = [], [], []
    for t in range(_rounds(rounds)):
        nodes = branching**t
        levels.append(rng.standard_normal((nodes, dim)) * 10.0 ** rng.uniform(-1, 1, (nodes, 1)))
        small = lipschitz * 10.0 ** rng.uniform(-2, 0, nodes)
        upper = rng.random(nodes) < 0.5
        high.append(np.where(upper, small, lipschitz))
        low.append(np.where(upper, lipschitz, small))
    if general:
        return Tree(tuple(levels), None, tuple(high), tuple(low), branching)
    return Tree(tuple(levels), branching=branching)


def _rounds(rounds: int) -> int:
    if not isinstance(rounds, (int, np.integer)) or not 1 <= rounds <= 24:
        raise BadInput("rounds", rounds, "give between 1 and 24 rounds; use monte_carlo for longer ones")
    return int(rounds)
