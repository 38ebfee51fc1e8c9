"""A round for per-coordinate potentials that delete atoms: cells g, s, top, dead."""

from __future__ import annotations

import math

import numpy as np

from burkholder.machine.compiling import overload, register_jitable
from burkholder.machine.vectors import WIDTH, all8, load8, total8
from burkholder.potentials import anchored, slope
from burkholder.potentials.dispatch import LARGEST, atom, by_atoms
from burkholder.rounds.coordinates import largest
from burkholder.rounds.layout import DEAD_ROW, DRIFTED, G_ROW, OUT_ROW, S_ROW, TOP_ROW, X_ROW, tick


@register_jitable
def recall(frame, potential, cells, scalars, scratch, indices, values, squares, ahead):
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
    return 0.0, 0.0, 1.0, largest(values) if frame.limit < math.inf else 0.0, 0.0


@register_jitable
def answer(frame, potential, cells, scalars, scratch, indices, values, seen):
    return _pulled(potential, frame.atoms, scratch, values)


def _pulled(potential, atoms, scratch, values):
    """The prediction of the row that `recall` laid out."""
    raise NotImplementedError("only inside compiled loops")


@overload(_pulled)
def _chosen(potential, atoms, scratch, values):
    return by_atoms(_together, _alone)(potential)


@register_jitable
def _together(potential, atoms, scratch, values):
    room = -(-atoms // WIDTH) * WIDTH
    if room > scratch.shape[1]:
        return _alone(potential, atoms, scratch, values)
    halves, pulls = scratch[X_ROW], scratch[OUT_ROW]
    half = 1.0
    for a in range(room):
        halves[a] = half if a < atoms else 0.0
        half *= 0.5
    total = 0.0
    for k in range(values.size):
        g, s, top, dead = scratch[G_ROW, k], scratch[S_ROW, k], scratch[TOP_ROW, k], int(scratch[DEAD_ROW, k])
        unit = 2.0**dead / top if top > 0.0 else 0.0
        for a in range(room):  # every atom, as vector code; the dead ones pull no more
            pulls[a] = atom(potential, abs(g), s, top * halves[a], unit)
        for a in range(min(dead, atoms)):
            pulls[a] = 0.0
        sums = all8(0.0)
        for a in range(0, room, WIDTH):
            sums = sums + load8(pulls, a)
        total += _share(values[k], math.copysign(min(potential.scale * total8(sums) / atoms, LARGEST), g))
    return -total


@register_jitable
def _share(x, pulled):
    return min(max(x * pulled, -LARGEST), LARGEST)  # two infinities of opposite sign would make a NaN


@register_jitable
def _alone(potential, atoms, scratch, values):
    """For potentials without an atom's formula, and for more atoms than the row has room for."""
    total = 0.0
    for k in range(values.size):
        g = scratch[G_ROW, k]
        size = slope(potential, abs(g), scratch[S_ROW, k], scratch[TOP_ROW, k], scratch[DEAD_ROW, k])
        total += _share(values[k], math.copysign(size, g))
    return -total


@register_jitable
def absorb(frame, cells, scalars, scratch, indices, values, seen, delta):
    sizes = 0.0
    for k in range(indices.size):
        at = np.uint64(4) * np.uint64(indices[k])
        x = values[k]
        cells[at] = scratch[G_ROW, k] + delta * x
        sizes += abs(cells[at])
        cells[at + np.uint64(1)] = scratch[S_ROW, k] + tick(frame, x, delta)
        cells[at + np.uint64(2)] = scratch[TOP_ROW, k]
        cells[at + np.uint64(3)] = scratch[DEAD_ROW, k]
    scalars[DRIFTED] += sizes
