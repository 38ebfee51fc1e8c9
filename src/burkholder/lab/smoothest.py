"""ex:smoothness for any norm of the plane: the smallest U(·, 0) ≥ ‖·‖² that is smooth with a constant C, and its dual.

E‖Σεx‖² ≤ C·E Σ‖x‖² holds for every predictable process exactly when some U ≥ ‖·‖² has

    ½[U(x+h) + U(x−h)] ≤ U(x) + C‖h‖²   for all x, h.

Among such U there is a least one (the property survives a minimum), homogeneous of degree 2 and even like the norm, so it is r²u(φ):
numbers u at angles φ, found by a linear program, C first and then u. Its dual U*(w) = sup ⟨w,x⟩ − U(x) is strongly convex in the dual
norm: the regulariser of mirror descent for this norm. Between the grid's angles u is a cubic spline: what `excess` finds there says
how far the grid may be from the truth, and nothing here is a proof.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from burkholder.errors import BadInput

Norm = Callable[[np.ndarray], np.ndarray]
SIZES = np.geomspace(0.02, 20.0, 25)  # of h, beside |x| = 1


@dataclass(frozen=True)
class Smoothest:
    """U(·, 0) of a norm: `value`, its dual `regulariser`, and the smoothness `constant` it was found for."""

    constant: float
    angles: np.ndarray = field(repr=False)
    heights: np.ndarray = field(repr=False)
    norm: Norm = field(repr=False)

    def value(self, x: Any) -> np.ndarray:
        """U(x, 0)."""
        return _weights(np.asarray(x, float), len(self.angles)) @ self.heights

    def regulariser(self, w: Any) -> np.ndarray:
        """U*(w) = sup over x of ⟨w, x⟩ − U(x): 1/(4u) times the square of ⟨w, direction⟩, at the best direction."""
        fine = np.arange(64 * len(self.angles)) * np.pi / (64 * len(self.angles))
        directions = np.stack([np.cos(fine), np.sin(fine)], axis=-1)
        along = np.asarray(w, float) @ directions.T
        return np.max(along * along / (4.0 * self.value(directions)), axis=-1)

    def excess(self, count: int = 20_000, seed: int = 0) -> float:
        """The largest violation of smoothness found at random x and h, relative to C‖h‖²."""
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((count, 2))
        h = rng.standard_normal((count, 2)) * 10.0 ** rng.uniform(-1.0, 1.0, (count, 1))
        rise = (self.value(x + h) + self.value(x - h)) / 2 - self.value(x)
        return float(np.max(rise / (self.constant * np.square(self.norm(h))) - 1.0))


def _weights(x: np.ndarray, count: int) -> np.ndarray:
    """Rows that give U at points from its heights at the grid's angles: |x|² times a periodic cubic spline in the angle."""
    from scipy.interpolate import CubicSpline

    knots = np.arange(count + 1) * np.pi / count
    through = CubicSpline(knots, np.eye(count)[np.arange(count + 1) % count], bc_type="periodic")
    angle = np.mod(np.arctan2(x[..., 1], x[..., 0]), np.pi)
    return np.square(x).sum(-1)[..., None] * through(angle)


def smoothest(norm: Norm, constant: float | None = None, grid: int = 32) -> Smoothest:
    """The smallest smooth majorant of ‖·‖² in the plane, for a constant C or for the least C that has one.

    >>> round(smoothest(lambda x: np.sqrt(np.square(x).sum(-1))).constant, 6)  # Euclidean: U = ‖x‖², C = 1
    1.0
    >>> l4 = smoothest(lambda x: (x**4).sum(-1) ** 0.25)
    >>> 1.0 <= l4.constant <= 3.0  # the one-step constant p − 1 = 3 is for U = ‖x‖²; √2 suffices for a better U in the plane
    True
    """
    from scipy.optimize import linprog

    if not 8 <= grid <= 400 or grid % 4:
        raise BadInput("grid", grid, "give a multiple of 4 from 8 to 400")
    angles = np.arange(grid) * np.pi / grid
    x = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    sizes = np.asarray(norm(x), float)
    if sizes.shape != (grid,) or not (np.isfinite(sizes) & (sizes > 0)).all() or not np.allclose(norm(-3 * x), 3 * sizes, rtol=1e-9):
        raise BadInput("norm", norm, "give a norm of points (…, 2): positive, and ‖−3x‖ = 3‖x‖")
    start = np.repeat(x, grid * len(SIZES), axis=0)
    step = np.tile((SIZES[:, None, None] * x[None]).reshape(-1, 2), (grid, 1))
    weight = np.square(np.asarray(norm(step), float))
    rises = (_weights(start + step, grid) + _weights(start - step, grid)) / 2 - _weights(start, grid)
    scale = 1.0 / weight[:, None]
    table = np.hstack([rises * scale, -np.ones((len(rises), 1))])  # (mean − U)/‖h‖² ≤ C
    fine = np.arange(4 * grid) * np.pi / (4 * grid)
    places = np.stack([np.cos(fine), np.sin(fine)], axis=-1)
    above, squares = -_weights(places, grid), -np.square(np.asarray(norm(places), float))  # U ≥ ‖·‖²
    limits = [(0.0, None)] * grid
    cost = np.zeros(grid + 1)
    cost[-1] = 1.0
    whole = np.vstack([table, np.hstack([above, np.zeros((len(above), 1))])])
    found = linprog(cost, whole, np.concatenate([np.zeros(len(table)), squares]), bounds=[*limits, (0.0, None)], method="highs")
    if found.status != 0:
        raise ArithmeticError(f"the linear program failed: {found.message}")
    least = float(found.x[-1])
    if constant is not None and constant < least:
        raise BadInput("constant", constant, f"no U is that smooth for this norm: the least constant on this grid is {least:.6g}")
    chosen = least * (1 + 1e-7) if constant is None else float(constant)
    low = linprog(np.ones(grid), whole[:, :-1], np.concatenate([np.full(len(table), chosen), squares]), bounds=limits, method="highs")
    if low.status != 0:
        raise ArithmeticError(f"the linear program failed: {low.message}")
    return Smoothest(chosen, angles, low.x, norm)
