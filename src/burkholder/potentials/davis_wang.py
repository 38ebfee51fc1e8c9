"""The sharp square-function potential for Rademacher signs (Davis; Wang): constant ν = 1.3069… instead of 2.

M(−½, ½, z) = 1 − Σ_{k≥1} z^k / ((2k−1) k!) is Kummer's function; ν²/2 is its zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burkholder.machine.compiling import register_jitable
from burkholder.machine.vectors import fused
from burkholder.potentials.dispatch import formulas

_TERMS = 18  # z ≤ ν²/2 < 0.86, so the terms left out are below 3e-19
_KUMMER = np.array([1.0] + [-1.0 / ((2 * k - 1) * math.factorial(k)) for k in range(1, _TERMS)])
_KUMMER_SLOPE = np.array([1.0 / ((2 * k + 1) * math.factorial(k)) for k in range(_TERMS)])  # M(½, 3/2, z) = −M'


def _first_zero() -> float:
    z = 0.8
    for _ in range(20):
        z += np.polynomial.polynomial.polyval(z, _KUMMER) / np.polynomial.polynomial.polyval(z, _KUMMER_SLOPE)
    return float(z)


_ZERO = _first_zero()
NU = math.sqrt(2.0 * _ZERO)  # the sharp constant
_C = 1.0 / (NU * float(np.polynomial.polynomial.polyval(_ZERO, _KUMMER_SLOPE)))  # makes U_dw C¹ at g = ν√s
_COEFFICIENTS = tuple(float(c) for c in _KUMMER)


@register_jitable
def _quotient(a, b):
    """(M(a) − M(b))/(a − b) for M = M(−½, ½, ·) on [0, ν²/2]: two nested sums, written out so that they vectorise."""
    _, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17 = _COEFFICIENTS
    m = c17
    q = m
    m = fused(m, b, c16)
    q = fused(q, a, m)
    m = fused(m, b, c15)
    q = fused(q, a, m)
    m = fused(m, b, c14)
    q = fused(q, a, m)
    m = fused(m, b, c13)
    q = fused(q, a, m)
    m = fused(m, b, c12)
    q = fused(q, a, m)
    m = fused(m, b, c11)
    q = fused(q, a, m)
    m = fused(m, b, c10)
    q = fused(q, a, m)
    m = fused(m, b, c9)
    q = fused(q, a, m)
    m = fused(m, b, c8)
    q = fused(q, a, m)
    m = fused(m, b, c7)
    q = fused(q, a, m)
    m = fused(m, b, c6)
    q = fused(q, a, m)
    m = fused(m, b, c5)
    q = fused(q, a, m)
    m = fused(m, b, c4)
    q = fused(q, a, m)
    m = fused(m, b, c3)
    q = fused(q, a, m)
    m = fused(m, b, c2)
    q = fused(q, a, m)
    m = fused(m, b, c1)
    return fused(q, a, m)


def _value(p, g, s, top, dead):
    r = math.sqrt(s)
    if g <= p.constant * r:
        ratio = g / r if r > 0.0 else 0.0
        z = 0.5 * ratio * ratio
        m = 0.0
        for k in range(len(_COEFFICIENTS) - 1, -1, -1):
            m = m * z + _COEFFICIENTS[k]
        return -p.radius * p.height * r * m
    return p.radius * (g - p.constant * r)


def _gap(p, high, low, difference, s):
    # f is linear beyond ν√s with the slope it has there, so both ends are moved in to ν√s and the way is added.
    # No branch, so that a loop over coordinates becomes vector code.
    root = math.sqrt(s)
    per_unit = 1.0 / (root if root > 0.0 else 1.0)
    a, b = high * per_unit, low * per_unit
    inner_a, inner_b = min(a, p.constant), min(b, p.constant)
    outer = (a - inner_a) - (b - inner_b)
    inner = difference * per_unit - outer
    # divided difference of the series: no cancellation when high ≈ low
    quotient = _quotient(0.5 * inner_a * inner_a, 0.5 * inner_b * inner_b)
    change = outer - 0.5 * p.height * (inner * (inner_a + inner_b)) * quotient
    return 0.5 * p.radius * (root * change if root > 0.0 else difference)


def _target(p, g, s, top, dead):
    return p.radius * (g - p.constant * math.sqrt(s))


@formulas(_value, _gap, None, _target)
class DavisWang(NamedTuple):
    """R·U_dw(g, s): −c√s·M(−½,½,g²/2s) for g ≤ ν√s, else g − ν√s. It dominates R(g − ν√s)."""

    radius: float = 1.0
    constant: float = NU
    height: float = _C

    def bound(self, u: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """νR√s within the ball u ≤ R, nothing outside it."""
        inside = np.asarray(u) <= self.radius * (1 + 1e-12)
        return np.where(inside, self.constant * self.radius * np.sqrt(s), np.inf)

    def magnitude(self, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """R(g + √s)."""
        return self.radius * (np.asarray(g) + np.sqrt(s))
