"""Adaptive parameter-free, scalar: property 3′ by balls on a box, and everywhere through two lemmas.

F(g,s) = √(v/D)·exp(θg²/D), D = v+ks. In units of √D before the step, with sin²φ = kd²/D′, D′ = D+kd², the claim
E F(g+εd, s+d²) ≤ F(g,s) is f ≤ 0 for

    f(x,φ) = cos φ · exp(θ·sin²φ·(1/k − x²)) · cosh(θ·x·sin 2φ/√k) − 1,     x ≥ 0,  0 ≤ φ ≤ π/2,

which covers every scale of D and every d; vectors too, since of ⟨g,d⟩ only |⟨g,d⟩| ≤ |g||d| enters, through a cosh.
Here θ = ½, k = 1 (L² is absorbed in d). The coefficient of φ² is (θ/k − ½) + θx²(2θ/k − 1): identically 0 at the true
constants.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from burkholder.errors import BadInput
from burkholder.lab.exact import lemmas
from burkholder.lab.exact.boxes import nonpositive
from burkholder.lab.exact.consequences import settled
from burkholder.lab.exact.reals import Number, ball, constant, decide, flint, rational, z3
from burkholder.lab.verdicts import Status, Verdict, Witness


@dataclass(frozen=True)
class Step:
    """f above, with its derivatives by power series with ball coefficients."""

    exponent: Fraction
    growth: Fraction

    def _series(self, place: list[Any], angle: list[Any], length: int) -> Any:
        series = flint().arb_series
        x, phi = series(place, prec=length), series(angle, prec=length)
        theta, k = ball(self.exponent), ball(self.growth)
        sine = phi.sin()
        odd = (x * (phi + phi).sin() * theta) * (1 / k.sqrt())
        power = sine * sine * theta * (1 / k - x * x)
        # cosh is folded into the exponentials: nothing overflows, since power ± odd is small where odd is large
        return phi.cos() * ((power + odd).exp() + (power - odd).exp()) * (1 / flint().arb(2)) - 1

    def value(self, x: Any, theta: Any) -> Any:
        return self._series([x], [theta], 1)[0]

    def gradient(self, x: Any, theta: Any) -> tuple[Any, Any]:
        return self._series([x, 1], [theta], 2)[1], self._series([x], [theta, 1], 2)[1]

    def divided(self, x: Any, theta: Any) -> Any:
        """f/φ² = a₂(x) + a₄(x;ξ)φ²; when a₂ vanishes identically, f/φ⁴ = a₄."""
        fourth = self._series([x], [theta, 1], 5)[4]
        constant_term = self.exponent / self.growth - Fraction(1, 2)
        square_term = self.exponent * (2 * self.exponent / self.growth - 1)
        if constant_term == square_term == 0:
            return fourth
        second = ball(constant_term) + ball(square_term) * x * x
        return second if fourth <= 0 else second + fourth * theta * theta


def box(exponent: Number = "1/2", growth: Number = 1, reach: float = 4.0, seconds: float = 20.0) -> Verdict:
    """Ball arithmetic on |g| ≤ reach·√D, every d.

    >>> box(reach=2.0).status.value, box(exponent="0.525", reach=2.0).status.value
    ('proved', 'refuted')
    """
    step = Step(*_constants(exponent, growth))
    if not 0 < reach <= 40:
        raise BadInput("reach", reach, "give a number between 0 and 40")
    # π/2 is inside the last box: 1.5708 is a little more, and f ≈ −1 there
    found = nonpositive(step, (0.0, float(reach), 0.0, 1.5708), seconds)
    arithmetic = f"arb branch and bound, {found.boxes} boxes, centred form, divided by d² near d = 0"
    witness = _witness(found.witness, step) if found.witness else None
    status = Status.of(found.proved, witness)
    note = f"gave up at x in [{found.stuck[0]}, {found.stuck[1]}]" if found.stuck else ""
    domain = f"|g| ≤ {reach:g}·√D, every D > 0, every d, in any inner-product space"
    return Verdict("3'", status, _statement(step), domain, arithmetic, witness, points=found.boxes, seconds=found.seconds, note=note)


@cache
def everywhere(exponent: Number = "1/2", growth: Number = 1, seconds: float = 20.0) -> Verdict:
    """All g: with y = θx·sin 2φ/√k, log cosh y ≤ y²/2, and with q = tan²φ, log(1+q) ≥ q/(1+q).

    log(1+f) ≤ −½log(1+q) + θu(1/k−x²) + 2θ²x²u(1−u)/k with u = sin²φ = q/(1+q), and the rest is algebra.
    """
    started = time.perf_counter()
    step = Step(*_constants(exponent, growth))
    solver = z3()
    x2, u, log = solver.Reals("x2 u log")  # x², sin²φ, log(1+q) ≥ u
    theta, k = constant(step.exponent), constant(step.growth)
    violation = -log / 2 + theta * u * (1 / k - x2) + 2 * theta * theta * x2 * u * (1 - u) / k > 0
    outcome, _, _ = decide({"step": [x2 >= 0, u >= 0, u < 1, log >= u, violation]}, seconds)
    proved = outcome == "none" and lemmas.logarithm() and lemmas.hyperbolic("1/2")
    return Verdict(
        "3'",
        Status.of(proved),
        _statement(step),
        "all g, d of any inner-product space, all D > 0",
        f"z3 nlsat, with {lemmas.LOG} and {lemmas.COSH}",
        seconds=time.perf_counter() - started,
        note="" if proved else "the two lemmas do not suffice at these constants",
    )


def promise(seconds: float = 10.0) -> Verdict:
    """A(w) = κ + u√(2D·ln(1+q)), q = uD/(κ√v), against sup_g (u·g − f(g,s)): with t = g/√D that is q(t−ℓ) ≤ exp(t²/2), ℓ = √(2 ln(1+q)).

    For t ≤ ℓ there is nothing to show. Beyond, exp(t²/2) = (1+q)·exp((t²−ℓ²)/2) ≥ (1+q)(1 + w(w+2ℓ)/2) with w = t−ℓ.
    """
    q, w, root = z3().Reals("q w root")
    known = [q >= 0, w >= 0, root >= 0]
    return settled(
        "regret",
        "every w, every dimension, all τ",
        f"with {lemmas.EXP}, and the norm's own Cauchy–Schwarz",
        {"beyond": [*known, q * w > (1 + q) * (1 + w * (w + 2 * root) / 2)]},
        seconds,
        holds=lemmas.exponential(),
    )


def _statement(step: Step) -> str:
    return f"E F(g+εd, D+{step.growth}·d²) ≤ F(g,D), F = D^(−½)·exp({step.exponent}·g²/D)"


def _constants(exponent: Number, growth: Number) -> tuple[Fraction, Fraction]:
    theta, k = rational(exponent), rational(growth)
    if theta <= 0 or k <= 0:
        raise BadInput("exponent, growth", (str(theta), str(k)), "give positive numbers")
    return theta, k


def _witness(found: tuple[float, float], step: Step) -> Witness | None:
    """Back to g, D = 1 and d, shortened to fractions, evaluated again from the definition."""
    from math import tan

    for denominator in (10, 100, 10**4, 10**8):
        g = Fraction(found[0]).limit_denominator(denominator)
        d = Fraction(tan(min(found[1], 1.57)) / float(step.growth) ** 0.5).limit_denominator(denominator)
        after = 1 + step.growth * d * d
        both = sum((ball(step.exponent * (g + sign * d) ** 2 / after).exp() for sign in (1, -1)), ball(0))
        residual = both / 2 / ball(after).sqrt() - ball(step.exponent * g * g).exp()
        if residual > 0:
            point = {"g": str(g), "D": "1", "d": str(d)}
            return Witness(point, float(residual.lower()), "ball arithmetic at a rational point")
    return None
