"""The compiled loops: a stream of sparse rows, a stream of dense rows, and one round at a time.

Every loop returns early, with a verdict in scalars[CODE], when it meets a row it cannot learn from; nothing of
that row has then been absorbed. What was absorbed before it is undone by the caller, who kept a copy.
"""

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable

from burkholder.compiled import compiled
from burkholder.ledger import measure, settle
from burkholder.potentials.dispatch import LARGEST
from burkholder.states.rounds import CODE, DIM, absorb, answer, recall
from burkholder.states.rounds_rows import (
    BAD_TARGET,
    BAD_VALUE,
    BAD_WEIGHT,
    FINE,
    GROW,
    TOO_STEEP,
    UNSORTED,
    WIDE,
    admit,
    merge,
    top_index,
)


@register_jitable
def _held(raw):
    return min(max(raw, -LARGEST), LARGEST)


@register_jitable
def _digest(frame, potential, loss, cells, scalars, scratch, indices, values, y, weight, bound, ledger):
    """One admitted row without repeated indices: play, settle, learn. Returns ŷ, or NaN with a verdict in CODE."""
    seen = recall(frame, cells, scalars, scratch, indices, values)
    raw = _held(answer(frame, potential, cells, scalars, scratch, indices, values, seen))
    yhat, delta = settle(ledger, loss, raw, y, weight, bound, frame.lipschitz)
    if not abs(delta) <= frame.lipschitz and _too_steep(frame.largest * frame.lipschitz, values, delta):
        scalars[CODE] = TOO_STEEP
        return math.nan
    if frame.limit < math.inf:
        measure(ledger, seen[3], frame.limit)
    absorb(frame, cells, scalars, scratch, indices, values, seen, yhat, delta)
    return yhat


@register_jitable
def _too_steep(largest, values, delta):
    """Whether δx leaves the range in which squares fit."""
    bad = not abs(delta) <= LARGEST
    for k in range(values.size):
        bad |= not abs(delta * values[k]) <= largest
    return bad


@register_jitable
def _look(largest, cells, room, indices, values, merged_indices, merged_values, table, width):
    """A verdict on the row, the number of distinct indices when they had to be merged (else −1), 1 + the largest."""
    n = indices.size
    if n == 0:
        return FINE, -1, 0.0
    if n > room:
        return WIDE, -1, 0.0
    dim, count = cells.size // width, -1
    verdict, top = admit(indices, values, dim, largest), indices[n - 1]
    if verdict == UNSORTED:
        verdict, top = FINE, top_index(indices)
        if top >= dim:
            return GROW, -1, 0.0
        count = merge(indices, values, merged_indices, merged_values, table)
        if count == n:
            count = -1
        for k in range(count):
            if not abs(merged_values[k]) <= largest:
                verdict = BAD_VALUE
    return verdict, count, top + 1.0


@compiled
def stream(
    frame, potential, loss, cells, scalars, scratch, merged_indices, merged_values, table, width,
    indptr, indices, values, y, weight, bound, ledger, out, first,
):
    """Learn from rows first, first+1, …; returns the row it stopped at (the number of rows when all went well)."""
    scalars[CODE] = FINE
    last = weight.size - 1
    for row in range(first, y.size):
        here = indices[indptr[row] : indptr[row + 1]]
        x = values[indptr[row] : indptr[row + 1]]
        verdict, count, dim = _look(
            frame.largest, cells, scratch.shape[1], here, x, merged_indices, merged_values, table, width
        )
        w = weight[min(row, last)]
        if not abs(y[row]) <= LARGEST:
            verdict = BAD_TARGET
        if not 0.0 <= w <= LARGEST:
            verdict = BAD_WEIGHT
        if verdict != FINE:
            scalars[CODE] = verdict
            return row
        scalars[DIM] = max(scalars[DIM], dim)
        if count >= 0:
            here, x = merged_indices[:count], merged_values[:count]
        out[row] = _digest(frame, potential, loss, cells, scalars, scratch, here, x, y[row], w, bound, ledger)
        if scalars[CODE] != FINE:
            return row
    return y.size


@compiled
def stream_dense(
    frame, potential, loss, cells, scalars, scratch, merged_indices, merged_values,
    rows, y, weight, bound, ledger, out, first,
):
    """The same for dense rows: zeros are skipped, so the arithmetic is that of the sparse row."""
    scalars[CODE] = FINE
    last = weight.size - 1
    for row in range(first, y.size):
        x = rows[row]
        within = True
        for j in range(x.size):
            within &= abs(x[j]) <= frame.largest
        count = 0
        for j in range(x.size):
            merged_indices[count] = j
            merged_values[count] = x[j]
            count += x[j] != 0.0
        w = weight[min(row, last)]
        if not within:
            scalars[CODE] = BAD_VALUE
        elif not abs(y[row]) <= LARGEST:
            scalars[CODE] = BAD_TARGET
        elif not 0.0 <= w <= LARGEST:
            scalars[CODE] = BAD_WEIGHT
        if scalars[CODE] != FINE:
            return row
        out[row] = _digest(
            frame, potential, loss, cells, scalars, scratch, merged_indices[:count], merged_values[:count], y[row], w, bound, ledger
        )
        if scalars[CODE] != FINE:
            return row
    return y.size


@compiled
def one_round(
    frame, potential, loss, cells, scalars, scratch, indices, values, merged_indices, merged_values, table, width, n, y, weight,
    bound, ledger,
):
    """The row in the first n places of the buffers: play, settle, learn; ŷ, or NaN with a verdict in CODE."""
    here, x = indices[:n], values[:n]
    scalars[CODE] = FINE
    verdict, count, dim = _look(frame.largest, cells, scratch.shape[1], here, x, merged_indices, merged_values, table, width)
    if verdict != FINE:
        scalars[CODE] = verdict
        return math.nan
    scalars[DIM] = max(scalars[DIM], dim)
    if count >= 0:
        here, x = merged_indices[:count], merged_values[:count]
    before = ledger.copy()
    yhat = _digest(frame, potential, loss, cells, scalars, scratch, here, x, y, weight, bound, ledger)
    if scalars[CODE] != FINE:
        ledger[:] = before
    return yhat


@compiled
def one_play(frame, potential, cells, scalars, scratch, indices, values, merged_indices, merged_values, table, width, n):
    """The raw prediction for the row in the buffers; NaN with a verdict in CODE when it cannot be played."""
    here, x = indices[:n], values[:n]
    scalars[CODE] = FINE
    verdict, count, dim = _look(frame.largest, cells, scratch.shape[1], here, x, merged_indices, merged_values, table, width)
    if verdict != FINE:
        scalars[CODE] = verdict
        return math.nan
    if count >= 0:
        here, x = merged_indices[:count], merged_values[:count]
    seen = recall(frame, cells, scalars, scratch, here, x)
    return _held(answer(frame, potential, cells, scalars, scratch, here, x, seen))


@compiled
def one_learn(
    frame, cells, scalars, scratch, indices, values, merged_indices, merged_values, table, width, n, yhat, delta
):
    """ζ ← ζ + T for the row in the buffers; the size of its x, or NaN with a verdict in CODE."""
    here, x = indices[:n], values[:n]
    scalars[CODE] = FINE
    verdict, count, dim = _look(frame.largest, cells, scratch.shape[1], here, x, merged_indices, merged_values, table, width)
    if verdict == FINE and _too_steep(frame.largest * frame.lipschitz, x, delta):
        verdict = TOO_STEEP
    if verdict != FINE:
        scalars[CODE] = verdict
        return math.nan
    scalars[DIM] = max(scalars[DIM], dim)
    if count >= 0:
        here, x = merged_indices[:count], merged_values[:count]
    seen = recall(frame, cells, scalars, scratch, here, x)
    absorb(frame, cells, scalars, scratch, here, x, seen, yhat, delta)
    return seen[3]


@compiled
def journal(cells, width, indices, kept):
    """Copy the cells the rows will touch (indices beyond the state are new and need no copy)."""
    dim = cells.size // width
    for k in range(indices.size):
        if indices[k] < dim:
            at = np.uint64(indices[k]) * np.uint64(width)
            for f in range(width):
                kept[k, f] = cells[at + np.uint64(f)]


@compiled
def undo(cells, width, indices, kept):
    """Put them back."""
    dim = cells.size // width
    for k in range(indices.size):
        if indices[k] < dim:
            at = np.uint64(indices[k]) * np.uint64(width)
            for f in range(width):
                cells[at + np.uint64(f)] = kept[k, f]
