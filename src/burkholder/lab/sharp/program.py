"""The linear program behind a sharp constant: U = (x+y)^p·g(x/(x+y)), g a cubic spline.

Minimise C subject to U ≥ V_C and to restricted concavity along the moves, imposed on a (t, d) grid and
refined by cutting planes. Its value is an estimate, neither an upper nor a lower bound: the certificates in
the other modules start from it and stand on their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

from .problems import Problem

DEGREE = 3


@dataclass(frozen=True)
class Solution:
    """What the program found: the constant on p-th powers, the spline, and where V changes sign."""

    problem: Problem
    power: float
    spline: BSpline
    rounds: int
    constraints: int

    @property
    def zero(self) -> float:
        """The ratio x/y where V = 0: near it U and V meet at the sharp constant."""
        ratio = self.power ** (1 / self.problem.p)
        return 1 / ratio if self.problem.reverse else ratio

    def value(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """U at a state."""
        scale = x + y
        return scale**self.problem.p * self.spline(np.divide(x, scale, out=np.zeros_like(scale), where=scale > 0))


class _Rows:
    """Constraint rows over the spline coefficients and C (last column), all of the form row·v ≤ rhs."""

    def __init__(self, problem: Problem, knots: np.ndarray) -> None:
        self.problem, self.knots = problem, knots
        self.size = len(knots) - DEGREE - 1

    def design(self, t: np.ndarray, derivative: bool = False) -> np.ndarray:
        if not derivative:
            return BSpline.design_matrix(np.clip(t, 0, 1), self.knots, DEGREE).toarray()
        basis = BSpline(self.knots, np.eye(self.size), DEGREE).derivative()
        return basis(np.clip(t, 0, 1))

    def value(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        scale = x + y
        t = np.divide(x, scale, out=np.zeros_like(scale), where=scale > 0)
        return self.design(t) * (scale**self.problem.p)[:, None]

    def majorisation(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        left, right = self.problem.majorant(t, 1 - t)
        return np.column_stack([-self.design(t), -right]), -left

    def concavity(self, t: np.ndarray, d: np.ndarray, kind: np.ndarray) -> np.ndarray:
        """Rows of E U(after a move of size d from t) − U ≤ 0, scaled to order one."""
        p, moves = self.problem.p, self.problem.moves
        x, y, here = t, 1 - t, self.design(t)
        if moves == "general":
            slope = p * here + (1 - t)[:, None] * self.design(t, derivative=True)
            rows = self.value(np.abs(x + d), np.hypot(y, d)) - here - d[:, None] * slope
        elif moves == "dyadic":
            after = np.hypot(y, d)
            rows = (self.value(np.abs(x + d), after) + self.value(np.abs(x - d), after)) / 2 - here
        elif moves == "transform":
            rows = (self.value(np.abs(x + d), np.abs(y + kind * d)) + self.value(np.abs(x - d), np.abs(y - kind * d))) / 2 - here
        else:
            rows = sum((self.value(np.abs(x + a * d), np.abs(y + b * d)) for a in (-1, 1) for b in (-1, 1)), np.zeros_like(here)) / 4 - here
        weight = d**2 / (1 + np.abs(d)) ** (2 - p) if p < 2 else d**2 * (1 + np.abs(d)) ** (p - 2)
        return np.column_stack([rows / weight[:, None], np.zeros(len(t))])


def _graded(points: int) -> np.ndarray:
    """Points of [0, 1], denser at both ends, where the extremal martingales of large p live."""
    return (1 - np.cos(np.pi * np.linspace(0, 1, points))) / 2


def _candidates(problem: Problem, points: int, sizes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The (t, d, kind) grid: t denser at the ends, d geometric up to a huge jump."""
    t = _graded(points)
    # Jumps of the order of the state decide the constant; tiny and huge ones must be there, not dense.
    least = 1e-4 if problem.moves == "general" else 1e-3  # d² must stay well above the rounding of U
    d = np.concatenate([np.geomspace(least, 0.05, sizes // 4)[:-1], np.geomspace(0.05, 10, sizes), np.geomspace(10, 1e3, sizes // 6)[1:]])
    if problem.moves == "general":
        d = np.concatenate([-d, d])
    kinds = np.array([-1.0, 1.0]) if problem.moves == "transform" else np.array([1.0])
    where, size, kind = np.meshgrid(t, d, kinds, indexing="ij")
    # Neighbouring t see jumps shifted by a fraction of the grid's ratio: together they see all sizes.
    shift = (np.arange(points) * 0.6180339887) % 1 - 0.5
    size = size * (200 ** (1 / (sizes - 1))) ** shift[:, None, None]
    return where.ravel(), size.ravel(), kind.ravel()


def solve(problem: Problem, pieces: int = 72, rounds: int = 30) -> Solution:
    """Solve by cutting planes: start from a coarse grid, add the most violated rows of a fine one."""
    inner = _graded(pieces + 1)
    knots = np.concatenate([np.zeros(DEGREE), inner, np.ones(DEGREE)])
    rows = _Rows(problem, knots)
    t_check = _graded(12 * pieces + 1)
    major, limit = rows.majorisation(t_check)
    start = np.zeros((1, rows.size + 1))
    start[0, :-1] = rows.design(np.array([0.5]))[0]  # the first step lands on x = y: U(1, 1) ≤ 0
    fixed = csr_array(np.vstack([major, start]))
    rhs = np.append(limit, 0.0)
    t, d, kind = _candidates(problem, 6 * pieces + 1, 72)
    fine = csr_array(rows.concavity(t, d, kind))
    chosen = np.zeros(len(t), dtype=bool)
    chosen[:: max(1, len(t) // 3000)] = True
    # Among the many optimal U, lean to the least one: it is the value of the game.
    cost = np.append(1e-6 * rows.design(t_check).mean(axis=0), 1.0)
    bounds = [(-1e4, 1e4)] * rows.size + [(0, 1e4)]
    x = np.zeros(rows.size + 1)
    done, before, still = 0, -np.inf, 0
    while done < rounds:
        done += 1
        a_ub = vstack([fixed, fine[np.flatnonzero(chosen)]])
        b_ub = np.concatenate([rhs, np.zeros(int(chosen.sum()))])
        answer = linprog(cost, A_ub=a_ub, b_ub=b_ub, bounds=bounds, method="highs")
        if answer.x is None:
            raise RuntimeError(f"the linear program of {problem.name} failed: {answer.message}")
        x = answer.x
        excess = fine @ x
        excess[chosen] = -np.inf
        worst = np.flatnonzero(excess > 1e-7)
        still = still + 1 if x[-1] - before < 1e-7 * x[-1] else 0
        if not len(worst) or still == 3:
            break
        before = x[-1]
        chosen[worst[np.argsort(excess[worst])[-2000:]]] = True
    spline = BSpline(knots, x[:-1], DEGREE)
    return Solution(problem, float(x[-1]), spline, done, int(chosen.sum()) + len(rhs))
