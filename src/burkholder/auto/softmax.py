"""Softmax lanes for several classes: all classes at once, on x̃. One of Newton steps, and AdaGrad at two rates.

One against the rest does not know that classes exclude each other; these do. Lane r plays softmax(⟨w_rc, x̃⟩ over c), and with the slope
g = p_c − 1{c = y} takes, for every class c and feature i of the row,

    Newton   w −= g·z/A/(1 + hX), then s += h·z²/(1 + hX), with h = p_c(1 − p_c), A = s + m/VARIANCE for m features in the row (so
             VARIANCE is the prior variance of a score, however many there are) and X = Σ z²/A. Here z is x̃ less its mean, over its
             standard deviation, of all features while they are few: a filter that knows of no correlations must not see the constant
             in every other feature;
    AdaGrad  s += (g·x̃)², then w −= rate·g·x̃/√s.
"""

from __future__ import annotations

import math

from burkholder.machine.compiling import inlined

VARIANCE = 6.0
RATES = (0.2, 0.8)
LANES = 1 + len(RATES)
FIRST = 3  # its places among the ways
COLUMNS = 8  # a feature's three weights, and their three sums
FEW = 128  # features that are centred
SUM, SQUARES = 0, 3  # columns of class 0, which was never met: Σx̃ and Σx̃²
HELD = 16.0  # rounds that a mean of 0 and a variance of 1 count for
CENTRED, PLAIN = range(2)  # rows of `row`


@inlined
def gather(plan, soft, work, m, before, features, rounds, place, row):
    """What the Newton lane sees of a row, into place and row; how many entries. `before`: how many features were known before this row:
    the new ones have no part in how it is played."""
    if before > FEW:
        for j in range(m):
            place[j], row[CENTRED, j] = work.slot[j], work.tilde[j]
        return m
    for i in range(features):
        place[i], row[PLAIN, i] = i, 0.0
    for j in range(m):
        row[PLAIN, work.slot[j]] = work.tilde[j]
    for i in range(features):
        mean = soft[0, i, SUM] / (HELD + rounds)
        row[CENTRED, i] = (row[PLAIN, i] - mean) / math.sqrt((HELD + soft[0, i, SQUARES]) / (HELD + rounds) - mean * mean)
    row[CENTRED, 0] = float(plan.intercept)
    return features


@inlined
def keep(soft, features, row):
    """Take a row into the moments of x̃."""
    if features <= FEW:
        for i in range(1, features):
            soft[0, i, SUM] += row[PLAIN, i]
            soft[0, i, SQUARES] += row[PLAIN, i] * row[PLAIN, i]


@inlined
def score(soft, work, m, known, ways, place, row, count):
    """The scores of the classes 1, …, known, lane by lane."""
    for c in range(1, known + 1):
        total = 0.0
        for j in range(count):
            total += soft[c, place[j], 0] * row[CENTRED, j]
        ways[FIRST, c] = total
    for lane in range(1, LANES):
        for c in range(1, known + 1):
            total = 0.0
            for j in range(m):
                total += soft[c, work.slot[j], lane] * work.tilde[j]
            ways[FIRST + lane, c] = total


@inlined
def learn(soft, work, m, known, label, weight, ways, place, row, count):
    """One step of every lane; ways holds its probabilities."""
    for c in range(1, known + 1):
        newton(soft, place, row, count, c, weight, ways[FIRST, c], 1.0 if c == label else 0.0)
    for lane in range(1, LANES):
        rate = RATES[lane - 1]
        for c in range(1, known + 1):
            slope = weight * (ways[FIRST + lane, c] - (1.0 if c == label else 0.0))
            if abs(slope) > 1e-100:
                for j in range(m):
                    slot, g = work.slot[j], slope * work.tilde[j]
                    if abs(g) > 1e-100:
                        soft[c, slot, 3 + lane] += g * g
                        soft[c, slot, lane] -= rate * g / math.sqrt(soft[c, slot, 3 + lane])


@inlined
def newton(soft, place, row, count, c, weight, p, wanted):
    """The Newton lane's step for one class."""
    before, bend, reach = float(count) / VARIANCE, weight * p * (1.0 - p), 0.0
    for j in range(count):
        reach += row[CENTRED, j] * row[CENTRED, j] / (soft[c, place[j], LANES] + before)
    part = 1.0 / (1.0 + bend * reach)
    slope = weight * (p - wanted) * part
    for j in range(count):
        slot, z = place[j], row[CENTRED, j]
        soft[c, slot, 0] -= slope * z / (soft[c, slot, LANES] + before)
        soft[c, slot, LANES] += bend * part * z * z
