"""The units that Huber-root and Squint share: rates, offsets and slope limits that never overflow.

A rate is λ_k = 1024·2^{−k} in units of 1/(L₁h), with h the first spread of the forecasts and L₁ the first slope
(or the known L); it meets forecasts as (L_t/L₁)·(ŷ − x_j)/h and slopes as δ̃/L_t, all of them near 1. The grid begins far above
what the first spread asks for, in case it was a large one; Huber-root's moves by whole octaves when `octave`, the first rate of use,
leaves it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.machine.compiling import register_jitable

THETA = 0.5
FINEST = 1e-152  # of units: what is divided by one stays finite
ROUNDING = 2.0**-47  # 64u: what a price charges for the rounding of its round
FIRST_LIPSCHITZ, FIRST_SPREAD, LIPSCHITZ = range(3)  # places in a state's `scale`
# of the stretch of rounds that runs and of the one before: the sum of their spreads and their number; the steepest slope in it
SPREADS, SPREAD_ROUNDS, BEFORE, BEFORE_ROUNDS, STEEPNESS = range(3, 8)
STEEPEST = 16.0  # a rate is of use while it makes at most this of the mean spread lately
USED = 16  # so many rates from there on are of use: the last makes 5e-4 of the mean spread, and would take 10⁷ rounds to matter
FARTHEST_OCTAVE = 1000  # rates stay numbers, and so do their halves
STALE = 4.0  # a limit so many times what a whole stretch saw is let down


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
def octave(state: Any, h: float, size: int = 1) -> int:
    """The first k of use, of all whole numbers: larger rates would see nothing but the signs of ŷ − x_j, and play a median.

    It follows the mean spread of late, not the first one: a rate of use makes at most STEEPEST of it. In a block of `size` rows,
    pulls that add up, rates are of use up to a `size`-th of that.
    """
    scale, typical = state.scale, 1.0
    if scale[SPREAD_ROUNDS] + scale[BEFORE_ROUNDS] > 0.0:
        mean = (scale[SPREADS] / h + scale[BEFORE] / h) / (scale[SPREAD_ROUNDS] + scale[BEFORE_ROUNDS])
        typical = (scale[LIPSCHITZ] / scale[FIRST_LIPSCHITZ]) * mean
    wide = rate(0) / STEEPEST * typical * size
    if not wide < math.inf:
        return FARTHEST_OCTAVE
    mantissa, exponent = math.frexp(wide)  # the first k with wide ≤ 2^k
    k = exponent - 1 if mantissa <= 0.5 else exponent
    return min(max(k, -FARTHEST_OCTAVE), FARTHEST_OCTAVE)


@register_jitable
def see(state: Any, wide: float, delta: float) -> None:
    """A row's spread and slope. Stretches are of 1, 2, 4, … rounds, and two are remembered: what was odd in round t is forgotten by 4t.

    An unknown slope limit that a whole stretch did not come near is let down, but by no more than it can double in as many rounds.
    """
    scale = state.scale
    scale[STEEPNESS] = max(scale[STEEPNESS], abs(delta))
    if not wide > 0.0:
        return
    scale[SPREADS] += wide
    scale[SPREAD_ROUNDS] += 1.0
    if scale[SPREAD_ROUNDS] >= 2.0 * scale[BEFORE_ROUNDS]:
        if not state.known and scale[STEEPNESS] * STALE < scale[LIPSCHITZ]:
            slowly = math.ldexp(scale[LIPSCHITZ], -int(min(scale[SPREAD_ROUNDS], 2000.0)))
            scale[LIPSCHITZ] = max(scale[STEEPNESS], slowly, FINEST)
        scale[BEFORE], scale[BEFORE_ROUNDS] = scale[SPREADS], scale[SPREAD_ROUNDS]
        scale[SPREADS] = scale[SPREAD_ROUNDS] = scale[STEEPNESS] = 0.0


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
