"""What a tally proves of the regret, rounding charged: numbers not below Σ_t c_t(ℓ(ŷ_t) − ℓ(⟨w,x_t⟩)) in real arithmetic.

ŷ, x, y and the weights c are the doubles that were played and given, so they are exact; an expert asleep plays ŷ. Let
u = 2⁻⁵³, G_j = Σc δ(ŷ−x_j) in real numbers with the true slope δ, and g_j the stored sum of computed terms. By
convexity Reg(w) ≤ Σw_jG_j. The terms sum up to `size` in absolute value, and
    the computed slope is δ(1+ε), |ε| ≤ 16u                                            16u·size
    c·δ, ŷ−x_j and their product are rounded                                            3u·size
    the corrected sum (`rounding.add`) with its correction added                        4u|g_j| + lost(n, size)
    `size` itself, n rounded terms ≥ 0, may be short by a factor 1 − 2nu                enlarged by 4(n+8)u
    products and exponentials below the normal doubles: at most 1e-300·(1+c)(1+|ŷ−x_j|) a round
    a slope taken on the wrong side of a kink a+b, because ŷ−y−a was rounded: at most u|a| a round, a the loss's parameter.
Where a rule learns from losses and not from slopes, the same for Σc ℓ(ŷ) − Σc ℓ(x_j): values good to 16u, products, sums.
On 10⁷ rounds that is 3e-15 of the summed |δ(ŷ−x_j)|.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from burkholder.experts import stream
from burkholder.learning.rounding import UNIT, above, dot, lost

SLOPE_ERROR = 16.0  # units of 2⁻⁵³: what a loss's computed slope or value may be wrong by, of itself
UNDERFLOW = 1e-300


def slack(loss: Any, totals: np.ndarray) -> float:
    """What kinks and underflow may hide over the whole stream."""
    numbers = [abs(part) for part in loss if isinstance(part, float) and math.isfinite(part)]
    weight = totals[stream.WEIGHT] + totals[stream.WEIGHT_CARRY]
    return float(8.0 * UNIT * sum(numbers) * weight + 4.0 * totals[stream.ROUNDS] * UNDERFLOW * totals[stream.WIDEST])


def _enlarged(sums: np.ndarray, sizes: np.ndarray, rounds: float, hidden: float) -> np.ndarray:
    """The sums and all that rounding may have taken from them."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = sizes * (1.0 + 4.0 * (rounds + 8.0) * UNIT)
        charge = (SLOPE_ERROR + 8.0) * UNIT * size + 4.0 * UNIT * np.abs(sums) + lost(rounds, 1.0) * size + hidden
        return np.nextafter(sums + charge * (1.0 + 64.0 * UNIT), np.inf)


def against_mixtures(tally: stream.Tally, loss: Any) -> np.ndarray:
    """R_j ≥ Σcδ(ŷ−x_j), column by column; Reg(w) ≤ Σw_jR_j."""
    gain = tally.gain
    return _enlarged(gain[stream.SUM] + gain[stream.CARRY], gain[stream.SIZE], tally.totals[stream.ROUNDS], slack(loss, tally.totals))


def against_experts(tally: stream.Tally, loss: Any) -> np.ndarray:
    """R_j ≥ Σcℓ(ŷ) − Σcℓ(x_j), column by column: against each expert alone."""
    totals, paid = tally.totals, tally.paid
    own = totals[stream.LOSS], totals[stream.LOSS_CARRY], totals[stream.LOSS_SIZE]
    sums = (own[0] - paid[stream.SUM]) + (own[1] - paid[stream.CARRY])
    return _enlarged(sums, own[2] + paid[stream.SIZE], totals[stream.ROUNDS], slack(loss, totals))


class Slopes(NamedTuple):
    """Σcδ(ŷ−x_j) of every expert, then Σcδ and Σcδŷ, between two numbers each."""

    low: np.ndarray
    high: np.ndarray


def slopes(tally: stream.Tally, loss: Any, first: int) -> Slopes:
    """The sums that a linear statement about ŷ, the experts (the user's first) and a constant is made of."""
    return _between(tally.gain, tally.slope, tally.totals[stream.ROUNDS], slack(loss, tally.totals), first)


def ways(tally: stream.Tally, loss: Any, first: int) -> tuple[Slopes, ...]:
    """The same about every expert made from the user's in place of ŷ: Σcδ_i(x_i−x_j), Σcδ_i and Σcδ_ix_i."""
    rounds, hidden = tally.totals[stream.ROUNDS], 2.0 * slack(loss, tally.totals)  # |x_i−x_j| ≤ 2·max|ŷ−x_j|
    return tuple(_between(gain, slope[:, :2], rounds, hidden, first) for gain, slope in zip(tally.way, tally.way_slope))


def _between(gain: np.ndarray, slope: np.ndarray, rounds: float, hidden: float, first: int) -> Slopes:
    turned = np.roll(gain, -first, axis=1)
    sums = np.concatenate([turned[stream.SUM] + turned[stream.CARRY], slope[stream.SUM] + slope[stream.CARRY]])
    sizes = np.concatenate([turned[stream.SIZE], slope[stream.SIZE]])
    return Slopes(-_enlarged(-sums, sizes, rounds, hidden), _enlarged(sums, sizes, rounds, hidden))


def affine(w: np.ndarray, constant: float, slopes: Slopes) -> float:
    """A number not below Σcδ(ŷ − Σw_jx_j − constant) = Σw_jG_j − constant·Σcδ + (1 − Σw_j)·Σcδŷ, in exact arithmetic."""
    if not (np.isfinite(slopes.low).all() and np.isfinite(slopes.high).all()):
        return math.inf
    exact = [Fraction(float(share)) for share in w]
    factors = [*exact, -Fraction(constant), 1 - sum(exact)]
    sides = zip(factors, slopes.low.tolist(), slopes.high.tolist())
    total = sum((factor * Fraction(high if factor > 0 else low) for factor, low, high in sides), Fraction(0))
    try:
        return math.nextafter(float(total), math.inf)
    except OverflowError:
        return math.inf if total > 0 else -1.7976931348623157e308


def weighted(w: np.ndarray, gains: np.ndarray) -> float:
    """A number not below Σw_jR_j/Σw_j: the weights of a distribution add up to 1 only nearly."""
    on = w > 0.0
    if not np.isfinite(gains[on]).all():
        return math.inf
    try:
        inner, error = dot(w[on], gains[on])
        mean = above(inner, error) / math.fsum(w)
        return above(mean, 4.0 * UNIT * abs(mean))
    except OverflowError:
        return math.inf


def worst(gains: np.ndarray, met: np.ndarray) -> float:
    """The largest R_j of an expert that was ever awake; others play ŷ all the way."""
    largest = float(np.max(gains[met], initial=-math.inf))
    return 0.0 if not met.any() else largest if math.isfinite(largest) else math.inf
