"""Any number of experts: every claim about the exponential-weights function, exactly.

Write p_j for the experts' weights and u_j = −ηLx_j, |u_j| ≤ h = ηLX. The step costs ½[log Σp_je^{u_j} + log Σp_je^{−u_j}].
On [−h,h] the exponential lies below its chord, so with m = Σp_ju_j/h ∈ [−1,1] the two sums are at most cosh h ± m·sinh h, and

    (cosh h + m·sinh h)(cosh h − m·sinh h) ≤ cosh²h

by z3 in m, cosh and sinh; cosh h ≤ exp(κh²) ends it at κh², which is what U sets aside.
"""

from __future__ import annotations

import time
from fractions import Fraction

from burkholder.functions.experts import ExpertAdvice
from burkholder.lab.exact import lemmas
from burkholder.lab.exact.consequences import follows, settled, starts
from burkholder.lab.exact.reals import Number, ball, decide, rational, shown, z3
from burkholder.lab.verdicts import Status, Verdict, Witness


def prove(function: ExpertAdvice) -> list[Verdict]:
    """Every claim that `verify` examines, first order (the second-order function has no proof here)."""
    if function.second_order:
        return []
    solver, domain = z3(), "any number of experts, all g, |x_j| ≤ X"
    step = anyone()
    p, q, m = solver.Reals("p q m")  # a weight, what it weighs, and the mean
    convex = settled(
        "convex",
        domain,
        "log-sum-exp: its second derivative is a variance under the weights, Σp_j(u_j−m)²",
        {"one term": [p >= 0, p * (q - m) * (q - m) < 0]},
    )
    r = solver.Real("r")
    # Σw_j log t_j ≤ Σw_j(t_j−1) ≤ 0 for t_j = e^{−ηg_j}/(d·w_j·Z): log t ≤ t−1 has its only extremum at t = 1
    promise = settled(
        "regret",
        "w in the simplex, any number of experts, all τ",
        "Gibbs: −⟨w,g⟩ − KL(w)/η ≤ (1/η)·log(mean e^{−ηg_j}), from log t ≤ t−1",
        {"left of 1": [r > 0, r < 1, 1 / r - 1 < 0], "right of 1": [r > 1, 1 / r - 1 > 0]},
    )
    return [
        starts(function, "the mean of e⁰ is 1, and no round was paid for"),
        step,
        convex,
        promise,
        *follows("sign-flip", "ŷ makes both ends of the chord equal to the mean over ±L, and F lies below its chord", step, convex),
        *follows("streams", "τ holds Σδŷ and Σδx, and starts at 0", promise),
    ]


def anyone(coefficient: Number = "1/2", seconds: float = 20.0) -> Verdict:
    """E U(τ+T(·,εL)) ≤ U(τ) for U = a + (1/η)log((1/d)Σe^{−ηg_j}) − κηL²X²t, any number d of experts.

    >>> anyone().status.value, anyone("0.475").status.value
    ('proved', 'refuted')
    """
    started = time.perf_counter()
    kappa = rational(coefficient)
    solver = z3()
    m, cosh, sinh = solver.Reals("m cosh sinh")
    above = [m >= -1, m <= 1, cosh >= 1, (cosh + m * sinh) * (cosh - m * sinh) > cosh * cosh]
    outcome, _, _ = decide({"weights": above}, seconds)
    statement = f"E U(τ+T(·,εL)) ≤ U(τ), U = a + (1/η)·log((1/d)Σe^(−ηg_j)) − {shown(coefficient)}·ηL²X²t"
    domain = "any number of experts, all weights, all |x_j| ≤ X, all η, L > 0"
    arithmetic = f"z3 nlsat, with {lemmas.COSH}"
    proved = outcome == "none" and lemmas.hyperbolic(kappa)
    witness = None if proved else _witness(kappa)
    note = "also convex in δ: log-sum-exp of functions affine in δ" if proved else ""
    return Verdict(
        "3'", Status.of(proved, witness), statement, domain, arithmetic, witness, seconds=time.perf_counter() - started, note=note
    )


def _witness(kappa: Fraction) -> Witness | None:
    """Two experts of equal weight, x = (1,−1), L = X = 1: the residual is (log cosh(η) − κη²)/η."""
    for k in range(-2, 40):
        eta = Fraction(1, 2**k) if k >= 0 else Fraction(2**-k)
        residual = (ball(eta).cosh().log() - ball(kappa * eta * eta)) / ball(eta)
        if residual > 0:
            point = {"g": ["0", "0"], "x": ["1", "-1"], "rate": str(eta), "lipschitz": "1"}
            return Witness(point, float(residual.lower()), "ball arithmetic at a rational point")
    return None
