"""The sharp square function of Davis and Wang, U_dw: property 3′ and 2° in ball arithmetic, all scales.

With M = M(−½,½,·) Kummer's function, φ(z) = −c·M(z²/2), ν the positive zero of M(z²/2) and c such that φ′(ν) = 1,

    U(x,s) = √s·φ(|x|/√s) for |x| ≤ ν√s, else |x| − ν√s.     Claim: E U(x+εd, s+|d|²) ≤ U(x,s), U ≥ |x| − ν√s.

1. −M(z²/2) = −1 + Σ_{k≥1} a_k z^{2k} with a_k > 0 and a_{k+1}/a_k = (2k−1)/((2k+2)(2k+1)): the recurrence is checked
   below against Kummer's series. So φ is even, convex, increasing in |z|, solves φ″ = zφ′ − φ (the heat equation), and
   all its derivatives are monotone in |z|: their range over a ball is read off the ball's ends.
2. φ convex, φ(ν) = 0 and φ′(ν) = 1 give φ(z) ≥ z − ν: that is 2°, and U ≤ √s·φ(|x|/√s) on both sides of ν.
3. For |x| ≤ ν√s it is enough to bound E √s′φ: with s = 1, d = tan θ, times cos θ, the claim is f ≤ 0 for
   f(x,θ) = ½φ(x·cos θ + sin θ) + ½φ(x·cos θ − sin θ) − cos θ·φ(x) on [0,ν]×[0,π/2]: every scale and every d.
   With z± = x·cos θ ± sin θ the equation of φ gives f″ + f = S, S = ½Σφ″(z±)(x² − z±²), hence
   f(θ) = ∫₀^θ sin(θ−t)S(t)dt, and S/sin²θ = (x²−1)·½(φ″(z₊)+φ″(z₋)) − 2x·cos θ·(φ″(z₊)−φ″(z₋))/(z₊−z₋): where that is
   ≤ 0 from 0 on, so is f. Branch and bound does the rest. (φ(√w) is convex in w, so among vectors with |x|, |d| given,
   parallel ones are the worst: the scalar case is the vector case.)
4. For |x| > ν√s: along the ray of x the slope of E U(x±d) is at most 1, that of U is 1, so |x| = ν√s is the worst.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from burkholder.lab.exact.boxes import nonpositive
from burkholder.lab.exact.reals import Number, ball, flint, rational
from burkholder.lab.verdicts import Status, Verdict, Witness


def shape(z: Any) -> list[Any]:
    """−M(−½,½,z²/2) and its first four derivatives at a point (a thin ball)."""
    arb = flint().arb
    half = arb(1) / 2
    w = z * z / 2
    value, first = -w.hypgeom_1f1(-half, half), z * w.hypgeom_1f1(half, 3 * half)
    second = z * first - value
    third = z * second
    return [value, first, second, third, second + z * third]


def jet(z: Any) -> list[Any]:
    """Ranges of the same over a wide ball, from its ends: derivatives of odd order are odd and increasing, those
    of even order are even and increasing in |z|."""
    low, high = z.lower(), z.upper()
    far, near = z.abs_upper(), z.abs_lower()
    ends, sizes = (shape(low), shape(high)), (shape(near), shape(far))
    return [(ends if k % 2 else sizes)[0][k].union((ends if k % 2 else sizes)[1][k]) for k in range(5)]


@cache
def constants() -> tuple[Any, Any]:
    """(ν, c) as balls of 100 bits: M(−½,½,ν²/2) = 0 by bisection with certified signs, c = 1/(−M(z²/2))′(ν)."""
    arb = flint().arb
    low, high = arb(1), arb(2)
    if not (shape(low)[0] < 0 and shape(high)[0] > 0):
        raise ArithmeticError("Kummer's function has no sign change on [1, 2]")
    for _ in range(100):
        middle = ((low + high) / 2).mid()
        value = shape(middle)[0]
        if value < 0:
            low = middle
        elif value > 0:
            high = middle
        else:
            break
    nu = low.union(high)
    return nu, 1 / jet(nu)[1]


def recurrence_holds() -> bool:
    """Kummer's ratio (k−½)/((k+½)(k+1))·½ equals (2k−1)/((2k+2)(2k+1)), which φ″ = zφ′ − φ asks for.

    Cross-multiplied, both sides are cubics in k: agreement at four points is identity.
    """
    half = Fraction(1, 2)
    return all((k - half) * half * (2 * k + 2) * (2 * k + 1) == (2 * k - 1) * (k + half) * (k + 1) for k in map(Fraction, range(4)))


@dataclass(frozen=True)
class Inner:
    """f of step 3, without the factor c > 0."""

    def value(self, x: Any, theta: Any) -> Any:
        sine, cosine = theta.sin_cos()
        return (jet(x * cosine + sine)[0] + jet(x * cosine - sine)[0]) / 2 - cosine * jet(x)[0]

    def gradient(self, x: Any, theta: Any) -> tuple[Any, Any]:
        sine, cosine = theta.sin_cos()
        here, up, down = jet(x), jet(x * cosine + sine)[1], jet(x * cosine - sine)[1]
        by_theta = (up * (cosine - x * sine) - down * (cosine + x * sine)) / 2 + sine * here[0]
        return cosine * ((up + down) / 2 - here[1]), by_theta

    def divided(self, x: Any, theta: Any) -> Any:
        """S/sin²θ of step 3, the difference quotient of φ″ by a value of φ‴ in between."""
        sine, cosine = theta.sin_cos()
        up, down = x * cosine + sine, x * cosine - sine
        mean = (jet(up)[2] + jet(down)[2]) / 2
        return (x * x - 1) * mean - 2 * x * cosine * jet(up.union(down))[3]


@cache
def step(nu: Number | None = None, c: Number | None = None, seconds: float = 25.0) -> Verdict:
    """E U(x+εd, s+|d|²) ≤ U(x,s) at the constants as defined, or a search for a witness at others.

    >>> step(nu="1.24158").status.value
    'refuted'
    """
    started = time.perf_counter()
    statement = f"E U_dw(x+εd, s+|d|²) ≤ U_dw(x,s){_where(nu, c)}"
    if nu is None and c is None and recurrence_holds():
        end = float(constants()[0].upper()) + 1e-9
        found = nonpositive(Inner(), (0.0, end, 0.0, 1.5708), seconds)
        arithmetic = f"arb branch and bound, {found.boxes} boxes, centred form, divided by d² near d = 0"
        if found.proved:
            return Verdict(
                "3'",
                Status.PROVED,
                statement,
                "all x, d of any inner-product space, all s ≥ 0",
                arithmetic,
                points=found.boxes,
                seconds=found.seconds,
                note="box [0,ν]×[0,π/2] in x/√s and arctan(d/√s); outside by convexity",
            )
        return Verdict(
            "3'",
            Status.NOT_REFUTED,
            statement,
            "|x| ≤ ν√s",
            arithmetic,
            points=found.boxes,
            seconds=found.seconds,
            note=f"undecided near {found.stuck or found.witness}",
        )
    tried, witness = _search(*_given(nu, c))
    return Verdict(
        "3'",
        Status.of(False, witness),
        statement,
        "x/√s ∈ [0,2], d/√s ∈ (0,2]",
        "ball arithmetic on a rational grid",
        witness,
        points=tried,
        seconds=time.perf_counter() - started,
    )


@cache
def majorises(nu: Number | None = None, c: Number | None = None) -> Verdict:
    """2°: U(x,s) ≥ |x| − ν√s."""
    started = time.perf_counter()
    statement, domain = f"U_dw(x,s) ≥ |x| − ν√s{_where(nu, c)}", "all x, s ≥ 0"
    if nu is None and c is None and recurrence_holds():
        return Verdict("2", Status.PROVED, statement, domain, "convexity and the tangent at ν", seconds=time.perf_counter() - started)
    zero, factor = _given(nu, c)
    witness = None
    for k in range(1001):
        x = Fraction(k, 500)
        residual = ball(x) - zero - factor * shape(ball(x))[0]
        if ball(x) <= zero and residual > 0 and (witness is None or float(residual.lower()) > witness.residual):
            witness = Witness({"x": str(x), "s": "1"}, float(residual.lower()), "ball arithmetic at a rational point")
    return Verdict(
        "2",
        Status.of(False, witness),
        statement,
        domain,
        "ball arithmetic on a rational grid",
        witness,
        points=1001,
        seconds=time.perf_counter() - started,
    )


def _where(nu: Number | None, c: Number | None) -> str:
    given = [f"{name} = {value}" for name, value in (("ν", nu), ("c", c)) if value is not None]
    return " with " + ", ".join(given) if given else ""


def _given(nu: Number | None, c: Number | None) -> tuple[Any, Any]:
    exact = constants()
    return tuple(exact[k] if value is None else ball(rational(value)) for k, value in enumerate((nu, c)))


def _search(nu: Any, c: Any) -> tuple[int, Witness | None]:
    """The worst of a grid of rational (x, d) at s = 1, finer near x = ν and d = 0."""

    def value(x: Fraction, square: Fraction) -> Any:
        root = ball(square).sqrt()
        z = abs(ball(x)) / root
        return root * c * shape(z)[0] if z <= nu else abs(ball(x)) - nu * root

    near = Fraction(float(nu.mid())).limit_denominator(1000)
    places = [Fraction(k, 20) for k in range(41)] + [near + Fraction(k, 200) for k in range(-6, 7)]
    steps = [Fraction(1, 2**k) for k in range(10)] + [Fraction(k, 8) for k in range(3, 17)]
    worst: Witness | None = None
    for x in places:
        for d in steps:
            after = 1 + d * d
            residual = (value(x + d, after) + value(x - d, after)) / 2 - value(x, Fraction(1))
            if residual > 0 and (worst is None or float(residual.lower()) > worst.residual):
                point = {"x": str(x), "s": "1", "d": str(d)}
                worst = Witness(point, float(residual.lower()), "ball arithmetic at a rational point")
    return len(places) * len(steps), worst
