"""A round through the l_2 norm: U = a + f(‖g‖, s), O(nnz) because ‖g‖² is carried along.

‖g + δx‖² = ‖g‖² + 2δ⟨g, x⟩ + δ²‖x‖² costs nothing once ⟨g, x⟩ and ‖x‖² are known, and S3 and S4 need nothing
else. The carried sum drifts by rounding: `DRIFT` bounds it, and it is summed afresh when the bound passes
`tolerance`·‖g‖², or after sixteen times as many entries as there are coordinates.
Squares of 1e±150 do not fit in a double, so outside a wide middle range everything is divided by powers of two.
"""

from __future__ import annotations

import math

from burkholder.machine.cells import gather8, scatter8
from burkholder.machine.compiling import overload, register_jitable
from burkholder.machine.vectors import WIDTH, all8, fused, load8, store, total8
from burkholder.potentials import gap, slope
from burkholder.rounds.coordinates import largest
from burkholder.rounds.layout import (
    BLOCK,
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
    foresee,
    memory,
    power_of_two,
    tick,
)

SAFE, TINY = 1e200, 1e-200  # sums of squares in between need no scaling
PATIENCE = 16.0  # entries absorbed per coordinate between two sums: the sum then costs a few per cent
UNIT_ROUNDOFF = 1.2e-16
TOLERANCE = 1e-10  # how far the running sum may drift before it is summed afresh


@register_jitable
def recall(frame, potential, cells, scalars, scratch, indices, values, squares, ahead):
    n, g = indices.size, scratch[G_ROW]
    unit, size = 1.0, math.sqrt(squares)
    plain = scalars[SCALE] == 1.0 and TINY < squares < SAFE
    if not plain:
        unit, squares = _in_units(values)
        size = unit * math.sqrt(squares)
    # what does not need ⟨g, x⟩ is begun before the cells are asked for, and done when they are there
    factor = ready(frame, potential, scalars, unit, size)
    whole = n - n % WIDTH
    even, odd = all8(0.0), all8(0.0)  # two sums at once: one alone would wait for each addition to end
    for k in range(0, whole, WIDTH):
        foresee(cells, 1, indices, values, ahead, k)
        here = gather8(cells, indices, k, 1, 0)
        store(g, k, here)
        even, odd = odd, fused(here, load8(values, k), even)
    rest = 0.0
    for k in range(whole, n):
        g[k] = cells[indices[k]]
        rest = fused(g[k], values[k], rest)
    dot = total8(even + odd) + rest
    if not plain:
        dot, inverse = 0.0, 1.0 / scalars[SCALE]
        for k in range(n):
            dot += (cells[indices[k]] * inverse) * (values[k] / unit)
    return dot, squares, unit, size, factor


@register_jitable
def _in_units(values):
    """A power of two near max|x|, and Σx² in units of its square."""
    top = largest(values)
    unit, squares = power_of_two(top) if top > 0.0 else 1.0, 0.0
    for k in range(values.size):
        x = values[k] / unit
        squares += x * x
    return unit, squares


def ready(frame, potential, scalars, unit, size):
    """What the prediction is ⟨g, x⟩ times of, where it is."""
    raise NotImplementedError("only inside compiled loops")


def _tangent_ready(frame, potential, scalars, unit, size):
    length = math.sqrt(scalars[POWER])
    if length == 0.0:
        return 0.0
    top, dead = memory(frame, scalars, size)
    norm = scalars[SCALE] * length / frame.root
    return -slope(potential, norm, scalars[S], top, dead) / (length * frame.root) * unit


def _nothing_ready(frame, potential, scalars, unit, size):
    return 0.0


_choose_ready = by_clock(_tangent_ready, _nothing_ready)


@overload(ready)
def _ready(frame, potential, scalars, unit, size):
    return _choose_ready(frame)


def play(frame, potential, scalars, seen):
    raise NotImplementedError("only inside compiled loops")


def _tangent(frame, potential, scalars, seen):
    dot, _squares, _unit, _size, factor = seen
    return factor * dot


def _sign_flip(frame, potential, scalars, seen):
    dot, squares, unit, size, _ = seen
    # in units of the larger of ‖g‖'s scale and L‖x‖'s
    step = frame.lipschitz * unit
    scale = max(scalars[SCALE], step)
    g, d = scalars[SCALE] / scale, step / scale
    total = scalars[POWER] * g * g + squares * d * d
    cross = 2.0 * dot * g * d
    high = math.sqrt(max(total + cross, 0.0))
    low = math.sqrt(max(total - cross, 0.0))
    # high − low = (high² − low²)/(high + low)
    difference = 2.0 * cross / (high + low) if high + low > 0.0 else 0.0
    scale /= frame.root
    s = scalars[S] + tick(frame, size, frame.lipschitz)
    return -gap(potential, scale * high, scale * low, scale * difference, s) / frame.lipschitz


_choose = by_clock(_tangent, _sign_flip)


@overload(play)
def _play(frame, potential, scalars, seen):
    return _choose(frame)


@register_jitable
def answer(frame, potential, cells, scalars, scratch, indices, values, seen):
    return play(frame, potential, scalars, seen)


@register_jitable
def resum(cells, scalars):
    """‖g‖² afresh: blocks of 128 in four sums, the blocks with Neumaier's correction. A last block may be shorter, by whole fours."""
    top = 0.0
    for i in range(cells.size):
        top = max(top, abs(float(cells[i])))
    scale = 1.0
    if top > 1e90 or 0.0 < top < 1e-90:
        scale = power_of_two(top)
    inverse = 1.0 / scale
    total, correction = 0.0, 0.0
    for start in range(0, cells.size, BLOCK):
        block = cells[start : start + BLOCK]
        first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
        for k in range(0, block.size, 4):
            first += (block[k] * inverse) * (block[k] * inverse)
            second += (block[k + 1] * inverse) * (block[k + 1] * inverse)
            third += (block[k + 2] * inverse) * (block[k + 2] * inverse)
            fourth += (block[k + 3] * inverse) * (block[k + 3] * inverse)
        part = (first + second) + (third + fourth)
        both = total + part
        correction += (total - both) + part if total >= part else (part - both) + total
        total = both
    scalars[SCALE] = scale
    scalars[POWER] = total + correction
    scalars[DRIFT] = 40.0 * 1.2e-16 * scalars[POWER]
    scalars[TOUCHED] = 0.0
    scalars[RESUMS] += 1.0


@register_jitable
def absorb(frame, cells, scalars, scratch, indices, values, seen, delta):
    dot, squares, unit, size, _ = seen
    scalars[TOP], scalars[DEAD] = memory(frame, scalars, size)
    scalars[S] += tick(frame, size, delta)
    n, g = indices.size, scratch[G_ROW]
    whole, change = n - n % WIDTH, all8(delta)
    for k in range(0, whole - WIDTH, 2 * WIDTH):  # sixteen at a time, or a tenth of this loop would be counting
        scatter8(cells, indices, k, 1, 0, fused(change, load8(values, k), load8(g, k)))
        scatter8(cells, indices, k + WIDTH, 1, 0, fused(change, load8(values, k + WIDTH), load8(g, k + WIDTH)))
    if whole % (2 * WIDTH) > 0:
        k = whole - WIDTH
        scatter8(cells, indices, k, 1, 0, fused(change, load8(values, k), load8(g, k)))
    for k in range(whole, n):
        cells[indices[k]] = fused(delta, values[k], g[k])
    scalars[TOUCHED] += n
    power, step = scalars[POWER], delta * (unit / scalars[SCALE])
    grown = power + step * (2.0 * dot + step * squares)
    # Σ|g_i x_i| ≤ ‖g‖‖x‖ bounds the error of ⟨g, x⟩; the stored g_i themselves are rounded by a unit each
    sums = abs(step) * (2.0 * math.sqrt(power * squares) + abs(step) * squares)
    scalars[DRIFT] += 1.2e-16 * (n + 8.0) * sums + 3.0 * UNIT_ROUNDOFF * (power + sums)
    scalars[POWER] = max(grown, 0.0)
    # written so that an overflow or a NaN in the sum leads to a fresh one too
    keep = (scalars[DRIFT] <= TOLERANCE * grown and (TINY < grown < SAFE)) or step * squares == 0.0
    if not keep or scalars[TOUCHED] > PATIENCE * scalars[DIM]:
        resum(cells, scalars)
    scalars[DRIFTED] += scalars[SCALE] * math.sqrt(scalars[POWER])
