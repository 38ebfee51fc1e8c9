"""Neighbours among the last rows: those the trees remember, features over a scale of each. Nothing is learned but the scales.

The k-th nearest has 2/(1 + k) votes, k = 0, …. Two classes: the scales are the standard deviations found with the knots (see `knots`);
with v of n votes for the class 1 the lane plays ln((v + ½)/(n − v + ½)). Before there are scales it plays what the linear lanes
play. For several classes see `grove`.
"""

from __future__ import annotations

import math

from burkholder.auto.forest import LABEL, ROUND
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all4, element, fused, load4, row4

WINDOW = 1000
NEAREST = 5
NAME = f"the nearest {NEAREST} of {WINDOW} rows"


@inlined
def votes(k):
    """Of the k-th nearest."""
    return 2.0 / (1.0 + float(k))


@inlined
def search(ring, x, scale, now, near, labels):
    """The labels of the NEAREST rows of the last WINDOW after `now` rounds, the nearest first; how many there are."""
    length, wide, found = ring.shape[0], min(ring.shape[1] - ROUND - 1, scale.shape[0] - 8), 0
    for k in range(NEAREST):
        near[k] = math.inf
    for back in range(1, min(WINDOW, length - 1, int(now)) + 1):
        when = int(now) - back
        at = when % length
        if when == 0 or ring[at, ROUND] != float(when):  # it was not remembered: the trees slept
            continue
        total = all4(0.0)
        for i in range(0, wide, 4):
            gap = (load4(x, 1 + i) - row4(ring, at, ROUND + 1 + i)) * load4(scale, 1 + i)
            total = fused(gap, gap, total)
        far = (element(total, 0) + element(total, 1)) + (element(total, 2) + element(total, 3))
        if far < near[NEAREST - 1]:
            found = min(found + 1, NEAREST)
            k = NEAREST - 1
            while k > 0 and near[k - 1] > far:
                near[k], labels[k] = near[k - 1], labels[k - 1]
                k -= 1
            near[k], labels[k] = far, ring[at, LABEL]
    return found


@inlined
def forecast(forest, sheet, x, now, linear):
    """Log-odds of the class 1 after `now` rounds; nothing but scratch is written."""
    if sheet.scale[0] == 0.0:
        return linear
    one, other = 0.5, 0.5
    for k in range(search(forest.ring, x, sheet.scale, now, sheet.near, sheet.votes)):
        if sheet.votes[k] > 0.0:
            one += votes(k)
        else:
            other += votes(k)
    return math.log(one / other)
