"""The account of quantiles that were played: pinball losses, and what the stream proves of their regret.

For level τ and what was played, p_t around a centre c_t, δ_t is the pinball loss's slope at p_t. Convexity gives
Σℓ(p_t, y_t) − Σℓ(c_t + u, y_t) ≤ Σδ_t(p_t − c_t) − u·Σδ_t for every shift u: two sums a level, whatever was played.
"""

from __future__ import annotations

import math

import numpy as np

from burkholder.learning.rounding import UNIT, above, add, lost, more
from burkholder.learning.schema import within_sizes
from burkholder.machine.compiling import register_jitable

# Rows of the array; one column a level. A sum, its correction, and the sum of sizes.
LOSS, LOSS_REST, LEAN, LEAN_REST, LEAN_SIZE = 0, 1, 2, 3, 4
ABOVE, UNDER = 5, 6  # weight of the rounds played above the label, and below it
ABOVE_REST, UNDER_REST = 7, 8
ROWS = 9
SIGNED = (LOSS_REST, LEAN, LEAN_REST, ABOVE_REST, UNDER_REST)  # which may be below 0


def empty(levels: int) -> np.ndarray:
    """The account of no round."""
    return np.zeros((ROWS, levels))


@register_jitable
def pinball(level, played, y):
    return level * (y - played) if y >= played else (1.0 - level) * (played - y)


@register_jitable
def enter(book, k, level, played, centre, y, weight):
    """One round of one level; its loss without the weight."""
    paid = pinball(level, played, y)
    add(book[:, k], LOSS, LOSS_REST, weight * paid)
    slope = 0.0
    if played > y:
        slope = 1.0 - level
        add(book[:, k], ABOVE, ABOVE_REST, weight)
    elif played < y:
        slope = -level
        add(book[:, k], UNDER, UNDER_REST, weight)
    term = weight * (slope * (played - centre))
    add(book[:, k], LEAN, LEAN_REST, term)
    book[LEAN_SIZE, k] += abs(term)
    return paid


def possible(book: np.ndarray) -> bool:
    """Whether these may be the sums of a stream: corrections small, losses no less than 0, leanings no larger than their sizes."""
    loss, rest = book[LOSS], book[LOSS_REST]
    lean = np.stack([book[LEAN], book[LEAN_REST], book[LEAN_SIZE]])
    weights, rests = book[[ABOVE, UNDER]], np.abs(book[[ABOVE_REST, UNDER_REST]])
    small = (
        (np.abs(rest) <= 1e-6 * loss + 1e-300).all()
        and (rests <= 1e-6 * weights).all()
        and (book[[LOSS, LEAN_SIZE, ABOVE, UNDER]] <= 1e250).all()
    )
    return bool(small and within_sizes(lean))


def against(book: np.ndarray, levels: np.ndarray, shifts: np.ndarray | None, radius: float, rounds: int) -> np.ndarray:
    """For every level, a number certainly not below its regret against c_t + u: for these u, or the worst |u| ≤ radius."""
    out = np.empty(len(levels))
    for k, level in enumerate(levels.tolist()):
        lean, size = float(book[LEAN, k] + book[LEAN_REST, k]), float(book[LEAN_SIZE, k])
        over, under = (float(book[row, k] + book[rest, k]) for row, rest in ((ABOVE, ABOVE_REST), (UNDER, UNDER_REST)))
        drift = (1.0 - level) * over - level * under
        reach = radius if shifts is None else abs(float(shifts[k]))
        lean_error = more(8.0 * UNIT * size + lost(rounds, size), 8.0)
        drift_error = more((8.0 * UNIT * (over + under) + lost(rounds, over + under)) * reach, 8.0)
        pull = reach * abs(drift) if shifts is None else -float(shifts[k]) * drift
        out[k] = above(lean, pull, lean_error, drift_error)
    return out


def losses_of(book: np.ndarray) -> np.ndarray:
    """Σ weight·pinball of each level."""
    return book[LOSS] + book[LOSS_REST]


def total(parts: np.ndarray) -> float:
    """Their sum, rounded up."""
    return above(*map(float, parts)) if len(parts) else math.nan
