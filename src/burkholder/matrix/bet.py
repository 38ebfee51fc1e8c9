"""The bet: how far to follow two directions of unknown scale, never losing more than κ.

Wealths W_k = 1; k = 0..24 stake s_k = clip(2^k·u, ±¼) on the tangent direction u, eight more clip(2^m·v, ±¼), m = −4..3, on the
low-rank direction v. z = κ·mean_k[W_k·s_k] is added to the base prediction and W_k ← W_k·(1 − δ·s_k) with |δ| ≤ 2. Then
Σδz = κ(1 − mean W) ≤ κ on every path: with δ a slope of the loss, never more than κ worse than the base prediction. Wealth is
kept as its logarithm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burkholder.machine.compiling import compiled, uncounted

TANGENTS, LOW_RANKS = 25, 8
MULTIPLIERS = TANGENTS + LOW_RANKS
SMALLEST = 2.0**-4  # of the multipliers of v
CLIP = 0.25
KAPPA = 1.0


def start() -> NDArray[np.float64]:
    """log W = 0."""
    return np.zeros(MULTIPLIERS)


@uncounted
def stake(u, v, k):
    """What multiplier k stakes on its direction."""
    wish = (1 << k) * u if k < TANGENTS else SMALLEST * (1 << (k - TANGENTS)) * v
    return min(max(wish, -CLIP), CLIP)


@compiled
def wealths(log_wealth):
    """Every W_k over the largest, and the logarithm of that one."""
    top = log_wealth[0]
    for k in range(log_wealth.size):
        top = max(top, log_wealth[k])
    return np.exp(log_wealth - top), top


@uncounted
def play(shares, top, u, v, most):
    """z = κ·mean_k[W_k·s_k], cut at ±most before it overflows."""
    total = 0.0
    for k in range(shares.size):
        total += shares[k] * stake(u, v, k)
    if total == 0.0:
        return 0.0  # no stake, however large the wealth
    size = np.log(abs(total)) + top
    if size > np.log(most * shares.size / KAPPA):
        return np.copysign(most, total)
    return KAPPA * total * np.exp(top) / shares.size


@compiled
def predict(log_wealth, u, v, most):
    """z at u and v; changes nothing."""
    shares, top = wealths(log_wealth)
    return play(shares, top, u, v, most)


@uncounted
def update(log_wealth, u, v, delta):
    """Every wealth takes its gain or loss."""
    for k in range(log_wealth.size):
        log_wealth[k] += np.log1p(-delta * stake(u, v, k))


def log_mean(log_wealth: NDArray[np.float64]) -> float:
    """ln mean W; κ(1 − mean W) bounds Σδ(ŷ − b)."""
    top = float(log_wealth.max())
    return top + float(np.log(np.mean(np.exp(log_wealth - top))))
