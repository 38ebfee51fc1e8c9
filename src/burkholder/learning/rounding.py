"""Rounding, charged: what a sum of doubles may have lost, and numbers that are certainly not too small.

Let u = 2⁻⁵³. A certificate is a claim about real numbers, made from sums that were rounded on the way. Three facts
are all that is used:
    a sum carried with its correction (`add`, after Neumaier) is wrong by at most 2u|sum| + 4(n+4)²u²·Σ|terms|;
    a plain sum is wrong by at most u·Σ_t|partial sum t|, plus u·Σ|term| where the terms themselves are rounded;
    a sum of n terms ≥ 0 is wrong by at most a factor 1 ± 2nu (n < 10¹⁵).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.machine.compiling import inlined

UNIT = 2.0**-53
SUBNORMAL = 5e-324  # what underflow may take from a product


@inlined
def two_sum(a, b):
    """(a + b rounded, what rounding took from it, exactly), of numbers or vectors, whichever is larger; no branch.

    >>> two_sum(1.0, 1e-20)
    (1.0, 1e-20)
    """
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inlined
def add(sums, high, low, term):
    """Add to the sum kept in two places of an array, the second one its correction."""
    sums[high], lost = two_sum(sums[high], term)
    sums[low] += lost


def lost(rounds: float, total: float) -> float:
    """What a corrected sum of that many terms of size `total` altogether may be wrong by, besides its last rounding."""
    return 4.0 * ((rounds + 4.0) * UNIT) ** 2 * total + rounds * SUBNORMAL


def more(number: float, terms: float = 1.0) -> float:
    """A number ≥ 0 that came from `terms` rounded operations, enlarged so that it is certainly not too small."""
    return number * (1.0 + 4.0 * (terms + 8.0) * UNIT) if number > 0.0 else 0.0


def dot(w: Any, g: Any) -> tuple[float, float]:
    """⟨w, g⟩, and what it may be wrong by: the products are rounded, their sum is not.

    >>> dot([1e16, 1.0, -1e16], [1.0, 1.0, 1.0])[0]
    1.0
    """
    products = np.asarray(w, float) * np.asarray(g, float)
    size = math.fsum(np.abs(products))
    return math.fsum(products), more(2.0 * UNIT * size + np.count_nonzero(products) * SUBNORMAL, len(products))


def above(*parts: float) -> float:
    """The sum of these numbers, rounded up.

    >>> above(0.1, 0.2) > 0.3 - 1e-16, above(1.0, 1e-30) > 1.0
    (True, True)
    """
    if not all(map(math.isfinite, parts)):
        return math.inf  # nothing smaller is certain
    return math.nextafter(math.fsum(parts), math.inf) if any(parts) else 0.0
