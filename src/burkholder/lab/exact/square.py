"""U_sq, AdaGrad's function with the optimal constant: its tangent majorant, exactly, in every dimension.

Claim, with U(x,y) = −√(2y²−|x|²) for y ≥ |x| and |x| − 2y otherwise, and ∇ = x/√(2y²−|x|²), respectively x/|x|:

    U(x+d, √(y²+|d|²)) ≤ U(x,y) + ⟨∇,d⟩   for all x, d and y ≥ 0,        U(x,y) ≥ |x| − 2y,   U(0,0) ≤ 0.

Only X=|x|, D=|d| and p=⟨x,d⟩ with |p| ≤ XD enter, so one proof covers every inner-product space. The problem is
homogeneous: fix √(2y²−X²) = 1 (then y=X=0 is apart) or X = 1. Split by the region left and the region entered,
with one variable per root, each of the six cases is small for z3; undivided it never ends.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from burkholder.errors import BadInput
from burkholder.lab.exact.reals import Number, ball, constant, decide, rational, shorten, shown, with_margin, z3
from burkholder.lab.verdicts import Status, Verdict, Witness

ARITHMETIC = "z3 nlsat, exact real algebra"


@cache
def majorant(inner: Number = 2, outer: Number = 2, seconds: float = 30.0) -> Verdict:
    """The tangent (S4) majorant of −√(inner·y²−|x|²) / |x|−outer·y, which also gives 3 and 3′.

    >>> majorant().status.value
    'proved'
    >>> majorant(outer="19/10").status.value
    'refuted'
    """
    started = time.perf_counter()
    k, c = _constants(inner, outer)
    statement = f"U(x+d, √(y²+|d|²)) ≤ U(x,y) + ⟨∇U,d⟩, U = −√({shown(inner)}y²−|x|²) if y ≥ |x| else |x|−{shown(outer)}y"
    domain = "all x, d of any inner-product space and y ≥ 0 (hence all scales)"
    outcome, case, points = with_margin(lambda margin: _violations(k, c, margin), seconds)
    if outcome == "none":
        return Verdict(
            "tangent",
            Status.PROVED,
            statement,
            domain,
            ARITHMETIC,
            seconds=time.perf_counter() - started,
            note="six cases unsatisfiable: two regions left × two entered, and the origin",
        )
    for point in points:
        witness = _witness(point, k, c)
        if witness is not None:
            return Verdict(
                "tangent",
                Status.REFUTED,
                statement,
                domain,
                ARITHMETIC,
                witness,
                seconds=time.perf_counter() - started,
                note=f"case {case}",
            )
    note = f"z3 gave no answer on case {case} in time" if outcome == "unknown" else f"case {case} not settled"
    return Verdict("tangent", Status.NOT_REFUTED, statement, domain, ARITHMETIC, seconds=time.perf_counter() - started, note=note)


@cache
def majorises(inner: Number = 2, outer: Number = 2, seconds: float = 30.0) -> Verdict:
    """2°: U(x,y) ≥ V(x,y) = |x| − outer·y (equality outside the cone y ≥ |x|, so one case)."""
    started = time.perf_counter()
    k, c = _constants(inner, outer)
    solver = z3()
    X, y, R = solver.Reals("X y R")
    inside = [X >= 0, y == 1, y >= X, R >= 0, constant(k) * y * y - X * X == R * R, X - constant(c) * y > -R]
    outcome, _, point = decide({"inside": inside}, seconds)
    statement, domain = f"U(x,y) ≥ |x| − {shown(outer)}·y", "all x and y ≥ 0"
    if outcome == "found" and point is not None:
        x = shorten(point["X"], 1000)
        residual = ball(x) - ball(c) + (ball(k) - ball(x * x)).sqrt()
        if x <= 1 and residual > 0:
            return Verdict(
                "2",
                Status.REFUTED,
                statement,
                domain,
                ARITHMETIC,
                Witness({"x": str(x), "y": "1"}, float(residual.lower()), "ball arithmetic"),
                seconds=time.perf_counter() - started,
            )
        outcome = "unknown"
    return Verdict("2", Status.of(outcome == "none"), statement, domain, ARITHMETIC, seconds=time.perf_counter() - started)


def _constants(inner: Number, outer: Number) -> tuple[Fraction, Fraction]:
    k, c = rational(inner), rational(outer)
    if k <= 1 or c <= 0:  # the root must be real and positive on the whole cone y ≥ |x|
        raise BadInput("inner, outer", (str(k), str(c)), "give inner > 1 and outer > 0")
    return k, c


def _violations(k: Fraction, c: Fraction, margin: Fraction) -> Mapping[str, Sequence[Any]]:
    """Each case: where the majorant fails by more than the margin."""
    solver = z3()
    X, D, p, y, R, S, Z, Q = solver.Reals("X D p y R S Z Q")
    inner, outer, slack = constant(k), constant(c), constant(margin)
    here = [X >= 0, D >= 0, y >= 0, p <= X * D, p >= -X * D]
    square, root = X * X + 2 * p + D * D, y * y + D * D  # |x+d|² and the new y²
    into_cone = [root >= square, S >= 0, inner * root - square == S * S]
    outside = [root < square, Z >= 0, square == Z * Z, Q >= 0, root == Q * Q]
    from_cone = [*here, y >= X, R == 1, inner * y * y - X * X == 1]
    from_outside = [*here, y < X, X == 1]
    from_zero = [*here, X == 0, y == 0, D == 1]
    return {
        "cone to cone": [*from_cone, *into_cone, -R + p + slack < -S],
        "cone to outside": [*from_cone, *outside, Z - outer * Q > -R + p + slack],
        "outside to cone": [*from_outside, *into_cone, X - outer * y + p + slack < -S],
        "outside to outside": [*from_outside, *outside, Z - outer * Q > X - outer * y + p + slack],
        "zero to cone": [*from_zero, *into_cone, slack < -S],
        "zero to outside": [*from_zero, *outside, Z - outer * Q > slack],
    }


def _witness(point: Mapping[str, Fraction], k: Fraction, c: Fraction) -> Witness | None:
    """A rational point in the plane where the majorant fails by a certified amount, if rounding left one."""
    X, D, p, y = (point.get(name, Fraction(0)) for name in ("X", "D", "p", "y"))
    along = p / X if X else D
    across = Fraction(max(0.0, float(D * D - along * along)) ** 0.5)
    for denominator in (20, 1000, 10**6, 10**10):
        x, height, d1, d2 = (shorten(value, denominator) for value in (X, y, along, across))
        residual = _residual(x, height, d1, d2, k, c)
        if residual is not None and residual > 0:
            at = {"x": [str(x), "0"], "y": str(height), "d": [str(d1), str(d2)]}
            return Witness(at, float(residual.lower()), "ball arithmetic at a rational point")
    return None


def _residual(x: Fraction, y: Fraction, d1: Fraction, d2: Fraction, k: Fraction, c: Fraction) -> Any:
    """U(x+d, ·) − U(x,y) − ⟨∇,d⟩ as a ball; the regions are decided in rationals."""

    def value(square: Fraction, height: Fraction) -> Any:  # of |x|² and y²
        if height >= square:
            return -ball(k * height - square).sqrt()
        return ball(square).sqrt() - ball(c) * ball(height).sqrt()

    before, after = x * x, (x + d1) ** 2 + d2 * d2
    if x < 0 or y < 0 or (y >= x and k * y * y < before):
        return None
    if x == y == 0:
        slope = ball(0)
    else:
        slope = ball(x * d1) / ball(k * y * y - before).sqrt() if y >= x else ball(d1)
    return value(after, y * y + d1 * d1 + d2 * d2) - value(before, y * y) - slope
