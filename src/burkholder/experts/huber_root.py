"""Huber-root: expert advice with nothing to tune, on any scale, with tracking.

Weights W live on rates λ_k × shares α × experts j and start at 1. With h the first spread of the
forecasts, L₁ the first slope and L_t the slope limit of the round (known, or see `next_limit`),

    z_kj(ŷ) = clip(λ_k·(L_t/L₁)·(ŷ − x_j)/h, ±½),     λ_k = 1024·2^{−k},  η_k = λ_k/(L₁h),  k any whole number,

1. ŷ is the root of Σ W_kαj z_kj(ŷ) = 0: monotone in ŷ, hence inside the hull of the forecasts;
2. W ← W·(1 + (δ̃/L_t)·z_kj(ŷ)), δ̃ = clip(δ, ±L_t);
3. in every row (k, α): W_j ← (1−α)W_j + α·mean_i W_i.

The mean of W stays 1 on every path (U = mean W − 1 is the Burkholder function of this generalised
statistic). Everything is written in the dimensionless z, so no rate overflows at any scale of forecasts
or slopes, and W is kept as log W. NaN marks an expert that is asleep: its W does not move. An expert joins
the share (step 3) in its first awake round.

Rows revealed together are one round: in a block of m rows each ŷ is the root with pulls cut at ±½/m instead of ±½, and W is
multiplied once, by 1 + the sum over the rows. Each root keeps the mean of W, so their sum does, and what is promised is promised
of blocks as it is of rows.

Rates too large or too small for the mean spread of late sleep too: z = 0 there (`scale.octave`). Only a window of all rates is kept
(`window.py`).

`predict` and `update` are functions of a record of arrays to call from inside compiled loops.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.experts.dispatch import Option, Rule, attach
from burkholder.experts.options import count, shares
from burkholder.experts.promises import Path, Tilted
from burkholder.experts.scale import (
    FIRST_LIPSCHITZ,
    FIRST_SPREAD,
    LIPSCHITZ,
    THETA,
    USED,
    centre,
    clip,
    next_limit,
    offset,
    price,
    see,
    spread,
)
from burkholder.experts.window import EXCESS, GONE, follow, kept, lead, wake
from burkholder.machine.compiling import register_jitable

SHARES = (0.0, 1e-3, 1e-2, 1e-1)
SHARED = 2.0**-50  # 8u


class HuberRoot(NamedTuple):
    """The state: the arrays change in place, the record never does."""

    log_w: np.ndarray  # (rates, shares, experts): log W
    shares: np.ndarray  # (shares,): α, the first one 0
    scale: np.ndarray  # L₁, h, L_t, 0 while unknown; two stretches of rounds (see `scale.py`)
    known: bool  # whether L was given
    born: np.ndarray  # (experts,): has been awake once
    cost: np.ndarray  # (rates, experts): what `price` adds up to; at most η_k²V_j, and near half of it, where nothing was clipped
    clipped: np.ndarray  # (experts,): the part of the regret that W never saw, Σ(δ−δ̃)(ŷ−x_j)
    path: np.ndarray  # (rates,): Σ_t max_j of the prices, and what rounding may cost a share
    path_clipped: np.ndarray  # (1,): Σ_t max_j [(δ−δ̃)(ŷ−x_j)]₊
    moved: np.ndarray  # (rates,): has been in use once; `cost` and `path` are kept from then on
    window: np.ndarray  # k of the first rate kept; how many rows (k, α) that had moved are forgotten, and what their W were above 1
    missed: np.ndarray  # (experts,): the price of a rate of 1 that always slept
    path_missed: np.ndarray  # (1,): what it adds to `path`


def start(experts: int, lipschitz: float = 0.0, rates: int = 24, shares: tuple[float, ...] = SHARES) -> HuberRoot:
    """A fresh state; `lipschitz` 0 means unknown (then use 48 rates).

    >>> start(4, lipschitz=2.0).log_w.shape
    (24, 4, 4)
    """
    known = lipschitz > 0.0
    scale = np.zeros(8)
    scale[FIRST_LIPSCHITZ] = scale[LIPSCHITZ] = lipschitz
    return HuberRoot(
        np.zeros((rates, len(shares), experts)),
        np.array(shares),
        scale,
        known,
        np.zeros(experts, np.bool_),
        np.zeros((rates, experts)),
        np.zeros(experts),
        np.zeros(rates),
        np.zeros(1),
        np.zeros(rates, np.bool_),
        np.zeros(3),
        np.zeros(experts),
        np.zeros(1),
    )


@register_jitable
def masses(state: HuberRoot, x: np.ndarray, first: int) -> np.ndarray:
    """(rates, experts): W summed over shares, over the largest W awake; 0 for experts asleep and rates not in use."""
    rates, shares, experts = state.log_w.shape
    last = min(first + USED, rates)
    top = -math.inf
    for k in range(first, last):
        for a in range(shares):
            for j in range(experts):
                if not math.isnan(x[j]):
                    top = max(top, state.log_w[k, a, j])
    mass = np.zeros((rates, experts))
    for k in range(first, last):
        for a in range(shares):
            for j in range(experts):
                if not math.isnan(x[j]):
                    mass[k, j] += math.exp(state.log_w[k, a, j] - top)
    return mass


@register_jitable
def balance(
    state: HuberRoot, mass: np.ndarray, first: int, h: float, x: np.ndarray, yhat: float, theta: float
) -> tuple[float, float, float]:
    """f(ŷ) = ΣW z, its slope in ŷ, and ΣW|z| (the size against which f counts as zero)."""
    total, slope, size = 0.0, 0.0, 0.0
    rates, experts = mass.shape
    for j in range(experts):
        if math.isnan(x[j]):
            continue
        lam = kept(state, first)
        r = offset(state, h, yhat, x[j])
        for k in range(first, min(first + USED, rates)):
            z = lam * r
            if z >= theta:
                total += theta * mass[k, j]
                size += theta * mass[k, j]
            elif z <= -theta:
                total -= theta * mass[k, j]
                size += theta * mass[k, j]
            else:
                total += z * mass[k, j]
                size += abs(z) * mass[k, j]
                slope += lam * mass[k, j]
            lam *= 0.5  # the next rate, exactly
    unit = (state.scale[FIRST_LIPSCHITZ] / state.scale[LIPSCHITZ]) * h
    return total, slope / unit, size


@register_jitable
def predict(state: HuberRoot, x: np.ndarray) -> float:
    """ŷ of a row that is revealed alone. Changes nothing."""
    return predict_among(state, x, 1)


@register_jitable
def predict_among(state: HuberRoot, x: np.ndarray, size: int) -> float:
    """ŷ of one of `size` rows revealed together: the root, or x̄ until a scale is known. Changes nothing."""
    h = state.scale[FIRST_SPREAD]
    if h == 0.0 and size == 1:
        h = spread(x)
    if h == 0.0 or state.scale[LIPSCHITZ] == 0.0:
        return centre(x)
    first = lead(state, h, state.log_w.shape[0], size)
    return root(state, masses(state, x, first), first, h, x, THETA / size)


@register_jitable
def root(state: HuberRoot, mass: np.ndarray, first: int, h: float, x: np.ndarray, theta: float) -> float:
    """The ŷ at which the pulls balance, by Newton inside a bracket."""
    mean = centre(x)
    low, high = math.inf, -math.inf
    for j in range(x.size):
        if not math.isnan(x[j]):
            low, high = min(low, x[j]), max(high, x[j])
    if low == high:
        return low
    # the root if nothing were clipped, as a first guess
    yhat, weight = mean, 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            pull, lam = 0.0, kept(state, first)
            for k in range(first, min(first + USED, mass.shape[0])):
                pull += lam * mass[k, j]
                lam *= 0.5  # the next rate, exactly
            if pull > 0.0:
                weight += pull
                yhat = x[j] if weight == pull else yhat + (x[j] - yhat) * (pull / weight)
    yhat = min(max(yhat, low), high)
    best, least = yhat, math.inf
    for iteration in range(200):
        total, slope, size = balance(state, mass, first, h, x, yhat, theta)
        if abs(total) < least:
            best, least = yhat, abs(total)
        if abs(total) <= 1e-16 * size:
            break
        if total < 0.0:
            low = yhat
        else:
            high = yhat
        step = yhat - total / slope if slope > 0.0 else math.nan
        if step == yhat:  # no number is nearer
            break
        # f is piecewise linear: Newton ends once it meets the right piece, halving makes sure it does
        if iteration % 8 == 7 or not low < step < high:
            step = 0.5 * low + 0.5 * high
        if not low < step < high:
            break
        yhat = step
    return best


@register_jitable
def update(state: HuberRoot, x: np.ndarray, yhat: float, delta: float) -> None:
    """Learn from the slope δ met at the ŷ that was played on x."""
    row, played, slope = np.empty((1, x.size)), np.empty(1), np.empty(1)
    for j in range(x.size):
        row[0, j] = x[j]
    played[0], slope[0] = yhat, delta
    update_together(state, row, played, slope)


@register_jitable
def update_together(state: HuberRoot, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> None:
    """Learn from the slopes met at the ŷ that were played on the rows of a block, in one step."""
    rates, shares, experts = state.log_w.shape
    rows = yhat.size
    born = 0
    for j in range(experts):
        for i in range(rows):
            if not math.isnan(x[i, j]):
                state.born[j] = True
        if state.born[j]:
            born += 1
    h, limit = state.scale[FIRST_SPREAD], state.scale[LIPSCHITZ]
    if h == 0.0:
        for i in range(rows):
            if state.scale[FIRST_SPREAD] == 0.0:
                state.scale[FIRST_SPREAD] = spread(x[i])
        h = state.scale[FIRST_SPREAD] if rows == 1 else 0.0  # a block without a scale was played x̄
    moves = h > 0.0 and limit > 0.0
    first = lead(state, h, rates, rows) if moves else 0
    theta, exact = THETA / rows, (rows + 15.0) / 16.0
    last = min(first + USED, rates)
    missed = 0.0
    z = np.zeros((USED, experts))
    awake = np.zeros(experts, np.bool_)
    wished, size = np.zeros(experts), np.zeros(experts)  # Σ over the rows, in units of a rate: rates are powers of two
    for j in range(experts):
        unseen = 0.0
        for i in range(rows):
            if math.isnan(x[i, j]):
                continue
            awake[j] = True
            seen = min(max(delta[i], -limit), limit) if moves else 0.0
            unseen += (delta[i] - seen) * (yhat[i] - x[i, j])
            if moves:
                slope, r = seen / limit, offset(state, h, yhat[i], x[i, j])
                wished[j] += slope * r
                size[j] += abs(slope * r)
                for k in range(first, last):
                    z[k - first, j] += slope * clip(kept(state, k) * r, theta)
        state.clipped[j] += unseen
        missed = max(missed, unseen)
    if moves:
        wake(state, first, last)
        worst = 0.0
        for j in range(experts):
            if awake[j]:
                paid = price(wished[j], 0.0, 0.0, exact * size[j])
                state.missed[j] += paid
                worst = max(worst, paid)
        state.path_missed[0] += worst
    for k in range(rates if moves else 0):
        if not state.moved[k]:
            continue
        lam, worst = kept(state, k), 0.0
        for j in range(experts):
            if not awake[j]:
                continue
            gain, gained = 0.0, 0.0  # of a rate that sleeps
            if first <= k < last and z[k - first, j] != 0.0:
                gain = z[k - first, j]
                gained = math.log1p(gain)
                for a in range(shares):
                    state.log_w[k, a, j] += gained
            paid = price(lam * wished[j], gain, gained, lam * exact * size[j])
            state.cost[k, j] += paid
            worst = max(worst, paid)
        state.path[k] += worst
    state.path_clipped[0] += missed
    if moves and born > 1:
        share(state, born)
    for i in range(rows):
        if not state.known:
            limit = state.scale[LIPSCHITZ]
            if limit == 0.0:
                state.scale[FIRST_LIPSCHITZ] = next_limit(0.0, delta[i])
            state.scale[LIPSCHITZ] = next_limit(limit, delta[i])
        see(state, spread(x[i]), delta[i])
    if state.scale[FIRST_SPREAD] > 0.0 and state.scale[LIPSCHITZ] > 0.0:
        follow(state, rows)


@register_jitable
def share(state: HuberRoot, born: int) -> None:
    """W_j ← (1−α)W_j + α·mean_i W_i in every row with α > 0, over the experts born, in log space.

    Written as it is below, with s = top − ln W_j, each ln W_j is good to u·(4|top| + 3·ln(d/α) + d + 16): s costs
    u·s·e^{−s}/(e^{−s} + α/d) ≤ u·(ln(d/α) + 1), the sums d + 4 roundings, the last addition u·|ln W_j|, and so does
    adding ln(1+z) before. `path` is charged for it.
    """
    rates, shares, experts = state.log_w.shape
    relative = np.empty(experts)
    for a in range(shares):
        alpha = state.shares[a]
        if alpha == 0.0:
            continue
        depth = math.log(born / alpha) + born + 4.0
        for k in range(rates):
            if not state.moved[k]:
                continue
            row = state.log_w[k, a]
            top, bottom, total = -math.inf, math.inf, 0.0
            for j in range(experts):
                if state.born[j]:
                    top, bottom = max(top, row[j]), min(bottom, row[j])
            if top == bottom:  # nothing to share, and nothing to round
                continue
            for j in range(experts):
                if state.born[j]:
                    relative[j] = math.exp(row[j] - top)
                    total += relative[j]
            state.path[k] += SHARED * (abs(top) + depth)
            floor = alpha * (total / born)
            for j in range(experts):
                if state.born[j]:
                    row[j] = top + math.log((1.0 - alpha) * relative[j] + floor)


def weights(state: HuberRoot, x: np.ndarray) -> np.ndarray:
    """How much each awake expert pulls on ŷ: W·λ over rates and shares, made to sum to 1.

    While nothing is clipped ŷ is exactly the mean of the forecasts under these weights.
    """
    h = state.scale[FIRST_SPREAD]
    known = h > 0.0 and state.scale[LIPSCHITZ] > 0.0
    mass = masses(state, x, lead(state, h, state.log_w.shape[0]) if known else 0)
    pull = np.zeros(mass.shape[1])
    for k in range(mass.shape[0]):
        for j in range(mass.shape[1]):
            pull[j] += kept(state, k) * mass[k, j]
    total = np.sum(pull)
    return pull / total if total > 0.0 else pull


def rows(state: HuberRoot) -> int:
    """How many rows (k, α) there are, with those forgotten."""
    return state.log_w.shape[0] * state.log_w.shape[1] + int(state.window[GONE])


def log_mean(state: HuberRoot) -> float:
    """ln of the mean of W, with those forgotten: 0 up to the error of root finding. U = e^{this} − 1."""
    experts = state.log_w.shape[2]
    top = max(float(np.max(state.log_w)), 0.0)
    gone = max(float(state.window[EXCESS] + experts * state.window[GONE]), 0.0) * math.exp(-top)
    return top + math.log((float(np.sum(np.exp(state.log_w - top))) + gone) / (experts * rows(state)))


def promise(state: HuberRoot, gain: np.ndarray) -> Tilted:
    """The mean of W stays 1. Rows (k, α) that never moved have a mean of 1 themselves, so that of K rows that did each has at most K."""
    rates = np.array([kept(state, k) for k in range(state.log_w.shape[0])])
    mass = math.log(rows(state))
    moved = math.log(max(int(np.any(state.log_w != 0.0, axis=2).sum() + state.window[GONE]), 1))
    unit = float(state.scale[FIRST_LIPSCHITZ] * state.scale[FIRST_SPREAD])
    cost = np.where(state.moved[:, None], state.cost, np.outer(rates, state.missed))
    path = np.where(state.moved, state.path, rates * state.path_missed)
    way = Path(path, float(state.path_clipped[0]), mass + log_mean(state) + 2.0**-40, state.shares)
    return Tilted(unit, rates, cost, np.full(rates.size, moved), state.clipped, gain, way)


def _update(state: HuberRoot, x: np.ndarray, yhat: float, delta: float, own: float, paid: np.ndarray) -> None:
    update(state, x, yhat, delta)


def _together(state: HuberRoot, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray, own: np.ndarray, paid: np.ndarray) -> None:
    update_together(state, x, yhat, delta)


RULE = attach(
    Rule(
        "huber-root",
        HuberRoot,
        start,
        predict,
        _update,
        weights,
        per_expert=("log_w", "born", "cost", "clipped", "missed"),
        options={"rates": Option(count, 48), "shares": Option(shares, SHARES)},  # 16 in use, the others remembered
        promise=promise,
        potential=lambda state: math.expm1(log_mean(state)) if log_mean(state) < 709.0 else math.inf,
        missing="the numbers left the floats",
        together=(predict_among, _together),
    )
)
