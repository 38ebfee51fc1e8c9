"""The sharp square-function potential for Rademacher signs (Davis; Wang): constant ν = 1.3069… instead of 2.

M(−½, ½, z) = 1 − Σ_{k≥1} z^k / ((2k−1) k!) is Kummer's function; ν²/2 is its zero.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burkholder.potentials.dispatch import formulas

_TERMS = 20  # z ≤ ν²/2 < 0.86, so the terms left out are below 1e-21
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
_SLOPE_COEFFICIENTS = tuple(float(c) for c in _KUMMER_SLOPE)


def _value(p, g, s, top, dead):  # type: ignore[no-untyped-def]
    r = math.sqrt(s)
    if g <= p.constant * r:
        ratio = g / r if r > 0.0 else 0.0
        z = 0.5 * ratio * ratio
        m = 0.0
        for k in range(len(_COEFFICIENTS) - 1, -1, -1):
            m = m * z + _COEFFICIENTS[k]
        return -p.radius * p.height * r * m
    return p.radius * (g - p.constant * r)


def _gap(p, high, low, difference, s):  # type: ignore[no-untyped-def]
    r = p.constant * math.sqrt(s)
    if high >= r and low >= r:
        return 0.5 * p.radius * difference
    if high <= r and low <= r:
        # divided difference of the series: no cancellation when high ≈ low
        root = math.sqrt(s)
        if root == 0.0:
            return 0.0
        a, b = high / root, low / root
        za, zb = 0.5 * a * a, 0.5 * b * b
        quotient, m = 0.0, 0.0
        for k in range(len(_COEFFICIENTS) - 1, -1, -1):
            quotient = quotient * za + m
            m = m * zb + _COEFFICIENTS[k]
        return -0.25 * p.radius * p.height * difference * (a + b) * quotient
    return 0.5 * (_value(p, high, s, 0.0, 0.0) - _value(p, low, s, 0.0, 0.0))


def _target(p, g, s, top, dead):  # type: ignore[no-untyped-def]
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
