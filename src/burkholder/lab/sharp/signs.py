"""Exact signs of rational polynomials on an interval: Bernstein coefficients and bisection."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb
from typing import Any

from .ends import flint


def at(poly: Any, z: Fraction) -> Fraction:
    """The value of a rational polynomial, exactly."""
    value = poly(flint().fmpq(z.numerator, z.denominator))
    return Fraction(int(value.p), int(value.q))


def bernstein(poly: Any, low: Fraction, high: Fraction) -> list[Fraction]:
    """The Bernstein coefficients on [low, high]: the polynomial lies between their extremes."""
    module = flint()
    line = module.fmpq_poly([module.fmpq(low.numerator, low.denominator), module.fmpq((high - low).numerator, (high - low).denominator)])
    unit = poly(line)
    n = max(unit.degree(), 0)
    power = [Fraction(int(unit[i].p), int(unit[i].q)) for i in range(n + 1)]
    return [sum((Fraction(comb(j, i), comb(n, i)) * power[i] for i in range(j + 1)), Fraction(0)) for j in range(n + 1)]


def nonnegative(poly: Any, low: Fraction, high: Fraction, depth: int = 60) -> bool:
    """Whether the polynomial is proved ≥ 0 on [low, high]; False means a negative value or too deep a search.

    >>> from flint import fmpq_poly
    >>> nonnegative(fmpq_poly([1, -2, 2]), Fraction(0), Fraction(1))
    True
    >>> nonnegative(fmpq_poly([1, -3, 2]), Fraction(0), Fraction(1))
    False
    """
    if low > high:
        return False
    pending = [(bernstein(poly, low, high), 0)]
    while pending:
        coefficients, level = pending.pop()
        if min(coefficients) >= 0:
            continue
        if coefficients[0] < 0 or coefficients[-1] < 0 or level == depth:
            return False
        pending += [(half, level + 1) for half in _halves(coefficients)]
    return True


def _halves(coefficients: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """de Casteljau at the middle: the Bernstein coefficients of both halves."""
    left, right, row = [], [], coefficients
    while row:
        left.append(row[0])
        right.append(row[-1])
        row = [(a + b) / 2 for a, b in pairwise(row)]
    return left, right[::-1]
