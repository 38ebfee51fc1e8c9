"""The rounds of expert advice: forecasts in, prediction out, and the tally that certificates are made of.

Columns are the experts beside the user's first (`beside.py`), then the user's. The same compiled pieces serve one round at
a time and whole arrays, so both give the same bits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder.experts import beside as lanes
from burkholder.experts import curvature
from burkholder.experts.beside import Beside
from burkholder.experts.dispatch import PER_EXPERT, grown, predict_among, update, update_together, weights
from burkholder.experts.scale import centre
from burkholder.learning.rounding import add, two_sum
from burkholder.losses.dispatch import derivative, value
from burkholder.machine.compiling import compiled, inlined, register_jitable

# places in a tally's totals
ROUNDS, LOSS, AVERAGE, LAST, STEEPEST, TOO_STEEP, SILENT = range(7)
LOSS_CARRY, LOSS_SIZE, WEIGHT, WEIGHT_CARRY, LATE, WIDEST = range(7, 13)
SUM, CARRY, SIZE = range(3)  # rows of a tally's sums: the sum, its correction, the sum of the terms' sizes
LARGEST = 1e304  # weighted losses and gains of one round: larger ones leave the floats when they add up


class Tally(NamedTuple):
    """What was paid, rounds weighted. An expert asleep is taken to play ŷ, so that every entry runs over all rounds."""

    totals: np.ndarray  # see the names above; AVERAGE: loss of the plain average of the experts awake
    paid: np.ndarray  # (3, experts): loss of each expert, ℓ(ŷ) where it was asleep
    awake: np.ndarray  # (experts,): rounds awake
    gain: np.ndarray  # (3, experts): Σδ(ŷ−x_j), the linearised regret
    slope: np.ndarray  # (3, 2): Σδ and Σδŷ, for affine combinations
    apart: np.ndarray  # (1, m, m) for a curved loss, see `curvature`
    way: np.ndarray  # (made, 3, experts): Σδ_i(x_i−x_j), δ_i the slope at x_i, of every expert i made from the user's
    way_slope: np.ndarray  # (made, 3, 3): Σδ_i, Σδ_ix_i and Σδ_i(x_i−ŷ)


PER_EXPERT[Tally] = ("paid", "awake", "gain", "way")


class Round(NamedTuple):
    """What was played, on which widened row, and what came of it."""

    x: np.ndarray
    yhat: float
    y: float
    weight: float
    late: int


class Costs(NamedTuple):
    """δ, ℓ(ŷ), ℓ(x̄), ℓ of every entry of the widened row (NaN where asleep) and δ at those made, without the weight."""

    delta: float
    own: float
    average: float
    paid: np.ndarray
    slopes: np.ndarray


def start(columns: int = 0, curved: bool = False) -> Tally:
    """The tally of no round, over so many experts, all of them made."""
    sums, ways = np.zeros((3, columns)), np.zeros((columns, 3, columns))
    apart = curvature.start(columns, curved)
    return Tally(np.zeros(13), sums, np.zeros(columns), sums.copy(), np.zeros((3, 2)), apart, ways, np.zeros((columns, 3, 3)))


def grown_with(tally: Tally, columns: int) -> Tally:
    """The tally with room for more experts, who were asleep so far: they played ŷ."""
    known, tally = tally.awake.size, grown(tally, columns)
    tally.paid[:, known:] = tally.totals[[LOSS, LOSS_CARRY, LOSS_SIZE]][:, None]
    tally.way[:, :, known:] = tally.way_slope[:, :, 2:]
    return tally._replace(apart=curvature.grown(tally.apart, columns))


@register_jitable
def play(state: Any, tally: Tally, bound: float, full: np.ndarray, size: int) -> float:
    """ŷ of one of `size` rows revealed together, within ±bound; the last ŷ again when every expert is asleep. Changes nothing."""
    yhat = predict_among(state, full, size)
    if math.isnan(yhat):
        return tally.totals[LAST]
    return min(max(yhat, -bound), bound)


@register_jitable
def costs(loss: Any, first: int, full: np.ndarray, yhat: float, y: float) -> Costs:
    """What the round costs ŷ, the plain average of the user's experts, and every expert."""
    mean = centre(full[first:])
    paid = np.full(full.size, math.nan)
    for j in range(full.size):
        if not math.isnan(full[j]):
            paid[j] = value(loss, full[j], y)
    average = math.nan if math.isnan(mean) else value(loss, mean, y)
    delta, slopes = derivative(loss, yhat, y), np.empty(first)
    for i in range(first):
        slopes[i] = delta if math.isnan(full[i]) else derivative(loss, full[i], y)
    return Costs(delta, value(loss, yhat, y), average, paid, slopes)


@register_jitable
def fits(round: Round, cost: Costs) -> bool:
    """Whether the round can be learned without leaving the floats."""
    widest, dearest = 1.0, max(1.0, abs(cost.own))
    for j in range(round.x.size):
        if not math.isnan(round.x[j]):
            widest = max(widest, abs(round.yhat - round.x[j]))
            dearest = max(dearest, abs(cost.paid[j]))
            if math.isnan(cost.paid[j]):
                return False
    room = LARGEST / (1.0 + round.weight)  # divisions, which cannot overflow
    return not math.isnan(cost.own) and dearest <= room and 1.0 + widest <= room and abs(cost.delta) <= room / widest


def learn(state: Any, tally: Tally, beside: Beside, lipschitz: float, round: Round, cost: Costs) -> None:
    """Learn the round and book it."""
    weight, paid = round.weight, np.empty(cost.paid.size)
    for j in range(paid.size):
        paid[j] = weight * cost.paid[j]
    update(state, round.x, round.yhat, weight * cost.delta, weight * cost.own, paid)
    book(tally, beside, lipschitz, round, cost)


@inlined
def enter(sums, column, term):
    """Add to one of the sums of a tally."""
    sums[SUM, column], lost = two_sum(sums[SUM, column], term)
    sums[CARRY, column] += lost
    sums[SIZE, column] += abs(term)


@register_jitable
def book_ways(tally: Tally, full: np.ndarray, yhat: float, weight: float, slopes: np.ndarray) -> None:
    """What every expert made lost to all others, by its own slopes; who is asleep plays ŷ."""
    for i in range(slopes.size):
        own, slope = yhat if math.isnan(full[i]) else full[i], weight * slopes[i]
        sums, ends = tally.way[i], tally.way_slope[i]
        for j in range(full.size):
            enter(sums, j, slope * (own - (yhat if math.isnan(full[j]) else full[j])))
        enter(ends, 0, slope)
        enter(ends, 1, slope * own)
        enter(ends, 2, slope * (own - yhat))


@register_jitable
def book(tally: Tally, beside: Beside, lipschitz: float, round: Round, cost: Costs) -> None:
    """The round in the tally and in what stands beside the user's experts."""
    full, totals, weight = round.x, tally.totals, round.weight
    delta, own = weight * cost.delta, weight * cost.own
    for j in range(full.size):
        awake = not math.isnan(full[j])
        enter(tally.paid, j, weight * cost.paid[j] if awake else own)
        if awake:
            gap = round.yhat - full[j]
            enter(tally.gain, j, delta * gap)
            tally.awake[j] += 1.0
            totals[WIDEST] = max(totals[WIDEST], (1.0 + weight) * (1.0 + abs(gap)))
    totals[ROUNDS] += 1.0
    enter(tally.slope, 0, delta)
    enter(tally.slope, 1, delta * round.yhat)
    curvature.book(tally.apart, full, round.yhat, weight)
    book_ways(tally, full, round.yhat, weight, cost.slopes)
    add(totals, LOSS, LOSS_CARRY, own)
    totals[LOSS_SIZE] += abs(own)
    add(totals, WEIGHT, WEIGHT_CARRY, weight)
    totals[LAST] = round.yhat
    totals[STEEPEST] = max(totals[STEEPEST], abs(delta))
    if abs(delta) > lipschitz:
        totals[TOO_STEEP] += 1.0
    if round.late > 0:
        totals[LATE] += 1.0
    if math.isnan(cost.average):
        totals[SILENT] += 1.0
        totals[AVERAGE] += own
    else:
        totals[AVERAGE] += weight * cost.average
    lanes.learn(beside, full, round.y, weight)


register_jitable(learn)


def settle(state: Any, tally: Tally, beside: Beside, loss: Any, lipschitz: float, round: Round) -> bool:
    """Learn the round and book it; False, and nothing changed, where it would leave the floats."""
    cost = costs(loss, lanes.width(beside), round.x, round.yhat, round.y)
    if not fits(round, cost):
        return False
    learn(state, tally, beside, lipschitz, round, cost)
    return True


register_jitable(settle)


@register_jitable
def keep(row: np.ndarray, place: np.ndarray) -> None:
    """Copy a row to its place; written out, as numba would compile a message about shapes along with `place[:] = row`."""
    for j in range(row.size):
        place[j] = row[j]


def answer(
    state: Any, tally: Tally, beside: Beside, bound: float, forecasts: np.ndarray, wide: np.ndarray, predictions: np.ndarray, size: int
) -> None:
    """ŷ of every row, one of `size` revealed together, and the widened rows where `wide` has room for them. Changes nothing."""
    for t in range(forecasts.shape[0]):
        full = lanes.widen(beside, forecasts[t])
        if t < wide.shape[0]:
            keep(full, wide[t])
        predictions[t] = play(state, tally, bound, full, size)


register_jitable(answer)


def pulls(state: Any, beside: Beside, x: np.ndarray) -> np.ndarray:
    """The weights that play x, user's experts first, those beside them last."""
    found, first = weights(state, lanes.widen(beside, x)), lanes.width(beside)
    out = np.empty(found.size)
    for j in range(found.size):
        out[j] = found[(j + first) % found.size]
    return out


class Seen(NamedTuple):
    """The label of a row and the weight of its round; without `learning` neither is read."""

    y: float
    weight: float
    learning: bool


class Met(NamedTuple):
    """A round that was played and, unless it would leave the floats, learned."""

    yhat: float
    own: float
    learned: bool


def meet(
    state: Any, tally: Tally, beside: Beside, loss: Any, limits: tuple[float, float], x: np.ndarray, wide: np.ndarray, seen: Seen
) -> Met:
    """Play a row, which is kept in `wide`, and learn from it at once if its label was seen; `limits` are those of ŷ and of the slope.

    Single rounds are predicted and learned by this one loop, compiled once.
    """
    full = lanes.widen(beside, x)
    yhat = play(state, tally, limits[0], full, 1)
    if not seen.learning:
        keep(full, wide)
        return Met(yhat, 0.0, False)
    own = value(loss, yhat, seen.y)
    return Met(yhat, own, settle(state, tally, beside, loss, limits[1], Round(full, yhat, seen.y, seen.weight, 0)))


register_jitable(meet)
register_jitable(pulls)


class Given(NamedTuple):
    """A stretch of rounds: forecasts, targets, the weights of the rounds (none: all 1), where their blocks begin (none: each alone)."""

    forecasts: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    first: np.ndarray


class Kept(NamedTuple):
    """What a stretch leaves behind: predictions, losses, the rows as played and, where there is room, the experts' weights."""

    predictions: np.ndarray
    losses: np.ndarray
    wide: np.ndarray
    used: np.ndarray


@register_jitable
def block_end(first: np.ndarray, start: int, rows: int) -> int:
    """Behind the last row of the block that begins at `start`."""
    stop = start + 1
    while stop < min(rows, first.size) and first[stop] == start:
        stop += 1
    return stop


class Block(NamedTuple):
    """Rows revealed together, as they were played and what came of them; one row of each array a round."""

    x: np.ndarray
    yhat: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    delta: np.ndarray
    own: np.ndarray
    average: np.ndarray
    paid: np.ndarray
    slopes: np.ndarray


def block_of(x: np.ndarray, yhat: np.ndarray, y: np.ndarray, weight: np.ndarray, made: int) -> Block:
    """A block whose costs are not known yet."""
    rows = yhat.size
    counted = weight if weight.size else np.ones(rows)
    return Block(x, yhat, y, counted, np.empty(rows), np.empty(rows), np.empty(rows), np.empty(x.shape), np.empty((rows, made)))


register_jitable(block_of)


def cost_of(block: Block, i: int, cost: Costs) -> bool:
    """Enter what row i costs; False where it would leave the floats."""
    block.delta[i], block.own[i], block.average[i] = cost.delta, cost.own, cost.average
    keep(cost.paid, block.paid[i])
    keep(cost.slopes, block.slopes[i])
    return fits(Round(block.x[i], block.yhat[i], block.y[i], block.weight[i], i), cost)


register_jitable(cost_of)


def absorb(state: Any, tally: Tally, beside: Beside, lipschitz: float, block: Block) -> None:
    """Learn a block and book its rows."""
    weight = block.weight
    paid = weight.reshape((weight.size, 1)) * block.paid
    at_once = update_together(state, block.x, block.yhat, weight * block.delta, weight * block.own, paid)
    for i in range(weight.size):
        round = Round(block.x[i], block.yhat[i], block.y[i], weight[i], 0 if at_once else i)
        book(tally, beside, lipschitz, round, Costs(block.delta[i], block.own[i], block.average[i], block.paid[i], block.slopes[i]))


register_jitable(absorb)


def sweep(state: Any, tally: Tally, beside: Beside, loss: Any, limits: tuple[float, float], given: Given, kept: Kept) -> int:
    """Every block in turn, played and then learned; the row that would leave the floats and was not learned, or −1."""
    start = 0
    while start < given.y.size:
        stop = block_end(given.first, start, given.y.size)
        wide, predictions = kept.wide[start:stop], kept.predictions[start:stop]
        answer(state, tally, beside, limits[0], given.forecasts[start:stop], wide, predictions, stop - start)
        for t in range(start, min(stop, kept.used.shape[0])):
            keep(pulls(state, beside, given.forecasts[t]), kept.used[t])
        block = block_of(wide, predictions, given.y[start:stop], given.weight[start:stop], lanes.width(beside))
        for t in range(start, stop):
            cost = costs(loss, lanes.width(beside), wide[t - start], predictions[t - start], given.y[t])
            kept.losses[t] = cost.own
            if not cost_of(block, t - start, cost):
                return t
        absorb(state, tally, beside, limits[1], block)
        start = stop
    return -1


class Loops(NamedTuple):
    """What Python calls, compiled."""

    answer: Any
    pulls: Any
    learn: Any
    absorb: Any
    settle: Any
    meet: Any
    sweep: Any


LOOPS = Loops(*(compiled(entry) for entry in (answer, pulls, learn, absorb, settle, meet, sweep)))
