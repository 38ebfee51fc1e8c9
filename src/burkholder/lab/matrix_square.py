"""The matrix square-function inequality (`corr:matrix_square`) over matrix-valued trees.

E‖Σε_tX_t‖_σ ≤ sqrt(2·E max{‖ΣX_tX_tᵀ‖_σ, ‖ΣX_tᵀX_t‖_σ}·ln(d1+d2)) for every predictable X.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import positive
from burkholder.functions.plain import PlainFunction
from burkholder.lab.adversary import search
from burkholder.lab.expectation import expectation
from burkholder.lab.optimal import Optimal, equivalence
from burkholder.lab.trees import Tree


@dataclass(frozen=True)
class MatrixSquare:
    """Both sides of the inequality on one tree, exactly; `ratio` ≤ 1 is what the corollary says."""

    left: float  # E‖ΣεX‖
    square: float  # E max(‖ΣXXᵀ‖, ‖ΣXᵀX‖)
    right: float
    paths: int

    @property
    def ratio(self) -> float:
        return self.left / self.right if self.right > 0 else 0.0

    @property
    def holds(self) -> bool:
        return self.left <= self.right * (1 + 1e-12)

    def to_dict(self) -> dict[str, Any]:
        return {
            "left": self.left,
            "square": self.square,
            "right": self.right,
            "ratio": self.ratio,
            "holds": self.holds,
            "paths": self.paths,
        }


def _state(shape: tuple[int, int], rate: float = 1.0) -> PlainFunction:
    """ΣεX, ΣXXᵀ and ΣXᵀX as a statistic; its V at a rate η is ‖ΣεX‖ − ½η‖ΣM‖ − ln(D)/η."""
    d1, d2 = shape

    def zero(dim: int) -> tuple[np.ndarray, ...]:
        return np.zeros((d1, d2)), np.zeros((d1, d1)), np.zeros((d2, d2))

    def statistic(x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> tuple[np.ndarray, ...]:
        big = x.reshape(*x.shape[:-1], d1, d2)
        turned = np.swapaxes(big, -1, -2)
        return delta[..., None, None] * big, big @ turned, turned @ big

    def target(tau: tuple[np.ndarray, ...]) -> np.ndarray:
        return norm(tau) - 0.5 * rate * squared(tau) - math.log(d1 + d2) / rate

    return PlainFunction(f"matrix square function {d1}×{d2}", zero, target, statistic)


def norm(tau: tuple[np.ndarray, ...]) -> np.ndarray:
    """‖ΣεX‖_σ."""
    return np.linalg.norm(tau[0], 2, axis=(-2, -1))


def squared(tau: tuple[np.ndarray, ...]) -> np.ndarray:
    """max{‖ΣXXᵀ‖, ‖ΣXᵀX‖}."""
    return np.maximum(np.linalg.eigvalsh(tau[1])[..., -1], np.linalg.eigvalsh(tau[2])[..., -1])


def matrix_square(tree: Tree, shape: tuple[int, int]) -> MatrixSquare:
    """Both sides on a tree whose features are flattened matrices of that shape.

    >>> from burkholder.lab.trees import constant
    >>> found = matrix_square(constant([1.0, 0.0, 0.0, 1.0], rounds=4), (2, 2))
    >>> round(found.left, 4), round(found.right, 4), found.holds  # E|ε₁+…+ε₄| = 1.5
    (1.5, 3.3302, True)
    """
    if len(shape) != 2 or tree.dim != shape[0] * shape[1]:
        raise BadInput("shape", shape, f"the tree's features have {tree.dim} entries")
    if tree.high is not None or tree.branching != 2:
        raise BadInput("tree", "general increments", "the corollary is about fair signs: give a dyadic tree")
    state = _state(shape)
    left = expectation(state, tree, norm)
    square = expectation(state, tree, squared)
    right = math.sqrt(2 * square.value * math.log(sum(shape)))
    return MatrixSquare(left.value, square.value, right, left.paths)


def hardest(shape: tuple[int, int], rounds: int = 4, seconds: float = 2.0, seed: int = 0) -> tuple[MatrixSquare, Tree]:
    """The tree with the largest ratio found: E V is searched at the rate that suits unit matrices."""
    rate = math.sqrt(2 * math.log(sum(shape)) / rounds)
    found = search(_state(shape, rate), rounds, shape[0] * shape[1], seconds, seed, general=False)
    return matrix_square(found.tree, shape), found.tree


class MatrixEquivalence(NamedTuple):
    """The three statements of the paper's example on matrix prediction, on one finite game, as the least c that makes each true.

    `regret` is the least c for which a learner has the bound ½η‖ΣM‖ + c/η, `martingale` that of E‖ΣεX‖ ≤ ½η·E‖ΣM‖ + c/η, and
    `function` that for which U with 1°, 2°, 3° exists: η·U(0) of the optimal U of c = 0. `optimal` is that U at its least c, for
    `verify` to examine; `promised` is ln(d1+d2), for which the paper gives a U that can be evaluated.
    """

    regret: float
    martingale: float
    function: float
    promised: float
    optimal: Optimal

    @property
    def agree(self) -> bool:
        """Whether the three least constants are one number, up to rounding."""
        return max(self.regret, self.martingale, self.function) - min(self.regret, self.martingale, self.function) <= 1e-9


def matrix_equivalence(shape: tuple[int, int], rate: float = 0.5, rounds: int = 5, features: Any = None) -> MatrixEquivalence:
    """Regret bound ⇔ martingale inequality ⇔ U, side by side; the features are the single entries e_i e_jᵀ unless given.

    >>> found = matrix_equivalence((2, 2), rounds=4)
    >>> found.agree, 0 < found.martingale < found.promised
    (True, True)
    """
    d1, d2 = shape
    positive("rate", rate)
    rows = np.eye(d1 * d2) if features is None else np.asarray(features, float)
    if rows.ndim != 2 or rows.shape[1] != d1 * d2:
        raise BadInput("features", rows.shape, f"give rows of {d1 * d2} entries, one flattened matrix each")
    if np.linalg.norm(rows.reshape(-1, d1, d2), 2, axis=(-2, -1)).max() > 1 + 1e-12:
        raise BadInput("features", float(np.abs(rows).max()), "a comparator predicts within [-1, 1] only where ‖X‖ ≤ 1")
    state = _state(shape)

    def value(tau: tuple[np.ndarray, ...]) -> np.ndarray:
        return tau[0] + norm(tau[1:]) - 0.5 * rate * squared(tau[1:])

    pair = PlainFunction(
        f"matrix prediction {d1}×{d2}",
        lambda dim: (np.zeros(()), *state.zero(dim)),
        value,
        lambda x, yhat, delta: (delta * yhat, *state.statistic(x, yhat, delta)),
    )
    found = equivalence(pair, rows, rounds)
    game, martingale, function = (rate * float(number) for number in (found.game, found.martingale, found.optimal.price))
    return MatrixEquivalence(game, martingale, function, math.log(d1 + d2), found.optimal.shifted())
