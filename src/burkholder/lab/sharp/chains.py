"""Lower ends from ray chains: martingales that come back to one ray, larger by a fixed factor, or stop.

A cycle multiplies E[scale^p; alive] by ρ, so the expectation after N cycles is a closed formula in ρ^N. We
stop on the ray where V_C = 0, hence only the start and the survivors count. Everything is rational (or a ball
when p is not an integer); N is finite and given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from .ends import LowerEnd, ball, below, first_proved
from .problems import Problem

# A gap of 1e-3 keeps the martingales of a reasonable length; larger ones only where that fails.
GAPS = (1e-3, 2e-3, 4e-3, 6e-3, 8e-3)


def search(upper: float, attempt: Callable[[Fraction], LowerEnd]) -> LowerEnd:
    """The first constant below the upper end, by growing gaps, whose martingale passes."""
    return first_proved(below_grid(upper), attempt)


def below_grid(upper: float) -> Iterator[Fraction]:
    for gap in GAPS:
        yield Fraction(upper - gap).limit_denominator(10**9)


def _power(base: Fraction, p: float) -> Any:
    """base^p, exact for an integer p, a ball otherwise."""
    return ball(base) ** int(p) if float(p).is_integer() else ball(base) ** ball(Fraction(str(p)))


def transform(problem: Problem, constant: Fraction, delta: Fraction = Fraction(1, 256)) -> LowerEnd:
    """f = g = ½, then (0,1) or (1,0) on x+y = 1. On the axis: a step of δ along x−y = const, then along
    x+y = const back to the axis or to the ray y = Cx, where V = 0.

    p > 2 lives on x = 0 (survivors have V = scale^p): E V = ½(ρ^N − C^p), needs ρ > 1.
    p < 2 lives on y = 0 (survivors have V = −C^p·scale^p): E V = ½(1 − C^pρ^N), needs ρ < 1.
    """
    p, c, d = problem.p, constant, delta
    stop = d * (1 + c) if p > 2 else d * (1 + c) / c
    rho = (_power(1 + 2 * d, p) * ball(1 - stop / (1 + 2 * d)) + ball(1 - stop)) / 2
    supercritical = bool(rho > 1) if p > 2 else bool(rho < 1)
    cycles, positive = 0, False
    if supercritical and 0 < stop < 1:
        cycles = math.ceil(abs(float((_power(c, p).log() / rho.log()).mid()))) + 1
        survivors = rho**cycles
        expectation = (survivors - _power(c, p)) / 2 if p > 2 else (1 - _power(c, p) * survivors) / 2
        positive = bool(expectation > 0)
    checks = ((f"ρ {'>' if p > 2 else '<'} 1", supercritical), ("E V_C > 0 after N cycles", positive))
    return LowerEnd(
        below(c),
        "zigzag martingale on one axis, stopped on the ray V = 0",
        {"delta": str(d), "cycles": str(cycles), "rho": rho.str(12)},
        checks,
        2.0 + 2 * cycles,
    )


def general_power(problem: Problem, constant: Fraction) -> LowerEnd:
    """n fair up-steps of size 1 reach (n, √n); then, in units of x, up by δ = 2/(n−1) keeps the ratio x/√s
    and down by D stops where V ≥ 0. Survivors have V = x^p(1 − (C²/n)^{p/2}) > 0; ρ = (1+δ)^p·D/(D+δ) > 1.

    Stops before step n lose at most C^pΣ_k(k+1)^{p/2}/2^k in all, a number of order one.
    """
    p = int(problem.p)
    c = constant if problem.root else Fraction(float(constant) ** (1 / p)).limit_denominator(10**9)
    n = max(64, math.ceil(8 * p * p / max(1e-9, float(p - 1 - c)))) if c < p - 1 else 64
    delta = Fraction(2, n - 1)
    # The root of (1−D)² = C²(1/n + D²), rounded down so that the landing has V ≥ 0.
    root = (math.sqrt(1 - (1 - float(c) ** 2) * (1 - float(c) ** 2 / n)) - 1) / (float(c) ** 2 - 1)
    down = Fraction(root * (1 - 1e-12))
    rho = (1 + delta) ** p * down / (down + delta)
    landing = 0 < down < 1 and (1 - down) ** 2 >= c**2 * (Fraction(1, n) + down**2)
    positive, cycles = False, 0.0
    if rho > 1 and landing and c**2 < n:
        # In logarithms, since the climb has probability 2^{1−n}.
        start = p * ball(n).log() + (1 - (ball(c) / ball(n).sqrt()) ** p).log() - (n - 1) * ball(2).log()
        loss, growth = (ball(_early_losses(p)) * ball(c) ** p).log(), ball(rho).log()
        cycles = float(((loss - start) / growth).mid()) * 1.01 + 1
        positive = bool(start + growth * ball(Fraction(cycles)) > loss)
    checks = (
        ("the down-jump lands where V ≥ 0", landing),
        ("ρ > 1", rho > 1),
        ("survivors outweigh every earlier loss: E V_C > 0", positive),
    )
    quoted = below(c) if problem.root else below(c**p)
    return LowerEnd(
        quoted,
        "climb to x ≫ √s, then small steps up against one jump down to the ray V = 0",
        {"n": str(n), "C": str(c), "cycles": f"{cycles:.4g}"},
        checks,
        n + cycles,
    )


def _early_losses(p: int) -> Fraction:
    """An upper bound of Σ_{k≥1}(k+1)^m/2^k with m = ⌈p/2⌉: 200 terms, and a tail that falls by ¾ or more a term."""
    m = (p + 1) // 2
    terms = [Fraction((k + 1) ** m, 2**k) for k in range(1, 201)]
    return sum(terms, Fraction(0)) + 4 * terms[-1]


def general_first(problem: Problem, constant: Fraction) -> LowerEnd:
    """From (1, 1): K times up by δ against down by D, L = Kδ. Down-jumps are rare and land near the ray
    x = −√s. With √(1+u) ≤ 1+u/2,

    E V ≥ (1−L/D)(1+L−C(1+Lδ/2)) − (L/D)[(C−1)D + 1 + L + C(1+Lδ)/(2D)],

    which is (1−C) + L(2−C) up to terms in δ and 1/D.
    """
    c = constant
    gap = 2 - c
    if gap <= 0:
        return LowerEnd(below(c), "none", {}, (("C < 2", False),), 0.0)
    length = 4 / gap
    count = math.ceil(4 * length**2)
    delta = length / count
    jump = 64 * length**2
    alive = 1 + length - c * (1 + length * delta / 2)
    loss = (c - 1) * jump + 1 + length + c * (1 + length * delta) / (2 * jump)
    expectation = (1 - length / jump) * alive - length / jump * loss
    checks = (
        ("survivors have V > 0", alive > 0),
        ("C ≥ 1, L ≤ D", c >= 1 and length <= jump),
        ("E V_C > 0 (rational bound)", expectation > 0),
    )
    return LowerEnd(
        below(c),
        "from x = √s: small steps up against one huge jump down",
        {"K": str(count), "delta": str(delta), "D": str(jump)},
        checks,
        count + 1.0,
    )


def smooth(problem: Problem, constant: Fraction) -> LowerEnd:
    """One step x = (1,1), h = ±ε(1,−1) in l_4: ‖x±h‖² = √((1+ε)⁴+(1−ε)⁴), ‖h‖² = √2·ε²."""
    eps = Fraction(1, 10**4)
    moved = ball((1 + eps) ** 4 + (1 - eps) ** 4).sqrt()
    gain = moved - ball(2).sqrt() - ball(constant) * ball(2).sqrt() * ball(eps**2)
    return LowerEnd(
        below(constant),
        "one fair step across the diagonal of l_4 in the plane",
        {"epsilon": str(eps)},
        (("E‖x±h‖² − ‖x‖² − C‖h‖² > 0", bool(gain > 0)),),
        1.0,
    )
