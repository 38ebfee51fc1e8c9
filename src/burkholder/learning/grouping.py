"""Rows of many streams, sorted by whose they are."""

from __future__ import annotations

import numpy as np

from burkholder.machine.compiling import compiled


@compiled
def _counted(slots, ends, order):
    """Every row to the end of its slot's part of the order so far."""
    for row in range(slots.size):
        order[ends[slots[row]]] = row
        ends[slots[row]] += 1
    return order


def grouped(slots: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(slots that occur, where each begins, rows in that order): stable, so that every key keeps its order.

    >>> [part.tolist() for part in grouped(np.array([2, 0, 2]))]
    [[0, 2], [0, 1, 3], [1, 0, 2]]
    """
    if not len(slots):
        return np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64)
    low, high = int(slots.min()), int(slots.max())
    if high - low < 4 * len(slots):  # counted rather than sorted
        counts = np.bincount(slots - low, minlength=high - low + 1)
        which = np.flatnonzero(counts)
        starts = np.append(0, np.cumsum(counts[which]))
        ends = np.zeros(len(counts), np.int64)
        ends[which] = starts[:-1]
        return which + low, starts, _counted(slots - low, ends, np.empty(len(slots), np.int64))
    order = np.argsort(slots, kind="stable")
    ordered = slots[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    return ordered[starts], np.append(starts, len(slots)), order
