"""Neighbours among the last rows: those the trees remember, features over a scale of each. Nothing is learned but the scales.

The k-th nearest has 2/(1 + k) votes, k = 0, …. Two classes: the scales are the standard deviations found with the knots (see `knots`);
with v of n votes for the class 1 the lane plays ln((v + ½)/(n − v + ½)). Before there are scales it plays what the linear lanes
play. For several classes see `grove`.
"""

from __future__ import annotations

import math

from burkholder.auto.remembered import LABEL, ROUND, SIDE, place_of_round
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all8, any_above, fused, least, row8, store

WINDOW = 1000
NEAREST = 5
NAME = f"the nearest {NEAREST} of {WINDOW} rows"


@inlined
def votes(k):
    """Of the k-th nearest."""
    return 2.0 / (1.0 + float(k))


@inlined
def gap(block, i, scale, point):
    """Between eight rows and a point, in one feature."""
    return fused(row8(block, ROUND + i, 0), scale, point)


@inlined
def any_near(older, newer, scale, point, wide, near):
    """Whether any of the sixteen rows of two blocks is nearer than the nearest so far; then their distances, squared, are in `near`."""
    enough, a, b, c, d = all8(near[NEAREST - 1]), all8(0.0), all8(0.0), all8(0.0), all8(0.0)
    for i in range(1, wide + 1, 2):  # four sums: one would wait for itself
        by, less = all8(scale[i]), all8(0.0 - point[i])
        one, other = gap(older, i, by, less), gap(newer, i, by, less)
        a, b = fused(one, one, a), fused(other, other, b)
        by, less = all8(scale[i + 1]), all8(0.0 - point[i + 1])
        one, other = gap(older, i + 1, by, less), gap(newer, i + 1, by, less)
        c, d = fused(one, one, c), fused(other, other, d)
        if i % 16 == 15 and not any_above(enough, least(a + c, b + d)):
            return False
    a, b = a + c, b + d
    store(near, SIDE, a)
    store(near, 2 * SIDE, b)
    return any_above(enough, least(a, b))


@inlined
def search(ring, seen, x, scale, point, now, near, labels):
    """The labels of the NEAREST rows of the last WINDOW after `now` rounds, the nearest first; how many there are. `point` becomes x over
    its scales; `near` has room for two blocks more."""
    found, wide, last = 0, (int(seen) + 1) // 2 * 2, int(now) - 1
    for k in range(NEAREST):
        near[k] = math.inf
    for i in range(1, wide + 1):
        point[i] = x[i] * scale[i]
    left = min(WINDOW, SIDE * ring.shape[0] - 1, last + 1)
    while left > 0:  # two blocks at a time, from the last row back
        at = place_of_round(ring, last)
        newer, top = at >> 3, SIDE + (at & 7)
        older = (newer - 1) & (ring.shape[0] - 1)
        if any_near(ring[older], ring[newer], scale, point, wide, near):
            for i in range(top, max(top - left, -1), -1):
                far, when, block = near[SIDE + i], float(last - (top - i)), newer if i >= SIDE else older
                if far >= near[NEAREST - 1] or when == 0.0 or ring[block, ROUND, i & 7] != when:
                    continue  # not near, or not remembered: the trees slept
                found = min(found + 1, NEAREST)
                k = NEAREST - 1
                while k > 0 and near[k - 1] > far:
                    near[k], labels[k] = near[k - 1], labels[k - 1]
                    k -= 1
                near[k], labels[k] = far, ring[block, LABEL, i & 7]
        left, last = left - top - 1, last - top - 1
    return found


@inlined
def forecast(forest, sheet, x, now, linear):
    """Log-odds of the class 1 after `now` rounds; nothing but scratch is written."""
    if sheet.scale[0] == 0.0:
        return linear
    one, other = 0.5, 0.5
    for k in range(search(forest.ring, forest.seen[0], x, sheet.scale, sheet.point, now, sheet.near, sheet.votes)):
        if sheet.votes[k] > 0.0:
            one += votes(k)
        else:
            other += votes(k)
    return math.log(one / other)
