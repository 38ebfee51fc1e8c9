"""The compiled loops: a stream of rows, many predictions, and one round at a time.

Every loop stops early, with a verdict in scalars[CODE], when it meets a row it cannot learn from; nothing of that row
has then been absorbed. What was absorbed before it is undone by the caller, who kept a copy.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder.learning.ledger import answered, booked, measure
from burkholder.machine.compiling import lean, register_jitable
from burkholder.potentials.dispatch import LARGEST
from burkholder.rounds.checks import BAD_TARGET, BAD_WEIGHT, FINE, TOO_STEEP, WIDE, clean, orderly, squared, study
from burkholder.rounds.layout import (
    CODE,
    DIM,
    MERGED_INDICES,
    MERGED_VALUES,
    ROW_INDICES,
    ROW_VALUES,
    TABLE_ROW,
    absorb,
    answer,
    entered,
    recall,
)

NEXT = 100  # entries between those of a row and those whose cells are asked for while it is gathered


class Desk(NamedTuple):
    """Everything a compiled round has before it: what the learner is, and the arrays that hold ζ and the ledger."""

    frame: Any
    potential: Any
    loss: Any
    cells: Any
    scalars: Any
    scratch: Any
    ledger: Any
    width: int
    bound: float


class Stream(NamedTuple):
    """Rows in compressed form with their labels and weights (one weight: for all), and room for what is found."""

    indptr: Any
    indices: Any
    values: Any
    y: Any
    weight: Any
    out: Any
    merged_indices: Any  # a row's distinct indices, where they must be found first
    merged_values: Any
    table: Any


@register_jitable
def _held(raw):
    return min(max(raw, -LARGEST), LARGEST) + 0.0  # no −0.0


@register_jitable
def _too_steep(largest, values, delta):
    """Whether δx leaves the range in which squares fit."""
    bad = not abs(delta) <= LARGEST
    for k in range(values.size):
        bad |= not abs(delta * values[k]) <= largest
    return bad


@register_jitable
def _settled(desk, x, raw, y, weight):
    """ŷ and δ; CODE says TOO_STEEP when δx is too large to be learned from."""
    frame = desk.frame
    yhat, delta = answered(desk.loss, raw, y, weight, desk.bound)
    if not abs(delta) <= frame.lipschitz and _too_steep(frame.largest * frame.lipschitz, x, delta):
        desk.scalars[CODE] = TOO_STEEP
    return yhat, delta


@register_jitable
def _booked(desk, raw, yhat, delta, y, weight, size):
    """The round in the ledger: last, because nobody waits for it, and the processor can go on to the next row meanwhile."""
    booked(desk.ledger, desk.loss, raw, yhat, delta, y, weight, desk.frame.lipschitz)
    if desk.frame.limit < math.inf:
        measure(desk.ledger, size, desk.frame.limit)


@register_jitable
def room_for(desk):
    """How many coordinates there is room for: the same for all rows of a stream, and a division is slow."""
    return min(desk.cells.size // desk.width, desk.frame.most)


@register_jitable
def _sound(desk, dim, here, x, merged_indices, merged_values, table):
    """The row as it can be learned from: (indices, values, Σx², 1 + its largest index); see CODE."""
    scalars, largest = desk.scalars, desk.frame.largest
    squares, small = squared(x)
    if orderly(here, dim) and clean(squares, small, largest):
        return here, x, squares, here[here.size - 1] + 1.0 if here.size > 0 else 0.0
    scalars[CODE], count, top = study(here, x, dim, largest, merged_indices, merged_values, table)
    return merged_indices[:count], merged_values[:count], squared(merged_values[:count])[0], top


@register_jitable
def _absorbed(desk, here, x, seen, yhat, delta, squares, top):
    """ζ ← ζ + T(x, ŷ, δ)."""
    if top > desk.scalars[DIM]:
        desk.scalars[DIM] = top
    absorb(desk.frame, desk.cells, desk.scalars, desk.scratch, here, x, seen, delta)
    entered(desk.scalars, yhat, delta, squares)


@register_jitable
def _later(rows, row, count):
    """Where the entries some way on begin, as many as this row has: their cells are asked for while it is gathered."""
    here = rows.indptr[row + 1] - rows.indptr[row]
    return min(rows.indptr[row] + NEXT, max(rows.indptr[count] - here, 0)), here


@register_jitable
def learned_row(desk, dim, rows, row, ahead):
    """Play a row of the stream, settle, learn; False with a verdict in CODE, and nothing of the row absorbed, where it cannot be."""
    frame, cells, scalars, scratch = desk.frame, desk.cells, desk.scalars, desk.scratch
    here = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
    x = rows.values[rows.indptr[row] : rows.indptr[row + 1]]
    target, w = rows.y[row], rows.weight[min(row, rows.weight.size - 1)]
    if here.size > scratch.shape[1] or not (abs(target) <= LARGEST and 0.0 <= w <= LARGEST):
        wide = here.size > scratch.shape[1]
        scalars[CODE] = WIDE if wide else (BAD_WEIGHT if abs(target) <= LARGEST else BAD_TARGET)
        return False
    here, x, squares, top = _sound(desk, dim, here, x, rows.merged_indices, rows.merged_values, rows.table)
    if scalars[CODE] != FINE:
        return False
    seen = recall(frame, desk.potential, cells, scalars, scratch, here, x, squares, ahead)
    raw = _held(answer(frame, desk.potential, cells, scalars, scratch, here, x, seen))
    yhat, delta = _settled(desk, x, raw, target, w)
    if scalars[CODE] != FINE:
        return False
    _absorbed(desk, here, x, seen, yhat, delta, squares, top)
    _booked(desk, raw, yhat, delta, target, w, seen[3])
    rows.out[row] = yhat
    return True


@register_jitable
def played_row(desk, dim, rows, row, ahead):
    """The prediction for a row of the stream, as `learned_row` would make it; nothing is learned."""
    frame, cells, scalars, scratch = desk.frame, desk.cells, desk.scalars, desk.scratch
    here = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
    x = rows.values[rows.indptr[row] : rows.indptr[row + 1]]
    if here.size > scratch.shape[1]:
        scalars[CODE] = WIDE
        return False
    here, x, squares, _ = _sound(desk, dim, here, x, rows.merged_indices, rows.merged_values, rows.table)
    if scalars[CODE] != FINE:
        return False
    seen = recall(frame, desk.potential, cells, scalars, scratch, here, x, squares, ahead)
    raw = _held(answer(frame, desk.potential, cells, scalars, scratch, here, x, seen))
    rows.out[row] = min(max(raw, -desk.bound), desk.bound)
    return True


@lean
def stream(desk, rows, first):
    """Learn from rows first, first+1, …; returns the row it stopped at (the number of rows when all went well)."""
    desk.scalars[CODE] = FINE
    dim = room_for(desk)
    for row in range(first, rows.y.size):
        later, many = _later(rows, row, rows.y.size)
        if not learned_row(desk, dim, rows, row, rows.indices[later : later + many]):
            return row
    return rows.y.size


@lean
def stream_late(desk, rows, first):
    """`stream` for rows that were played before: `out` holds the raw predictions of then, and ŷ afterwards."""
    scalars, scratch = desk.scalars, desk.scratch
    indptr, y, weight = rows.indptr, rows.y, rows.weight
    scalars[CODE] = FINE
    last, dim = weight.size - 1, room_for(desk)
    for row in range(first, y.size):
        here = rows.indices[indptr[row] : indptr[row + 1]]
        x = rows.values[indptr[row] : indptr[row + 1]]
        target, w = y[row], weight[min(row, last)]
        if here.size > scratch.shape[1] or not (abs(target) <= LARGEST and 0.0 <= w <= LARGEST):
            wide = here.size > scratch.shape[1]
            scalars[CODE] = WIDE if wide else (BAD_WEIGHT if abs(target) <= LARGEST else BAD_TARGET)
            return row
        here, x, squares, top = _sound(desk, dim, here, x, rows.merged_indices, rows.merged_values, rows.table)
        if scalars[CODE] != FINE:
            return row
        seen = recall(desk.frame, desk.potential, desk.cells, scalars, scratch, here, x, squares, None)
        yhat, delta = _settled(desk, x, rows.out[row], target, w)
        if scalars[CODE] != FINE:
            return row
        _absorbed(desk, here, x, seen, yhat, delta, squares, top)
        _booked(desk, rows.out[row], yhat, delta, target, w, seen[3])
        rows.out[row] = yhat
    return y.size


@lean
def stream_plays(desk, rows, first):
    """The prediction for rows first, first+1, …, as `stream` would make it; nothing is learned."""
    desk.scalars[CODE] = FINE
    dim = room_for(desk)
    for row in range(first, rows.out.size):
        later, many = _later(rows, row, rows.out.size)
        if not played_row(desk, dim, rows, row, rows.indices[later : later + many]):
            return row
    return rows.out.size


@register_jitable
def _opened(desk, n):
    """The row in the first n places of the row buffers, as `_sound` gives it."""
    scratch = desk.scratch
    desk.scalars[CODE] = FINE
    indices, values = scratch[ROW_INDICES].view(np.uint64)[:n], scratch[ROW_VALUES, :n]
    table = scratch[TABLE_ROW : TABLE_ROW + 2].reshape(2 * scratch.shape[1]).view(np.int32)
    return _sound(desk, room_for(desk), indices, values, scratch[MERGED_INDICES].view(np.uint64), scratch[MERGED_VALUES], table)


@register_jitable
def played(desk, here, x):
    """The raw prediction for a row whose indices are known to be good and distinct, its values to be fit."""
    seen = recall(desk.frame, desk.potential, desk.cells, desk.scalars, desk.scratch, here, x, squared(x)[0], None)
    return _held(answer(desk.frame, desk.potential, desk.cells, desk.scalars, desk.scratch, here, x, seen))


@register_jitable
def learned(desk, here, x, top, y, weight):
    """Play such a row, settle, learn: ŷ, or NaN with a verdict in CODE and nothing changed."""
    scalars, scratch = desk.scalars, desk.scratch
    squares = squared(x)[0]
    seen = recall(desk.frame, desk.potential, desk.cells, scalars, scratch, here, x, squares, None)
    raw = _held(answer(desk.frame, desk.potential, desk.cells, scalars, scratch, here, x, seen))
    yhat, delta = _settled(desk, x, raw, y, weight)
    if scalars[CODE] != FINE:
        return math.nan
    _absorbed(desk, here, x, seen, yhat, delta, squares, top)
    _booked(desk, raw, yhat, delta, y, weight, seen[3])
    return yhat


@lean
def one_play(desk, n):
    """The raw prediction for the row in the row buffers; NaN with a verdict in CODE when it cannot be played."""
    here, x, _, _ = _opened(desk, n)
    return played(desk, here, x) if desk.scalars[CODE] == FINE else math.nan


@lean
def one_learn(desk, n, yhat, delta):
    """ζ ← ζ + T for the row in the row buffers; the size of its x, or NaN with a verdict in CODE."""
    here, x, squares, top = _opened(desk, n)
    if desk.scalars[CODE] == FINE and _too_steep(desk.frame.largest * desk.frame.lipschitz, x, delta):
        desk.scalars[CODE] = TOO_STEEP
    if desk.scalars[CODE] != FINE:
        return math.nan
    seen = recall(desk.frame, desk.potential, desk.cells, desk.scalars, desk.scratch, here, x, squares, None)
    _absorbed(desk, here, x, seen, yhat, delta, squares, top)
    return seen[3]


@lean
def within(indices, values, dim, limit):
    """Whether all indices lie below dim and all |values| within the limit; no NaN does."""
    good = True
    for k in range(indices.size):
        good &= indices[k] < dim
    for k in range(values.size):
        good &= abs(values[k]) <= limit
    return good


@lean
def journal(cells, width, indices, kept):
    """Copy the cells the rows will touch (indices beyond the state are new and need no copy)."""
    dim = cells.size // width
    for k in range(indices.size):
        if indices[k] < dim:
            at = np.uint64(indices[k]) * np.uint64(width)
            for f in range(width):
                kept[k, f] = cells[at + np.uint64(f)]


@lean
def undo(cells, width, indices, kept):
    """Put them back."""
    dim = cells.size // width
    for k in range(indices.size):
        if indices[k] < dim:
            at = np.uint64(indices[k]) * np.uint64(width)
            for f in range(width):
                cells[at + np.uint64(f)] = kept[k, f]
