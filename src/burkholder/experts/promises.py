"""The bounds that the aggregators carry, on Reg(w) = Σℓ(ŷ_t) − Σℓ(⟨w,x_t⟩) for distributions w.

An expert asleep is taken to play ŷ, in ⟨w,x_t⟩ as everywhere. Let R_j = Σδ(ŷ−x_j), so that Reg(w) ≤ Σw_jR_j. Both kinds of
promise rest on an identity that is true of any numbers, whatever was played and however it was rounded:

    Tilted       Σw_jR_j ≤ (1/η)·{ Σw_j c_j + KL(w‖1/d) + ln mean_j e^{ηR_j − c_j} }     for all η > 0 and all c_j (Donsker, Varadhan);
    Polynomial   R_j ≤ sqrt( q_j · Σ_i (R_i)₊²/q_i )                                     for all q_i > 0.

With the last factor, the potential, as the stream left it, this is `corrected`; with what a method keeps the potential
below, in exact arithmetic and with labels that come in time, it is `promised`. Hence nothing that rounding did to
weights, to the root ŷ or to the prices c_j has to be estimated: where it made the potential larger than promised,
`corrected` shows it, and a certificate prints the larger one. Rounding in R_j is charged in `regret.py`, and no number
that is printed is below the one found there, so that the last digits of these formulas do not matter either.

For Huber-root with K rates × shares, z = clip(η_kδ̃(ŷ−x_j)) is what the weights saw of the wished gain u = η_kδ̃(ŷ−x_j):
c_j = Σ_t(max(u, z) − ln(1+z)) + η_kΣ_t(δ−δ̃)(ŷ−x_j), and ηR_j − c_j ≤ ln W_kj for the weights without share, whose mean is at
most K, the number of rates × shares that ever moved, forgotten or not. Where rate k never clipped an expert in the support of w, the
first sum is near ½η_k²V_j and at most η_k²V_j, V_j = Σδ̃²(ŷ−x_j)²; where it did, the gain cut short is paid for, so that there is a
bound on every stream. The last term is 0 when L is known and kept, and at most M·(1 + log₂(M/L₁))·max|ŷ−x_j|, M = max_t|δ_t|, else:
every |δ| > 2L_t doubles the limit, the others telescope; so much again, with the limit it is let down to for L₁, each time that it is
(`scale.see`, at most log₂ n times). A promise may also go by way of an expert i made from the others (`certificate.py`): Reg(w) is the
regret to i plus what i lost to w, at most Σδ_i(x_i−⟨w,x⟩) with slopes taken at x_i, a sum in which ŷ does not occur. Squint has the
same over rates never deleted; exponential weights have one rate, c = 0 and Hoeffding's lemma.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

Mix = np.ndarray | None  # a distribution over the experts; None: the worst of them


class Nothing(NamedTuple):
    """A rule whose bound is not computed here; the realised regret is."""

    def promised(self, w: Mix) -> float:
        return math.inf

    def corrected(self, w: Mix) -> float:
        return math.inf

    def tracking(self, switches: int, rounds: float) -> float:
        return math.inf


class Path(NamedTuple):
    """What the bound to changing experts needs: Σ_t max_j of the prices and of the unseen slopes, ln(K·mean W), shares."""

    cost: np.ndarray
    unseen: float
    mass: float
    shares: np.ndarray


class Tilted(NamedTuple):
    """min over rates of (Σw_j·cost_kj + KL + mass_k)/λ_k, in units of L₁h, plus Σw_j·unseen_j."""

    unit: float
    rates: np.ndarray  # λ_k
    cost: np.ndarray  # (rates, experts)
    mass: np.ndarray  # (rates,): what ln mean e^{ηR−c} is promised to stay below; infinite: no promise at this rate
    unseen: np.ndarray  # (experts,): gains that the weights never saw
    gain: np.ndarray  # (experts,): R_j
    path: Path | None = None

    def _at(self, w: Mix, mass: np.ndarray) -> float:
        d = self.gain.size
        with np.errstate(over="ignore", invalid="ignore"):
            if self.unit == 0.0:  # the weights have not moved: what they never saw is all there is
                return finite(np.max(self.unseen) if w is None else w @ self.unseen)
            if w is None:  # each rate's bound is convex in w, hence largest at an expert
                each = self.unit * ((self.cost + divergence(np.eye(1, d)[0]) + mass[:, None]) / self.rates[:, None]) + self.unseen
                sizes = np.max(each, axis=1)
            else:
                on = w > 0
                cost = self.cost[:, on] @ w[on]
                sizes = self.unit * ((cost + divergence(w) + mass) / self.rates) + w[on] @ self.unseen[on]
            return min(map(finite, sizes.tolist()), default=math.inf)

    def promised(self, w: Mix) -> float:
        return self._at(w, self.mass)

    def corrected(self, w: Mix) -> float:
        if self.unit == 0.0:
            return self._at(w, self.mass)
        with np.errstate(over="ignore", invalid="ignore"):
            logs = (self.rates / self.unit)[:, None] * (self.gain - self.unseen) - self.cost
            top = np.max(logs, axis=1, keepdims=True)
            mass = top[:, 0] + np.log(np.mean(np.exp(logs - top), axis=1))
        return self._at(w, mass)

    def tracking(self, switches: int, rounds: float) -> float:
        if self.path is None:
            return math.inf
        path, d = self.path, self.gain.size
        if self.unit == 0.0:
            return path.unseen
        alphas = path.shares[path.shares > 0]
        if alphas.size == 0:
            return math.inf
        price = np.min(switches * np.log(d / alphas) - rounds * np.log1p(-alphas))
        with np.errstate(over="ignore"):
            sizes = self.unit * ((path.cost + math.log(d) + path.mass + price) / self.rates)
        # sums of n numbers ≥ 0 may each be short by a factor 1 − 2nu
        return finite((1.0 + (rounds + 64.0) * 2.0**-48) * (max(float(np.min(sizes)), 0.0) + path.unseen))


class Polynomial(NamedTuple):
    """R_j ≤ unit·sqrt(q_j·Φ): Φ = Σ_i(R_i)₊²/q_i, promised to stay below `growth`."""

    unit: float
    q: np.ndarray
    growth: float
    gain: np.ndarray

    def _at(self, w: Mix, potential: float) -> float:
        with np.errstate(over="ignore"):
            sizes = self.unit * np.sqrt(self.q * potential)
        return finite(float(np.max(sizes) if w is None else w[w > 0] @ sizes[w > 0]))

    def promised(self, w: Mix) -> float:
        return self._at(w, self.growth)

    def corrected(self, w: Mix) -> float:
        if self.unit == 0.0:
            return finite(np.max(self.gain) if w is None else w @ self.gain)  # every r was 0, up to rounding
        scaled = np.maximum(self.gain / self.unit, 0.0)
        on = scaled > 0.0
        with np.errstate(over="ignore", divide="ignore"):
            return self._at(w, float(np.sum(scaled[on] ** 2 / self.q[on])))

    def tracking(self, switches: int, rounds: float) -> float:
        return math.inf


def finite(number: float) -> float:
    """The number, or infinity, "no bound", where it left the floats."""
    return float(number) if math.isfinite(number) else math.inf


def divergence(w: np.ndarray) -> float:
    """KL(w‖1/d)."""
    on = w[w > 0]
    return float(on @ np.log(on * w.size))
