"""The paper's decoupled inequality at p = 4: E f⁴ ≤ C·E g⁴, f = Σe_t v_t, g = Σe'_t v_t, v chosen by e alone.

Given v, E g⁴ = 3s² − 2q with s = Σv², q = Σv⁴, so the state is (x, s, q) with x = f and q ≤ s². Derived by hand:

    U = a(x⁴ − 6x²s + 3s² + 2q)   is a martingale, and
    U − V_C = (a−1)x⁴ − 6ax²s + 3(a+C)s² − 2(C−a)q ≥ (a−1)x⁴ − 6ax²s + (5a+C)s² ≥ 0   when 9a² ≤ (a−1)(5a+C), C ≥ a.

C = 9a²/(a−1) − 5a is least at a = 5/2, where it is 25. Below, V_C ≥ f⁴ − 3C·s²: the walk of the dyadic square function
at 3C will do. What lies between the two is open.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.optimize import minimize_scalar

from burkholder.checker import number, parse

from .ends import LowerEnd, UpperEnd, above, below


def estimate() -> float:
    """Where the family is best, in floats: it only says which a to try."""
    return float(minimize_scalar(lambda a: 9 * a * a / (a - 1) - 5 * a, bounds=(1.01, 50.0), method="bounded").x)


def upper(near: float) -> UpperEnd:
    """The member of the family with the simplest a near the best one; every check is in rationals."""
    a = Fraction(near).limit_denominator(100)
    c = 9 * a * a / (a - 1) - 5 * a
    u = number(a) * parse("x**4 - 6*x**2*s + 3*s**2 + 2*q")
    moved = sum((u.at(x=parse(step), s=parse("s + d**2"), q=parse("q + d**4")) for step in ("x + d", "x - d")), parse("0"))
    fourth = parse("(v + w)**4") + parse("(v - w)**4") - number(2) * parse("3*(v**2 + w**2)**2 - 2*v**4 - 2*w**4")
    gap = u - parse("x**4") + number(c) * parse("3*s**2 - 2*q")
    square = number(a - 1) * (parse("x**2") - number(3 * a / (a - 1)) * parse("s")) ** 2 + number(2 * (c - a)) * parse("s**2 - q")
    checks = (
        ("E g⁴ = 3s² − 2q given v (each monomial has at most two indices: two terms decide)", not fourth),
        ("U is a martingale: the mean over e of U after the step is U", moved == number(2) * u),
        ("U − V = (a−1)(x² − 3a/(a−1)·s)² + 2(C−a)(s²−q), and q ≤ s²", gap == square and a > 1 and c >= a),
    )

    def value(x: np.ndarray, y: np.ndarray) -> np.ndarray:  # at q = s², where U and V are closest
        return float(a) * (x**4 - 6 * x**2 * y**2 + 5 * y**4)

    contact = float(3 * a / (a - 1)) ** 0.5
    return UpperEnd(above(c), "U = a(x⁴ − 6x²s + 3s² + 2q), derived by hand", {"a": str(a)}, checks, value, contact)


def lower(dyadic: LowerEnd) -> LowerEnd:
    """The walk that refutes E f⁴ ≤ 3C·E S⁴ for fair signs refutes this C as well."""
    constant = below(Fraction(dyadic.quoted) / 3)
    checks = (*dyadic.checks, ("E V_C = E f⁴ − C(3E s² − 2E q) ≥ E f⁴ − 3C·E s²", 3 * Fraction(constant) <= Fraction(dyadic.quoted)))
    return LowerEnd(constant, f"the walk of square-function-4-dyadic: {dyadic.basis}", dyadic.parameters, checks, dyadic.steps, dyadic.walk)
