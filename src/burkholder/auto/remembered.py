"""The rows that trees remember: a ring of the last ones, in blocks of eight rows side by side.

A block has a column a row: what the linear lanes played, the label, the weight, the round, then the features, whose places are counted
from 1. So eight rows are compared with another at once. There is a power of two of them; the row of round t has place t modulo that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.state import aligned, padded
from burkholder.machine.compiling import inlined

BASE, LABEL, WEIGHT, ROUND = range(4)  # of a row, before the features
SIDE = 8  # rows in a block


def new_ring() -> NDArray[np.float64]:
    """Nothing yet."""
    return aligned(1, ROUND + 1, SIDE)


def blocked(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The ring of these rows, one after another."""
    blocks, columns = -(-len(rows) // SIDE), rows.shape[1]
    whole, out = np.zeros((blocks * SIDE, columns)), aligned(blocks, columns, SIDE)
    whole[: len(rows)] = rows
    out[...] = whole.reshape(blocks, SIDE, columns).swapaxes(1, 2)
    return out


def rows_of(ring: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rows of a ring, one after another."""
    return np.ascontiguousarray(ring.swapaxes(1, 2)).reshape(-1, ring.shape[1])


def longer_ring(ring: NDArray[np.float64], most: int, rounds: int, rows: int, width: int) -> NDArray[np.float64]:
    """The same ring, or one with room for so many more rows after so many rounds, `most` in all, of features up to place `width`."""
    have, columns = len(ring) * SIDE, ring.shape[1]
    length, width = min(most, max(have, power(rounds + rows))), max(columns, ROUND + 1 + padded(width))
    if (length, width) == (have, columns):
        return ring
    kept, out = rows_of(ring), np.zeros((length, width))
    kept = kept[kept[:, ROUND] > 0.0]
    out[kept[:, ROUND].astype(np.int64) % length, :columns] = kept
    return blocked(out)


def power(number: int) -> int:
    """The next power of two, at least sixteen."""
    return 1 << max(number - 1, 3).bit_length()


@inlined
def place_of_round(ring, now):
    """Where the row of a round stands."""
    return int(now) & (SIDE * ring.shape[0] - 1)


@inlined
def entry(ring, row, column):
    """What stands there."""
    return ring[row >> 3, column, row & 7]


@inlined
def write(ring, x, now, base, label, weight):
    """The row of this round, with its features x."""
    at = place_of_round(ring, now)
    block, place = at >> 3, at & 7
    ring[block, BASE, place], ring[block, LABEL, place] = base, label
    ring[block, WEIGHT, place], ring[block, ROUND, place] = weight, now
    for i in range(1, ring.shape[1] - ROUND):
        ring[block, ROUND + i, place] = x[i]
