"""The paper's decoupled inequality at p = 4: E f⁴ ≤ C·E g⁴, f = Σe_t v_t, g = Σe'_t v_t, v chosen by e alone.

Given v, E g⁴ = 3s² − 2q with s = Σv², q = Σv⁴, so the state is (x, s, q) with x = f and q ≤ s². Derived by hand:

    U = a(x⁴ − 6x²s + 3s² + 2q)   is a martingale, and
    U − V_C = (a−1)x⁴ − 6ax²s + 3(a+C)s² − 2(C−a)q ≥ (a−1)x⁴ − 6ax²s + (5a+C)s² ≥ 0   when 9a² ≤ (a−1)(5a+C), C ≥ a.

C = 9a²/(a−1) − 5a is least at a = 5/2, where it is 25.

Below, a walk with fair signs e. Once x = r√s, each step is h√s with (1+h²)² = 2, and r solves r + h = r·2^{1/4}: a step up leaves
the ratio as it is and doubles s², a step down ends the walk. Its chances halve while fourth powers double, so that every
step adds the same to E f⁴ and the same to E g⁴ = E(3s² − 2q), and after many steps their ratio is as near as one likes to

    C = ½(r−h)⁴/(3 − 2h⁴) = 10.88781578…,   h² = √2 − 1.

A linear program over U (cubic splines in the ratio, fair signs, finitely many steps) comes to the same number from below, which
is where this walk was seen; it is no proof, and what lies between 10.8878 and 25 is open.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from scipy.optimize import minimize_scalar

from burkholder.checker import number, parse

from .ends import LowerEnd, UpperEnd, above, ball, below


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


def lower(steps: int = 2**40) -> LowerEnd:
    """E f⁴ ÷ E g⁴ along the walk, enclosed in a ball: eleven equal steps and one that reaches the ratio, then `steps` more.

    >>> from burkholder.lab.sharp.ends import shown_below
    >>> shown_below(lower().quoted), shown_below(lower(600).quoted)
    ('10.8878157', '9.04165875')
    """
    begun = 11
    h2 = ball(2).sqrt() - 1
    h, root = h2.sqrt(), ball(2).sqrt().sqrt()
    ratio = h / (root - 1)
    # the step b from (11, 11) to x = r√s: (11 + b)² = r²(11 + b²)
    square = ratio * ratio
    b = (begun - (begun**2 - (square - 1) * (begun * square - begun**2)).sqrt()) / (square - 1)
    fourth, price, chance = ball(0), ball(0), ball(1)
    x, s, q = ball(0), ball(0), ball(0)
    for step in [*(ball(1) for _ in range(begun)), b]:  # down: the walk ends at x − step; up: it goes on
        s, q, chance = s + step**2, q + step**4, chance / 2
        fourth, price = fourth + chance * (x - step) ** 4, price + chance * (3 * s * s - 2 * q)
        x = x + step
    reached = (x - ratio * s.sqrt()).contains(0)
    # step k ends with chance·2^{−k} at f⁴ = ((r−h)√(s·(1+h²)^{k−1}))⁴, where s² has doubled k times and q has grown by h⁴s²(2^k − 1)
    count, rest = ball(steps), ball(2) ** ball(-steps)
    big, small = s * s, h2 * h2 * s * s
    fourth = fourth + chance * ((ratio - h) ** 4 * big * count / 2 + ratio**4 * big)
    price = price + chance * (3 * big * (count + 1) - 2 * (q - small) - 2 * small * (count + 1))
    exact = (1 + h2) ** 2
    checks = (
        (
            "(1+h²)² = 2 and r + h = 2^{1/4}·r: a step up keeps the ratio",
            bool(exact.contains(2)) and (ratio + h - root * ratio).contains(0),
        ),
        ("the first twelve steps end at the ratio r", bool(reached)),
        ("E g⁴ > 0 and what the last step leaves has a chance of 2^{−steps}", bool(price > 0) and bool(rest <= 1)),
    )
    return LowerEnd(
        below(fourth / price),
        "steps h√s with (1+h²)² = 2 from the ratio that a step up keeps, stopped by a step down",
        {"h²": "√2 − 1", "r": "h/(2^{1/4} − 1)", "steps": str(steps)},
        checks,
        float(begun + 1 + steps),
    )
