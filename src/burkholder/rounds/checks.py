"""Is a row fit to be learned from? What can be wrong with it, and what is done about repeated indices."""

from __future__ import annotations

import math

import numpy as np

from burkholder.machine.compiling import register_jitable
from burkholder.machine.vectors import all8, fused, least, least8, load8, total8

FINE, GROW, WIDE, BAD_VALUE, BAD_TARGET, BAD_WEIGHT, TOO_STEEP = 0, 1, 2, 3, 4, 5, 6


@register_jitable
def orderly(indices, dim):
    """Whether the indices rise and stay below dim; a pass of vector code, far cheaper than the gathering."""
    good = True
    for k in range(1, indices.size):
        good &= indices[k - 1] < indices[k]
    return good and (indices.size == 0 or indices[indices.size - 1] < dim)


@register_jitable
def squared(values):
    """(Σx², the least x²): 0 among them, a NaN or a number too large shows in one of the two."""
    n = values.size
    whole = n - n % 8
    sums, least_seen = all8(0.0), all8(math.inf)
    for k in range(0, whole, 8):
        x = load8(values, k)
        sums = fused(x, x, sums)
        least_seen = least(x * x, least_seen)
    total, small = total8(sums), least8(least_seen)
    for k in range(whole, n):
        square = float(values[k]) * float(values[k])
        total += square
        small = min(small, square)
    return total, small


@register_jitable
def clean(squares, small, largest):
    """Whether every value is certainly a finite number of admitted size, and none is 0."""
    return small > 0.0 and squares <= largest * largest


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
