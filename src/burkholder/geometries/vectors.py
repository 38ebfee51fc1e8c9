"""l_p norms, p ≥ 2, and l_∞ through an l_p norm of large p."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.geometries.base import conjugate, power_gradient, power_norm
from burkholder.records import record


@record
class Coordinates(NamedTuple):
    """Every coordinate has its own scalar potential; comparators are measured coordinate by coordinate.

    >>> Coordinates().dual_name, Coordinates().longest_side
    ('|w_i|', 1.0)
    """

    @property
    def dual_name(self) -> str:
        return "|w_i|"

    @property
    def longest_side(self) -> float:
        return 1.0

    @property
    def dimension(self) -> int | None:
        return None

    @property
    def smoothness(self) -> float:
        return 1.0


@record
class Euclidean(NamedTuple):
    """l_2, its own dual, smoothness 1.

    >>> Euclidean().dual_name, float(Euclidean().dual(np.array([3.0, 4.0])))
    ('‖w‖₂', 5.0)
    """

    @property
    def dual_name(self) -> str:
        return "‖w‖₂"

    @property
    def longest_side(self) -> float:
        return 1.0

    @property
    def dimension(self) -> int | None:
        return None

    @property
    def smoothness(self) -> float:
        return 1.0

    def norm(self, g: np.ndarray) -> np.ndarray:
        return power_norm(g, 2.0)

    def size(self, x: np.ndarray) -> np.ndarray:
        return power_norm(x, 2.0)

    def dual(self, w: np.ndarray) -> np.ndarray:
        return power_norm(w, 2.0)

    def gradient(self, g: np.ndarray) -> np.ndarray:
        return power_gradient(g, 2.0)


@record
class PNorm(NamedTuple):
    """l_p for p ≥ 2: smoothness p − 1, dual l_{p/(p−1)}.

    >>> PNorm(4.0).smoothness, float(PNorm(4.0).norm(np.array([2.0, 0.0])))
    (3.0, 2.0)
    """

    p: float = 2.0

    @property
    def longest_side(self) -> float:
        return 1.0

    @property
    def dimension(self) -> int | None:
        return None

    @property
    def dual_name(self) -> str:
        return f"‖w‖_{conjugate(self.p):.4g}"

    @property
    def smoothness(self) -> float:
        return self.p - 1.0

    def norm(self, g: np.ndarray) -> np.ndarray:
        return power_norm(g, self.p)

    def size(self, x: np.ndarray) -> np.ndarray:
        return power_norm(x, self.p)

    def dual(self, w: np.ndarray) -> np.ndarray:
        return power_norm(w, conjugate(self.p))

    def gradient(self, g: np.ndarray) -> np.ndarray:
        return power_gradient(g, self.p)


@record
class Supremum(NamedTuple):
    """l_∞ features, l_1 comparators: ½‖·‖_p² with p = max(2, 2 ln d) is (p−1)·d^{2/p}-smooth for l_∞.

    >>> Supremum(100).dual_name, float(Supremum(100).dual(np.array([3.0, -4.0])))
    ('‖w‖₁', 7.0)
    """

    dim: int = 2

    @property
    def dual_name(self) -> str:
        return "‖w‖₁"

    @property
    def longest_side(self) -> float:
        return 1.0

    @property
    def dimension(self) -> int:
        return self.dim

    @property
    def p(self) -> float:
        return max(2.0, 2.0 * math.log(self.dim))

    @property
    def smoothness(self) -> float:
        return (self.p - 1.0) * self.dim ** (2.0 / self.p)

    def norm(self, g: np.ndarray) -> np.ndarray:
        return power_norm(g, self.p)

    def size(self, x: np.ndarray) -> np.ndarray:
        return power_norm(x, math.inf)

    def dual(self, w: np.ndarray) -> np.ndarray:
        return power_norm(w, 1.0)

    def gradient(self, g: np.ndarray) -> np.ndarray:
        return power_gradient(g, self.p)


def check(geometry: object) -> None:
    """Refuse a geometry whose half square is not smooth."""
    if isinstance(geometry, PNorm) and not (2.0 <= geometry.p < math.inf):
        raise BadInput("p", geometry.p, "l_p is smooth only for 2 ≤ p < ∞; for l_∞ use Supremum(dim)")
    if isinstance(geometry, Supremum) and not (geometry.dim == int(geometry.dim) and geometry.dim >= 1):
        raise BadInput("dim", geometry.dim, "give the number of features, a whole number ≥ 1")
