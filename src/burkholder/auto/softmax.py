"""Softmax lanes for several classes: AdaGrad on the log loss of all classes at once, at three rates, on x̃.

One against the rest does not know that classes exclude each other; these do. Lane r plays softmax(⟨w_rc, x̃⟩ over c), and then
g = p_c − 1{c = y}, s += (g·x̃)², w −= rate·g·x̃/√s for every class c and feature of the row.
"""

from __future__ import annotations

import math

from burkholder.machine.compiling import inlined

RATES = (0.05, 0.2, 0.8)
FIRST = 3  # its places among the ways
COLUMNS = 8  # a feature's three weights, and their three sums of squares


@inlined
def score(soft, work, m, known, ways):
    """The scores of the classes 1, …, known, lane by lane."""
    for lane in range(3):
        for c in range(1, known + 1):
            total = 0.0
            for j in range(m):
                total += soft[c, work.slot[j], lane] * work.tilde[j]
            ways[FIRST + lane, c] = total


@inlined
def learn(soft, work, m, known, label, weight, ways):
    """One step of every lane; ways holds its probabilities."""
    for lane in range(3):
        rate = RATES[lane]
        for c in range(1, known + 1):
            slope = weight * (ways[FIRST + lane, c] - (1.0 if c == label else 0.0))
            if abs(slope) > 1e-100:
                for j in range(m):
                    slot, g = work.slot[j], slope * work.tilde[j]
                    if abs(g) > 1e-100:
                        soft[c, slot, 3 + lane] += g * g
                        soft[c, slot, lane] -= rate * g / math.sqrt(soft[c, slot, 3 + lane])
