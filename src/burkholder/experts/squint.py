"""Squint (Koolen and van Erven 2015) with a grid prior on the rate: the tangent form of Huber-root.

W_kj = exp(η_k R_j − η_k² V_j), R_j = Σδ̃(ŷ−x_j), V_j = Σδ̃²(ŷ−x_j)², ŷ = ΣW_kj η_k x_j / ΣW_kj η_k. Since
e^{z−z²} ≤ 1+z on z ≥ −½, ΣW never rises as long as η_k L_t |ŷ−x_j| ≤ ½; a rate too large for the
spread of the forecasts at hand is deleted before playing, which only lowers ΣW. Units as in Huber-root:
λ_k = 4·2^{−k} times 1/(L₁h); δ̃ = clip(δ, ±L_t).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.experts.dispatch import aggregator, mixture
from burkholder.experts.scale import FIRST_LIPSCHITZ, FIRST_SPREAD, LIPSCHITZ, THETA, centre, next_limit, offset, rate, spread
from burkholder.machine.compiling import compiled, register_jitable


@register_jitable
def log_weight(state: Squint, k: int, j: int) -> float:
    """ln W_kj = λ_k R_j − λ_k² V_j."""
    return rate(k) * (state.gained[j] - rate(k) * state.variance[j])


@register_jitable
def first_alive(state: Squint, x: np.ndarray) -> int:
    """The largest rate that this round's spread allows, or one deleted earlier does."""
    low, high = math.inf, -math.inf
    for j in range(x.size):
        if not math.isnan(x[j]):
            low, high = min(low, x[j]), max(high, x[j])
    h = state.scale[FIRST_SPREAD]
    if h == 0.0:
        h = spread(x)
    k = int(state.alive[0])
    if h > 0.0 and state.scale[LIPSCHITZ] > 0.0 and high > low:
        width = offset(state, h, high, low)
        while k < state.rates and rate(k) * width > THETA:
            k += 1
    return k


@compiled
def weights(state: Squint, x: np.ndarray) -> np.ndarray:
    p, top = np.zeros(x.size), -math.inf
    alive = first_alive(state, x)
    for k in range(alive, state.rates):
        for j in range(x.size):
            if not math.isnan(x[j]):
                top = max(top, log_weight(state, k, j))
    for j in range(x.size):
        if math.isnan(x[j]):
            continue
        if alive == state.rates:
            p[j] = 1.0  # no rate left: the plain average
        for k in range(alive, state.rates):
            p[j] += rate(k) * math.exp(log_weight(state, k, j) - top)
    total = np.sum(p)
    return p / total if total > 0.0 else p


@compiled
def predict(state: Squint, x: np.ndarray) -> float:
    if state.scale[LIPSCHITZ] == 0.0:
        return centre(x)
    return mixture(weights(state, x), x)


@compiled
def update(state: Squint, x: np.ndarray, yhat: float, delta: float, own: float, paid: np.ndarray) -> None:
    if state.scale[FIRST_SPREAD] == 0.0:
        state.scale[FIRST_SPREAD] = spread(x)
    h, limit = state.scale[FIRST_SPREAD], state.scale[LIPSCHITZ]
    moves = h > 0.0 and limit > 0.0
    if moves:
        state.alive[0] = first_alive(state, x)
    seen = min(max(delta, -limit), limit) if moves else 0.0
    for j in range(x.size):
        if math.isnan(x[j]):
            continue
        state.clipped[j] += (delta - seen) * (yhat - x[j])
        if moves:
            z = (seen / limit) * offset(state, h, yhat, x[j])
            state.gained[j] += z
            state.variance[j] += z * z
    if not state.known:
        if limit == 0.0:
            state.scale[FIRST_LIPSCHITZ] = abs(delta)
        state.scale[LIPSCHITZ] = next_limit(limit, delta)


class Squint(NamedTuple):
    """The state: R and V in units of L₁h, and the first rate still alive."""

    gained: np.ndarray
    variance: np.ndarray
    clipped: np.ndarray
    scale: np.ndarray  # L₁, h, L_t; 0 while unknown
    alive: np.ndarray
    rates: int
    known: bool


aggregator(Squint, ("gained", "variance", "clipped"), predict, update, weights)


def start(experts: int, lipschitz: float = 0.0, rates: int = 48) -> Squint:
    scale = np.array([lipschitz, 0.0, lipschitz])
    return Squint(np.zeros(experts), np.zeros(experts), np.zeros(experts), scale, np.zeros(1), rates, lipschitz > 0.0)


def log_mean(state: Squint) -> float:
    """ln of the mean of W over all rates that ever were and all experts: never above 0 but for rounding."""
    logs = [log_weight(state, k, j) for k in range(int(state.alive[0]), state.rates) for j in range(state.gained.size)]
    if not logs:
        return -math.inf
    top = max(logs)
    total = math.fsum(math.exp(entry - top) for entry in logs)
    return top + math.log(total / (state.rates * state.gained.size))
