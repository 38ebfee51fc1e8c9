"""The stopped walks of each inequality with fair signs: dyadic square functions and decoupled transforms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from .ends import LowerEnd, below, flint
from .problems import Problem
from .signs import at
from .walks import StoppedWalk, corners, pythagorean, rademacher

BASIS = "geometric fair walk stopped when its ratio leaves the interval; h, k polynomials, exact signs"


def _poly(*coefficients: Fraction | int) -> Any:
    module = flint()
    return module.fmpq_poly([module.fmpq(Fraction(c).numerator, Fraction(c).denominator) for c in coefficients])


def _kummer(a: Fraction, terms: int = 24) -> Any:
    """The Taylor polynomial of M(a, ½, z²/2) in z."""
    coefficients, term = [], Fraction(1)
    for j in range(terms):
        coefficients += [term, Fraction(0)]
        term = term * (a + j) / ((Fraction(1, 2) + j) * (j + 1) * 2)
    return _poly(*coefficients[:-1])


def _power_of(problem: Problem, constant: Fraction) -> Fraction:
    """The constant on p-th powers, from the quoted one."""
    return constant ** int(problem.p) if problem.root else constant


def _refused(constant: Fraction) -> LowerEnd:
    return LowerEnd(below(constant), BASIS, {}, (("V_C > 0 at the contact ratio", False),), 0.0)


def inner(problem: Problem, constant: Fraction, contact: float) -> LowerEnd:
    """Walks that stay below a ratio z1 and stop at it: E|f| ≤ C·E S (p = 1) and S against f (p = 3, 4).

    Brownian motion below the boundary z√s grows like s^{p/2} exactly at the zero of M(−p/2, ½, z²/2); the
    orders p/2 ∓ μ give h and k with room for the discrete steps.
    """
    p, power = int(problem.p), _power_of(problem, constant)
    zero = float(power) ** (1 / p) if not problem.reverse else float(power) ** (-1 / p)
    # z1 lies between the ratio where V_C = 0 and the contact ratio, close to the latter, where h is large.
    gap = (zero - contact) if problem.reverse else (contact - zero)
    if gap <= 0:
        return _refused(constant)
    fine = Fraction(max(gap / 400, 1e-9)).limit_denominator(10**12)
    k = math.ceil(2 / float(fine)) + 1
    z1 = Fraction(contact - gap / 12 if problem.reverse else (2 * contact + zero) / 3).limit_denominator(10**9)
    mu = fine / 4
    order, outcomes = Fraction(p, 2), rademacher(p, k)
    h, decay = _kummer(-order + mu), _kummer(-order - mu)
    landing = max(outcome.land(z1) for outcome in outcomes)
    if problem.reverse:
        target = _poly(*([1] + [0] * (p - 1) + [-power]))
        top = at(target, landing) / at(h, z1)
        # (1,1), then a step of 3/4: ratio 1/5 at scale 5/4, or (7/4, 5/4), where we stop.
        start, weight = Fraction(1, 5), Fraction(5, 4) ** p / 2
        losses = (Fraction(5, 4) ** p - power * Fraction(7, 4) ** p) / 2
    else:
        target = _poly(*([-power] + [0] * (p - 1) + [1]))
        top = at(target, z1) / at(h, z1)
        start, weight, losses = Fraction(1), Fraction(1), Fraction(0)
    r, _ = pythagorean(k)
    rate = mu * r**2 / 8
    walk = StoppedWalk(outcomes, Fraction(0), z1, True, target, h * _q(top), decay, rate, start, weight, losses)
    return walk.end(constant, BASIS, {"z1": str(z1), "step": f"{float(r):.3g}·√s", "mu": f"{float(mu):.3g}"})


def outer(problem: Problem, constant: Fraction, contact: float) -> LowerEnd:
    """Walks that stay above a ratio z1 and stop at it: f against S for p = 3, 4. The Hermite polynomial with its
    middle coefficient moved by κ gives h and k; a term −τz^{p+2} lets h end at a far upper stop."""
    p, power = int(problem.p), _power_of(problem, constant)
    slope = {3: 6.0, 4: 4 * contact**3 - 12 * contact}[p]
    climb = 9
    losses = Fraction(0)
    for j in range(1, climb):
        root = Fraction(math.isqrt((j + 1) * 10**16) + 1, 10**8) if p == 3 else Fraction(0)
        size = (j + 1) * root if p == 3 else Fraction((j + 1) ** 2)
        losses += (Fraction(j - 1) ** p - power * size) / 2**j
    weight = Fraction(3) ** p / 2 ** (climb - 1)
    start = Fraction(3)
    hermite = _poly(0, -3, 0, 1) if p == 3 else _poly(3, 0, -6, 0, 1)
    # h = A·Hermite must repay the losses: A·weight·Hermite(3) ≥ −losses, and A·Hermite(z1) ≤ v(z1).
    need = float(-losses / (weight * at(hermite, start))) * 1.5
    lead = float(p) * contact ** (p - 1)
    gap = contact**p - float(power)
    if gap <= 0:
        return _refused(constant)
    distance = Fraction(gap / max(need * slope - lead, 1e-9) / 2).limit_denominator(10**14)
    z1 = Fraction(contact).limit_denominator(10**12) + distance
    kappa, k = distance / 16, math.ceil(2 * 32 / float(distance)) + 1
    outcomes = rademacher(p, k)
    tau = kappa / (40 if p == 3 else 90)
    if p == 3:
        h = _poly(0, -(3 - kappa), 0, 1, 0, -tau)
        decay = _poly(0, -(3 + kappa), 0, 1)
    else:
        h = _poly(3, 0, -(6 - kappa), 0, 1, 0, -tau)
        decay = _poly(3, 0, -(6 + kappa), 0, 1)
    target = _poly(*([-power] + [0] * (p - 1) + [1]))
    far = Fraction(math.isqrt(math.ceil(2 / tau)) + 2)
    landing = min(outcome.land(z1) for outcome in outcomes)
    top = at(target, landing) / at(h, z1)
    r, _ = pythagorean(k)
    rate = kappa * r**2 / (2 * far**2)
    walk = StoppedWalk(outcomes, z1, far, False, target, h * _q(top), decay, rate, start, weight, losses)
    return walk.end(constant, BASIS, {"z1": str(z1), "step": f"{float(r):.3g}·√s", "kappa": f"{float(kappa):.3g}", "climb": str(climb)})


def decoupled(problem: Problem, constant: Fraction, contact: float) -> LowerEnd:
    """The planar walk with corner steps in the cone |x| < u1·y; h, k = 1 − (6 ∓ κ)u² + u⁴."""
    power = _power_of(problem, constant)
    zero = float(power) ** -0.25
    if zero <= contact:
        return _refused(constant)
    # (1,1), then a step ½ to (½, 3/2) with probability ¼; the three other corners stop.
    start, weight = Fraction(1, 3), Fraction(3, 2) ** 4 / 4
    half, more = Fraction(1, 16), Fraction(81, 16)
    losses = (more * (1 - power) + half * (1 - power) + (half - power * more)) / 4
    harmonic = _poly(1, 0, -6, 0, 1)
    need = float(-losses / (weight * at(harmonic, start))) * 1.5
    slope = 12 * contact - 4 * contact**3
    gap = (zero - contact) * 4 * float(power) * contact**3
    distance = Fraction(gap / (need * slope) / 2).limit_denominator(10**14)
    u1 = Fraction(contact).limit_denominator(10**12) - distance
    kappa, eta = distance / 8, Fraction(1, math.ceil(32 / float(distance)))
    outcomes = corners(4, eta)
    h, decay = _poly(1, 0, -(6 - kappa), 0, 1), _poly(1, 0, -(6 + kappa), 0, 1)
    target = _poly(1, 0, 0, 0, -power)
    landing = max(outcome.land(u1) for outcome in outcomes)
    top = at(target, landing) / at(h, u1)
    rate = kappa * eta**2 / 2
    walk = StoppedWalk(outcomes, Fraction(0), u1, True, target, h * _q(top), decay, rate, start, weight, losses)
    return walk.end(constant, BASIS, {"u1": str(u1), "step": f"{float(eta):.3g}·y", "kappa": f"{float(kappa):.3g}"})


def _q(value: Fraction) -> Any:
    return flint().fmpq(value.numerator, value.denominator)
