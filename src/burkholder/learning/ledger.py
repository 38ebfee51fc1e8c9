"""The running account of a stream: loss, slack, and every assumption with what was seen of it.

One array of numbers, written by the same compiled functions whether rounds come one by one or by the million.
"""

from __future__ import annotations

import numpy as np

from burkholder.learning.rounding import add
from burkholder.losses.dispatch import derivative, value
from burkholder.machine.compiling import compiled, register_jitable
from burkholder.potentials.dispatch import LARGEST

# Slots of the array.
ROUNDS, LOSS, SLACK, ERRORS = 0, 1, 2, 3
STEEP, STEEPEST = 4, 5  # rounds with |δ| > L, and the largest |δ|
LARGE, LARGEST_SIZE = 6, 7  # rounds with size(x) > X, and the largest size
CAPPED = 8  # rounds whose prediction was held at ±1e300
DELAYED = 9  # rounds learned after a later prediction had been played
WEIGHT = 10  # sum of importance weights
CLIPPED = 11  # rounds whose prediction was clipped to ±B
ERROR = 12  # additive error of the general strategy, summed
LOSS_LOW = 13  # the correction of LOSS
SLOTS = 14


def empty() -> np.ndarray:
    """A fresh account."""
    return np.zeros(SLOTS)


def loss_of(ledger: np.ndarray) -> float:
    """Σ weight·loss."""
    return float(ledger[LOSS] + ledger[LOSS_LOW])


@register_jitable
def answered(loss, raw, y, weight, bound):
    """Clip the prediction, and see what its loss asks for: (ŷ, δ)."""
    yhat = min(max(raw, -bound), bound)
    return yhat, weight * derivative(loss, yhat, y)


@register_jitable
def booked(ledger, loss, raw, yhat, delta, y, weight, lipschitz):
    """Charge the round's loss.

    Clipping costs [δ(ŷ − raw)]₊, which is 0 whenever ℓ(·, y) is least inside [-B, B]; it is charged to SLACK.
    """
    ledger[ROUNDS] += 1.0
    add(ledger, LOSS, LOSS_LOW, weight * value(loss, yhat, y))
    ledger[WEIGHT] += weight
    if yhat != raw:
        ledger[CLIPPED] += 1.0
        ledger[SLACK] += max(0.0, delta * (yhat - raw))
    if abs(raw) >= LARGEST:
        ledger[CAPPED] += 1.0
    # meaningful for labels ±1 only; added without a branch, which would be guessed wrong every other round
    ledger[ERRORS] += 1.0 * (y * yhat <= 0.0)
    size = abs(delta)
    if size > ledger[STEEPEST]:
        ledger[STEEPEST] = size
    if size > lipschitz * (1.0 + 1e-12):
        ledger[STEEP] += 1.0


@register_jitable
def settle(ledger, loss, raw, y, weight, bound, lipschitz):
    """Clip the prediction, charge its loss, and return (ŷ, δ)."""
    yhat, delta = answered(loss, raw, y, weight, bound)
    booked(ledger, loss, raw, yhat, delta, y, weight, lipschitz)
    return yhat, delta


@compiled
def settle_one(ledger, loss, raw, y, weight, bound, lipschitz):
    """`settle`, for a round that comes alone."""
    return settle(ledger, loss, raw, y, weight, bound, lipschitz)


@register_jitable
def measure(ledger, size, limit):
    """Note the size of a feature vector against its assumed limit."""
    if size > ledger[LARGEST_SIZE]:
        ledger[LARGEST_SIZE] = size
    if size > limit * (1.0 + 1e-12):
        ledger[LARGE] += 1.0
