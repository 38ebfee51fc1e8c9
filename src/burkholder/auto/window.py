"""The last rows once more, eight side by side: to be compared with another row eight at a time. Scratch, made from the ring of rows.

A block has a row a number: the round, then the features, whose places are counted from 1; a column is a row of the stream. There is a
power of two of them; the row of round t has place t modulo that.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.state import aligned
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all8, any_above, fused, least, row8, store

SIDE = 8
MOST = 1024  # rows


def lately_of(ring: NDArray[np.float64], rounds: int) -> NDArray[np.float64]:
    """The blocks of a ring of rows, given the column of their rounds, behind which their features stand."""
    rows = ring[ring[:, rounds] > 0.0][:, rounds:]
    rows = rows[np.argsort(rows[:, 0], kind="stable")][-MOST:]
    blocks = max(min(MOST, len(ring)) // SIDE, 1)
    whole, out = np.zeros((blocks * SIDE, rows.shape[1])), aligned(blocks, rows.shape[1] + 1, SIDE)
    whole[rows[:, 0].astype(np.int64) % len(whole)] = rows
    out[:, :-1] = whole.reshape(blocks, SIDE, -1).swapaxes(1, 2)
    return out


@inlined
def enter(lately, x, now):
    """The row of this round, with its features x."""
    at = int(now) & (SIDE * lately.shape[0] - 1)
    block, place = at >> 3, at & 7
    lately[block, 0, place] = now
    for i in range(1, lately.shape[1] - 1):
        lately[block, i, place] = x[i]


@inlined
def gap(block, i, scale, point):
    """Between eight rows and a point, in one feature."""
    return fused(row8(block, i, 0), scale, point)


@inlined
def any_near(older, newer, scale, point, wide, enough, far):
    """Whether any of the sixteen rows of two blocks is nearer than `enough`; then their distances, squared, are in `far`."""
    a, b, c, d = all8(0.0), all8(0.0), all8(0.0), all8(0.0)
    for i in range(1, wide + 1, 2):  # four sums: one would wait for itself
        by, less = all8(scale[i]), all8(0.0 - point[i])
        one, other = gap(older, i, by, less), gap(newer, i, by, less)
        a, b = fused(one, one, a), fused(other, other, b)
        by, less = all8(scale[i + 1]), all8(0.0 - point[i + 1])
        one, other = gap(older, i + 1, by, less), gap(newer, i + 1, by, less)
        c, d = fused(one, one, c), fused(other, other, d)
        if i % 16 == 15 and not any_above(all8(enough), least(a + c, b + d)):
            return False
    a, b = a + c, b + d
    store(far, 0, a)
    store(far, SIDE, b)
    return any_above(all8(enough), least(a, b))


@inlined
def taken(far, at, found, near, where):
    """Put one that is nearer than the last to its place among the nearest; how many there are now."""
    k = where.shape[0] - 1
    while k > 0 and near[k - 1] > far:
        near[k], where[k] = near[k - 1], where[k - 1]
        k -= 1
    near[k], where[k] = far, at
    return min(found + 1, where.shape[0])


@inlined
def nearest(lately, walk, scale, wide, window, now, near, when):
    """The nearest of the last `window` rows after `now` rounds: squared distances into `near`, rounds into `when`, the nearest first;
    how many there are, as many as `when` has room for at most."""
    found, last, most = 0, int(now) - 1, when.shape[0]
    for k in range(most):
        near[k] = math.inf
    for i in range(1, wide + 2):
        walk.point[i] = walk.x[i] * scale[i]
    left = min(window, min(SIDE * lately.shape[0] - 1, last + 1))
    while left > 0:  # two blocks at a time, from the last row back
        at = last & (SIDE * lately.shape[0] - 1)
        newer, top = at >> 3, SIDE + (at & 7)
        older = (newer - 1) & (lately.shape[0] - 1)
        if any_near(lately[older], lately[newer], scale, walk.point, wide, near[most - 1], walk.far):
            for i in range(top, max(top - left, -1), -1):
                far, then, block = walk.far[i], last - (top - i), newer if i >= SIDE else older
                if far >= near[most - 1] or then == 0 or lately[block, 0, i & 7] != float(then):
                    continue  # not near, or not remembered: the trees slept
                found = taken(far, then, found, near, when)
        left, last = left - top - 1, last - top - 1
    return found
