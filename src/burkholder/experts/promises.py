"""The bounds that the aggregators carry, on Reg(w) = Σℓ(ŷ_t) − Σℓ(⟨w,x_t⟩) for distributions w.

An expert asleep is taken to play ŷ, in ⟨w,x_t⟩ as everywhere. For Huber-root with K rates × shares, writing
z = clip(η_kδ̃(ŷ−x_j)) for what the weights saw of the wished gain u = η_kδ̃(ŷ−x_j),

    Reg(w) ≤ min_k (1/η_k)·{ Σ_j w_j Σ_t (z² + [u−z]₊) + KL(w‖1/d) + ln(K·mean W) } + Σw_j Σ_t (δ−δ̃)(ŷ−x_j).

Where rate k never clipped an expert in the support of w, Σ_t(…) is η_k²V_j, V_j = Σδ̃²(ŷ−x_j)²; where it
did, the gain cut short is paid for, so that there is a bound on every stream. The last term is 0 when L is
known and kept, and at most M·(1 + log₂(M/L₁))·max|ŷ−x_j|, M = max_t|δ_t|, else: every |δ| > 2L_t doubles the
limit, the others telescope. Squint has the same over rates never deleted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder.experts import huber_root, ml_poly, squint
from burkholder.experts.boa import BOA
from burkholder.experts.ewa import EWA
from burkholder.experts.huber_root import HuberRoot
from burkholder.experts.ml_poly import MLPoly
from burkholder.experts.scale import FIRST_LIPSCHITZ, FIRST_SPREAD, rate
from burkholder.experts.squint import Squint


class Tilted(NamedTuple):
    """min over rates of (Σw_j·cost_kj + KL + mass)/λ_k, in units of L₁h, plus Σw_j·clipped_j."""

    unit: float
    rates: np.ndarray
    cost: np.ndarray
    mass: float
    clipped: np.ndarray

    def bound(self, w: np.ndarray) -> float | None:
        slack = float(w @ self.clipped)
        if self.unit == 0.0:  # W has not moved: the slack is the whole linearised regret
            return slack
        if self.rates.size == 0:
            return None
        with np.errstate(over="ignore"):
            cost = self.cost[:, w > 0] @ w[w > 0]
            return finite(np.min(self.unit * ((cost + divergence(w) + self.mass) / self.rates)) + slack)

    def everywhere(self) -> float | None:
        """One figure for every w at once: each rate's bound is convex in w, hence largest at an expert."""
        if self.unit == 0.0:
            return float(np.max(self.clipped))
        if self.rates.size == 0:
            return None
        with np.errstate(over="ignore"):
            worst = np.max(self.unit * (self.cost / self.rates[:, None]) + self.clipped, axis=1)
            fixed = self.unit * ((math.log(self.clipped.size) + self.mass) / self.rates)
            return finite(np.min(worst + fixed))


class Hoeffding(NamedTuple):
    """KL/η + (η/8)·Σrange²."""

    rate: float
    ranges: float
    experts: int

    def bound(self, w: np.ndarray) -> float | None:
        return divergence(w) / self.rate + self.rate / 8.0 * self.ranges

    def everywhere(self) -> float | None:
        return math.log(self.experts) / self.rate + self.rate / 8.0 * self.ranges


class PerExpert(NamedTuple):
    """Σw_j·(bound to expert j)."""

    bounds: np.ndarray

    def bound(self, w: np.ndarray) -> float | None:
        return finite(w[w > 0] @ self.bounds[w > 0])

    def everywhere(self) -> float | None:
        return finite(np.max(self.bounds))


class Nothing(NamedTuple):
    """A rule whose bound is not computed here; the realised regret is."""

    def bound(self, w: np.ndarray) -> float | None:
        return None

    def everywhere(self) -> float | None:
        return None


def finite(number: Any) -> float | None:
    """The number, or None, "no bound", where it left the floats."""
    return float(number) if math.isfinite(number) else None


def divergence(w: np.ndarray) -> float:
    """KL(w‖1/d)."""
    on = w[w > 0]
    return float(on @ np.log(on * w.size))


def promise(state: Any) -> Any:
    """The bound this state carries."""
    if isinstance(state, HuberRoot):
        rates = np.array([rate(k) for k in range(state.log_w.shape[0])])
        mass = math.log(state.log_w.shape[0] * state.log_w.shape[1]) + huber_root.log_mean(state)
        unit = state.scale[FIRST_LIPSCHITZ] * state.scale[FIRST_SPREAD]
        return Tilted(unit, rates, state.cost.copy(), mass, state.clipped.copy())
    if isinstance(state, Squint):
        rates = np.array([rate(k) for k in range(int(state.alive[0]), state.rates)])
        unit = state.scale[FIRST_LIPSCHITZ] * state.scale[FIRST_SPREAD]
        mass = math.log(state.rates) + squint.log_mean(state)
        return Tilted(unit, rates, np.outer(rates**2, state.variance), mass, state.clipped.copy())
    if isinstance(state, EWA):
        return Hoeffding(state.rate, float(state.ranges[0]), state.log_w.size)
    if isinstance(state, MLPoly):
        return PerExpert(ml_poly.bounds(state))
    assert isinstance(state, BOA)
    return Nothing()
