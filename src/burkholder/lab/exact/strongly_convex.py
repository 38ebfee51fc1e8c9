"""Strongly convex losses with c = L²/(2ρ): property 3′, exactly, for vectors of any dimension.

With M = ρτ₂+λI and M′ = M+ρzzᵀ, t = ρzᵀM⁻¹z, Sherman–Morrison and the determinant lemma say
zᵀM′⁻¹z = t/(ρ(1+t)), log det M′/det M = log(1+t) and τ₁ᵀM′⁻¹τ₁ ≤ τ₁ᵀM⁻¹τ₁. What is left is one scalar statement,
the case of dimension one, and log(1+t) ≥ t/(1+t) turns it into algebra for z3.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction

from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.lab.exact import lemmas
from burkholder.lab.exact.consequences import follows, settled, starts
from burkholder.lab.exact.reals import Number, ball, constant, decide, rational, z3
from burkholder.lab.verdicts import Status, Verdict, Witness


def prove(function: StronglyConvex) -> list[Verdict]:
    """Every claim that `verify` examines, at the constants that the function holds.

    c is L²/2ρ as defined when it is the very double that this formula gives, and that double is its rounding (where L²
    underflows it is not); any other is taken at its exact value.
    """
    L, rho, c = (Fraction(number) for number in (function.lipschitz, function.curvature, function.constant))
    defined = function.constant == StronglyConvex(function.ridge, function.curvature, function.lipschitz).constant
    defined = defined and abs(2 * rho * c / L**2 - 1) <= Fraction(3, 2**53)  # a square and a quotient, rounded
    step = scalar(Fraction(1, 2) if defined else c * rho / L**2)
    a, b, B, d, q = z3().Reals("a b B d q")  # k(ŷ) = a − bŷ; at an end the derivative d points outward
    root = {"root": [b != 0, a * a <= B * B * b * b, q * b == a, d * (a - b * q) > 0]}
    ends = {f"end {sign}": [B > 0, a * sign < 0, a * a > B * B * b * b, d * sign >= 0, d * (a - b * sign * B) > 0] for sign in (1, -1)}
    rule = settled(
        "closed-form", "every finite B > 0, |δ| ≤ L", "U after the round is even in δ but for δk(ŷ)/(1+t), and δk(ŷ) ≤ 0", {**root, **ends}
    )
    t, u, v = z3().Reals("t u v")  # one eigenvalue t of M: −vu − ½tv² ≤ ½u²/t
    promise = settled(
        "regret",
        "every w, every dimension, all τ that play reaches",
        "½(Mv+τ₁)ᵀM⁻¹(Mv+τ₁) ≥ 0, v = (1,w), in the eigenvectors of M",
        {"square": [t > 0, -v * u * t - t * t * v * v / 2 > u * u / 2]},
    )
    found = [starts(function, "τ₁ = 0 and log det(λI/λ) = 0"), step, promise]
    if step.proved and rule.proved:
        found += [replace(verdict, note=rule.note) for verdict in follows("closed-form", rule.note, step, rule)]
    return found + follows("streams", "τ holds Σδz and Σzzᵀ, and starts at 0", promise)


def scalar(coefficient: Number = "1/2", seconds: float = 20.0) -> Verdict:
    """E U(τ₁+εLz, τ₂+z²) ≤ U(τ₁,τ₂) for U = ½τ₁²/m − κ(L²/ρ)·log(m/λ), m = ρτ₂+λ.

    >>> scalar().status.value, scalar("0.475").status.value
    ('proved', 'refuted')
    """
    started = time.perf_counter()
    kappa = rational(coefficient)
    solver = z3()
    u, m, w, t, log = solver.Reals("u m w t log")  # w = L²/ρ, t = ρz²/m, log = log(1+t)
    known = [m > 0, w > 0, t >= 0, log * (1 + t) >= t]
    # ½(u²+L²z²)/m′ − κw·log > ½u²/m, times m′ = m(1+t)
    violation = u * u / 2 + w * t * m / 2 - constant(kappa) * w * log * m * (1 + t) > u * u * (1 + t) / 2
    outcome, _, _ = decide({"step": [*known, violation]}, seconds)
    statement = f"E U(τ₁+εLz, τ₂+zzᵀ) ≤ U(τ₁,τ₂), U = ½τ₁ᵀM⁻¹τ₁ − {kappa}·(L²/ρ)·log det M/det λI, M = ρτ₂+λI"
    domain = "all τ, z, L, ρ > 0, λ > 0 (the scalar statement, to which every dimension reduces)"
    arithmetic = f"z3 nlsat, with {lemmas.LOG}"
    proved = outcome == "none" and lemmas.logarithm()
    witness = None if proved else _witness(kappa)
    note = "also convex in δ: the square of δ has the coefficient ½zᵀM′⁻¹z ≥ 0" if proved else ""
    return Verdict(
        "3'", Status.of(proved, witness), statement, domain, arithmetic, witness, seconds=time.perf_counter() - started, note=note
    )


def _witness(kappa: Fraction) -> Witness | None:
    """τ₁ = 0, m = λ = ρ = L = 1: the residual is ½t/(1+t) − κ·log(1+t) with t = z²."""
    for k in range(40):
        z = Fraction(1, 2**k)
        t = z * z
        residual = ball(t / (1 + t)) / 2 - ball(kappa) * ball(1 + t).log()
        if residual > 0:
            point = {"tau1": "0", "tau2": "0", "z": str(z), "lipschitz": "1", "curvature": "1", "ridge": "1"}
            return Witness(point, float(residual.lower()), "ball arithmetic at a rational point")
    return None
