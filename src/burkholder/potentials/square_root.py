"""U_sq, the square-function potential of `sec:adagrad`: AdaGrad with its best constant for every martingale."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burkholder.machine.elementary import over_root
from burkholder.machine.vectors import where_positive
from burkholder.potentials.dispatch import formulas

_ROOT2 = math.sqrt(2.0)


def _value(p, g, s, top, dead):
    r = math.sqrt(s)
    if g <= r:
        # sqrt(2s − g²) in factors: squares of 1e157 do not fit in a double
        return -p.radius * math.sqrt(_ROOT2 * r - g) * math.sqrt(_ROOT2 * r + g)
    return p.radius * (g - p.constant * r)


def _gap(p, high, low, difference, s):
    # written so that a loop over coordinates becomes vector code with two roots: √(2s−z²) inside z² ≤ s, √s outside
    high_square, low_square = high * high, low * low
    high_in, low_in = high_square <= s, low_square <= s
    high_root = math.sqrt(2.0 * s - high_square if high_in else s)
    low_root = math.sqrt(2.0 * s - low_square if low_in else s)
    if high_in and low_in:
        roots = high_root + low_root
        return 0.5 * p.radius * difference * ((high + low) / roots) if roots > 0.0 else 0.0
    if not high_in and not low_in:
        return 0.5 * p.radius * difference
    above = -high_root if high_in else high - p.constant * high_root
    below = -low_root if low_in else low - p.constant * low_root
    return 0.5 * p.radius * (above - below)


def _slope(p, g, s, top, dead):
    # g/√(2s−g²) inside g² ≤ s, 1 outside; no branch, so that loops become vector code and it can be asked of vectors
    square = g * g
    return p.radius * where_positive(square - s, 1.0, over_root(g, max(2.0 * s - square, 1e-300)))


def _target(p, g, s, top, dead):
    return p.radius * (g - p.constant * math.sqrt(s))


@formulas(_value, _gap, _slope, _target)
class SquareRoot(NamedTuple):
    """R·U_sq(g, √s): −√(2s−g²) for g ≤ √s, else g − 2√s. It dominates R(g − 2√s)."""

    radius: float = 1.0
    constant: float = 2.0

    def bound(self, u: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """sup_g (u·g − V(g, s)): 2R√s within the ball u ≤ R, nothing outside it."""
        inside = np.asarray(u) <= self.radius * (1 + 1e-12)
        return np.where(inside, self.constant * self.radius * np.sqrt(s), np.inf)

    def magnitude(self, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """R(g + √s)."""
        return self.radius * (np.asarray(g) + np.sqrt(s))
