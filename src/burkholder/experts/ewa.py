"""Exponentially weighted average (Vovk; Littlestone and Warmuth) with one fixed rate η, in log space.

W_j = exp(η·Σr_j), ŷ = ΣW_j x_j / ΣW_j. By Hoeffding's lemma

    Reg(w) ≤ KL(w‖1/d)/η + (η/8)·Σ_t (max_j r_tj − min_j r_tj)²,

for every distribution w when r is linearised, for single experts when r is the difference of losses.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.experts.dispatch import Option, Rule, attach, mixture, regrets, softmax
from burkholder.experts.options import LINEAR, positive
from burkholder.experts.promises import Tilted


def weights(state: EWA, x: np.ndarray) -> np.ndarray:
    return softmax(state.log_w, x)


def predict(state: EWA, x: np.ndarray) -> float:
    return mixture(softmax(state.log_w, x), x)


def update(state: EWA, x: np.ndarray, yhat: float, delta: float, own: float, paid: np.ndarray) -> None:
    r = regrets(state.linear, x, yhat, delta, own, paid)
    low, high = math.inf, -math.inf
    for j in range(x.size):
        if not math.isnan(x[j]):
            low, high = min(low, r[j]), max(high, r[j])
            # a product beyond the floats decides the weight either way
            state.log_w[j] += min(max(state.rate * r[j], -1e300), 1e300)
    if high > low:
        state.ranges[0] += (high - low) ** 2


class EWA(NamedTuple):
    """The state: log W per expert and Σ(range of r)²."""

    log_w: np.ndarray
    rate: float
    linear: bool
    ranges: np.ndarray


def start(experts: int, limit: float, rate: float, linear: bool = True) -> EWA:
    return EWA(np.zeros(experts), rate, linear, np.zeros(1))


def promise(state: EWA, gain: np.ndarray) -> Tilted:
    """ln mean W ≤ (η²/8)·Σrange²."""
    mass = np.array([state.rate / 8.0 * float(state.ranges[0]) * state.rate])
    return Tilted(1.0, np.array([state.rate]), np.zeros((1, gain.size)), mass, np.zeros(gain.size), gain)


RULE = attach(
    Rule(
        "ewa",
        EWA,
        start,
        predict,
        update,
        weights,
        per_expert=("log_w",),
        options={"rate": Option(positive), "linear": LINEAR},
        promise=promise,
        mixtures=lambda state: state.linear,
    )
)
