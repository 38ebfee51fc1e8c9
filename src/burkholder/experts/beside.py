"""Experts beside the user's, made from their forecasts and from the labels seen: what no mixture of the given ones can say.

    outside      x̄ + c·(running mean absolute error of x̄): beyond every forecast, for quantiles
    debiased     x̄ + b, b an average of y − x̄ that forgets at one of the SPEEDS: a bias that all experts share
    corrected    x̄ + ⟨w, z⟩, z = (1, x̄, the biases b, x_j − x̄): affine in the forecasts, w from a full-covariance filter whose
                 weights drift at one of the DRIFTS, and whose surprises are cut at a few standard deviations

All of them are fixed before the label is known, so they are experts like any other: they have columns, names and weights,
and the aggregate's guarantee holds against them too. An expert asleep has x_j − x̄ = 0. Whatever learning needs can be read
from the row as it was played, so labels may come late.

A forecast is also kept within what the labels seen so far can explain (`limits`). These are the forecasts that are played,
learned from and compared with. What a whole stretch of rounds did not come near is forgotten (`forget`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.experts.dispatch import PER_EXPERT, PER_PAIR
from burkholder.experts.scale import centre, spread
from burkholder.machine.compiling import register_jitable

SPEEDS = np.array([0.02, 0.1, 0.5])
DRIFTS = np.array([1e-4, 5e-3, 3e-2])
LANES = (
    "mean debiased slowly",
    "mean debiased",
    "mean debiased fast",
    "affine correction",
    "affine correction that drifts",
    "affine correction that drifts fast",
)
PRIOR = 0.1  # variance of all the filter's weights on experts together, at the start
LEVEL = 0.01  # of that, for the weight on x̄
FIXED = 2 + SPEEDS.size  # features beside the experts' own
WIDE = 128  # so many experts have a feature of their own
REACH = 4.0  # forecasts may leave the labels' range by so many of its widths
ABSURD = 100.0  # and one alone by so many times the largest label
LARGEST = 1e150
STALE = 2.0**10  # a filter whose noise is so many times the errors of a whole stretch begins again
LOW, HIGH, LABELS, ERRORS, SCORED, WORST = range(6)  # places in `seen`


class Beside(NamedTuple):
    """The state: the arrays change in place. Without lanes the arrays of lanes are empty, and forecasts are taken as they are."""

    outside: np.ndarray  # the multiples c
    seen: np.ndarray  # lowest and highest label, how many, Σ|x̄ − y| and its rounds; the largest |x̄ − y| in the stretch that runs
    bias: np.ndarray  # (speeds,)
    noise: np.ndarray  # (filters,): mean square of each filter's surprises; 0: not started
    cut: float  # surprises count up to so many standard deviations
    w: np.ndarray  # (filters, features): the constant, x̄ and biases, then the experts
    cov: np.ndarray  # (filters, features, features)


PER_EXPERT[Beside], PER_PAIR[Beside] = ("w",), ("cov",)


def start(outside: tuple[float, ...] = (), lanes: bool = False, cut: float = 1.0) -> Beside:
    """Nothing seen, no expert known."""
    filters = DRIFTS.size if lanes else 0
    features = FIXED if lanes else 0
    multiples = np.array(outside, dtype=float)
    bias = np.zeros(SPEEDS.size if lanes else 0)
    return Beside(
        multiples, np.zeros(6), bias, np.zeros(filters), cut, np.zeros((filters, features)), np.zeros((filters, features, features))
    )


@register_jitable
def width(beside: Beside) -> int:
    """How many columns stand before the user's."""
    return beside.outside.size + beside.bias.size + beside.noise.size


@register_jitable
def limits(beside: Beside, x: np.ndarray) -> tuple[float, float]:
    """Where forecasts are kept: REACH times the labels' range beyond it, or beyond the forecast nearest to it.

    One absurd forecast beside a sane one is cut by the sane one's measure, and where all are far off they may be right. An
    expert that speaks alone has nobody to be measured by: it is believed up to ABSURD times the largest label.
    """
    low, high = beside.seen[LOW], beside.seen[HIGH]
    if beside.bias.size == 0 or beside.seen[LABELS] < 3.0 or not low < high:
        return -math.inf, math.inf
    near, awake = math.inf, 0
    for j in range(x.size):
        if not math.isnan(x[j]):
            near, awake = min(near, max(low - x[j], x[j] - high, 0.0)), awake + 1
    if awake < 2:
        near = min(near, ABSURD * max(abs(low), abs(high)))
    reach = REACH * max(high - low, near)
    return low - reach, high + reach


@register_jitable
def features(beside: Beside, full: np.ndarray) -> np.ndarray:
    """z of a widened row: the constant, x̄, the biases as they were then, and x_j − x̄."""
    first, m = beside.outside.size, width(beside)
    z = np.zeros(beside.w.shape[1])
    mean = centre(full[m:])
    z[0], z[1] = 1.0, mean
    for i in range(beside.bias.size):
        if not math.isnan(full[first + i]):
            z[2 + i] = full[first + i] - mean
    for j in range(z.size - FIXED):
        if not math.isnan(full[m + j]):
            z[FIXED + j] = full[m + j] - mean
    return z


@register_jitable
def widen(beside: Beside, x: np.ndarray) -> np.ndarray:
    """x within its limits, with the experts beside it in front; those are asleep until a label was seen."""
    first, m = beside.outside.size, width(beside)
    full = np.full(m + x.size, math.nan)
    low, high = limits(beside, x)
    for j in range(x.size):
        if not math.isnan(x[j]):
            full[m + j] = min(max(x[j], low), high)
    mean = centre(full[m:])
    if math.isnan(mean) or beside.seen[SCORED] == 0.0:
        return full
    for i in range(first):
        full[i] = mean + beside.outside[i] * (beside.seen[ERRORS] / beside.seen[SCORED])
    for i in range(beside.bias.size):
        full[first + i] = mean + beside.bias[i]
    if beside.bias.size:
        z = features(beside, full)
        for f in range(beside.noise.size):
            total = 0.0
            for i in range(z.size):
                total += beside.w[f, i] * z[i]
            full[first + beside.bias.size + f] = mean + total
        for i in range(first, m):
            full[i] = min(max(full[i], low), high) if abs(full[i]) <= LARGEST else math.nan
    return full


@register_jitable
def advance(beside: Beside, f: int, z: np.ndarray, error: float, weight: float, rounds: float, awake: int, unit: float) -> None:
    """One step of filter f: w meets the error y − x̄ on features z."""
    w, cov, noise = beside.w[f], beside.cov[f], beside.noise[f]
    size = z.size
    if noise == 0.0:
        noise = unit
        cov[0, 0] = (PRIOR / awake) * unit
        cov[1, 1] = LEVEL * PRIOR / awake
        for i in range(2, FIXED):
            cov[i, i] = PRIOR / awake
    for i in range(FIXED, size):
        if z[i] != 0.0 and cov[i, i] == 0.0:
            cov[i, i] = PRIOR / awake
    pull = np.zeros(size)
    guess, power = 0.0, 0.0
    for i in range(size):
        for j in range(size):
            pull[i] += cov[i, j] * z[j]
        guess += w[i] * z[i]
        power += pull[i] * z[i]
    total = noise / weight + max(power, 0.0)
    surprise = error - guess
    limit = beside.cut * math.sqrt(noise)
    step = min(max(surprise, -limit), limit) / total
    good = total < math.inf and abs(step) < math.inf
    for i in range(size):
        w[i] += pull[i] * step
        good = good and abs(w[i]) < math.inf
        for j in range(i + 1):
            cov[i, j] -= pull[i] * (pull[j] / total)
            cov[j, i] = cov[i, j]
        drift = DRIFTS[f] / awake * (noise if i == 0 else LEVEL if i == 1 else 1.0)
        cov[i, i] = max(cov[i, i], 0.0) + (drift if i < FIXED or cov[i, i] > 0.0 else 0.0)
        good = good and cov[i, i] < math.inf
    beside.noise[f] = noise + max(0.01, 1.0 / (rounds + 2.0)) * (min(surprise * surprise, 9.0 * noise) - noise)
    if not (good and 0.0 < beside.noise[f] < math.inf):  # beyond the floats
        begin_again(beside, f)


@register_jitable
def learn(beside: Beside, full: np.ndarray, y: float, weight: float) -> None:
    """See the label of a row as it was played."""
    seen, m = beside.seen, width(beside)
    seen[LOW] = min(seen[LOW], y) if seen[LABELS] else y
    seen[HIGH] = max(seen[HIGH], y) if seen[LABELS] else y
    seen[LABELS] += 1.0
    mean, awake = centre(full[m:]), 0
    if math.isnan(mean):
        return
    error, rounds = y - mean, seen[SCORED]
    if beside.bias.size and weight > 0.0:
        for j in range(m, full.size):
            awake += not math.isnan(full[j])
        z = features(beside, full)
        unit = max(abs(error), spread(full[m:]))
        for f in range(beside.noise.size):
            if beside.noise[f] > 0.0 or unit > 0.0:
                advance(beside, f, z, error, weight, rounds, awake, unit * unit)
        limit = 2.0 * seen[ERRORS] / rounds if rounds > 0.0 else math.inf
        for i in range(beside.bias.size):
            gap = min(max(error - beside.bias[i], -limit), limit)
            beside.bias[i] += max(SPEEDS[i], 1.0 / (rounds + 2.0)) * gap
    seen[ERRORS] += abs(error)
    seen[SCORED] += 1.0
    seen[WORST] = max(seen[WORST], abs(error))
    if math.frexp(seen[SCORED] + 1.0)[0] == 0.5:
        forget(beside)


@register_jitable
def forget(beside: Beside) -> None:
    """At the end of a stretch, of 1, 2, 4, … rounds: what it did not come near is a memory of something absurd.

    An average of its errors is no larger than the worst of them.
    """
    seen, worst = beside.seen, beside.seen[WORST]
    seen[ERRORS] = min(seen[ERRORS], worst * seen[SCORED])
    for i in range(beside.bias.size):
        beside.bias[i] = min(max(beside.bias[i], -worst), worst)
    for f in range(beside.noise.size):
        if math.sqrt(beside.noise[f]) > STALE * worst:
            begin_again(beside, f)
    seen[WORST] = 0.0


@register_jitable
def begin_again(beside: Beside, f: int) -> None:
    """Filter f as it was before its first row."""
    beside.noise[f] = 0.0
    for i in range(beside.w.shape[1]):
        beside.w[f, i] = 0.0
        for j in range(beside.w.shape[1]):
            beside.cov[f, i, j] = 0.0
