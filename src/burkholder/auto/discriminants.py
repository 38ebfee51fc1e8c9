"""A lane for several classes that says how they look: Gaussians of one covariance. Sums teach it, no rate; features may go together.

Rows are standardised, z, by the moments of all rows so far. A class of n_c rows has the mean m_c of its z, drawn towards 0 as one row more
there would; all have the covariance (S + RIDGE·I)/(n + RIDGE), S the scatter of rows about the mean their class had. With
u_c = (S + RIDGE·I)⁻¹m_c, as it was when the class was last seen, the lane plays the softmax of

    ln(n_c + ½) + β·(n + RIDGE)·(⟨u_c, z⟩ − ½⟨u_c, m_c⟩),

where β, at first ½, takes Newton steps on the log loss: few rows, and classes that are no such Gaussians, make it too sure.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.auto.knots import SMALLEST
from burkholder.auto.state import aligned
from burkholder.machine.compiling import inlined
from burkholder.machine.memory import Matrix, Vector
from burkholder.machine.vectors import all8, fused, load8, put, row8, store, total8

MOST = 64  # features; with more the lane plays what the linear lanes play
RIDGE = 10.0
TEMPER, HELD = 0.5, 20.0  # β, and how many rounds of curvature 1 it counts for
COOLEST, WARMEST = 0.01, 2.0
LARGEST, FARTHEST, SUREST = 1e100, 1e6, 1e4  # of a feature in its unit, of a standardised one, of a score
MEAN, SQUARES, UNIT = range(3)  # rows of `moments`; a feature's unit is 1 over its first size


class Looks(NamedTuple):
    """What is known of the classes; features are counted from 1, and column 0 of `moments` and `means` counts rows."""

    moments: Matrix  # of all rows
    means: Matrix  # m_c, a row a class, before it is drawn towards 0
    lean: Matrix  # u_c, and ½⟨u_c, m_c⟩ in column 0
    inverse: Matrix  # (S + RIDGE·I)⁻¹
    warmth: Vector  # β, and the curvature so far


class View(NamedTuple):
    """Scratch for one row."""

    z: Vector
    gap: Vector  # to the mean of its class
    reach: Vector
    raw: Vector  # (n + RIDGE)·(…), class by class


def new_looks(room: int, side: int) -> Looks:
    """Nothing known, with room for so many classes and features, either padded."""
    looks = Looks(aligned(3, side), aligned(room, side), aligned(room, side), aligned(side, side), np.array([TEMPER, HELD]))
    np.fill_diagonal(looks.inverse[1:, 1:], 1.0 / RIDGE)
    return looks


def roomier(looks: Looks, room: int, side: int) -> Looks:
    """The same with room for so many classes and features."""
    have = looks.means.shape
    if have == (room, side):
        return looks
    larger = new_looks(room, side)
    larger.moments[:, : have[1]] = looks.moments
    larger.means[: have[0], : have[1]], larger.lean[: have[0], : have[1]] = looks.means, looks.lean
    larger.inverse[: have[1], : have[1]] = looks.inverse
    return larger._replace(warmth=looks.warmth)


def new_view(looks: Looks) -> View:
    """Scratch."""
    room, side = looks.means.shape
    return View(aligned(side), aligned(side), aligned(side), aligned(room))


@inlined
def standardise(looks, view, x, seen):
    """The row into view.z."""
    count = looks.moments[MEAN, 0]
    for i in range(1, seen + 1):
        variance = looks.moments[SQUARES, i] / count if count > 0.0 else 0.0
        view.z[i] = 0.0
        size = x[i] * looks.moments[UNIT, i]
        if variance > 1e-200 and abs(size) < LARGEST:
            view.z[i] = min(max((size - looks.moments[MEAN, i]) / math.sqrt(variance), -FARTHEST), FARTHEST)


@inlined
def score(looks, view, x, seen, known, ways, way):
    """The scores of the classes 1, …, known, into a way."""
    standardise(looks, view, x, seen)
    whole = looks.moments[MEAN, 0] + RIDGE
    for c in range(1, known + 1):
        total = all8(0.0)
        for i in range(0, seen + 1, 8):
            total = fused(row8(looks.lean, c, i), load8(view.z, i), total)
        view.raw[c] = min(max(whole * (total8(total) - looks.lean[c, 0]), -SUREST), SUREST)
        ways[way, c] = math.log(looks.means[c, 0] + 0.5) + looks.warmth[0] * view.raw[c]


@inlined
def temper(looks, view, known, ways, way, label, weight):
    """A Newton step of β; the way holds the lane's probabilities."""
    mean, square = 0.0, 0.0
    for c in range(1, known + 1):
        ahead = view.raw[c] - view.raw[label]
        mean, square = mean + ways[way, c] * ahead, square + ways[way, c] * ahead * ahead
    looks.warmth[1] += weight * max(square - mean * mean, 0.0)
    looks.warmth[0] = min(max(looks.warmth[0] - weight * mean / looks.warmth[1], COOLEST), WARMEST)


@inlined
def learn(looks, view, x, seen, label, weight):
    """Take the row into the moments, into the scatter, and into its class."""
    if weight == 0.0:
        return
    moments, means, inverse = looks.moments, looks.means, looks.inverse
    moments[MEAN, 0] += weight
    for i in range(1, seen + 1):
        if moments[UNIT, i] == 0.0 and abs(x[i]) > SMALLEST:
            moments[UNIT, i] = 1.0 / abs(x[i])
        size = x[i] * moments[UNIT, i]
        if abs(size) < LARGEST:
            gap = size - moments[MEAN, i]
            moments[MEAN, i] += weight / moments[MEAN, 0] * gap
            moments[SQUARES, i] += weight * gap * (size - moments[MEAN, i])
    standardise(looks, view, x, seen)
    before = means[label, 0]
    after = before + weight
    for i in range(1, seen + 1):
        view.gap[i] = view.z[i] - means[label, i]
        means[label, i] += weight / after * view.gap[i]
    means[label, 0] = after
    size = reach(inverse, view.gap, seen, view.reach)
    part = weight * (before / after)
    part = part / (1.0 + part * max(size, 0.0))
    for i in range(1, seen + 1):
        shrink = all8(0.0 - part * view.reach[i])
        for j in range(0, seen + 1, 8):
            put(inverse, i, j, fused(shrink, load8(view.reach, j), row8(inverse, i, j)))
    drawn = after / (after + 1.0)
    for i in range(1, seen + 1):
        view.gap[i] = drawn * means[label, i]
    size = reach(inverse, view.gap, seen, view.reach)
    for i in range(1, seen + 1):
        looks.lean[label, i] = view.reach[i]
    looks.lean[label, 0] = 0.5 * size


@inlined
def reach(inverse, v, seen, out):
    """P·v into out; ⟨v, Pv⟩."""
    size = all8(0.0)
    for i in range(0, seen + 1, 8):
        part = all8(0.0)
        for j in range(1, seen + 1):
            part = fused(row8(inverse, j, i), all8(v[j]), part)
        store(out, i, part)
        size = fused(part, load8(v, i), size)
    return total8(size)
