"""The compiled loops: a stream of sparse rows, a stream of dense rows, and one round at a time.

Every loop returns early, with a verdict in scalars[CODE], when it meets a row it cannot learn from; nothing of
that row has then been absorbed. What was absorbed before it is undone by the caller, who kept a copy.
"""

from __future__ import annotations

import math

import numpy as np

from burkholder.learning.ledger import measure, settle
from burkholder.machine.compiling import lean, register_jitable
from burkholder.potentials.dispatch import LARGEST
from burkholder.rounds.checks import BAD_TARGET, BAD_VALUE, BAD_WEIGHT, FINE, TOO_STEEP, WIDE, clean, orderly, squared, study
from burkholder.rounds.layout import (
    BOOK_ROW,
    CODE,
    DIM,
    MERGED_INDICES,
    MERGED_VALUES,
    ROW_INDICES,
    ROW_VALUES,
    TABLE_ROW,
    absorb,
    answer,
    recall,
)

NEXT = 100  # entries between those of a row and those whose cells are asked for while it is gathered


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
def _settled(frame, loss, scalars, values, raw, y, weight, size, bound, ledger):
    """ŷ and δ, booked; CODE says TOO_STEEP when δx is too large to be learned from."""
    yhat, delta = settle(ledger, loss, raw, y, weight, bound, frame.lipschitz)
    if not abs(delta) <= frame.lipschitz and _too_steep(frame.largest * frame.lipschitz, values, delta):
        scalars[CODE] = TOO_STEEP
    if frame.limit < math.inf:
        measure(ledger, size, frame.limit)
    return yhat, delta


@lean
def stream(
    frame,
    potential,
    loss,
    cells,
    scalars,
    scratch,
    merged_indices,
    merged_values,
    table,
    width,
    indptr,
    indices,
    values,
    y,
    weight,
    bound,
    ledger,
    out,
    first,
):
    """Learn from rows first, first+1, …; returns the row it stopped at (the number of rows when all went well)."""
    scalars[CODE] = FINE
    last, dim = weight.size - 1, cells.size // width
    for row in range(first, y.size):
        here = indices[indptr[row] : indptr[row + 1]]
        x = values[indptr[row] : indptr[row + 1]]
        target, w = y[row], weight[min(row, last)]
        if here.size > scratch.shape[1] or not (abs(target) <= LARGEST and 0.0 <= w <= LARGEST):
            wide = here.size > scratch.shape[1]
            scalars[CODE] = WIDE if wide else (BAD_WEIGHT if abs(target) <= LARGEST else BAD_TARGET)
            return row
        top = here[here.size - 1] + 1.0 if here.size > 0 else 0.0
        later = min(indptr[row] + NEXT, max(indptr[y.size] - here.size, 0))
        ahead = indices[later : later + here.size]
        squares, small = squared(x)
        if not (orderly(here, dim) and clean(squares, small, frame.largest)):
            scalars[CODE], count, top = study(here, x, dim, frame.largest, merged_indices, merged_values, table)
            if scalars[CODE] != FINE:
                return row
            here, x = merged_indices[:count], merged_values[:count]
            squares, _ = squared(x)
        seen = recall(frame, cells, scalars, scratch, here, x, squares, ahead)
        raw = _held(answer(frame, potential, cells, scalars, scratch, here, x, seen))
        yhat, delta = _settled(frame, loss, scalars, x, raw, target, w, seen[3], bound, ledger)
        if scalars[CODE] != FINE:
            return row
        if top > scalars[DIM]:
            scalars[DIM] = top
        absorb(frame, cells, scalars, scratch, here, x, seen, yhat, delta)
        out[row] = yhat
    return y.size


@lean
def stream_dense(frame, potential, loss, cells, scalars, scratch, merged_indices, merged_values, rows, y, weight, bound, ledger, out):
    """The same for dense rows: zeros are skipped, so the arithmetic is that of the sparse row."""
    scalars[CODE] = FINE
    last = weight.size - 1
    for row in range(y.size):
        dense = rows[row]
        within, count = True, 0
        for j in range(dense.size):
            within &= abs(dense[j]) <= frame.largest
            merged_indices[count] = j
            merged_values[count] = dense[j]
            count += dense[j] != 0.0
        target, w = y[row], weight[min(row, last)]
        if not within:
            scalars[CODE] = BAD_VALUE
        if not abs(target) <= LARGEST:
            scalars[CODE] = BAD_TARGET
        if not 0.0 <= w <= LARGEST:
            scalars[CODE] = BAD_WEIGHT
        if scalars[CODE] != FINE:
            return row
        here, x = merged_indices[:count], merged_values[:count]
        seen = recall(frame, cells, scalars, scratch, here, x, squared(x)[0], None)
        raw = _held(answer(frame, potential, cells, scalars, scratch, here, x, seen))
        yhat, delta = _settled(frame, loss, scalars, x, raw, target, w, seen[3], bound, ledger)
        if scalars[CODE] != FINE:
            return row
        absorb(frame, cells, scalars, scratch, here, x, seen, yhat, delta)
        out[row] = yhat
    return y.size


@register_jitable
def _opened(frame, cells, scalars, scratch, width, n):
    """The row in the row buffers as (indices, values, 1 + its largest index), merged where it must be; see CODE."""
    scalars[CODE] = FINE
    dim = cells.size // width
    indices, values = scratch[ROW_INDICES].view(np.uint64)[:n], scratch[ROW_VALUES, :n]
    squares, small = squared(values)
    if orderly(indices, dim) and clean(squares, small, frame.largest):
        return indices, values, indices[n - 1] + 1.0 if n > 0 else 0.0
    merged_indices, merged_values = scratch[MERGED_INDICES].view(np.uint64), scratch[MERGED_VALUES]
    table = scratch[TABLE_ROW : TABLE_ROW + 2].reshape(2 * scratch.shape[1]).view(np.int32)
    scalars[CODE], count, top = study(indices, values, dim, frame.largest, merged_indices, merged_values, table)
    return merged_indices[:count], merged_values[:count], top


@register_jitable
def played(frame, potential, cells, scalars, scratch, here, x):
    """The raw prediction for a row whose indices are known to be good and distinct, its values to be fit."""
    seen = recall(frame, cells, scalars, scratch, here, x, squared(x)[0], None)
    return _held(answer(frame, potential, cells, scalars, scratch, here, x, seen))


@register_jitable
def learned(frame, potential, cells, scalars, scratch, loss, bound, ledger, here, x, top, y, weight):
    """Play such a row, settle, learn: ŷ, or NaN with a verdict in CODE and nothing changed."""
    for k in range(ledger.size):
        scratch[BOOK_ROW, k] = ledger[k]
    seen = recall(frame, cells, scalars, scratch, here, x, squared(x)[0], None)
    raw = _held(answer(frame, potential, cells, scalars, scratch, here, x, seen))
    yhat, delta = _settled(frame, loss, scalars, x, raw, y, weight, seen[3], bound, ledger)
    if scalars[CODE] != FINE:
        for k in range(ledger.size):
            ledger[k] = scratch[BOOK_ROW, k]
        return math.nan
    if top > scalars[DIM]:
        scalars[DIM] = top
    absorb(frame, cells, scalars, scratch, here, x, seen, yhat, delta)
    return yhat


@lean
def one_round(frame, potential, cells, scalars, scratch, width, loss, bound, ledger, n, y, weight):
    """The row in the first n places of the row buffers: play, settle, learn; ŷ, or NaN with a verdict in CODE."""
    here, x, top = _opened(frame, cells, scalars, scratch, width, n)
    if scalars[CODE] != FINE:
        return math.nan
    return learned(frame, potential, cells, scalars, scratch, loss, bound, ledger, here, x, top, y, weight)


@lean
def one_play(frame, potential, cells, scalars, scratch, width, n):
    """The raw prediction for the row in the row buffers; NaN with a verdict in CODE when it cannot be played."""
    here, x, _ = _opened(frame, cells, scalars, scratch, width, n)
    if scalars[CODE] != FINE:
        return math.nan
    return played(frame, potential, cells, scalars, scratch, here, x)


@lean
def one_learn(frame, cells, scalars, scratch, width, n, yhat, delta):
    """ζ ← ζ + T for the row in the row buffers; the size of its x, or NaN with a verdict in CODE."""
    here, x, top = _opened(frame, cells, scalars, scratch, width, n)
    if scalars[CODE] == FINE and _too_steep(frame.largest * frame.lipschitz, x, delta):
        scalars[CODE] = TOO_STEEP
    if scalars[CODE] != FINE:
        return math.nan
    if top > scalars[DIM]:
        scalars[DIM] = top
    seen = recall(frame, cells, scalars, scratch, here, x, squared(x)[0], None)
    absorb(frame, cells, scalars, scratch, here, x, seen, yhat, delta)
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
