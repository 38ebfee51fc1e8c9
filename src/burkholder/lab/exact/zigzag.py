"""Burkholder's U_p for martingale transforms, p > 1: zigzag concavity and U_p ≥ V, exactly.

On the quadrant x, y ≥ 0, with w = x+y and n = p−1, U = α·(x − βy)·wⁿ. Along x+h, y−h the sum w stands still and U is
affine. Along x+h, y+h

    (∂_x+∂_y)²U = 4αn·w^{n−2}·[(1−β)w + (n−1)(x−βy)],

so U is concave there when the bracket is ≤ 0 on the quadrant. Across the axes it is concave when its slopes point the
right way: U_x(0,y) ≤ 0, that is βn ≥ 1, and U_y(x,0) ≤ 0, that is β ≥ n. All of it is linear in x and y, for every real
p. U ≥ V = x^p − β^p·y^p is homogeneous: y = 1 leaves one polynomial in x (for whole p), y = 0 leaves α ≥ 1. For other p,
on x + y = 1 with t = x the difference is

    ψ(t) = α((1+β)t − β) − t^p + β^p(1−t)^p,   ψ″ ≥ 0 exactly where (t/(1−t))^{p−2} ≤ β^p.

At t₀ = β/(1+β), where V = 0, ψ = 0 and, with the true α = p·t₀^{p−1}, ψ′ = 0; t₀ lies where ψ is convex, as β ≥ 1. So ψ ≥ 0 there, and
on the rest, where ψ is concave and which ends at t = 1 (p > 2) or at t = 0 (p < 2), it is enough that ψ ≥ 0 at that end: α ≥ 1, or
β^p ≥ αβ.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction

from burkholder.errors import BadInput
from burkholder.functions.zigzag import ZigZag
from burkholder.lab.claims import STATEMENTS
from burkholder.lab.exact.consequences import follows, starts
from burkholder.lab.exact.reals import Number, ball, constant, decide, rational, shown, z3
from burkholder.lab.verdicts import Status, Verdict, Witness

ARITHMETIC = "z3, exact real algebra"


def prove(function: ZigZag) -> list[Verdict]:
    """Every claim that `verify` examines, for the constants that the function holds: any of them for whole p from 2 to 8, the
    defined ones for every other p."""
    defined, held = ZigZag(p=function.p), (function.alpha, function.beta)
    if not all(type(number) is float and 0 < number < math.inf for number in held):
        return []
    alpha, beta = ((None if given == known else given) for given, known in ((function.alpha, defined.alpha), (function.beta, defined.beta)))
    if function.p == int(function.p) and 2 <= function.p <= 8:
        p = int(function.p)
        above, bent, promise = majorises(p, alpha, beta), concave(p, beta), young(p)
    elif alpha is None and beta is None:
        above, bent, promise = touches(function.p), concave(function.p), bernoulli(function.p)
    else:
        return []
    found = [starts(function, "U_p(0,0) = 0"), above, bent]
    if bent.proved and beta is None:
        # the first gradient sets the unit: there |X| = |Y|, where U_p ≤ 0 as β ≥ 1, and the rule plays 0
        found += follows(
            "tangent",
            "a concave function lies below its tangent, 0 is between its slopes at the kinks, "
            "and the mean over ε leaves ∂_x alone; a restart leaves U as it is",
            bent,
        )
    if above.proved:
        found.append(promise)
        found += follows("streams", "stretch by stretch: frozen holds U ≥ V of each finished one, spent its price", promise, above)
    return found


def young(p: int) -> Verdict:
    """A(w): ⟨w,X⟩ ≤ R‖X‖ (Hölder) and t ≤ (t^p + p−1)/p, since t^p − pt + p−1 = (t−1)²·Σ_k (k+1)·t^{p−2−k}."""
    square, factor = [1, -2, 1], [p - 1 - k for k in range(p - 1)]  # coefficients of 1, t, t², …
    whole = [0] * (p + 1)
    for i, a in enumerate(square):
        for j, b in enumerate(factor):
            whole[i + j] += a * b
    holds = whole == [p - 1, -p, *[0] * (p - 2), 1] if p > 2 else whole == [1, -2, 1]
    return Verdict(
        "regret",
        Status.of(holds and min(factor) > 0),
        STATEMENTS["regret"],
        "‖w‖_{p/(p−1)} ≤ R, one stretch (frozen = spent = 0)",
        "rational: an identity of polynomials",
        note="Hölder, and t ≤ (t^p + p − 1)/p",
    )


def concave(p: Number, beta: Number | None = None) -> Verdict:
    """h ↦ U(x+h, y±h) is concave on the whole line, for every x, y and every positive factor α.

    >>> concave(3).status.value, concave(3, beta="1.9").status.value
    ('proved', 'refuted')
    """
    started = time.perf_counter()
    power = rational(p)
    if power <= 1:
        raise BadInput("p", str(power), "give p > 1")
    n = power - 1
    b = max(n, 1 / n) if beta is None else rational(beta)
    if b <= 0:
        raise BadInput("beta", str(b), "give β > 0")
    solver = z3()
    x, y = solver.Reals("x y")
    beta_, n_ = constant(b), constant(n)
    bracket = (1 - beta_) * (x + y) + (n_ - 1) * (x - beta_ * y)
    quadrant = [x >= 0, y >= 0, x + y == 1]
    outcome, _, point = decide(
        {
            "inside": [*quadrant, bracket > 0],
            "across x = 0": [*quadrant, x == 0, 1 - beta_ * n_ > 0],
            "across y = 0": [*quadrant, y == 0, n_ - beta_ > 0],
        },
        10.0,
    )
    shape = shown(b if beta is None else beta)
    statement = f"h ↦ U(x+h, y±h) is concave, U = (|x| − {shape}|y|)(|x|+|y|)^{n}"
    witness = _step(b, n, point) if outcome == "found" and point is not None else None
    status = Status.of(outcome == "none", witness)
    return Verdict("3", status, statement, "all x, y", ARITHMETIC, witness, seconds=time.perf_counter() - started)


def touches(p: Number) -> Verdict:
    """U_p(x,y) ≥ |x|^p − β^p·|y|^p for any p > 1 and the defined α and β: the argument of ψ, its one number in a ball.

    >>> touches(1.5).status.value, touches("7/3").status.value, touches("1.01").status.value
    ('proved', 'proved', 'proved')
    """
    started = time.perf_counter()
    power = rational(p)
    if power <= 1:
        raise BadInput("p", str(power), "give p > 1")
    n = power - 1
    b, contact = max(n, 1 / n), max(n / power, 1 / power)  # β, and t₀ = 1 − 1/p* = β/(1+β)
    alpha = ball(power) * ball(contact) ** ball(n)
    end = alpha - 1 if power >= 2 else ball(b) ** ball(n) - alpha
    # ψ is convex up to (p > 2) or from (p < 2) t/(1−t) = β^{p/(p−2)}; t₀/(1−t₀) = β is on that side of it, as β ≥ 1
    holds = b >= 1 and contact == b / (1 + b) and bool(end >= 0)
    return Verdict(
        "2",
        Status.of(holds),
        f"U_p ≥ |x|^p − β^p·|y|^p, p = {shown(p)}, α = p(1−1/p*)^(p−1), β = p*−1",
        "all x, y",
        "ball arithmetic for the value at one end, algebra for the rest",
        seconds=time.perf_counter() - started,
        note="convex with a double zero where V = 0, concave beyond, and not below 0 at the end",
    )


def bernoulli(p: Number) -> Verdict:
    """A(w): ⟨w,X⟩ ≤ R‖X‖ (Hölder) and t ≤ (t^p + p−1)/p for t ≥ 0: t^p is convex for p > 1, and this is its tangent at t = 1."""
    power = rational(p)
    return Verdict(
        "regret",
        Status.of(power * (power - 1) > 0),
        STATEMENTS["regret"],
        "‖w‖_{p/(p−1)} ≤ R, one stretch (frozen = spent = 0)",
        "the sign of p(p−1)t^{p−2}",
        note="Hölder, and t ≤ (t^p + p − 1)/p: a convex function lies above its tangent",
    )


def majorises(p: int, alpha: Number | None = None, beta: Number | None = None) -> Verdict:
    """U_p(x,y) ≥ |x|^p − β^p·|y|^p, β = p−1 unless given, for whole p ≥ 2.

    >>> majorises(3).status.value, majorises(3, alpha="1.4").status.value
    ('proved', 'refuted')
    """
    started = time.perf_counter()
    if p != int(p) or not 2 <= p <= 64:
        raise BadInput("p", p, "give a whole number from 2 to 64")
    n = int(p) - 1
    a = p * Fraction(n, p) ** n if alpha is None else rational(alpha)
    b = Fraction(n) if beta is None else rational(beta)
    solver = z3()
    x = solver.Real("x")
    power, total = x, x + 1
    for _ in range(n):
        power = power * x
    for _ in range(n - 1):
        total = total * (x + 1)
    outcome, _, point = decide(
        {"y = 1": [x >= 0, constant(a) * (x - constant(b)) * total < power - constant(b ** int(p))], "y = 0": [x == 1, constant(a) < 1]},
        10.0,
    )
    witness = None
    statement = f"U_{p} ≥ |x|^{p} − β^{p}·|y|^{p}, α = {shown(a if alpha is None else alpha)}, β = {shown(b if beta is None else beta)}"
    if outcome == "found" and point is not None:
        for denominator in (100, 10**6, 10**12):
            place = point["x"].limit_denominator(denominator)
            residual = place**p - b**p - a * (place - b) * (place + 1) ** n
            if residual > 0:
                witness = Witness({"x": str(place), "y": "1"}, float(residual), "rational")
                break
        if a < 1:
            witness = witness or Witness({"x": "1", "y": "0"}, float(1 - a), "rational")
    status = Status.of(outcome == "none", witness)
    return Verdict("2", status, statement, "all x, y", ARITHMETIC, witness, seconds=time.perf_counter() - started)


def _step(b: Fraction, n: Fraction, point: dict[str, Fraction] | object) -> Witness | None:
    """A point and a step at which the midpoint lies below the chord, near where z3 found the curvature wrong."""
    assert isinstance(point, dict)

    def value(x: Fraction, y: Fraction) -> object:
        return ball(abs(x) - b * abs(y)) * ball(abs(x) + abs(y)) ** ball(n)

    x, y = (point.get(name, Fraction(0)).limit_denominator(1000) for name in ("x", "y"))
    for sign in (1, -1):
        for k in range(1, 30):
            h = Fraction(1, 2**k)
            residual = (value(x + h, y + sign * h) + value(x - h, y - sign * h)) / 2 - value(x, y)  # type: ignore[operator]
            if residual > 0:
                at = {"x": str(x), "y": str(y), "h": str(h), "sign": str(sign)}
                return Witness(at, float(residual.lower()), "ball arithmetic at a rational point")
    return None
