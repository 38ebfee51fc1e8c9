"""Is a row fit to be learned from? What can be wrong with it, and what is done about repeated indices."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

FINE, GROW, WIDE, BAD_VALUE, BAD_TARGET, BAD_WEIGHT, TOO_STEEP = 0, 1, 2, 3, 4, 5, 6


@register_jitable
def plain(index, x, previous, dim, largest):
    """Whether an entry needs no second look: a new, larger index within the state, a finite value that is not 0.

    Asked inside the loop that gathers, where the comparisons hide behind memory traffic.
    """
    return (index > previous) & (index < dim) & (abs(x) <= largest) & (x != 0.0)


@register_jitable
def study(indices, values, dim, largest, merged_indices, merged_values, table):
    """A row that was not plain: (verdict, number of entries left in the merged row, 1 + the largest index).

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
