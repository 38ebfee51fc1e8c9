"""Bernstein online aggregation (Wintenberger 2017), with its adaptive rate per expert, in log space.

p_j ∝ η_j·exp(η_j·Σ(r_j − η_j r_j²)), η_j = min(1/(2E_j), sqrt(ln d / Σr_j²)), E_j the largest |r_j| seen,
d the experts met so far.
The rate inside the sum is the one that already knows r_j, so that η_j|r_j| ≤ ½ always. Sums are kept in
units of a power of two near the largest |r|.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.experts.dispatch import Rule, attach, mixture, regrets, softmax
from burkholder.experts.ml_poly import raise_unit
from burkholder.experts.options import LINEAR
from burkholder.machine.compiling import register_jitable


@register_jitable
def rate_of(state: BOA, j: int) -> float:
    """η_j in 1/unit; before expert j met a loss, the largest rate there is."""
    if state.square[j] == 0.0:
        return 0.5
    met = max(2.0, np.sum(state.met))
    return min(0.5 / state.largest[j], math.sqrt(math.log(met) / state.square[j]))


def weights(state: BOA, x: np.ndarray) -> np.ndarray:
    log_w = np.zeros(x.size)
    for j in range(x.size):
        eta = rate_of(state, j)
        log_w[j] = math.log(eta) + eta * state.regret[j]
    return softmax(log_w, x)


def predict(state: BOA, x: np.ndarray) -> float:
    return mixture(weights(state, x), x)


def update(state: BOA, x: np.ndarray, yhat: float, delta: float, own: float, paid: np.ndarray) -> None:
    r = regrets(state.linear, x, yhat, delta, own, paid)
    unit = raise_unit(state.unit[0], r)
    if unit == 0.0:
        return
    shrink = state.unit[0] / unit
    for j in range(x.size):
        if not math.isnan(x[j]):
            state.met[j] = 1.0
    for j in range(x.size):
        r[j] /= unit
        state.regret[j] *= shrink
        state.square[j] = state.square[j] * shrink * shrink + r[j] * r[j]
        state.largest[j] = max(state.largest[j] * shrink, abs(r[j]))
        state.regret[j] += r[j] - rate_of(state, j) * r[j] * r[j]
    state.unit[0] = unit


class BOA(NamedTuple):
    """The state: regularised regret Σ(r − ηr²), Σr², max|r|, who was ever awake, and the unit."""

    regret: np.ndarray
    square: np.ndarray
    largest: np.ndarray
    met: np.ndarray
    unit: np.ndarray
    linear: bool


def start(experts: int, limit: float, linear: bool = True) -> BOA:
    regret, square, largest, met = np.zeros((4, experts))
    return BOA(regret, square, largest, met, np.zeros(1), linear)


RULE = attach(
    Rule(
        "boa",
        BOA,
        start,
        predict,
        update,
        weights,
        per_expert=("regret", "square", "largest", "met"),
        options={"linear": LINEAR},
        mixtures=lambda state: state.linear,
    )
)
