"""The outermost correction, which carries the coverage promise: a quantile of scores tracked by the slope of a potential.

With f(g) = step·K²·(cosh(g/K) − 1), K the stiffness, play q = −f′(g) = −step·K·sinh(g/K), where g = covered − level·weight is
the surplus of coverage so far. A round is covered when its score is at most q, so g/weight is the coverage's deviation,
exactly. If scores lie in [−low, high], a round can be covered only where q ≥ −low, that is g ≤ G(low), and missed only
where q < high, g > −G(high), with G(b) = K·asinh(b/(step·K)). So on every path, whoever chooses the scores,

    −G(high) − overrun·level ≤ g ≤ G(low) + overrun·(1 − level),

`overrun` being the most weight that was learned from a play to its label, that label's included (1 when labels come at
once). The exponential makes G grow like a logarithm: one wild score costs little. Rounds without a width (no score was
seen before) are beyond the tracker's power; their weight adds to both sides.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder.learning.rounding import UNIT, add
from burkholder.machine.compiling import register_jitable

STEP, STIFFNESS = 0.05, 8.0  # in widths: q moves by so much a round near g = 0, and faster from |g| = K on
LARGEST = 1e132  # of corrections, and beyond every score there can be; one beyond it would void the promise

# Slots of an account. Weights are sums with their corrections.
WEIGHT, WEIGHT_REST, COVERED, COVERED_REST = 0, 1, 2, 3
LOW, HIGH = 4, 5  # scores were in [−LOW, HIGH], rounding charged
OVERRUN, UNGUIDED, LATE, ROUNDS = 6, 7, 8, 9
GAINED, LOST = 10, 11  # weight whose verdict changed when what was played was put in order: covered after all, and no more
SLOTS = 12


def empty() -> np.ndarray:
    """The account of no round."""
    return np.zeros(SLOTS)


@register_jitable
def surplus(account, level):
    """g: the weight covered beyond what was asked for."""
    return (account[COVERED] + account[COVERED_REST]) - level * (account[WEIGHT] + account[WEIGHT_REST])


@register_jitable
def correction(g):
    """q = −f′(g), in widths."""
    return min(max(-STEP * STIFFNESS * math.sinh(min(max(g / STIFFNESS, -312.0), 312.0)), -LARGEST), LARGEST)


@register_jitable
def settle(account, score, width, slack, covered, weight, played_at, late):
    """Enter one round: its score (in widths, known within ±slack), whether it was covered, when it was played."""
    carried = (account[WEIGHT] + account[WEIGHT_REST]) - played_at + weight
    account[OVERRUN] = max(account[OVERRUN], carried)
    add(account, WEIGHT, WEIGHT_REST, weight)
    if covered:
        add(account, COVERED, COVERED_REST, weight)
    account[ROUNDS] += 1.0
    if late > 0:
        account[LATE] += 1.0
    if width > 0.0:
        account[HIGH] = max(account[HIGH], score + slack)
        account[LOW] = max(account[LOW], slack - score)
    else:
        account[UNGUIDED] += weight


def possible(accounts: np.ndarray) -> bool:
    """Whether these may be accounts of one stream: whole and equal counts, small corrections, no more covered than there was."""
    a = np.atleast_2d(accounts).T
    rounds = a[ROUNDS]
    counted = (rounds == np.floor(rounds)).all() and (rounds == rounds[0]).all() and rounds[0] <= 2.0**53 and (a[LATE] <= rounds).all()
    rests = (np.abs(a[[WEIGHT_REST, COVERED_REST]]) <= 1e-6 * a[WEIGHT] + 1e-300).all() and (a[WEIGHT] <= 1e250).all()
    most = a[WEIGHT] * (1.0 + 1e-6)
    return bool(counted and rests and (a[[COVERED, OVERRUN, UNGUIDED, GAINED, LOST]] <= most).all())


def reach(size: float) -> float:
    """G: how far the surplus can be while scores are no larger than `size`, rounded up.

    >>> round(reach(1.0), 2), round(reach(1000.0), 2)
    (13.18, 68.14)
    """
    if size > LARGEST:
        return math.inf
    return STIFFNESS * math.asinh(max(size, 0.0) / (STEP * STIFFNESS)) * (1.0 + 1e-12)


class Promise(NamedTuple):
    """The coverage is in [level − low, level + high], whatever happened; a weight of nothing promises nothing."""

    low: float
    high: float

    @property
    def deviation(self) -> float:
        """The larger side."""
        return max(self.low, self.high)


def promise(account: np.ndarray, level: float) -> Promise:
    """What was promised about a path with these scores and delays, rounding charged."""
    weight = float(account[WEIGHT] + account[WEIGHT_REST])
    rest = math.nextafter(1.0 - level, 1.0)
    if not weight > 0.0:
        return Promise(level, rest)
    free = float(account[OVERRUN] + account[UNGUIDED])
    rounding = 16.0 * (float(account[ROUNDS]) + 16.0) * UNIT * weight
    low = (reach(float(account[HIGH])) + free * level + float(account[LOST]) + rounding) / weight
    high = (reach(float(account[LOW])) + free * (1.0 - level) + float(account[GAINED]) + rounding) / weight
    return Promise(min(low * (1.0 + 1e-12), level), min(high * (1.0 + 1e-12), rest))


def coverage(account: np.ndarray) -> float:
    """The weight that was covered, over all: what was seen by the user; NaN before the first round."""
    weight = float(account[WEIGHT] + account[WEIGHT_REST])
    return float(account[COVERED] + account[COVERED_REST] + account[GAINED] - account[LOST]) / weight if weight > 0.0 else math.nan


def statement(account: np.ndarray, level: float, words: str) -> tuple[str, dict[str, Any]]:
    """The promise in words and in numbers."""
    found, seen = promise(account, level), coverage(account)
    told = f"{words} {seen:.4f} of the rounds; promised on every path: {level:g} − {found.low:.4f} … {level:g} + {found.high:.4f}"
    return told, {"coverage": None if math.isnan(seen) else seen, "coverage_target": level, "coverage_bound": found.deviation}
