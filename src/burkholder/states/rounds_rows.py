"""Is a row fit to be learned from? What can be wrong with it, and what is done about repeated indices."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

FINE, GROW, WIDE, BAD_VALUE, BAD_TARGET, BAD_WEIGHT, TOO_STEEP = 0, 1, 2, 3, 4, 5, 6


@register_jitable
def rising(before, indices, k, dim):
    """Whether four indices rise from the one before and stay below dim; while gathering, that costs nothing."""
    i0, i1, i2, i3 = indices[k], indices[k + 1], indices[k + 2], indices[k + 3]
    return (before < i0) & (i0 < i1) & (i1 < i2) & (i2 < i3) & (i3 < dim)


@register_jitable
def clean(values, largest):
    """Whether every value is a finite number of admitted size, and none is 0."""
    good = True
    for k in range(values.size):
        size = abs(values[k])
        good &= (size <= largest) & (size != 0.0)  # a NaN fails the first test
    return good


@register_jitable
def study(indices, values, dim, largest, merged_indices, merged_values, table):
    """A row that needs a second look: (verdict, entries left in the merged row, 1 + the largest index).

    Zeros are dropped and repeated indices added up, so that a row means the same however it is written.
    """
    top = indices[0]
    for k in range(indices.size):
        top = max(top, indices[k])
        if not abs(values[k]) <= largest:
            return BAD_VALUE, 0, 0.0
    if top >= dim:
        return GROW, 0, 0.0
    count = merge(indices, values, merged_indices, merged_values, table)
    for k in range(count):
        if not abs(merged_values[k]) <= largest:
            return BAD_VALUE, 0, 0.0
    return FINE, count, top + 1.0


@register_jitable
def merge(indices, values, merged_indices, merged_values, table):
    """Add up the values of repeated indices, in order of first appearance; the number of distinct ones.

    `table` is room for an open-addressing hash: at least four times the row's length.
    """
    size = 1
    while size < 2 * indices.size:
        size *= 2
    table[:size] = -1
    mask, count = np.uint64(size - 1), 0
    for k in range(indices.size):
        if values[k] == 0.0:
            continue
        index = np.uint64(indices[k])
        slot = ((index * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40)) & mask
        while table[slot] >= 0 and merged_indices[table[slot]] != index:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] >= 0:
            merged_values[table[slot]] += values[k]
        else:
            table[slot] = count
            merged_indices[count] = indices[k]
            merged_values[count] = values[k]
            count += 1
    return count
