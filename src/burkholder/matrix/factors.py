"""The low-rank direction: what the bias model leaves of ratings, as ⟨f_row, f_column⟩; its cost does not grow with their number.

Factors of rank 4 are fitted by alternating ridge regressions over all ratings whenever these have grown by a quarter, so that all fits
together cost some five times the last one. In between, each rating moves the factors of its own row and column to the ridge solution
against the others as they were fitted. Nothing is promised of this direction; the bet that follows it (`bet.py`) never loses more than κ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.machine.compiling import compiled

RANK = 4
RIDGE = 3.0
FIRST = 1000  # ratings before the first fit
GROWTH = 1.25
SWEEPS = 3  # of a fit; three times as many of the first


class Factors(NamedTuple):
    """Changes in place; nodes are rows and columns in one numbering. `square` and `linear` follow from the others."""

    row: NDArray[np.int64]
    column: NDArray[np.int64]
    residual: NDArray[np.float64]  # rating − bias, as they were learned
    counts: NDArray[np.int64]  # ratings so far, and how many there are at the next fit
    now: NDArray[np.float64]  # (capacity, rank)
    fitted: NDArray[np.float64]  # the same as the last fit left them
    square: NDArray[np.float64]  # (capacity, rank, rank): Σ of the partners' fitted f fᵀ
    linear: NDArray[np.float64]  # Σ of residual·f


def start() -> Factors:
    """No rating yet."""
    places, ratings = np.zeros((0, RANK)), np.zeros(0, np.int64)
    return Factors(
        ratings, ratings.copy(), np.zeros(0), np.array([0, FIRST]), places, places.copy(), np.zeros((0, RANK, RANK)), places.copy()
    )


def with_room(factors: Factors, nodes: int, more: int) -> Factors:
    """Room for so many nodes, and for so many ratings more."""

    def longer(array: NDArray, size: int) -> NDArray:
        if size <= len(array):
            return array
        extra = max(size, 2 * len(array), 64) - len(array)
        return np.concatenate([array, np.zeros((extra, *array.shape[1:]), array.dtype)])

    ratings = int(factors.counts[0]) + more
    return factors._replace(
        **{name: longer(getattr(factors, name), ratings) for name in ("row", "column", "residual")},
        **{name: longer(getattr(factors, name), nodes) for name in ("now", "fitted", "square", "linear")},
    )


@compiled
def direction(factors, i, j):
    """v = ⟨f_i, f_j⟩, kept in ±1; a node of −1, or one never rated, gives 0."""
    if i < 0 or j < 0 or factors.counts[1] == FIRST:
        return 0.0
    total = 0.0
    for a in range(RANK):
        total += factors.now[i, a] * factors.now[j, a]
    return min(max(total, -1.0), 1.0)


@compiled
def along(factors, i, columns):
    """v at (i, c) for every column node c."""
    out = np.empty(columns.size)
    for t in range(columns.size):
        out[t] = direction(factors, i, columns[t])
    return out


@compiled
def absorb(factors, node, partner, residual):
    """One rating in the normal equations of a node."""
    for a in range(RANK):
        factors.linear[node, a] += residual * factors.fitted[partner, a]
        for b in range(RANK):
            factors.square[node, a, b] += factors.fitted[partner, a] * factors.fitted[partner, b]


@compiled
def solve(factors, node):
    """f of a node: (square + ridge·I)⁻¹·linear, by Cholesky's method."""
    lower, x = np.zeros((RANK, RANK)), np.empty(RANK)
    for a in range(RANK):
        for b in range(a + 1):
            total = factors.square[node, a, b] + (RIDGE if a == b else 0.0)
            for c in range(b):
                total -= lower[a, c] * lower[b, c]
            lower[a, b] = np.sqrt(max(total, RIDGE)) if a == b else total / lower[b, b]
    for a in range(RANK):
        x[a] = factors.linear[node, a]
        for c in range(a):
            x[a] -= lower[a, c] * x[c]
        x[a] /= lower[a, a]
    for a in range(RANK - 1, -1, -1):
        for c in range(a + 1, RANK):
            x[a] -= lower[c, a] * x[c]
        x[a] /= lower[a, a]
    for a in range(RANK):
        factors.now[node, a] = x[a]


@compiled
def keep(factors):
    """The factors as they are now, to be solved against. Written out: numba compiles a message about shapes along with `a[:] = b`."""
    for node in range(factors.now.shape[0]):
        for a in range(RANK):
            factors.fitted[node, a] = factors.now[node, a]


@compiled
def gather(factors, sides):
    """The normal equations of all rows, of all columns, or of both, from all ratings in their order."""
    factors.square[:] = 0.0
    factors.linear[:] = 0.0
    for t in range(factors.counts[0]):
        if sides[0]:
            absorb(factors, factors.row[t], factors.column[t], factors.residual[t])
        if sides[1]:
            absorb(factors, factors.column[t], factors.row[t], factors.residual[t])


@compiled
def fit(factors):
    """Alternating ridge regressions over everything rated so far."""
    sweeps, ratings, sides = SWEEPS, factors.counts[0], np.ones(2, np.bool_)
    if factors.counts[1] == FIRST:
        sweeps = 3 * SWEEPS
        for node in range(factors.now.shape[0]):  # any start will do that is not the same everywhere
            for a in range(RANK):
                spread = (node * RANK + a + 1) * 0.6180339887498949
                factors.now[node, a] = spread - np.floor(spread) - 0.5
    for _ in range(sweeps):
        for side in range(2):
            keep(factors)
            sides[0], sides[1] = side == 0, side == 1
            gather(factors, sides)
            for t in range(ratings):
                node = factors.row[t] if side == 0 else factors.column[t]
                if factors.linear[node, 0] != np.inf:
                    solve(factors, node)
                    factors.linear[node, 0] = np.inf  # solved
    keep(factors)
    sides[0], sides[1] = True, True
    gather(factors, sides)
    factors.counts[1] = int(ratings * GROWTH) + 1


@compiled
def learn(factors, i, j, residual):
    """A rating, less what the bias model said of it."""
    place = factors.counts[0]
    factors.row[place], factors.column[place], factors.residual[place] = i, j, residual
    factors.counts[0] = place + 1
    if factors.counts[1] != FIRST:
        absorb(factors, i, j, residual)
        absorb(factors, j, i, residual)
        solve(factors, i)
        solve(factors, j)
    if factors.counts[0] >= factors.counts[1]:
        fit(factors)


def kept(factors: Factors, nodes: int) -> dict[str, NDArray]:
    """What must be saved; the rest follows from it."""
    ratings = int(factors.counts[0])
    return {
        **{name: getattr(factors, name)[:ratings].copy() for name in ("row", "column", "residual")},
        "counts": factors.counts.copy(),
        **{name: getattr(factors, name)[:nodes].copy() for name in ("now", "fitted")},
    }


def restored(saved: dict[str, NDArray]) -> Factors:
    """The factors that `kept` described, to the bit: sums are made again in the order in which they were made."""
    nodes = len(saved["now"])
    factors = Factors(
        **{name: np.array(array) for name, array in saved.items()}, square=np.zeros((nodes, RANK, RANK)), linear=np.zeros((nodes, RANK))
    )
    if factors.counts[1] != FIRST:
        gather(factors, np.ones(2, np.bool_))
    return factors
