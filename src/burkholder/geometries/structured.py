"""Norms with structure: Mahalanobis, groups, and the Schatten norms of matrices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from burkholder.errors import BadInput
from burkholder.geometries.base import conjugate, power_gradient, power_norm


@dataclass(frozen=True, eq=False)
class Mahalanobis:
    """√(xᵀQx) for a positive definite Q: an inner-product norm, smoothness 1, dual √(wᵀQ⁻¹w).

    Coordinates beyond the matrix are measured as they are (Q goes on as the identity).

    >>> float(Mahalanobis(np.diag([4.0, 1.0])).size(np.array([1.0, 0.0])))
    2.0
    """

    matrix: np.ndarray
    factor: np.ndarray = field(init=False, repr=False)
    dual_name: ClassVar[str] = "√(wᵀQ⁻¹w)"
    dimension: ClassVar[None] = None

    @property
    def longest_side(self) -> float:
        return float(np.sqrt(max(1.0, np.max(np.diagonal(self.matrix)))))

    def _factor(self, dim: int) -> np.ndarray:
        """The triangular factor for that many coordinates: its corner, or itself with 1s behind."""
        known = len(self.factor)
        if dim <= known:
            return self.factor[:dim, :dim]
        whole = np.eye(dim)
        whole[:known, :known] = self.factor
        return whole

    def __post_init__(self) -> None:
        q = np.asarray(self.matrix, float)
        if q.ndim != 2 or q.shape[0] != q.shape[1] or not np.allclose(q, q.T, rtol=1e-12, atol=0.0):
            raise BadInput("matrix", self.matrix, "give a symmetric square matrix")
        try:
            object.__setattr__(self, "factor", np.linalg.cholesky(q))
        except np.linalg.LinAlgError:
            raise BadInput("matrix", self.matrix, "give a positive definite matrix") from None

    @property
    def smoothness(self) -> float:
        return 1.0

    def norm(self, g: np.ndarray) -> np.ndarray:
        return power_norm(g @ self._factor(g.shape[-1]), 2.0)

    size = norm

    def dual(self, w: np.ndarray) -> np.ndarray:
        w = np.asarray(w, float)
        flat = np.linalg.solve(self._factor(w.shape[-1]), w.reshape(-1, w.shape[-1]).T).T
        return power_norm(flat.reshape(w.shape), 2.0)

    def gradient(self, g: np.ndarray) -> np.ndarray:
        factor = self._factor(g.shape[-1])
        return power_gradient(g @ factor, 2.0) @ factor.T


@dataclass(frozen=True)
class Group:
    """l_p over groups of the l_q norm within each: smoothness max(p, q) − 1, p, q ≥ 2.

    With n_j = ‖g_j‖_q, c_j = (n_j/‖g‖)^{p−2} and w = (|g_i|/n_j)^{q−2} inside group j, the second derivative of ½‖·‖²
    along h is at most Σ_j c_j[(p−q)·ṅ_j² + (q−1)Σ_i w_i h_i²], and ṅ_j² ≤ Σ_i w_i h_i² ≤ ‖h_j‖_q², Σ_j c_j‖h_j‖_q² ≤ ‖h‖².
    `groups` lists the indices of each group; together they name every coordinate once. Coordinates beyond them are
    groups of their own.

    >>> float(Group(((0, 1), (2,)), p=2.0, q=2.0).norm(np.array([3.0, 4.0, 12.0])))
    13.0
    """

    groups: tuple[tuple[int, ...], ...]
    p: float = 2.0
    q: float = 2.0
    dual_name: ClassVar[str] = "the dual group norm of w"
    longest_side: ClassVar[float] = 1.0
    dimension: ClassVar[None] = None

    def __post_init__(self) -> None:
        for name, number in (("p", self.p), ("q", self.q)):
            if not 2.0 <= number < np.inf:
                raise BadInput(name, number, "group norms are smooth only for 2 ≤ p, q < ∞")
        named = sorted(i for group in self.groups for i in group)
        if named != list(range(len(named))) or not named:
            raise BadInput("groups", self.groups, "name every coordinate 0, 1, … in exactly one group")

    @property
    def smoothness(self) -> float:
        return max(self.p, self.q) - 1.0

    def _parts(self, g: np.ndarray, q: float) -> np.ndarray:
        return np.stack([power_norm(g[..., group], q) for group in self._groups(g.shape[-1])], axis=-1)

    def _groups(self, dim: int) -> list[list[int]]:
        """The groups of that many coordinates."""
        named = sum(map(len, self.groups))
        inside = [[i for i in group if i < dim] for group in self.groups]
        return [group for group in inside if group] + [[i] for i in range(named, dim)]

    def norm(self, g: np.ndarray) -> np.ndarray:
        return power_norm(self._parts(g, self.q), self.p)

    size = norm

    def dual(self, w: np.ndarray) -> np.ndarray:
        return power_norm(self._parts(np.asarray(w, float), conjugate(self.q)), conjugate(self.p))

    def gradient(self, g: np.ndarray) -> np.ndarray:
        outer = power_gradient(self._parts(g, self.q), self.p)
        out = np.zeros_like(g)
        for k, group in enumerate(self._groups(g.shape[-1])):
            out[..., group] = outer[..., k, None] * power_gradient(g[..., group], self.q)
        return out


@dataclass(frozen=True)
class Schatten:
    """The l_p norm of the singular values of a matrix, fed as its flattened entries: smoothness p − 1.

    >>> float(Schatten((2, 2)).norm(np.array([3.0, 0.0, 0.0, 4.0])))
    5.0
    """

    shape: tuple[int, int]
    p: float = 2.0
    dual_name: ClassVar[str] = "the dual Schatten norm of w"
    longest_side: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        if not 2.0 <= self.p < np.inf:
            raise BadInput("p", self.p, "Schatten norms are smooth only for 2 ≤ p < ∞")
        if min(self.shape) < 1:
            raise BadInput("shape", self.shape, "give two positive whole numbers")

    @property
    def dimension(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def smoothness(self) -> float:
        return self.p - 1.0

    def _matrix(self, g: np.ndarray) -> np.ndarray:
        return np.asarray(g, float).reshape(*g.shape[:-1], *self.shape)

    def norm(self, g: np.ndarray) -> np.ndarray:
        return power_norm(np.linalg.svd(self._matrix(g), compute_uv=False), self.p)

    size = norm

    def dual(self, w: np.ndarray) -> np.ndarray:
        return power_norm(np.linalg.svd(self._matrix(np.asarray(w, float)), compute_uv=False), conjugate(self.p))

    def gradient(self, g: np.ndarray) -> np.ndarray:
        left, values, right = np.linalg.svd(self._matrix(g), full_matrices=False)
        inner = (left * power_gradient(values, self.p)[..., None, :]) @ right
        return inner.reshape(g.shape)
