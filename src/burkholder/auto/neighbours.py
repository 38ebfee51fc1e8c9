"""A lane of neighbours, for two classes: the votes of the nearest of the last rows, features over their standard deviations.

The rows are those the trees remember, the scales those found with the knots (see `knots`); nothing else is learned. With v of n
votes for the class 1 it plays ln((v + ½)/(n − v + ½)). Before there are scales it plays what the linear lanes play.
"""

from __future__ import annotations

import math

from burkholder.auto.forest import LABEL, ROUND
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all4, element, fused, load4, row4

WINDOW = 500
NEAREST = 5
NAME = f"the nearest {NEAREST} of {WINDOW} rows"


@inlined
def forecast(forest, sheet, x, now, linear):
    """Log-odds of the class 1 after `now` rounds; nothing but scratch is written."""
    ring, near, votes = forest.ring, sheet.near, sheet.votes
    length, wide = ring.shape[0], min(ring.shape[1] - ROUND - 1, sheet.scale.shape[0] - 8)
    if sheet.scale[0] == 0.0:
        return linear
    for k in range(NEAREST):
        near[k], votes[k] = math.inf, 0.0
    found = 0
    for back in range(1, min(WINDOW, length - 1, int(now)) + 1):
        when = int(now) - back
        at = when % length
        if when == 0 or ring[at, ROUND] != float(when):  # it was not remembered: the trees slept
            continue
        total = all4(0.0)
        for i in range(0, wide, 4):
            gap = (load4(x, 1 + i) - row4(ring, at, ROUND + 1 + i)) * load4(sheet.scale, 1 + i)
            total = fused(gap, gap, total)
        far = (element(total, 0) + element(total, 1)) + (element(total, 2) + element(total, 3))
        if far < near[NEAREST - 1]:
            found = min(found + 1, NEAREST)
            k = NEAREST - 1
            while k > 0 and near[k - 1] > far:
                near[k], votes[k] = near[k - 1], votes[k - 1]
                k -= 1
            near[k], votes[k] = far, 1.0 if ring[at, LABEL] > 0.0 else 0.0
    total_votes = 0.5
    for k in range(found):
        total_votes += votes[k]
    return math.log(total_votes / (float(found) + 1.0 - total_votes))
