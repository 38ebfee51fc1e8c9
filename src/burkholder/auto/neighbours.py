"""Neighbours: the nearest of the rows the trees remember, features over a scale of each. Nothing is learned but the scales.

Two searches. One looks at the rows that lie in the leaves this row falls into, of every tree that stands alone: trees have settled which
features matter there, and a leaf reaches as far back as the stream. The other looks at the last WINDOW rows, whatever they are.

Two classes, a lane a search: the k-th nearest has 2/(1 + k) votes, k = 0, …; with v of n votes for the class 1 a lane plays
ln((v + ½)/(n − v + ½)). Numbers, in the leaves alone: with the shares s_k, the smallest squared distance over that of the k-th, a lane
adds Σ s_k·(label_k − base_k)/(¼ + Σ s_k) to what the linear lanes play now. The base is that number in the first lane, so that labels
are averaged, and what the linear lanes played there in the second, so that their errors are. Scales are the standard deviations found
with the knots (see `knots`); before there are any, every lane plays what the linear lanes play. For several classes see `grove`.
"""

from __future__ import annotations

import math

from burkholder.auto.forest import BASE, LABEL, ROUND
from burkholder.auto.plan import LOGISTIC, Plan
from burkholder.auto.window import nearest, taken
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all8, fused, load8, row8, total8

WINDOW = 1000
NEAREST = 5
LANES = 2
LEAVES, LAST = f"the nearest {NEAREST} in the leaves", f"the nearest {NEAREST} of {WINDOW} rows"
ERRORS = f"errors of the nearest {NEAREST} in the leaves"
SAME = 1e-12  # squared distances this far below 1 are not told apart


def neighbour_names(plan: Plan) -> list[str]:
    """A name for each lane."""
    return [LEAVES, LAST] if plan.kinds[0] == LOGISTIC else [LEAVES, ERRORS]


@inlined
def votes(k):
    """Of the k-th nearest."""
    return 2.0 / (1.0 + float(k))


@inlined
def compare(ring, x, scale, seen, at, found, near, where):
    """Take the row at this place of the ring among the NEAREST, the nearest first, if it is one, once; how many there are now."""
    total = all8(0.0)
    for i in range(0, seen, 8):
        gap = (load8(x, 1 + i) - row8(ring, at, ROUND + 1 + i)) * load8(scale, 1 + i)
        total = fused(gap, gap, total)
    far = total8(total)
    if far < near[NEAREST - 1]:
        for k in range(found):
            if where[k] == at:
                return found
        found = taken(far, at, found, near, where)
    return found


@inlined
def search_last(trees, walk, scale, now, near, where):
    """The nearest of the last WINDOW rows after `now` rounds, into near and where; how many there are."""
    found = nearest(walk.lately, walk, scale, int(trees.seen[0]), WINDOW, now, near, where)
    for k in range(found):
        where[k] = where[k] & (trees.ring.shape[0] - 1)
    return found


@inlined
def search_leaves(trees, walk, scale, near, where):
    """The nearest of the rows in the leaves that the ways through every second tree have come to; how many there are."""
    ring, held, found, seen = trees.ring, trees.held, 0, int(trees.seen[0])
    for k in range(NEAREST):
        near[k] = math.inf
    for k in range(1, trees.used.shape[0], 2):
        leaf = walk.leaf[k]
        for i in range(1, int(held[leaf, 0]) + 1):
            when = held[leaf, i]
            at = int(when) & (ring.shape[0] - 1)
            if when > 0.0 and ring[at, ROUND] == when:
                found = compare(ring, walk.x, scale, seen, at, found, near, where)
    return found


@inlined
def class_of(ring, sheet, found):
    """Log-odds of the class 1, by the votes of those found."""
    one, other = 0.5, 0.5
    for k in range(found):
        if ring[sheet.where[k], LABEL] > 0.0:
            one += votes(k)
        else:
            other += votes(k)
    return math.log(one / other)


@inlined
def number_of(ring, sheet, found, linear, corrects):
    """What the linear lanes play, moved to the labels of those found, or (`corrects`) by their errors there."""
    push, mass = 0.0, 0.25
    for k in range(found):
        at, share = sheet.where[k], (sheet.near[0] + SAME) / (sheet.near[k] + SAME)
        base = ring[at, BASE] if corrects else linear
        push, mass = push + share * (ring[at, LABEL] - base), mass + share
    return linear + push / mass


@inlined
def forecast(plan, forest, walk, sheet, now, linear, out, first):
    """What the lanes play after `now` rounds into out, from `first` on; nothing but scratch is written."""
    if sheet.scale[0] == 0.0:
        out[first], out[first + 1] = linear, linear
        return
    ring = forest.ring
    found = search_leaves(forest, walk, sheet.scale, sheet.near, sheet.where)
    if plan.kinds[0] == LOGISTIC:
        out[first] = class_of(ring, sheet, found)
        found = search_last(forest, walk, sheet.scale, now, sheet.near, sheet.where)
        out[first + 1] = class_of(ring, sheet, found)
    else:
        out[first] = number_of(ring, sheet, found, linear, False)
        out[first + 1] = number_of(ring, sheet, found, linear, True)
