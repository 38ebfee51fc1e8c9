"""A batch: some rows of a stream, in the arrays the compiled engine takes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burkholder.machine.compiling import compiled, register_jitable


class Batch(NamedTuple):
    """Rows in compressed form: row i has indices[indptr[i]:indptr[i+1]] and the values beside them.

    The arrays belong to the reader and are overwritten by its next batch: copy what must last.

    >>> batch = Batch(np.array([0, 2, 3]), np.array([0, 5, 1], dtype=np.int32), np.array([1.0, 2.0, 3.0]),
    ...               np.array([1.0, -1.0]), np.ones(2), np.array([1, 2]))
    >>> batch.rows
    2
    """

    indptr: np.ndarray  # int64, from 0
    indices: np.ndarray  # int32
    values: np.ndarray  # float64
    y: np.ndarray  # float64; NaN where a row without a label is kept
    weight: np.ndarray  # float64, 1 where the file gives none
    line: np.ndarray  # int64: line (row, in binary files) each row came from, counted from 1

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.y)

    def copy(self) -> Batch:
        """A batch that outlives its reader."""
        return Batch(*(np.array(part) for part in self))

    def without(self, dropped: np.ndarray) -> Batch:
        """The batch less the rows where `dropped` is True."""
        kept = ~dropped
        lengths = np.diff(self.indptr)
        inside = np.repeat(kept, lengths)
        indptr = np.concatenate([[0], np.cumsum(lengths[kept])]).astype(np.int64)
        return Batch(indptr, self.indices[inside], self.values[inside], self.y[kept], self.weight[kept], self.line[kept])


class Space:
    """The arrays text parsers fill: with fewer than `gather` rows and features in them, `size` bytes always fit.

    `state` carries what a parser reports back: see the names below. `doubtful` lists numbers left to Python's
    float(): (which array, slot, start, stop). `bad` lists malformed lines: (line, reason, start, stop).
    """

    def __init__(self, size: int, gather: int) -> None:
        text = size + 64  # one feature needs at least one byte, and so does the end of a row
        rows, features = gather + text, gather + 2 * text
        self.indptr = np.empty(rows + 1, dtype=np.int64)
        self.indices = np.empty(features, dtype=np.int32)
        self.values = np.empty(features)
        self.y = np.empty(rows)
        self.weight = np.empty(rows)
        self.line = np.empty(rows, dtype=np.int64)
        self.doubtful = np.empty((text // 4, 4), dtype=np.int64)
        self.bad = np.empty((64, 4), dtype=np.int64)
        self.state = np.zeros(9, dtype=np.int64)

    def take_over(self, other: Space) -> None:
        """Continue where a smaller space stopped."""
        for mine, theirs in zip(self.batch_of(other.state), other.batch(), strict=True):
            mine[:] = theirs
        self.state[:] = other.state

    def batch(self) -> Batch:
        """The rows filled in so far."""
        return self.batch_of(self.state)

    def batch_of(self, state: np.ndarray) -> Batch:
        rows, nnz = int(state[ROWS]), int(state[NNZ])
        return Batch(self.indptr[: rows + 1], self.indices[:nnz], self.values[:nnz], self.y[:rows], self.weight[:rows], self.line[:rows])


# Places in `Space.state`.
LINE, ROWS, NNZ, DOUBTFUL, BAD, NEXT, LARGEST, LEAST, UNLABELLED = range(9)
# Arrays named in `Space.doubtful`.
VALUE, LABEL, WEIGHT = range(3)


@register_jitable
def opened(state, indptr):
    """Start parsing behind the rows already there: (rows, features, number of the next line)."""
    indptr[0] = 0
    state[BAD] = 0
    state[DOUBTFUL] = 0
    return state[ROWS], state[NNZ], state[LINE]


@register_jitable
def doubt(doubtful, state, array, slot, start, stop):
    """Leave the number text[start:stop] to Python."""
    at = state[DOUBTFUL]
    doubtful[at, 0], doubtful[at, 1], doubtful[at, 2], doubtful[at, 3] = array, slot, start, stop
    state[DOUBTFUL] = at + 1


@register_jitable
def refuse(bad, state, line, reason, start, stop):
    """Report a malformed line; text[start:stop] is what is wrong with it."""
    at = state[BAD]
    if at < bad.shape[0]:
        bad[at, 0], bad[at, 1], bad[at, 2], bad[at, 3] = line, reason, start, stop
    state[BAD] = at + 1


@register_jitable
def closed(state, rows, nnz, line, place):
    """Say how far parsing came: the text from `place` on is still to be read."""
    state[ROWS], state[NNZ], state[LINE], state[NEXT] = rows, nnz, line, place


@register_jitable
def noticed(indices, first, last, offset, state):
    """Keep the least and the largest feature number in mind; least > largest as long as none was seen."""
    largest, least = np.int32(-1), np.uint32(0xFFFFFFFF)
    for k in range(first, last):
        number = np.int32(indices[k] - offset)
        largest = max(largest, number)
        least = min(least, np.uint32(number))  # the constant, at −1, comes out largest of all
    if largest >= 0:
        state[LARGEST] = max(state[LARGEST], np.int64(largest))
        state[LEAST] = min(state[LEAST], np.int64(least))


@compiled
def with_intercept(indptr, indices, values, out_indptr, out_indices, out_values):
    """Copy rows with the constant 1 at index 0 and every other index one higher; returns how many numbers."""
    slot = 0
    base = indptr[0]
    out_indptr[0] = 0
    for row in range(indptr.size - 1):
        out_indices[slot] = 0
        out_values[slot] = 1.0
        slot += 1
        for k in range(indptr[row] - base, indptr[row + 1] - base):
            out_indices[slot] = indices[k] + 1
            out_values[slot] = values[k]
            slot += 1
        out_indptr[row + 1] = slot
    return slot
