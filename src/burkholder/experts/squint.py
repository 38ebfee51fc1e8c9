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

from burkholder.experts.dispatch import Option, Rule, attach, mixture
from burkholder.experts.options import count
from burkholder.experts.promises import Tilted
from burkholder.experts.scale import FIRST_LIPSCHITZ, FIRST_SPREAD, LIPSCHITZ, THETA, centre, next_limit, offset, rate, spread
from burkholder.machine.compiling import register_jitable

FARTHEST = 1e140  # of z: its square is a number, and no rate is alive that it could move


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


def predict(state: Squint, x: np.ndarray) -> float:
    if state.scale[LIPSCHITZ] == 0.0:
        return centre(x)
    return mixture(weights(state, x), x)


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
            z = min(max((seen / limit) * offset(state, h, yhat, x[j]), -FARTHEST), FARTHEST)
            state.gained[j] += z
            state.variance[j] += z * z
    if not state.known:
        if limit == 0.0:
            state.scale[FIRST_LIPSCHITZ] = next_limit(0.0, delta)
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


def start(experts: int, limit: float = 0.0, rates: int = 48) -> Squint:
    scale = np.array([limit, 0.0, limit])
    return Squint(np.zeros(experts), np.zeros(experts), np.zeros(experts), scale, np.zeros(1), rates, limit > 0.0)


def log_mean(state: Squint) -> float:
    """ln of the mean of W over all rates that ever were and all experts: never above 0 but for rounding."""
    rates = np.array([rate(k) for k in range(int(state.alive[0]), state.rates)])[:, None]
    logs = rates * (state.gained - rates * state.variance)
    if not logs.size:
        return -math.inf
    top = float(np.max(logs))
    return top + math.log(float(np.sum(np.exp(logs - top))) / (state.rates * state.gained.size))


def promise(state: Squint, gain: np.ndarray) -> Tilted:
    """Over all rates ln mean W ≤ 0, so at each one still alive ln mean W_k ≤ ln K."""
    rates = np.array([rate(k) for k in range(state.rates)])
    mass = np.where(np.arange(state.rates) < state.alive[0], math.inf, math.log(state.rates))
    unit = float(state.scale[FIRST_LIPSCHITZ] * state.scale[FIRST_SPREAD])
    return Tilted(unit, rates, np.outer(rates**2, state.variance), mass, state.clipped, gain)


RULE = attach(
    Rule(
        "squint",
        Squint,
        start,
        predict,
        update,
        weights,
        per_expert=("gained", "variance", "clipped"),
        options={"rates": Option(count, 48)},
        promise=promise,
        potential=lambda state: math.expm1(log_mean(state)),
        missing="the forecasts outgrew the grid of rates",
    )
)
