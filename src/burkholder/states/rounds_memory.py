"""A round for per-coordinate potentials that delete atoms: cells g, s, top, dead."""

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable

from burkholder.potentials import anchored, slope
from burkholder.potentials.dispatch import LARGEST
from burkholder.states.rounds import DEAD_ROW, G_ROW, S_ROW, TOP_ROW, A, tick
from burkholder.states.rounds_coordinates import largest


@register_jitable
def recall(frame, cells, scalars, scratch, indices, values, squares, ahead):
    atoms, lipschitz = frame.atoms, frame.lipschitz
    for k in range(indices.size):
        at = np.uint64(4) * np.uint64(indices[k])
        scratch[G_ROW, k] = cells[at]
        scratch[S_ROW, k] = cells[at + np.uint64(1)]
        # x is seen before ŷ is played: atoms too large for it go first
        size = lipschitz * abs(values[k])
        top, dead = anchored(float(cells[at + np.uint64(2)]), float(cells[at + np.uint64(3)]), atoms, size)
        scratch[TOP_ROW, k] = top
        scratch[DEAD_ROW, k] = dead
    return 0.0, 0.0, 1.0, largest(values) if frame.limit < math.inf else 0.0


@register_jitable
def answer(frame, potential, cells, scalars, scratch, indices, values, seen):
    total = 0.0
    for k in range(indices.size):
        g = scratch[G_ROW, k]
        size = slope(potential, abs(g), scratch[S_ROW, k], scratch[TOP_ROW, k], scratch[DEAD_ROW, k])
        share = values[k] * math.copysign(size, g)
        total += min(max(share, -LARGEST), LARGEST)  # two infinities of opposite sign would make a NaN
    return -total


@register_jitable
def absorb(frame, cells, scalars, scratch, indices, values, seen, yhat, delta):
    scalars[A] += delta * yhat
    for k in range(indices.size):
        at = np.uint64(4) * np.uint64(indices[k])
        x = values[k]
        cells[at] = scratch[G_ROW, k] + delta * x
        cells[at + np.uint64(1)] = scratch[S_ROW, k] + tick(frame, x, delta)
        cells[at + np.uint64(2)] = scratch[TOP_ROW, k]
        cells[at + np.uint64(3)] = scratch[DEAD_ROW, k]
