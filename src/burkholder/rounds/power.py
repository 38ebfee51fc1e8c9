"""A round through an l_p norm, p ≥ 2 (l_∞ through a large p): Σ|g_i|^p is carried along, O(nnz) a round.

Only the row's own terms change: Σ|g ± Lx|^p = (the sum − the row's old terms) + its new ones. When the row holds
nearly all of the sum that difference cancels; then, and only then, the rest is summed afresh.
"""

from __future__ import annotations

import math

from burkholder.machine.compiling import overload, register_jitable
from burkholder.potentials import gap, slope
from burkholder.rounds.coordinates import largest
from burkholder.rounds.euclidean import PATIENCE, TOLERANCE
from burkholder.rounds.layout import (
    DEAD,
    DIM,
    DRIFT,
    DRIFTED,
    G_ROW,
    POWER,
    RESUMS,
    SCALE,
    TOP,
    TOUCHED,
    S,
    by_clock,
    memory,
    power_of_two,
    tick,
)

_CANCELLED = 1e-4  # of the sum: below this the difference of sums has lost too many digits
_HIGH, _LOW = 2.0**64, 2.0**-64  # the carried sum is rescaled when it leaves this range


@register_jitable
def raised(z, p, whole):
    """z^p for z ≥ 0; small whole powers by multiplication."""
    if whole == 2:
        return z * z
    if whole == 3:
        return z * z * z
    if whole == 4:
        return (z * z) * (z * z)
    if whole == 1:
        return z
    if whole == 6:
        return (z * z) * (z * z) * (z * z)
    if whole > 0:
        square, out, left = z, 1.0, whole
        while left > 0:
            if left % 2 == 1:
                out *= square
            square *= square
            left //= 2
        return out
    return z**p


@register_jitable
def recall(frame, potential, cells, scalars, scratch, indices, values, squares, ahead):
    """(max|x|, 0, the scale of the round, size of x, 0)."""
    for k in range(indices.size):
        scratch[G_ROW, k] = cells[indices[k]]
    top = largest(values)
    size = top
    if frame.geometry.top == 0 and top > 0.0:
        total = 0.0
        for k in range(indices.size):
            total += raised(abs(values[k]) / top, frame.geometry.p, frame.geometry.whole)
        size = top * total ** (1.0 / frame.geometry.p)
    scale = scalars[SCALE]
    if frame.lipschitz * top > 2.0 * scale or (scalars[POWER] == 0.0 and top > 0.0):
        scale = power_of_two(frame.lipschitz * top)
    return top, 0.0, scale, size, 0.0


@register_jitable
def _rest(frame, cells, scratch, indices, scale):
    """Σ|g_i/scale|^p over the coordinates outside the row, afresh: the row is blanked, then put back."""
    for k in range(indices.size):
        cells[indices[k]] = 0.0
    total, correction = 0.0, 0.0
    for i in range(cells.size):
        part = raised(abs(float(cells[i])) / scale, frame.geometry.p, frame.geometry.whole)
        both = total + part
        correction += (total - both) + part if total >= part else (part - both) + total
        total = both
    for k in range(indices.size):
        cells[indices[k]] = scratch[G_ROW, k]
    return total + correction


def play(frame, potential, cells, scalars, scratch, indices, values, seen):
    raise NotImplementedError("only inside compiled loops")


def _tangent(frame, potential, cells, scalars, scratch, indices, values, seen):
    p, whole = frame.geometry.p, frame.geometry.whole
    if scalars[POWER] <= 0.0:
        return 0.0
    norm = scalars[SCALE] * scalars[POWER] ** (1.0 / p)
    top, dead = memory(frame, scalars, seen[3])
    along = 0.0
    for k in range(indices.size):
        g = scratch[G_ROW, k]
        along += values[k] * math.copysign(raised(abs(g) / norm, p - 1.0, whole - 1), g)
    return -slope(potential, norm / frame.root, scalars[S], top, dead) * along / frame.root


def _sign_flip(frame, potential, cells, scalars, scratch, indices, values, seen):
    p, whole = frame.geometry.p, frame.geometry.whole
    _, _, scale, size, _ = seen
    old, up, down = 0.0, 0.0, 0.0
    for k in range(indices.size):
        g, d = scratch[G_ROW, k] / scale, frame.lipschitz * values[k] / scale
        old += raised(abs(g), p, whole)
        up += raised(abs(g + d), p, whole)
        down += raised(abs(g - d), p, whole)
    # an empty sum has no scale of its own
    shrink = raised(scalars[SCALE] / scale, p, whole) if scalars[POWER] > 0.0 else 1.0
    power = scalars[POWER] * shrink
    rest = max(power - old, 0.0)
    least = rest + min(up, down)
    # no stricter than what absorbing keeps to, or every play would walk all cells until the next fresh sum
    if least < _CANCELLED * power or scalars[DRIFT] * shrink * _CANCELLED > TOLERANCE * least:
        rest = _rest(frame, cells, scratch, indices, scale)
    unit = scale / frame.root
    high, low = unit * (rest + up) ** (1.0 / p), unit * (rest + down) ** (1.0 / p)
    s = scalars[S] + tick(frame, size, frame.lipschitz)
    return -gap(potential, high, low, high - low, s) / frame.lipschitz


_choose = by_clock(_tangent, _sign_flip)


@overload(play)
def _play(frame, potential, cells, scalars, scratch, indices, values, seen):
    return _choose(frame)


@register_jitable
def answer(frame, potential, cells, scalars, scratch, indices, values, seen):
    return play(frame, potential, cells, scalars, scratch, indices, values, seen)


@register_jitable
def resum(frame, cells, scratch, indices, scalars):
    top = 0.0
    for i in range(cells.size):
        top = max(top, abs(float(cells[i])))
    scalars[SCALE] = power_of_two(top) if top > 0.0 else 1.0
    scalars[POWER] = _rest(frame, cells, scratch, indices[:0], scalars[SCALE])
    scalars[DRIFT] = 16.0 * frame.geometry.p * 1.2e-16 * scalars[POWER]
    scalars[TOUCHED] = 0.0
    scalars[RESUMS] += 1.0


@register_jitable
def absorb(frame, cells, scalars, scratch, indices, values, seen, delta):
    p, whole = frame.geometry.p, frame.geometry.whole
    top, _, scale, size, _ = seen
    scalars[TOP], scalars[DEAD] = memory(frame, scalars, size)
    scalars[S] += tick(frame, size, delta)
    # an empty sum has no scale of its own
    shrink = raised(scalars[SCALE] / scale, p, whole) if scalars[POWER] > 0.0 else 1.0
    old, new = 0.0, 0.0
    for k in range(indices.size):
        cells[indices[k]] += delta * values[k]
        old += raised(abs(scratch[G_ROW, k]) / scale, p, whole)
        new += raised(abs(float(cells[indices[k]])) / scale, p, whole)
    scalars[TOUCHED] += indices.size
    power = scalars[POWER] * shrink
    grown = (power - old) + new
    scalars[SCALE], scalars[POWER] = scale, max(grown, 0.0)
    scalars[DRIFT] = scalars[DRIFT] * shrink + 1.2e-16 * (indices.size + 4.0 * p + 8.0) * (power + old + new)
    keep = (scalars[DRIFT] <= TOLERANCE * grown and (_LOW < grown < _HIGH)) or delta * top == 0.0
    if not keep or scalars[TOUCHED] > PATIENCE * scalars[DIM]:
        resum(frame, cells, scratch, indices, scalars)
    scalars[DRIFTED] += scalars[SCALE] * scalars[POWER] ** (1.0 / p)
