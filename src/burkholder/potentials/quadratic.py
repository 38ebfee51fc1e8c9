"""f(g, s) = (g² − s) / (2c): smoothness itself (`ex:smoothness`), the potential of plain gradient descent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burkholder.potentials.dispatch import formulas


def _value(p, g, s, top, dead):
    return 0.5 * (g * (g / p.strength) - s / p.strength)


def _gap(p, high, low, difference, s):
    return 0.25 * difference * ((high + low) / p.strength)


def _slope(p, g, s, top, dead):
    return g / p.strength


@formulas(_value, _gap, _slope)
class Quadratic(NamedTuple):
    """Its rule is w = −g/c, gradient descent with step 1/c."""

    strength: float = 1.0  # c

    def bound(self, u: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """sup_g (u·g − f(g, s)) = (c/2)u² + s/(2c)."""
        return 0.5 * self.strength * np.square(u) + 0.5 * np.asarray(s) / self.strength

    def magnitude(self, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """(g² + s)/(2c)."""
        return 0.5 * (np.square(np.asarray(g, float)) + np.asarray(s)) / self.strength
