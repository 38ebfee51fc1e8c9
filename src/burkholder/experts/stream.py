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
from burkholder.learning.rounding import add, two_sum
from burkholder.losses.dispatch import derivative, value
from burkholder.machine.compiling import compiled, inlined, register_jitable

# places in a tally's totals
ROUNDS, LOSS, AVERAGE, LAST, STEEPEST, TOO_STEEP, SILENT, ERRORS, SCORED = range(9)
LOSS_CARRY, LOSS_SIZE, WEIGHT, WEIGHT_CARRY, LATE, WIDEST = range(9, 15)
SUM, CARRY, SIZE = range(3)  # rows of a tally's sums: the sum, its correction, the sum of the terms' sizes
LARGEST = 1e304  # weighted losses and gains of one round: larger ones leave the floats when they add up


class Tally(NamedTuple):
    """What was paid, rounds weighted. An expert asleep is taken to play ŷ, so that every entry runs over all rounds."""

    totals: np.ndarray  # see the names above; AVERAGE: loss of the plain average of the experts awake
    paid: np.ndarray  # (3, experts): loss of each expert, ℓ(ŷ) where it was asleep
    awake: np.ndarray  # (experts,): rounds awake
    gain: np.ndarray  # (3, experts): Σδ(ŷ−x_j), the linearised regret
    outside: np.ndarray  # the multiples c of the running MAE


PER_EXPERT[Tally] = ("paid", "awake", "gain")


class Round(NamedTuple):
    """What was played, on which widened row, and what came of it."""

    x: np.ndarray
    yhat: float
    y: float
    weight: float
    late: int


class Costs(NamedTuple):
    """δ, ℓ(ŷ), ℓ(x̄) and ℓ of every entry of the widened row (NaN where asleep), without the weight."""

    delta: float
    own: float
    average: float
    paid: np.ndarray


def start(outside: tuple[float, ...] = ()) -> Tally:
    """The tally of no round, over the experts outside the hull alone."""
    d = len(outside)
    return Tally(np.zeros(15), np.zeros((3, d)), np.zeros(d), np.zeros((3, d)), np.array(outside, dtype=float))


@register_jitable
def widen(tally: Tally, x: np.ndarray, full: np.ndarray) -> None:
    """x with the experts outside the hull in front, asleep until an error was seen."""
    m = tally.outside.size
    mean, error = centre(x), math.nan
    if tally.totals[SCORED] > 0.0:
        error = tally.totals[ERRORS] / tally.totals[SCORED]
    for i in range(m):
        full[i] = mean + tally.outside[i] * error
    for i in range(x.size):
        full[m + i] = x[i]


@register_jitable
def play(state: Any, tally: Tally, bound: float, full: np.ndarray) -> float:
    """ŷ, within ±bound; the last ŷ again when every expert is asleep. Changes nothing."""
    yhat = predict(state, full)
    if math.isnan(yhat):
        return tally.totals[LAST]
    return min(max(yhat, -bound), bound)


@register_jitable
def costs(loss: Any, outside: int, full: np.ndarray, yhat: float, y: float) -> Costs:
    """What the round costs ŷ, the plain average of the user's experts, and every expert."""
    mean = centre(full[outside:])
    paid = np.empty(full.size)
    for j in range(full.size):
        paid[j] = math.nan if math.isnan(full[j]) else value(loss, full[j], y)
    average = math.nan if math.isnan(mean) else value(loss, mean, y)
    return Costs(derivative(loss, yhat, y), value(loss, yhat, y), average, paid)


@register_jitable
def fits(round: Round, cost: Costs) -> bool:
    """Whether the round can be learned without leaving the floats."""
    x, paid = round.x, cost.paid
    widest, dearest = 1.0, max(1.0, abs(cost.own))
    for j in range(x.size):
        if not math.isnan(x[j]):
            widest = max(widest, abs(round.yhat - x[j]))
            dearest = max(dearest, abs(paid[j]))
            if math.isnan(paid[j]):
                return False
    room = LARGEST / (1.0 + round.weight)  # divisions, which cannot overflow
    return not math.isnan(cost.own) and dearest <= room and 1.0 + widest <= room and abs(cost.delta) <= room / widest


@inlined
def book(sums: np.ndarray, j: int, term: float) -> None:
    """One more term in the sum of expert j, its correction and the sum of sizes."""
    sums[SUM, j], lost = two_sum(sums[SUM, j], term)
    sums[CARRY, j] += lost
    sums[SIZE, j] += abs(term)


def learn(state: Any, tally: Tally, lipschitz: float, round: Round, cost: Costs) -> None:
    """Learn the round and book it; `cost` is used up."""
    full, yhat, weight = round.x, round.yhat, round.weight
    totals, booked, gained = tally.totals, tally.paid, tally.gain
    delta, own, paid = weight * cost.delta, weight * cost.own, cost.paid
    for j in range(full.size):
        paid[j] *= weight
    update(state, full, yhat, delta, own, paid)
    for j in range(full.size):
        awake = not math.isnan(full[j])
        spent = paid[j] if awake else own
        book(booked, j, spent)
        if awake:
            gap = yhat - full[j]
            book(gained, j, delta * gap)
            tally.awake[j] += 1.0
            totals[WIDEST] = max(totals[WIDEST], (1.0 + weight) * (1.0 + abs(gap)))
    totals[ROUNDS] += 1.0
    add(totals, LOSS, LOSS_CARRY, own)
    totals[LOSS_SIZE] += abs(own)
    add(totals, WEIGHT, WEIGHT_CARRY, weight)
    totals[LAST] = yhat
    totals[STEEPEST] = max(totals[STEEPEST], abs(delta))
    if abs(delta) > lipschitz:
        totals[TOO_STEEP] += 1.0
    if round.late > 0:
        totals[LATE] += 1.0
    mean = centre(full[tally.outside.size :])
    if math.isnan(mean):
        totals[SILENT] += 1.0
        totals[AVERAGE] += own
    else:
        totals[AVERAGE] += weight * cost.average
        totals[ERRORS] += abs(mean - round.y)
        totals[SCORED] += 1.0


register_jitable(learn)


def settle(state: Any, tally: Tally, loss: Any, lipschitz: float, round: Round) -> bool:
    """Learn the round and book it; False, and nothing changed, where it would leave the floats."""
    cost = costs(loss, tally.outside.size, round.x, round.yhat, round.y)
    if not fits(round, cost):
        return False
    learn(state, tally, lipschitz, round, cost)
    return True


register_jitable(settle)


class Given(NamedTuple):
    """A stretch of rounds: forecasts, and, each of them or none, targets, weights (none: all 1), where blocks begin (none: each alone)."""

    forecasts: np.ndarray
    y: np.ndarray = np.empty(0)
    weight: np.ndarray = np.empty(0)
    first: np.ndarray = np.empty(0, np.int64)


class Kept(NamedTuple):
    """What a stretch leaves behind: predictions, losses and, where there is room, the experts' weights and the widened rows."""

    predictions: np.ndarray
    losses: np.ndarray = np.empty(0)
    used: np.ndarray = np.empty((0, 0))
    wide: np.ndarray = np.empty((0, 0))


@inlined
def block_end(first: np.ndarray, start: int, rows: int) -> int:
    """Behind the last row of the block that begins at `start`."""
    stop = start + 1
    while stop < min(rows, first.size) and first[stop] == start:
        stop += 1
    return stop


def sweep(state: Any, tally: Tally, loss: Any, limits: tuple[float, float], given: Given, kept: Kept) -> int:
    """Every block in turn, played and then learned; the row that would leave the floats and was not learned, or −1.

    Without targets rows are only played, and nothing but `kept` changes. `limits` are those of ŷ and of the slope. The weights that
    play a row are the user's experts' first, those outside the hull last.
    """
    rows, m = given.forecasts.shape[0], tally.outside.size
    columns = m + given.forecasts.shape[1]
    start = 0
    while start < rows:
        stop = block_end(given.first, start, rows)
        wide = np.empty((stop - start, columns))
        for t in range(start, stop):
            full = wide[t - start]
            widen(tally, given.forecasts[t], full)
            kept.predictions[t] = play(state, tally, limits[0], full)
            if t < kept.used.shape[0]:
                pull = weights(state, full)
                for j in range(columns):
                    kept.used[t, j] = pull[(j + m) % columns]
            if t < kept.wide.shape[0]:
                for j in range(columns):
                    kept.wide[t, j] = full[j]
        for t in range(start, min(stop, given.y.size)):
            weight = given.weight[t] if given.weight.size else 1.0
            yhat, y = kept.predictions[t], given.y[t]
            kept.losses[t] = value(loss, yhat, y)
            if not settle(state, tally, loss, limits[1], Round(wide[t - start], yhat, y, weight, t - start)):
                return t
        start = stop
    return -1


class Loops(NamedTuple):
    """What Python calls, compiled."""

    learn: Any
    settle: Any
    sweep: Any


LOOPS = Loops(*(compiled(entry) for entry in (learn, settle, sweep)))
