"""Intervals of doubles, many at a time: every bound is rounded outwards, so that a range contains what it says it contains.

numpy's + − · ÷ and square root are the correctly rounded ones of IEEE 754; one step further outwards makes each a bound. Nothing else is
used.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray


def down(values: Any) -> Any:
    return np.nextafter(values, -np.inf)


def up(values: Any) -> Any:
    return np.nextafter(values, np.inf)


class Span:
    """Arrays of intervals [low, high].

    >>> third = Span.of(1.0) / Span.of(3.0)
    >>> Fraction(float(third.low)) < Fraction(1, 3) < Fraction(float(third.high))
    True
    """

    __slots__ = ("high", "low")

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)

    @classmethod
    def of(cls, value: Any) -> Span:
        """Doubles as they stand; a fraction, or what is written as one, between its neighbours."""
        if isinstance(value, (Fraction, int, str)):
            near = float(Fraction(value))
            return cls(near, near) if Fraction(near) == Fraction(value) else cls(down(np.float64(near)), up(np.float64(near)))
        return cls(value, value)

    def __add__(self, other: Span) -> Span:
        return Span(down(self.low + other.low), up(self.high + other.high))

    def __sub__(self, other: Span) -> Span:
        return Span(down(self.low - other.high), up(self.high - other.low))

    def __neg__(self) -> Span:
        return Span(-self.high, -self.low)

    def __mul__(self, other: Span) -> Span:
        with np.errstate(all="ignore"):  # 0 · ∞ is NaN, and stays NaN
            a, b, c, d = self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high
        return Span(down(np.minimum(np.minimum(a, b), np.minimum(c, d))), up(np.maximum(np.maximum(a, b), np.maximum(c, d))))

    def __truediv__(self, other: Span) -> Span:
        """Where 0 is in the divisor the answer is everything."""
        clear = (other.low > 0) | (other.high < 0)
        with np.errstate(all="ignore"):
            inverse = Span(np.where(clear, down(1.0 / other.high), -np.inf), np.where(clear, up(1.0 / other.low), np.inf))
        return self * inverse

    def __abs__(self) -> Span:
        below, above = np.maximum(np.maximum(self.low, -self.high), 0.0), np.maximum(-self.low, self.high)
        return Span(below, above)

    def sqrt(self) -> Span:
        """Of the part that is ≥ 0; where all is below 0, NaN, which proves nothing."""
        with np.errstate(invalid="ignore"):
            return Span(np.maximum(down(np.sqrt(np.maximum(self.low, 0.0))), 0.0), up(np.sqrt(self.high)))

    def power(self, exponent: Fraction) -> Span:
        """A power in halves, of what is ≥ 0 where it is not a whole number."""
        if exponent < 0:
            return Span.of(1.0) / self.power(-exponent)
        if exponent.denominator == 2:
            return self.sqrt().power(2 * exponent)
        k = int(exponent)
        if k != exponent:
            raise ValueError("powers are multiples of one half")
        if k % 2 == 0 and k:
            return abs(self)._raised(k)
        if k == 0:
            return Span(np.ones_like(self.low), np.ones_like(self.high))
        below, above = (
            abs(Span(np.minimum(self.low, 0.0), np.minimum(self.low, 0.0)))._raised(k),
            Span(np.maximum(self.low, 0.0), self.high),
        )
        top = Span(np.maximum(self.high, 0.0), np.maximum(self.high, 0.0))._raised(k)
        deep = abs(Span(np.minimum(self.high, 0.0), np.minimum(self.high, 0.0)))._raised(k)
        high = Span(above.low, above.low)._raised(k)
        return Span(np.where(self.low >= 0, high.low, -below.high), np.where(self.high >= 0, top.high, -deep.low))

    def _raised(self, k: int) -> Span:
        """A whole power of what is ≥ 0."""
        low, high = self.low, self.high
        for _ in range(k - 1):
            low, high = np.maximum(down(low * self.low), 0.0), up(high * self.high)
        return Span(low, high)

    def least(self, other: Span) -> Span:
        return Span(np.minimum(self.low, other.low), np.minimum(self.high, other.high))

    def most(self, other: Span) -> Span:
        return Span(np.maximum(self.low, other.low), np.maximum(self.high, other.high))

    def hull(self, other: Span) -> Span:
        return Span(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def meet(self, other: Span) -> Span:
        """What is in both, for two ranges of one quantity."""
        return Span(np.maximum(self.low, other.low), np.minimum(self.high, other.high))

    def __getitem__(self, where: Any) -> Span:
        return Span(self.low[where], self.high[where])
