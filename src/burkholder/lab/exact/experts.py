"""Two experts: property 3′ of the exponential-weights function, exactly.

Write p for the first expert's weight and u = −ηLx₁, v = −ηLx₂, |u|,|v| ≤ h = ηLX. The step costs

    ½[log(pe^u+qe^v) + log(pe^{−u}+qe^{−v})] = ½log(p²+q²+2pq·cosh(u−v)) ≤ ½log(½(1+cosh(u−v))) = log cosh((u−v)/2),

the inequality by z3 in p and cosh; cosh y ≤ exp(κy²) with |u−v|/2 ≤ h ends it at κh², which is what U sets aside.
"""

from __future__ import annotations

import time
from fractions import Fraction

from burkholder.lab.exact import lemmas
from burkholder.lab.exact.reals import Number, ball, decide, rational, z3
from burkholder.lab.verdicts import Status, Verdict, Witness


def two(coefficient: Number = "1/2", seconds: float = 20.0) -> Verdict:
    """E U(τ+T(·,εL)) ≤ U(τ) for U = a + (1/η)log(½Σe^{−ηg_j}) − κηL²X²t, two experts.

    >>> two().status.value, two("0.475").status.value
    ('proved', 'refuted')
    """
    started = time.perf_counter()
    kappa = rational(coefficient)
    solver = z3()
    p, cosh = solver.Reals("p cosh")
    q = 1 - p
    even_split_is_worst = [p >= 0, p <= 1, cosh >= 1, p * p + q * q + 2 * p * q * cosh > (1 + cosh) / 2]
    outcome, _, _ = decide({"weights": even_split_is_worst}, seconds)
    statement = f"E U(τ+T(·,εL)) ≤ U(τ), U = a + (1/η)·log(½Σe^(−ηg_j)) − {kappa}·ηL²X²t"
    domain = "two experts, all weights, all |x_j| ≤ X, all η, L > 0"
    arithmetic = f"z3 nlsat, with {lemmas.COSH}"
    proved = outcome == "none" and lemmas.hyperbolic(kappa)
    witness = None if proved else _witness(kappa)
    note = "also convex in δ: log-sum-exp of functions affine in δ" if proved else ""
    return Verdict(
        "3'", Status.of(proved, witness), statement, domain, arithmetic, witness, seconds=time.perf_counter() - started, note=note
    )


def _witness(kappa: Fraction) -> Witness | None:
    """Equal weights, x = (1,−1), L = X = 1: the residual is (log cosh(η) − κη²)/η."""
    for k in range(-2, 40):
        eta = Fraction(1, 2**k) if k >= 0 else Fraction(2**-k)
        residual = (ball(eta).cosh().log() - ball(kappa * eta * eta)) / ball(eta)
        if residual > 0:
            point = {"g": ["0", "0"], "x": ["1", "-1"], "rate": str(eta), "lipschitz": "1"}
            return Witness(point, float(residual.lower()), "ball arithmetic at a rational point")
    return None
