"""Upper ends for square functions: one family of U per inequality, each proved for a rational parameter.

Rademacher increments. With s' = s+d² and a = x+d, b = x−d, the mean of U after the step falls in d iff
    G(a,b) = U_x(a) − U_x(b) + (a−b)(U_s(a)+U_s(b)) ≤ 0 at s' = 1, 0 < a−b ≤ 2.
Where U solves U_s = −½U_xx with U_xx convex in x, G ≤ 0 is the trapezoid rule; where U = V it is elementary;
across the free boundary G is monotone in the point that lies in the stopping set, and C¹ fit starts it at ≤ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import hyp1f1

from .ends import UpperEnd, above, ball, candidates, first_proved, flint, rational, root_above
from .problems import Problem
from .program import Solution


def _minimise(power: Callable[[float], float], low: float, high: float) -> float:
    return float(minimize_scalar(power, bounds=(low, high), method="bounded", options={"xatol": 1e-11}).x)


def _kummer(a: Fraction, b: Fraction, z: Any) -> Any:
    """M(a, b, z²/2) as a ball."""
    return (z * z / 2).hypgeom_1f1(ball(a), ball(b))


HALF = Fraction(1, 2)


def dyadic_first(problem: Problem, estimate: Solution) -> UpperEnd:
    """p = 1: U = −c√s·M(−½,½,z²/2) for z = |x|/√s ≤ z0, V = |x| − C√s beyond; c and C follow from z0.

    U_xx = c·e^{z²/2}/√s is convex: trapezoid. Beyond z0 U_xx = U_sx = 0 and U_s < 0 on both sides, so G falls
    in a. Two stops on opposite sides need 2z0 ≤ 2, excluded by z0 > 1. U − V is convex below z0 with a double
    zero there.
    """

    def power(z: float) -> float:
        return z + hyp1f1(-0.5, 0.5, z * z / 2) / (z * hyp1f1(0.5, 1.5, z * z / 2))

    z0 = rational(_minimise(power, 0.75 * estimate.zero, 1.3 * estimate.zero))
    z = ball(z0)
    value_at, slope = _kummer(-HALF, HALF, z), -z * _kummer(HALF, 3 * HALF, z)
    c, constant = -1 / slope, z - value_at / slope
    checks = (
        ("c > 0", bool(c > 0)),
        ("z0 > 1: no step reaches both stopping sets", z0 > 1),
        ("U_s < 0 beyond z0: C > 0", bool(constant > 0)),
        ("U(1,1) ≤ 0", bool(_kummer(-HALF, HALF, ball(1)) >= 0)),
    )
    shown, number = above(constant), float(c.mid())

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        ratio = np.minimum(np.divide(x, y, out=np.full_like(y, 9.0), where=y > 0), float(z0))
        return np.where(x <= float(z0) * y, -number * y * hyp1f1(-0.5, 0.5, ratio**2 / 2), x - shown * y)

    return UpperEnd(
        shown, "heat-harmonic Kummer function up to z0, V beyond, C¹ (ball arithmetic)", {"z0": str(z0)}, checks, value, contact=float(z0)
    )


def dyadic_third(problem: Problem, estimate: Solution) -> UpperEnd:
    """p = 3: U = A(|x|³−3|x|s) for z ≥ z0, V = |x|³ − C³s^{3/2} below; A = z0²/(z0²−1), C³ = 2z0³/(z0²−1).

    Above z0 G = 0 identically. Below, G ≤ 0 iff a+b ≤ C³ (same sign) or max(a,|b|) ≤ C³. Across, G is linear
    in the outer point with slope 3Ab − 1.5C³ ≤ 0, zero at b = z0. U − V = (A−1)z³ − 3Az + C³ is convex with a
    double zero at z0.
    """
    z0 = rational(_minimise(lambda z: 2 * z**3 / (z * z - 1), max(1.05, estimate.zero / 1.4), estimate.zero * 1.4))
    a, power = z0**2 / (z0**2 - 1), 2 * z0**3 / (z0**2 - 1)
    checks = (
        ("z0 > 1: no step reaches both harmonic sets", z0 > 1),
        ("fit of values at z0", a * (z0**3 - 3 * z0) == z0**3 - power),
        ("fit of slopes at z0", a * (3 * z0**2 - 3) == 3 * z0**2),
        ("below z0: 2z0 ≤ C³", 2 * z0 <= power),
        ("across: 3A·z0 ≤ 1.5·C³", 3 * a * z0 <= Fraction(3, 2) * power),
        ("U ≥ V: A ≥ 1", a >= 1),
        ("U(1,1) = 1 − C³ ≤ 0", power >= 1),
    )

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(x >= float(z0) * y, float(a) * (x**3 - 3 * x * y * y), x**3 - float(power) * y**3)

    return UpperEnd(
        root_above(power, 3, problem.root),
        "Hermite polynomial beyond z0, V below, C¹ (rationals)",
        {"z0": str(z0), "A": str(a)},
        checks,
        value,
        contact=float(z0),
    )


def dyadic_fourth(problem: Problem, estimate: Solution) -> UpperEnd:
    """p = 4, both ways: U = a(x⁴−6x²s+3s²), mean after a step U − 2ad⁴; U − V is a multiple of a square."""
    if problem.reverse:
        a = rational(_minimise(lambda a: 9 * a * a / (3 * a - 1) - a, 0.35, 10.0))
        power = 9 * a * a / (3 * a - 1) - a
        lead, middle, last = a + power, -6 * a, 3 * a - 1
    else:
        a = rational(_minimise(lambda a: 9 * a * a / (a - 1) - 3 * a, 1.05, 30.0))
        power = 9 * a * a / (a - 1) - 3 * a
        lead, middle, last = a - 1, -6 * a, 3 * a + power
    checks = (
        ("U − V = lead·x⁴ + middle·x²s + last·s² with lead, last > 0", lead > 0 and last > 0),
        ("zero discriminant or less: U ≥ V", middle**2 <= 4 * lead * last),
        ("mean of U after ±d is U − 2a·d⁴ (exact identity)", _hermite_four()),
        ("a ≥ 0, so U(1,1) = −2a ≤ 0", a >= 0),
    )

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return float(a) * (x**4 - 6 * x**2 * y**2 + 3 * y**4)

    contact = float(-middle / (2 * lead)) ** 0.5
    return UpperEnd(
        root_above(power, 4, problem.root),
        "quartic Hermite polynomial in (x, s), exact rationals",
        {"a": str(a)},
        checks,
        value,
        contact=contact,
    )


def _hermite_four() -> bool:
    module = flint()
    x, s, d = module.fmpq_mpoly_ctx.get(["x", "s", "d"], module.Ordering.lex).gens()

    def u(x: Any, s: Any) -> Any:
        return x**4 - 6 * x**2 * s + 3 * s**2

    return u(x + d, s + d**2) + u(x - d, s + d**2) - 2 * u(x, s) == -4 * d**4


def dyadic_third_reverse(problem: Problem, estimate: Solution) -> UpperEnd:
    """p = 3, S against f: U = c·s^{3/2}M(−3/2,½,z²/2) for z ≤ z0, V = s^{3/2} − C³|x|³ beyond.

    U_xx = −3c√s·M(−½,½,z²/2) is convex in x: trapezoid. Across, dG/da ≤ −6C³z0 + 1.5 + 1.5c. Two points beyond
    z0: G ≤ 0 because C³z0 ≥ 1. (U−V)' = 3z[C³z − cM(−½,3/2,z²/2)] has one sign below z0, where U−V = 0.
    """
    three = 3 * HALF

    def power(z: float) -> float:
        m, slope = hyp1f1(-1.5, 0.5, z * z / 2), -3 * z * hyp1f1(-0.5, 1.5, z * z / 2)
        return -slope / (3 * z * z) / (m - z * slope / 3)

    z0 = rational(_minimise(power, estimate.zero / 1.25, estimate.zero * 1.25))
    z = ball(z0)
    m, slope = _kummer(-three, HALF, z), -3 * z * _kummer(-HALF, three, z)
    c = 1 / (m - z * slope / 3)
    cube = -c * slope / (3 * z * z)
    checks = (
        ("c > 0", bool(c > 0)),
        ("across: −6C³z0 + 1.5 + 1.5c ≤ 0", bool(-6 * cube * z + 1.5 + 1.5 * c <= 0)),
        ("beyond z0: C³z0 ≥ 1", bool(cube * z >= 1)),
        ("U(1,1) = 1 − C³ ≤ 0 with z0 < 1", bool(cube >= 1) and z0 < 1),
    )
    number, power_shown = float(c.mid()), float(cube.mid())

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        ratio = np.minimum(np.divide(x, y, out=np.full_like(y, 9.0), where=y > 0), float(z0))
        return np.where(x <= float(z0) * y, number * y**3 * hyp1f1(-1.5, 0.5, ratio**2 / 2), y**3 - power_shown * x**3)

    return UpperEnd(
        root_above(cube, 3, problem.root),
        "heat-harmonic Kummer function up to z0, V beyond, C¹ (ball arithmetic)",
        {"z0": str(z0)},
        checks,
        value,
        contact=float(z0),
    )


def general_first(problem: Problem, estimate: Solution) -> UpperEnd:
    """p = 1: U = −(1/z0)√((1+z0²)y²−x²) for |x| ≤ z0·y, V = |x| − Cy beyond, C = z0 + 1/z0 (U_sq at z0 = 1).

    From inside, with A = (1+z0²)y²−x² ≥ y²: staying inside is (z0²)A ≥ x²; leaving is Cauchy's inequality with
    (1+z0²)(x²+A) − (z0x+√A)² = (x−z0√A)². From outside: the two identities below, y' growing with |d|.
    """
    z0 = rational(_minimise(lambda z: z + 1 / z, estimate.zero / 4, estimate.zero), 1000)
    power = z0 + 1 / z0
    checks = (("z0 > 0", z0 > 0), ("three polynomial identities in z0 (exact)", _root_identities()), ("U(1,1) ≤ 0: C ≥ 1", power >= 1))
    z, c = float(z0), float(power)

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        inside = x <= z * y
        return np.where(inside, -np.sqrt(np.maximum((1 + z * z) * y * y - x * x, 0)) / z, x - c * y)

    return UpperEnd(
        root_above(power, 1, problem.root),
        "square-root function inside |x| ≤ z0·y, V beyond (exact)",
        {"z0": str(z0)},
        checks,
        value,
        contact=z,
    )


def _root_identities() -> bool:
    """The identities `general_first` rests on, with r for √A, y = 1 from outside, u = |x'|."""
    module = flint()
    z, x, r, u = module.fmpq_mpoly_ctx.get(["z", "x", "r", "u"], module.Ordering.lex).gens()
    one = z**0
    m = one + z**2
    leaving = m * (x**2 + r**2) - (z * x + r) ** 2 == (x - z * r) ** 2
    # landing inside from x = z: m(1 + (z−x')²) − x'² = (m − z·x')²
    entering = m * (one + (z - x) ** 2) - x**2 == (m - z * x) ** 2
    # landing on the far side: m²(1 + (z+u)²) − (m + 2zu)² = (z·m + u(z²−1))²
    crossing = m**2 * (one + (z + u) ** 2) - (m + 2 * z * u) ** 2 == (z * m + u * (z**2 - one)) ** 2
    return leaving and entering and crossing


def general_power(problem: Problem, estimate: Solution) -> UpperEnd:
    """Integer p ≥ 3: U = α(x−βy)(x+y)^{p−1}, contact at x = βy, C^{1/p} = β.

    With d = (q²−y²)/2q, y' = (q²+y²)/2q (q > 0 covers every d) the increment times 2q is (q−y)² times a
    polynomial whose coefficients must be ≤ 0. For x' < 0, U(|x'|) is below the same polynomial since its odd
    part is ≤ 0 for |x'| ≤ |d| ≤ y'. U − V = (x−βy)² times a polynomial with coefficients ≥ 0.
    """
    tried = candidates(estimate.power ** (1 / problem.p), reach=2e-2)
    return first_proved(tried, lambda beta: _general_power(problem, beta))


def _general_power(problem: Problem, beta: Fraction) -> UpperEnd:
    module, p = flint(), int(problem.p)
    q, x, y = module.fmpq_mpoly_ctx.get(["q", "x", "y"], module.Ordering.lex).gens()
    b = module.fmpq(beta.numerator, beta.denominator)
    alpha = p * (b / (1 + b)) ** (p - 1)
    slope = (x + y) ** (p - 1) + (p - 1) * (x - b * y) * (x + y) ** (p - 2)
    step = (
        2 * q * (x + q) ** p
        - (1 + b) * (q**2 + y**2) * (x + q) ** (p - 1)
        - 2 * q * (x - b * y) * (x + y) ** (p - 1)
        - (q**2 - y**2) * slope
    )
    increment, rest = divmod(step, (q - y) ** 2)
    gap, remainder = divmod(alpha * (x - b * y) * (x + y) ** (p - 1) - x**p + b**p * y**p, (x - b * y) ** 2)
    formal = (x - b * y) * (x + y) ** (p - 1)
    odd = [c for powers, c in formal.to_dict().items() if powers[1] % 2 == 1]
    low = [c for powers, c in formal.to_dict().items() if powers[1] == 1]
    checks = (
        ("the increment has the factor (q−y)²", rest == 0),
        ("its cofactor has no positive coefficient", all(c <= 0 for c in increment.coeffs())),
        ("odd part ≤ 0 for |x'| ≤ y'", bool(low) and low[0] <= 0 and low[0] + sum(c for c in odd if c > 0) <= 0),
        ("U − V has the factor (x−βy)² and a nonnegative cofactor", remainder == 0 and all(c >= 0 for c in gap.coeffs())),
        ("U(1,1) ≤ 0: β ≥ 1", beta >= 1),
    )
    number, ratio = float(alpha.p) / float(alpha.q), float(beta)

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return number * (x - ratio * y) * (x + y) ** (p - 1)

    power = beta if problem.root else beta**p
    return UpperEnd(
        above(power),
        "U = α(|x|−βy)(|x|+y)^{p−1}, every sign a polynomial coefficient (rationals)",
        {"beta": str(beta)},
        checks,
        value,
        contact=ratio,
    )
