"""Is a row fit to be learned from? Range, order and repeated indices, at the price of one vector compare."""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

FINE, GROW, WIDE, BAD_VALUE, BAD_TARGET, BAD_WEIGHT, TOO_STEEP = 0, 1, 2, 3, 4, 5, 6
UNSORTED = 7  # not a verdict: the row must be looked at more closely


@register_jitable
def admit(indices, values, dim, largest):
    """FINE, GROW (an index ≥ dim), BAD_VALUE (not |x| ≤ largest), or UNSORTED."""
    n = indices.size
    if n == 0:
        return FINE
    within = abs(values[0]) <= largest  # false for NaN too
    rising = True
    for k in range(1, n):
        within &= abs(values[k]) <= largest
        rising &= indices[k] > indices[k - 1]
    if not within:
        return BAD_VALUE
    if not rising:
        return UNSORTED
    return FINE if indices[n - 1] < dim else GROW


@register_jitable
def top_index(indices):
    """The largest index of a row."""
    top = indices[0]
    for k in range(1, indices.size):
        top = max(top, indices[k])
    return top


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
