"""The rounds of expert advice: forecasts in, prediction out, and the tally that certificates are made of.

Columns are the experts outside the hull first (x̄ + c·running MAE, used for pinball losses), then the
user's. The same compiled pieces serve one round at a time and whole arrays, so both give the same bits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder.experts.dispatch import PER_EXPERT, predict, update, weights
from burkholder.experts.scale import centre
from burkholder.losses.dispatch import derivative, value
from burkholder.machine.compiling import compiled, register_jitable

ROUNDS, LOSS, AVERAGE, LAST, STEEPEST, TOO_STEEP, SILENT, ERRORS, SCORED = range(9)


class Tally(NamedTuple):
    """What was paid. An expert asleep is taken to play ŷ, so that every entry runs over all rounds."""

    totals: np.ndarray  # see the names above; AVERAGE: loss of the plain average of the experts awake
    paid: np.ndarray  # (experts,): loss of each expert, ℓ(ŷ) where it was asleep
    awake: np.ndarray  # (experts,): rounds awake
    gain: np.ndarray  # (experts,): Σδ(ŷ−x_j), the linearised regret
    outside: np.ndarray  # the multiples c of the running MAE


PER_EXPERT[Tally] = ("paid", "awake", "gain")


def start(experts: int, outside: tuple[float, ...] = ()) -> Tally:
    d = experts + len(outside)
    return Tally(np.zeros(9), np.zeros(d), np.zeros(d), np.zeros(d), np.array(outside, dtype=float))


@register_jitable
def widen(tally: Tally, x: np.ndarray) -> np.ndarray:
    """x with the experts outside the hull in front, asleep until an error was seen."""
    m = tally.outside.size
    full = np.empty(m + x.size)
    mean, error = centre(x), math.nan
    if tally.totals[SCORED] > 0.0:
        error = tally.totals[ERRORS] / tally.totals[SCORED]
    for i in range(m):
        full[i] = mean + tally.outside[i] * error
    full[m:] = x
    return full


@compiled
def play(state: Any, tally: Tally, bound: float, x: np.ndarray) -> float:
    """ŷ, within ±bound; the last ŷ again when every expert is asleep. Changes nothing."""
    yhat = predict(state, widen(tally, x))
    if math.isnan(yhat):
        return tally.totals[LAST]
    return min(max(yhat, -bound), bound)


@compiled
def pulls(state: Any, tally: Tally, x: np.ndarray) -> np.ndarray:
    """The weights that play x, user's experts first, those outside the hull last."""
    m = tally.outside.size
    return np.roll(weights(state, widen(tally, x)), -m)


@compiled
def score(
    state: Any,
    tally: Tally,
    lipschitz: float,
    x: np.ndarray,
    y: float,
    yhat: float,
    delta: float,
    own: float,
    average: float,
    paid: np.ndarray,
) -> None:
    """Learn the round and book it. `paid` has the losses of the widened row."""
    full, totals = widen(tally, x), tally.totals
    update(state, full, yhat, delta, own, paid)
    for j in range(full.size):
        if math.isnan(full[j]):
            tally.paid[j] += own
        else:
            tally.paid[j] += paid[j]
            tally.gain[j] += delta * (yhat - full[j])
            tally.awake[j] += 1.0
    totals[ROUNDS] += 1.0
    totals[LOSS] += own
    totals[LAST] = yhat
    totals[STEEPEST] = max(totals[STEEPEST], abs(delta))
    if abs(delta) > lipschitz:
        totals[TOO_STEEP] += 1.0
    mean = centre(x)
    if math.isnan(mean):
        totals[SILENT] += 1.0
        totals[AVERAGE] += own
    else:
        totals[AVERAGE] += average
        totals[ERRORS] += abs(mean - y)
        totals[SCORED] += 1.0


@register_jitable
def round_losses(loss: Any, tally: Tally, x: np.ndarray, yhat: float, y: float) -> tuple[float, float, float, np.ndarray]:
    """δ, ℓ(ŷ), ℓ(x̄) and ℓ of every entry of the widened row (NaN stays NaN)."""
    full, mean = widen(tally, x), centre(x)
    paid = np.full(full.size, math.nan)
    for j in range(full.size):
        if not math.isnan(full[j]):
            paid[j] = value(loss, full[j], y)
    average = math.nan if math.isnan(mean) else value(loss, mean, y)
    return derivative(loss, yhat, y), value(loss, yhat, y), average, paid


@compiled
def sweep(
    state: Any,
    tally: Tally,
    loss: Any,
    bound: float,
    lipschitz: float,
    forecasts: np.ndarray,
    y: np.ndarray,
    predictions: np.ndarray,
    own_losses: np.ndarray,
    used: np.ndarray,
) -> None:
    """Whole arrays: fills predictions, losses and, where `used` has rows for them, the weights."""
    for t in range(y.size):
        x = forecasts[t]
        yhat = play(state, tally, bound, x)
        if t < used.shape[0]:
            used[t] = pulls(state, tally, x)
        delta, own, average, paid = round_losses(loss, tally, x, yhat, y[t])
        predictions[t], own_losses[t] = yhat, own
        score(state, tally, lipschitz, x, y[t], yhat, delta, own, average, paid)
