"""The bet: how far to follow a direction u of unknown scale, never losing more than κ.

Multipliers β_k = 2^k, k = 0..24, wealths W_k = 1. z = κ·mean_k[W_k·clip(β_k u, ±¼)] is added to the base
prediction and W_k ← W_k·(1 − δ·clip(β_k u, ±¼)) with |δ| ≤ 2. Then Σδz = κ(1 − mean W) ≤ κ on every path:
with δ a slope of the loss, never more than κ worse than the base prediction. Wealth is kept as its
logarithm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burkholder.machine.compiling import compiled, uncounted

MULTIPLIERS = 25
CLIP = 0.25
KAPPA = 1.0


def start() -> NDArray[np.float64]:
    """log W = 0."""
    return np.zeros(MULTIPLIERS)


@uncounted
def stake(u, k):
    """clip(2^k·u, ±¼)."""
    return min(max((1 << k) * u, -CLIP), CLIP)


@compiled
def wealths(log_wealth):
    """Every W_k over the largest, and the logarithm of that one."""
    top = log_wealth[0]
    for k in range(log_wealth.size):
        top = max(top, log_wealth[k])
    return np.exp(log_wealth - top), top


@uncounted
def play(shares, top, u):
    """z = κ·mean_k[W_k·clip(β_k u)], cut at ±4 before it overflows (predictions are clipped to ±1)."""
    total = 0.0
    for k in range(shares.size):
        total += shares[k] * stake(u, k)
    if total == 0.0:
        return 0.0  # no stake, however large the wealth
    size = np.log(abs(total)) + top
    if size > np.log(4.0 * shares.size / KAPPA):
        return np.copysign(4.0, total)
    return KAPPA * total * np.exp(top) / shares.size


@compiled
def predict(log_wealth, u):
    """z at u; changes nothing."""
    shares, top = wealths(log_wealth)
    return play(shares, top, u)


@uncounted
def update(log_wealth, u, delta):
    """Every wealth takes its gain or loss."""
    for k in range(log_wealth.size):
        log_wealth[k] += np.log1p(-delta * stake(u, k))


def log_mean(log_wealth: NDArray[np.float64]) -> float:
    """ln mean W; κ(1 − mean W) bounds Σδ(ŷ − b)."""
    top = float(log_wealth.max())
    return top + float(np.log(np.mean(np.exp(log_wealth - top))))
