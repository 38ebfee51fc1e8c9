"""Upper ends for transforms, decoupled transforms and smoothness: families of U checked in rationals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from .ends import UpperEnd, above, ball, candidates, first_proved, flint, rational
from .problems import Problem
from .program import Solution


def transform(problem: Problem, estimate: Solution) -> UpperEnd:
    """U = α(y − βx)(x+y)^{p−1} with contact on y = βx and C = β; the smallest β near the estimate that passes.

    Along x+y = const U is linear; along x−y = const its second derivative has the sign of
    (p−1−β)(x+y) − (1+β)(p−2)x, linear in x, so two numbers decide, and the same two decide the kinks on the
    axes. U ≥ V on x+y = 1: the tangent of V at the contact point is above V on its concave side, and the
    convex side ends on an axis, where one number decides.
    """
    return first_proved(candidates(problem.quoted(estimate.power)), lambda beta: _transform(problem, beta))


def _transform(problem: Problem, beta: Fraction) -> UpperEnd:
    p = Fraction(str(problem.p))  # 1.2 means 6/5
    b, e = ball(beta), ball(p - 1)
    alpha = ball(p) * (b / (1 + b)) ** e
    axis = alpha >= 1 if p > 2 else ball(p) <= (1 + b) ** e
    checks = (
        ("concave on x−y = const at x = 0, and the kink at x = 0: p − 1 ≤ β", p - 1 <= beta),
        ("concave on x−y = const at y = 0, and the kink at y = 0: 1 ≤ β(p−1)", beta * (p - 1) >= 1),
        ("V is concave at the contact point, and U(1,1) ≤ 0: β ≥ 1", beta >= 1),
        ("U ≥ V on the axis of the convex side", bool(axis)),
    )
    number = float(alpha.mid())

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return number * (y - float(beta) * x) * (x + y) ** (problem.p - 1)

    return UpperEnd(
        above(beta), "U = α(|y|−β|x|)(|x|+|y|)^{p−1}, zigzag concave", {"beta": str(beta)}, checks, value, contact=1 / float(beta)
    )


def decoupled(problem: Problem, estimate: Solution) -> UpperEnd:
    """U = k(y⁴−6x²y²+x⁴) where |y| ≥ m|x|, V elsewhere, C¹ across; k and C follow from m.

    H = k(y⁴−6x²y²+x⁴) has corner mean H − 4kd⁴ and H − V = (k−1)(y²−m²x²)² ≥ 0, so U ≤ H and a start in
    the cone is settled. From outside (x = 1, 0 ≤ y ≤ m) the loss of V, 6(C−y²)+(C−1)d² after division by d²,
    must cover the corners that land in the cone, Σ(k−1)(y'²−m²x'²)₊²/(4d²): an interval check.
    """

    def power(m: float) -> float:
        return m * m * (3 * m * m - 1) / (m * m - 3)

    ratio = problem.quoted(estimate.power) ** 0.25
    best = minimize_scalar(power, bounds=(max(1.8, ratio / 1.5), ratio * 1.5), method="bounded", options={"xatol": 1e-10})
    m = rational(best.x, 10**5)
    c = m * m * (3 * m * m - 1) / (m * m - 3)
    k = c / (3 * m * m - 1)
    checks = (
        ("U is continuous across y = mx", k * (m**4 - 6 * m**2 + 1) == m**4 - c),
        ("U_x is continuous across y = mx", k * (4 - 12 * m**2) == -4 * c),
        ("H ≥ V: k ≥ 1", k >= 1),
        ("U(1,1) = 1 − C ≤ 0, the cone excludes x = y: m > 1", m > 1 and c >= 1),
        ("corners from outside the cone (interval arithmetic)", _corners(m, c, k)),
    )

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        inside = y >= float(m) * x
        return np.where(inside, float(k) * (y**4 - 6 * x**2 * y**2 + x**4), y**4 - float(c) * x**4)

    return UpperEnd(
        above(c), "U = k·Re(y+ix)⁴ in the cone |y| ≥ m|x|, V outside", {"m": str(m), "k": str(k)}, checks, value, contact=1 / float(m)
    )


def _corners(m: Fraction, c: Fraction, k: Fraction, cells: int = 60) -> bool:
    """The outside inequality on 0 ≤ y ≤ m, d > 0, box by box.

    The corners x+d never land in the cone (y+d < m(1+d)). For d ≤ 1 we use y ≤ m to bound
    y + d − m(1−d) ≤ (m+1)d and |y−d| − m(1−d) ≤ max(m−1, 1)·d (for y < d because then it is at most
    d − m(1−d)), which removes the division by d². Beyond d = 2m/(m−1) no corner lands.
    """
    mb, cb, kb = ball(m), ball(c), ball(k)

    def interval(low: Fraction, high: Fraction) -> Any:
        return ball((low + high) / 2) + ball((high - low) / 2) * flint().arb(0, 1)

    def positive(square: Any) -> Any:
        return square.max(flint().arb(0))

    end = 2 * m / (m - 1)
    for i in range(cells):
        y = interval(m * i / cells, m * (i + 1) / cells)
        for j in range(cells):
            d = interval(Fraction(j, cells), Fraction(j + 1, cells))  # d ≤ 1
            first = (mb + 1) * (y + d + mb * positive(1 - d))
            second = ball(max(m - 1, Fraction(1))) * (abs(y - d) + mb * positive(1 - d))
            gain = 6 * (cb - y * y) + (cb - 1) * d * d - (kb - 1) / 4 * (first * first + second * second)
            if not gain > 0:
                return False
            d = interval(1 + (end - 1) * j / cells, 1 + (end - 1) * (j + 1) / cells)
            first = positive((y + d) ** 2 - mb * mb * (d - 1) ** 2)
            second = positive((y - d) ** 2 - mb * mb * (d - 1) ** 2)
            gain = 6 * (cb - y * y) + (cb - 1) * d * d - (kb - 1) / (4 * d * d) * (first**2 + second**2)
            if not gain > 0:
                return False
    return True


def smooth(problem: Problem, estimate: float) -> UpperEnd:
    """l_4: the second derivative of ‖x‖² along h is at most 6Σx²h²/‖x‖², so C works when
    9(Σx²h²)² ≤ C²Σx⁴Σh⁴; the difference is (C²−9)Σx⁴Σh⁴ + 9Σ_{i<j}(x_i²h_j²−x_j²h_i²)² (Lagrange)."""

    def certificate(c: Fraction) -> UpperEnd:
        checks = (("C² − 9 ≥ 0", c > 0 and c * c >= 9), ("Lagrange's identity in three coordinates", _lagrange()))
        return UpperEnd(
            above(c),
            "U = ‖x‖² − C·s; Hessian bound by Cauchy–Schwarz as a sum of squares",
            {"C": str(c)},
            checks,
            lambda x, y: np.sqrt(x**4 + y**4),
            contact=1.0,
        )

    return first_proved(candidates(estimate), certificate)


def _lagrange() -> bool:
    module = flint()
    ring = module.fmpq_mpoly_ctx.get([f"{v}{i}" for v in "xh" for i in range(3)], module.Ordering.lex)
    gens = ring.gens()
    x, h = gens[:3], gens[3:]
    left = sum((a**4 for a in x), 0 * x[0]) * sum((b**4 for b in h), 0 * x[0]) - sum((a**2 * b**2 for a, b in zip(x, h)), 0 * x[0]) ** 2
    right = sum(((x[i] ** 2 * h[j] ** 2 - x[j] ** 2 * h[i] ** 2) ** 2 for i in range(3) for j in range(i + 1, 3)), 0 * x[0])
    return left == right
