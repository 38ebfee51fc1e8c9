"""ML-Poly (Gaillard, Stoltz and van Erven 2014): polynomial weights with one learning rate per expert.

p_j ∝ η_j·(R_j)₊, R_j = Σr_j, η_j = 1/(M + Σr_j²) with M the largest r² seen (so that nothing depends on
the unit of the losses); uniform while no R_j is positive. Since Σ_j η_j(R_j)₊r_j ≤ 0 and rates only fall,
Σ_j η_j(R_j)₊² grows by at most η_j r_j² a round (with the new η_j where R_j ≤ 0), hence

    R_j ≤ sqrt( (M + Σr_j²)·Σ_tΣ_i η_i r_ti² ),

computed as the stream goes. Sums are kept in units of a power of two near the largest |r|, so that no
square overflows and a change of unit is exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.experts.dispatch import Rule, attach, mixture, regrets
from burkholder.experts.options import LINEAR
from burkholder.experts.promises import Polynomial
from burkholder.machine.compiling import register_jitable

UNIT, LARGEST, GROWTH = 0, 1, 2
LEAST = 1e-290  # of squares, in units: below it they have vanished
VANISHED = 1e-9  # more than 2R_j·r_j and R_j² are, in units, where squares of R_j vanish


@register_jitable
def raise_unit(unit: float, r: np.ndarray) -> float:
    """The unit, made a power of two ≥ max|r|; 0 while every r has been 0."""
    largest = 0.0
    for j in range(r.size):
        largest = max(largest, abs(r[j]))
    return math.ldexp(1.0, math.frexp(largest)[1]) if largest > unit else unit


def weights(state: MLPoly, x: np.ndarray) -> np.ndarray:
    p = np.zeros(x.size)
    for j in range(x.size):
        if not math.isnan(x[j]) and state.regret[j] > 0.0:
            p[j] = state.regret[j] / (state.totals[LARGEST] + state.square[j])
    if not np.sum(p) > 0.0:
        for j in range(x.size):
            p[j] = 0.0 if math.isnan(x[j]) else 1.0
    total = np.sum(p)
    return p / total if total > 0.0 else p


def predict(state: MLPoly, x: np.ndarray) -> float:
    return mixture(weights(state, x), x)


def update(state: MLPoly, x: np.ndarray, yhat: float, delta: float, own: float, paid: np.ndarray) -> None:
    r = regrets(state.linear, x, yhat, delta, own, paid)
    unit = raise_unit(state.totals[UNIT], r)
    if unit == 0.0:
        return
    shrink = state.totals[UNIT] / unit
    largest = state.totals[LARGEST] * shrink * shrink
    before = largest
    for j in range(x.size):
        r[j] /= unit
        largest = max(largest, r[j] * r[j])
    for j in range(x.size):
        state.regret[j] *= shrink
        state.square[j] *= shrink * shrink
        rate = before if state.regret[j] > 0.0 else largest + r[j] * r[j]
        if rate + state.square[j] < LEAST:
            # the unit rose so far that all squares before it vanished, and with them every R_j but for 1e-145 of a unit: as if it were 0
            rate = largest + r[j] * r[j]
            state.totals[GROWTH] += VANISHED
        if r[j] != 0.0:
            state.totals[GROWTH] += r[j] * r[j] / (rate + state.square[j])
        state.square[j] += r[j] * r[j]
        state.regret[j] += r[j]
    state.totals[UNIT] = unit
    state.totals[LARGEST] = largest


class MLPoly(NamedTuple):
    """The state; `totals` holds the unit, the largest r² and Σ_tΣ_i η_i r_ti²."""

    regret: np.ndarray
    square: np.ndarray
    totals: np.ndarray
    linear: bool


def start(experts: int, limit: float, linear: bool = True) -> MLPoly:
    return MLPoly(np.zeros(experts), np.zeros(experts), np.zeros(3), linear)


def promise(state: MLPoly, gain: np.ndarray) -> Polynomial:
    """Σ_j η_j(R_j)₊² ≤ Σ_tΣ_i η_i r_ti²."""
    unit, largest, growth = state.totals[[UNIT, LARGEST, GROWTH]].tolist()
    return Polynomial(unit, largest + state.square, growth, gain)


RULE = attach(
    Rule(
        "ml-poly",
        MLPoly,
        start,
        predict,
        update,
        weights,
        per_expert=("regret", "square"),
        options={"linear": LINEAR},
        promise=promise,
        mixtures=lambda state: state.linear,
    )
)
