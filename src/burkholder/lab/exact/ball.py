"""A number known to within a ball, as an element of a numpy object array: U written in numpy runs on it unchanged.

numpy's functions call the method of their own name on such elements. Whatever a ball cannot do raises, above all
becoming a float: no part of a computation on balls falls back to rounding unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.lab.exact.reals import flint


class Undecided(ArithmeticError):
    """A comparison of balls that overlap."""


class Ball:
    """A wrapped arb whose comparisons either hold for certain, fail for certain, or raise.

    >>> import numpy as np
    >>> x = np.array([Ball(2.0), Ball(0.25)], dtype=object)
    >>> [bool(b * b > 1.9) for b in np.sqrt(x)]
    [True, False]
    """

    __slots__ = ("arb",)

    def __init__(self, value: Any) -> None:
        self.arb: Any = flint().arb(float(value)) if isinstance(value, (int, float)) else value

    def __add__(self, other: Any) -> Ball:
        return _binary(self, other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Ball:
        return _binary(self, other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Ball:
        return _binary(self, other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Ball:
        return _binary(self, other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> Ball:
        return _binary(self, other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Ball:
        return _binary(self, other, lambda a, b: b / a)

    def __pow__(self, other: Any) -> Ball:
        return _binary(self, other, lambda a, b: a**b)

    def __rpow__(self, other: Any) -> Ball:
        return _binary(self, other, lambda a, b: b**a)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Ball:
        return Ball(-self.arb)

    def __abs__(self) -> Ball:
        return Ball(abs(self.arb))

    def __lt__(self, other: Any) -> bool:
        return _compare(self, other, lambda a, b: a < b, lambda a, b: a >= b)

    def __le__(self, other: Any) -> bool:
        return _compare(self, other, lambda a, b: a <= b, lambda a, b: a > b)

    def __gt__(self, other: Any) -> bool:
        return _compare(self, other, lambda a, b: a > b, lambda a, b: a <= b)

    def __ge__(self, other: Any) -> bool:
        return _compare(self, other, lambda a, b: a >= b, lambda a, b: a < b)

    def __eq__(self, other: object) -> bool:
        return _compare(self, other, lambda a, b: a == b, lambda a, b: a != b)

    __hash__ = None  # type: ignore[assignment]

    def __float__(self) -> float:
        raise TypeError("a ball is not a float")

    def __repr__(self) -> str:
        return f"Ball({self.arb})"

    def sqrt(self) -> Ball:
        return Ball(self.arb.sqrt())

    def exp(self) -> Ball:
        return Ball(self.arb.exp())

    def log(self) -> Ball:
        return Ball(self.arb.log())

    def log1p(self) -> Ball:
        return Ball(self.arb.log1p())

    def expm1(self) -> Ball:
        return Ball(self.arb.expm1())

    def sinh(self) -> Ball:
        return Ball(self.arb.sinh())

    def cosh(self) -> Ball:
        return Ball(self.arb.cosh())

    def tanh(self) -> Ball:
        return Ball(self.arb.tanh())


def balls(array: np.ndarray) -> np.ndarray:
    """An array of doubles as balls of radius 0: a double is an exact number."""
    out = np.empty(array.shape, object)
    for index, number in np.ndenumerate(array):
        out[index] = Ball(float(number))
    return out


def _arb(value: Any) -> Any:
    if isinstance(value, Ball):
        return value.arb
    if isinstance(value, (int, float, np.integer, np.floating)):  # a constant of the formula, exact as it stands
        return flint().arb(float(value))
    return NotImplemented


def _binary(left: Ball, right: Any, operation: Callable[[Any, Any], Any]) -> Ball:
    other = _arb(right)
    return NotImplemented if other is NotImplemented else Ball(operation(left.arb, other))


def _compare(left: Ball, right: Any, yes: Callable[[Any, Any], bool], no: Callable[[Any, Any], bool]) -> bool:
    other = _arb(right)
    if other is NotImplemented:
        return NotImplemented
    if yes(left.arb, other):
        return True
    if no(left.arb, other):
        return False
    raise Undecided(f"cannot compare {left.arb} with {other}")
