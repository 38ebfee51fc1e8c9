"""Inequalities about log, exp and cosh that carry several proofs, each reduced to algebra and settled by z3."""

from __future__ import annotations

from burkholder.lab.exact.reals import Number, constant, decide, z3

LOG = "log(1+t) ≥ t/(1+t) for t ≥ 0"
COSH = "cosh y ≤ exp(κy²) for all y, when κ ≥ ½"
EXP = "exp(x) ≥ 1+x for x ≥ 0"


def logarithm() -> bool:
    """log(1+t) ≥ t/(1+t): equal at 0, and the derivative of the difference, 1/(1+t) − 1/(1+t)², is ≥ 0."""
    solver = z3()
    t, r = solver.Reals("t r")  # r = 1/(1+t)
    outcome, _, _ = decide({"slope": [t >= 0, r * (1 + t) == 1, r - r * r < 0]}, 10.0)
    return outcome == "none"


def exponential() -> bool:
    """exp(x) ≥ 1+x: equal at 0, and while exp(x) ≥ 1 the derivative of the difference, exp(x) − 1, is ≥ 0."""
    solver = z3()
    e = solver.Real("e")
    return decide({"slope": [e >= 1, e - 1 < 0]}, 10.0)[0] == "none"


def hyperbolic(rate: Number = "1/2") -> bool:
    """cosh y ≤ exp(κy²) coefficient by coefficient: k! ≤ κ^k·(2k)!, by induction on k.

    The step asks k+1 ≤ κ(2k+2)(2k+1) for every k ≥ 0, real k included.

    >>> hyperbolic("1/2"), hyperbolic("0.49")
    (True, False)
    """
    solver = z3()
    k = solver.Real("k")
    step = [k >= 0, k + 1 > constant(rate) * (2 * k + 2) * (2 * k + 1)]
    outcome, _, _ = decide({"step": step}, 10.0)
    return outcome == "none"


def conjugate(price: Number = 2) -> bool:
    """u·v − γ·exp(v²/2) ≤ u·√(κ·log(1+u/γ)) for all u, γ > 0 and v, when κ ≥ 2 (`prop:param_sufficient`, any a, γ and c).

    With r = u/γ and V the root: up to v = V it is plain. From there on the left side falls, for its slope is u − γv·exp(v²/2), where
    exp(V²/2) = (1+r)^(κ/2) ≥ 1+r, and V(1+r) ≥ r by V² ≥ κr/(1+r). Then x = ‖g‖, u = ‖w‖·√(an), v = x/√(an) is what the proposition asks.

    >>> conjugate(), conjugate("1.9")
    (True, False)
    """
    if not logarithm():
        return False
    solver = z3()
    r, v, kappa = solver.Real("r"), solver.Real("v"), constant(price)
    falls = [r > 0, v > 0, v * v * (1 + r) >= kappa * r, v * (1 + r) < r]
    return decide({"grows": [kappa < 2], "falls": falls}, 10.0)[0] == "none"
