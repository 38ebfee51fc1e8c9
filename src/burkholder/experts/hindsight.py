"""The best fixed mixture of the experts in hindsight, solved to a duality gap that is handed back.

Losses made of straight pieces are linear programs: ℓ(p) is a sum over pieces of
max_{low ≤ a ≤ high} a·(target − slope·p), so that min_w Σℓ(⟨w,x_t⟩) over the simplex has the dual

    max_a Σ a·target − max_j Σ_t a_t·slope_t·x_tj,

with one box variable a round and d+1 rows, which HiGHS solves; both values are recomputed from the
answer, so the gap holds whatever the solver's tolerance. For other convex losses the gap is
max_j ⟨∇f(w), w−e_j⟩ ≥ f(w) − min f, by convexity alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.losses.dispatch import Piece, derivative, value
from burkholder.machine.compiling import compiled

FEW = 10_000  # dual variables a linear program may have at once before some are fixed in advance


class Mixture(NamedTuple):
    """Weights on the experts, their mean loss, and how far above the least mean loss that can be."""

    weights: np.ndarray
    loss: float
    gap: float


@compiled
def _total(loss: Any, p: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    total = 0.0
    for t in range(y.size):
        total += weight[t] * value(loss, p[t], y[t])
    return total


@compiled
def _slopes(loss: Any, p: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    slopes = np.empty(y.size)
    for t in range(y.size):
        slopes[t] = weight[t] * derivative(loss, p[t], y[t])
    return slopes


def total_loss(loss: Any, p: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    """Σ weight·ℓ(p_t, y_t)."""
    if not loss.compiled:
        return sum(c * value(loss, a, b) for a, b, c in zip(p.tolist(), y.tolist(), weight.tolist()))
    return _total(loss, p, y, weight)


def slopes(loss: Any, p: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """weight·∂ℓ(p_t, y_t), per round."""
    if not loss.compiled:
        return np.array([c * derivative(loss, a, b) for a, b, c in zip(p.tolist(), y.tolist(), weight.tolist())])
    return _slopes(loss, p, y, weight)


def best_convex(loss: Any, forecasts: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> Mixture:
    """The mixture of forecast columns (no NaN) with the least mean loss, Σ weight·loss over Σ weight.

    >>> from burkholder.losses import get
    >>> best = best_convex(get("squared"), np.array([[0.0, 2.0], [1.0, 3.0]]), np.array([0.5, 1.5]))
    >>> np.round(best.weights, 6).tolist(), round(best.loss, 9)
    ([0.75, 0.25], 0.0)
    """
    x = np.ascontiguousarray(forecasts, dtype=float)
    if x.ndim != 2 or x.shape[0] != len(y) or x.size == 0:
        raise BadInput("forecasts", x.shape, "give one row a round and one column an expert, none empty")
    if np.isnan(x).any():
        raise BadInput("forecasts", "NaN", "fill the rounds where an expert was asleep first")
    y, c = np.asarray(y, dtype=float), np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
    if c.shape != y.shape or not (c >= 0).all() or not c.any():
        raise BadInput("weight", weight, "give one number ≥ 0 a round, not all of them 0")
    x, y, c = (x, y, c) if (c > 0).all() else (np.ascontiguousarray(x[c > 0]), y[c > 0], c[c > 0])
    if x.shape[1] == 1:
        return Mixture(np.ones(1), total_loss(loss, x[:, 0], y, c) / float(c.sum()), 0.0)
    pieces = loss.pieces(y)
    return _by_descent(loss, x, y, c) if pieces is None else _by_program(loss, pieces, x, y, c)


def _simplex(w: np.ndarray) -> np.ndarray:
    w = np.maximum(w, 0.0)
    return w / w.sum() if w.sum() > 0 else np.full(w.size, 1.0 / w.size)


def _by_program(loss: Any, pieces: list[Piece], x: np.ndarray, y: np.ndarray, c: np.ndarray) -> Mixture:
    from scipy.optimize import linprog

    target = np.concatenate([piece[2] for piece in pieces])
    moved = np.concatenate([piece[3][:, None] * x for piece in pieces])  # slope·x, per piece and round
    low = np.concatenate([c * piece[0] for piece in pieces])
    high = np.concatenate([c * piece[1] for piece in pieces])
    # a change of origin by the first expert leaves the program as it is (Σw = 1) and its numbers small
    base = moved[:, 0].copy()
    offset, rows = target - base, moved - base[:, None]
    unit = max(float(np.mean(np.abs(offset))), float(np.mean(np.abs(rows))), 1e-300)
    d, size = x.shape[1], len(target)
    best = None if size <= FEW else _by_descent(loss, x, y, c, polish=0)
    free = size if best is None else FEW
    while True:
        # A dual variable sits at the end of its box that the sign of its residual says, but near 0. On long
        # streams only the residuals nearest 0 are left free; the gap says whether those were enough.
        residual = offset if best is None else offset - rows @ best.weights
        a = np.where(residual > 0, high, low)
        loose = np.arange(size) if free >= size else np.argpartition(np.abs(residual), free)[:free]
        a[loose] = 0.0
        answer = linprog(
            np.append(-offset[loose] / unit, 1.0),
            A_ub=np.hstack([rows[loose].T / unit, -np.ones((d, 1))]),
            b_ub=-(rows.T @ a) / unit,
            bounds=[*zip(low[loose], high[loose]), (None, None)],
            method="highs",
        )
        if answer.x is None:
            return _by_descent(loss, x, y, c)
        w = _simplex(-np.asarray(answer.ineqlin.marginals))
        a[loose] = np.clip(answer.x[:-1], low[loose], high[loose])
        dual = float(a @ offset) - float(np.max(rows.T @ a))
        primal = total_loss(loss, x @ w, y, c)
        best = Mixture(w, primal / float(c.sum()), max(primal - dual, 0.0) / float(c.sum()))
        if free >= size or best.gap <= 1e-12 * best.loss:
            return best
        free *= 4


def _by_descent(loss: Any, x: np.ndarray, y: np.ndarray, c: np.ndarray, polish: int = 500) -> Mixture:
    """Sequential quadratic programming, then pairwise Frank–Wolfe steps until the gap is negligible."""
    from scipy.optimize import minimize, minimize_scalar

    n, d = float(c.sum()), x.shape[1]
    unit = max(total_loss(loss, x.mean(axis=1), y, c) / n, 1e-300)

    def mean_loss(w: np.ndarray) -> float:
        return total_loss(loss, x @ w, y, c) / n / unit

    def gradient(w: np.ndarray) -> np.ndarray:
        return x.T @ slopes(loss, x @ w, y, c) / n / unit

    corners = [mean_loss(corner) for corner in np.eye(d)]
    candidates = [np.full(d, 1.0 / d), np.eye(d)[int(np.argmin(corners))]]
    if np.isfinite(corners).all() and d <= 200:
        answer = minimize(
            mean_loss,
            candidates[0],
            jac=gradient,
            bounds=[(0.0, 1.0)] * d,
            method="SLSQP",
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0, "jac": lambda w: np.ones(d)},
            options={"ftol": 1e-15, "maxiter": 300},
        )
        candidates.append(_simplex(answer.x))
    w = min(candidates, key=mean_loss)
    gap = np.inf
    for _ in range(polish):
        slope = gradient(w)
        gap = float(slope @ w - slope.min())
        if gap <= 1e-12:
            break
        support = np.flatnonzero(w > 0)
        into, away = int(np.argmin(slope)), int(support[np.argmax(slope[support])])
        direction = np.zeros(d)
        direction[into], direction[away] = 1.0, -1.0

        def along(s: float, w: np.ndarray = w, direction: np.ndarray = direction) -> float:
            return mean_loss(w + s * direction)

        step = minimize_scalar(along, bounds=(0.0, w[away]), method="bounded", options={"xatol": 1e-14}).x
        best = min((float(step), float(w[away])), key=along)
        moved = _simplex(w + best * direction)
        if mean_loss(moved) >= mean_loss(w):
            break
        w = moved
    return Mixture(w, mean_loss(w) * unit, max(gap, 0.0) * unit)
