"""The units that Huber-root and Squint share: rates, offsets and slope limits that never overflow.

A rate is λ_k = 1024·2^{−k} in units of 1/(L₁h), with h the first spread of the forecasts and L₁ the first slope
(or the known L); it meets forecasts as (L_t/L₁)·(ŷ − x_j)/h and slopes as δ̃/L_t, all of them near 1. The grid begins far above
what the first spread asks for, in case it was a large one, and `lead` says where it begins to be of use.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.machine.compiling import register_jitable

THETA = 0.5
FINEST = 1e-152  # of units: what is divided by one stays finite
ROUNDING = 2.0**-47  # 64u: what a price charges for the rounding of its round
FIRST_LIPSCHITZ, FIRST_SPREAD, LIPSCHITZ, SPREADS, SPREAD_ROUNDS = range(5)  # places in a state's `scale`
STEEPEST = 16.0  # a rate is of use while it makes at most this of the mean spread so far
USED = 16  # so many rates from there on are of use: the last makes 5e-4 of the mean spread, and would take 10⁷ rounds to matter


@register_jitable
def centre(x: np.ndarray) -> float:
    """x̄: the mean of the experts that are awake (NaN when none is)."""
    mean, count = math.nan, 0
    for j in range(x.size):
        if not math.isnan(x[j]):
            count += 1
            mean = x[j] if count == 1 else mean + (x[j] - mean) / count
    return mean


@register_jitable
def spread(x: np.ndarray) -> float:
    """max_j |x_j − x̄| over the experts that are awake; as a unit it serves when it is a little too large, too."""
    mean, widest = centre(x), 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            widest = max(widest, abs(x[j] - mean))
    return max(widest, FINEST) if widest > 0.0 else 0.0


@register_jitable
def rate(k: int) -> float:
    """λ_k = 1024·2^{−k}, in units of 1/(L₁h)."""
    return math.ldexp(1024.0, -k)


@register_jitable
def offset(state: Any, h: float, yhat: float, xj: float) -> float:
    """(L_t/L₁)·(ŷ − x_j)/h: what the rates multiply."""
    return (state.scale[LIPSCHITZ] / state.scale[FIRST_LIPSCHITZ]) * ((yhat - xj) / h)


@register_jitable
def lead(state: Any, h: float, rates: int, size: int = 1) -> int:
    """The first rate of use: larger ones would see nothing but the signs of ŷ − x_j, and play a median.

    It follows the mean spread, not the first one. A rate not in use sleeps: its weights stay as they are, and what it missed is
    in its price. In a block of `size` rows, pulls that add up, rates are of use up to a `size`-th of that.
    """
    typical = 1.0
    if state.scale[SPREAD_ROUNDS] > 0.0:
        typical = (state.scale[LIPSCHITZ] / state.scale[FIRST_LIPSCHITZ]) * ((state.scale[SPREADS] / h) / state.scale[SPREAD_ROUNDS])
    k = 0
    while k < rates - 1 and rate(k) * typical * size > STEEPEST:
        k += 1
    return k


@register_jitable
def next_limit(limit: float, delta: float) -> float:
    """L_{t+1} when L is unknown: the largest |δ| seen, but at most 2·L_t.

    Any limit fixed before δ keeps the mean of W; what it cuts off is booked in `clipped`. With the plain
    maximum one slope of 1e12 would make every later step vanish beside it and freeze the weights for good.
    """
    if limit == 0.0:
        return max(abs(delta), FINEST) if delta != 0.0 else 0.0
    return max(limit, min(abs(delta), 2.0 * limit))


@register_jitable
def clip(z: float, theta: float) -> float:
    """z within ±θ."""
    return min(max(z, -theta), theta)


@register_jitable
def price(wished: float, z: float, gained: float, size: float) -> float:
    """What ln W lacks of the linearised gain: wished ≤ ln(1+z) + price, at least 0; gained = ln(1+z).

    `wished` is η_kδ̃(ŷ−x_j), `z` the same with the clip, each summed over the rows of a block, |z| ≤ ½. Where nothing is clipped this
    is z − ln(1+z): z²/2 for small z, and at most z² ever. The last term is for rounding, `size` being Σ|η_kδ̃(ŷ−x_j)| times
    (rows + 15)/16 for the sums; u = 2⁻⁵³: `wished` comes from 8 operations and a derivative good to 16u, ln(1+z) is good to
    2u|ln(1+z)| ≤ 4u|z|, and the difference is short by at most 4u of |wished|: 64u in all.
    """
    return max(max(wished, z) - gained, 0.0) + ROUNDING * size
