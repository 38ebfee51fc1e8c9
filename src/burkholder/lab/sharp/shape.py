"""The linear program behind an inequality of one's own: U = r^p·g(t), r = |x|+y, t = |x|/r, g a C² cubic spline.

Least C subject to U ≥ V_C and to the moves, on a grid refined by cutting planes (HiGHS). Its value is an estimate: neither an upper nor a
lower bound.

A jump is d = m/(1−m) in units of x+y = 1: m in [0, 1] reaches every jump, and nothing is cut off in the tail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BSpline
from scipy.optimize import linprog
from scipy.sparse import csr_array, hstack, vstack

Array = np.ndarray
Side = Callable[[Array, Array], Array]  # a side of the inequality at (|x|, y), homogeneous of degree p
DEGREE = 3


@dataclass(frozen=True)
class Game:
    """What the program needs of an inequality: its degree, both sides, who moves, and where the state starts."""

    p: float
    left: Side
    right: Side
    moves: str  # rademacher or general: s grows by the square of the jump; transform: y grows by k times it
    start: float  # the ratio t at which U ≤ 0 is asked: 1/2 after a first step from 0, else where the state begins
    slopes: tuple[float, ...] = ()  # the k of a transform


def hessian(p: float, t: Array, g: Array, g1: Array, g2: Array) -> tuple[Array, Array, Array]:
    """(U_xx, U_xy, U_yy) at r = 1 from g and its derivatives."""
    a = p * (p - 1) * g
    return (
        a + 2 * (p - 1) * (1 - t) * g1 + (1 - t) ** 2 * g2,
        a + (p - 1) * (1 - 2 * t) * g1 - t * (1 - t) * g2,
        a - 2 * (p - 1) * t * g1 + t * t * g2,
    )


def graded(points: int) -> Array:
    """Points of [0, 1], denser at both ends, as dyadic numbers: knots are exact."""
    return np.round((1 - np.cos(np.pi * np.linspace(0, 1, points))) / 2 * 2**20) / 2**20


class Unsolved(RuntimeError):
    """The linear program gave no answer."""


class Program:
    """Rows over (spline coefficients, C), all of the form row·v ≤ rhs."""

    def __init__(self, game: Game, pieces: int, inner: Array | None = None) -> None:
        self.game = game
        self.inner = graded(pieces + 1) if inner is None else inner
        self.knots = np.concatenate([np.zeros(DEGREE), self.inner, np.ones(DEGREE)])
        self.size = len(self.knots) - DEGREE - 1
        self.basis = [BSpline(self.knots, np.eye(self.size), DEGREE)]
        self.basis += [self.basis[0].derivative(k) for k in (1, 2)]
        t = self._between(8)
        self.fixed = self._fixed(t)
        self.fine: csr_array = csr_array((0, self.size + 1))
        self.apart: Array = np.zeros(0)
        if game.moves != "transform":
            self.fine, self.apart = self._moves()
        self.chosen = np.zeros(self.fine.shape[0], bool)
        self.chosen[:: max(1, self.fine.shape[0] // 3000)] = True
        self.lean = 1e-7 * self.design(t).mean(axis=0)  # among many optimal U the least one: it is the value of the game

    def _between(self, count: int) -> Array:
        """The knots, and as many points between two of them."""
        return np.interp(np.arange((len(self.inner) - 1) * count + 1) / count, np.arange(len(self.inner)), self.inner)

    def design(self, t: Array, order: int = 0) -> Array:
        return self.basis[order](np.clip(t, 0, 1))

    def value(self, x: Array, y: Array) -> Array:
        r = np.abs(x) + y
        return self.design(np.abs(x) / r) * (r**self.game.p)[:, None]

    def _fixed(self, t: Array) -> tuple[csr_array, Array]:
        game, rows, rhs = self.game, [], []
        left, right = game.left(t, 1 - t), game.right(t, 1 - t)
        rows.append(np.column_stack([-self.design(t), -right]))
        rhs.append(-left)
        rows.append(np.column_stack([self.design(np.array([game.start])), [[0.0]]]))
        rhs.append(np.zeros(1))
        here = [self.design(t, k) for k in range(3)]
        column = t[:, None]
        if game.moves == "transform":
            xx, xy, yy = hessian(game.p, column, *here)
            for k in sorted({s * abs(k) for k in game.slopes for s in (-1, 1)}):
                rows.append(np.column_stack([xx + 2 * k * xy + k * k * yy, np.zeros(len(t))]))
                rhs.append(np.zeros(len(t)))
            low, high = self.design(np.array([0.0])), self.design(np.array([1.0]))
            across = [game.p * low + self.design(np.array([0.0]), 1), game.p * high - self.design(np.array([1.0]), 1)]
            rows += [np.column_stack([row, [[0.0]]]) for row in (across if any(game.slopes) else across[:1])]
            rhs += [np.zeros(1)] * (2 if any(game.slopes) else 1)
        if game.moves != "transform":  # the smallest jumps: U_y/2y + U_xx/2 ≤ 0, times y
            y = 1 - column
            tiny = (game.p * here[0] - column * here[1]) / 2 + y * hessian(game.p, column, *here)[0] / 2
            rows.append(np.column_stack([tiny, np.zeros(len(t))]))
            rhs.append(np.zeros(len(t)))
        return csr_array(np.vstack(rows)), np.concatenate(rhs)

    def _moves(self) -> tuple[csr_array, Array]:
        """E U(after) − U ≤ 0, on (t, m): shifted from t to t, so that together all sizes are seen; and by how much y grows, so scaled."""
        t = self._between(4)
        m = np.concatenate([np.geomspace(1e-3, 0.05, 12), np.linspace(0.06, 0.94, 64), 1 - np.geomspace(1e-4, 0.05, 12)[::-1]])
        where, size = (a.ravel() for a in np.meshgrid(t, m, indexing="ij"))
        shift = (np.arange(len(t)) * 0.6180339887) % 1 - 0.5
        size = np.clip(size * (1 + 0.02 * np.repeat(shift, len(m))), 1e-3, 1.0)
        if self.game.moves == "general":
            where, size = np.concatenate([where, where]), np.concatenate([size, -size])
        y = (1 - np.abs(size)) * (1 - where)
        return self.moved(where, size), (np.hypot(y, size) - y) / size**2

    def moved(self, t: Array, m: Array) -> csr_array:
        """The rows of these moves; the sign of m is that of the jump."""
        game, p, keep = self.game, self.game.p, 1 - np.abs(m)
        after = np.hypot(keep * (1 - t), m)
        here = self.design(t)
        if game.moves == "general":
            slope = p * here + (1 - t)[:, None] * self.design(t, 1)
            rows = self.value(keep * t + m, after) - (keep**p)[:, None] * here - (keep ** (p - 1) * m)[:, None] * slope
        else:
            rows = (self.value(keep * t + m, after) + self.value(keep * t - m, after)) / 2 - (keep**p)[:, None] * here
        return csr_array(np.column_stack([rows / (m**2)[:, None], np.zeros(len(t))]))

    def sharpened(self, found: Array, room: float, seed: int, count: int = 20_000) -> bool:
        """Rows for moves between those of the grid that this U takes too lightly; whether there were any."""
        if self.game.moves == "transform":
            return False
        rng = np.random.default_rng(seed)
        t, m = rng.random(count), np.where(rng.random(count) < 0.5, rng.random(count), 10.0 ** rng.uniform(-3, 0, count))
        if self.game.moves == "general":
            m *= rng.choice([-1.0, 1.0], count)
        y = (1 - np.abs(m)) * (1 - t)
        rows, apart = self.moved(t, m), (np.hypot(y, m) - y) / m**2
        excess = rows[:, : self.size] @ found + 0.5 * room * apart
        worst = np.argsort(-excess)[:2000]
        worst = worst[excess[worst] > 0]
        self.fine = vstack([self.fine, rows[worst]], format="csr")
        self.apart = np.append(self.apart, apart[worst])
        self.chosen = np.append(self.chosen, np.ones(len(worst), bool))
        return len(worst) > 0

    def solve(self, rounds: int = 30) -> tuple[Array, float]:
        """(coefficients, C) by cutting planes: the most violated rows of the fine grid are added until none is left."""
        return self._cut(np.append(self.lean, 1.0), self.fixed, self.fine, rounds)

    def lifted(self, constant: float, rounds: int = 12) -> tuple[Array, float]:
        """(coefficients, room): the U that keeps furthest from all its constraints at a given C."""
        apart = np.ones(len(self.fixed[1]))
        fixed = self.fixed[0][:, : self.size], self.fixed[0][:, [self.size]].toarray()[:, 0]
        rows = hstack([fixed[0], csr_array(apart[:, None])], format="csr")
        fine = hstack([self.fine[:, : self.size], csr_array(self.apart[:, None])], format="csr")
        return self._cut(np.append(self.lean, -1.0), (rows, self.fixed[1] - constant * fixed[1]), fine, rounds)

    def _cut(self, cost: Array, fixed: tuple[csr_array, Array], fine: csr_array, rounds: int) -> tuple[Array, float]:
        n = self.size
        smooth = np.zeros((1, n + 1))  # U_x = 0 at x = 0: U(|x|, y) is smooth
        smooth[0, :n] = self.game.p * self.design(np.zeros(1))[0] + self.design(np.zeros(1), 1)[0]
        equal = (smooth, np.zeros(1)) if self.game.moves != "transform" else (None, None)
        limits = [(-1e5, 1e5)] * n + [(0, None)]
        x, before, still = np.zeros(n + 1), -np.inf, 0
        for _ in range(rounds):
            rows = vstack([fixed[0], fine[np.flatnonzero(self.chosen)]])
            rhs = np.concatenate([fixed[1], np.zeros(int(self.chosen.sum()))])
            answer = linprog(cost, A_ub=rows, b_ub=rhs, A_eq=equal[0], b_eq=equal[1], bounds=limits, method="highs")
            if answer.x is None:
                raise Unsolved(answer.message)
            x = answer.x
            excess = fine @ x
            excess[self.chosen] = -np.inf
            worst = np.flatnonzero(excess > 1e-8 * max(1.0, np.abs(x[:n]).max()))
            still = still + 1 if abs(x[n] - before) < 1e-7 * abs(x[n]) else 0
            if not len(worst) or still == 3:
                break
            before = x[n]
            self.chosen[worst[np.argsort(excess[worst])[-2000:]]] = True
        return x[:n], float(x[n])
