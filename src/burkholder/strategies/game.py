"""Matrix games: the row player's best mixture μ against the worst column, solved three ways.

All three return μ and the gap between what it guarantees and what no μ can beat: an honest additive error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Solution(NamedTuple):
    """`mixture` guarantees at most `value`; no mixture guarantees less than `value` − `gap`."""

    mixture: np.ndarray
    value: float
    gap: float


def _solution(payoff: np.ndarray, mixture: np.ndarray, column: np.ndarray) -> Solution:
    worst = float(np.max(mixture @ payoff))
    floor = float(np.min(payoff @ column))
    return Solution(mixture, worst, max(0.0, worst - floor))


def _simplex(v: np.ndarray) -> np.ndarray:
    v = np.maximum(v, 0.0)
    return v / v.sum()


def linear_program(payoff: np.ndarray) -> Solution:
    """min_μ max_j (μᵀP)_j by HiGHS; the columns' optimal mixture comes from the duals.

    >>> linear_program(np.array([[1.0, -1.0], [-1.0, 1.0]])).mixture
    array([0.5, 0.5])
    """
    from scipy.optimize import linprog  # a heavy import, for a strategy few learners play

    rows, columns = payoff.shape
    low, span = payoff.min(), np.ptp(payoff)
    scaled = (payoff - low) / (span if span > 0.0 else 1.0)
    cost = np.zeros(rows + 1)
    cost[-1] = 1.0
    table = np.hstack([scaled.T, -np.ones((columns, 1))])
    total = np.ones((1, rows + 1))
    total[0, -1] = 0.0
    found = linprog(cost, table, np.zeros(columns), total, [1.0], [(0.0, None)] * rows + [(None, None)], "highs")
    if found.status != 0:
        raise ArithmeticError(f"the game's linear program failed: {found.message}")
    return _solution(payoff, _simplex(found.x[:-1]), _simplex(-found.ineqlin.marginals))


def mirror_descent(payoff: np.ndarray, rounds: int = 2000) -> Solution:
    """Exponential weights for the rows against best responses of the columns; averages of both sides."""
    rows, columns = payoff.shape
    span = float(np.ptp(payoff)) or 1.0
    rate = np.sqrt(8.0 * np.log(max(rows, 2)) / rounds) / span
    losses, mixture, column = np.zeros(rows), np.zeros(rows), np.zeros(columns)
    for _ in range(rounds):
        weights = np.exp(-rate * (losses - losses.min()))
        weights /= weights.sum()
        answer = int(np.argmax(weights @ payoff))
        losses += payoff[:, answer]
        mixture += weights
        column[answer] += 1.0
    return _solution(payoff, _simplex(mixture), _simplex(column))


def mirror_prox(payoff: np.ndarray, rounds: int = 500) -> Solution:
    """Extragradient steps with entropies on both sides: error 1/rounds instead of 1/√rounds."""
    rows, columns = payoff.shape
    span = float(np.max(np.abs(payoff - payoff.mean()))) or 1.0
    scaled = (payoff - payoff.mean()) / span
    p, q = np.zeros(rows), np.zeros(columns)  # log weights

    def weights(log: np.ndarray) -> np.ndarray:
        out = np.exp(log - log.max())
        return out / out.sum()

    mixture, column = np.zeros(rows), np.zeros(columns)
    for _ in range(rounds):
        u, v = weights(p), weights(q)
        middle_u, middle_v = weights(p - scaled @ v), weights(q + u @ scaled)
        p, q = p - scaled @ middle_v, q + middle_u @ scaled
        mixture += middle_u
        column += middle_v
    return _solution(payoff, _simplex(mixture), _simplex(column))


MOST_STEPS = 2**17


def solved(payoff: np.ndarray, solver: str, precision: float | None = None) -> Solution:
    """The game by a named solver; with a precision, descents take twice as many steps until their gap is below it.

    >>> solved(np.array([[0.0, 1.0], [1.0, 0.5]]), "mirror-prox", precision=1e-3).gap <= 1e-3
    True
    """
    found = SOLVERS[solver](payoff)
    steps = 1024
    while precision is not None and found.gap > precision and solver != "lp" and steps <= MOST_STEPS:
        found = SOLVERS[solver](payoff, steps)
        steps *= 2
    return found


SOLVERS: dict[str, Any] = {"lp": linear_program, "mirror-descent": mirror_descent, "mirror-prox": mirror_prox}
