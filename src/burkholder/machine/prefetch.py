"""Ask for memory before it is needed: a sparse stream says which cells its next rows touch."""

from __future__ import annotations

from typing import Any

from numba import types

from burkholder.machine.compiling import register_jitable
from burkholder.machine.llvm import I32, NOTHING, called, place_of
from burkholder.machine.operations import machine_code


def _typed(array: Any, *indices: Any) -> Any:
    return types.none(array, *[types.intp] * len(indices))


def _hint(level: int) -> Any:
    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = place_of(context, builder, signature.args[0], arguments[0], arguments[1:])
        called(builder, "llvm.prefetch.p0", NOTHING, [place, I32(0), I32(level), I32(1)])  # to read; how close; data
        return context.get_dummy_value()

    return code


# Hints: the place may lie outside the array, nothing is read or written.
@machine_code(_typed, _hint(3))
def prefetch(array, i, j=0):
    """Bring the cache line of array[i], or of array[i, j], as close as it can be: for streams."""


@machine_code(_typed, _hint(2))
def prefetch_near(array, i, j=0):
    """Bring the cache line to the second level: for scattered cells.

    Asked into the first level they would hold the few slots it has for lines on their way: 1.8 against 2.4 ns an entry for a
    state of 4 MB.
    """


AHEAD = 8  # rows between the one at work and the one that is asked for; where it lies is asked for as long before


@register_jitable
def prefetch_rows(order, i, indptr, indices, values):
    """For compressed rows taken in an order of their own, the i-th now: ask for a later one's entries, and say which row that is."""
    prefetch(indptr, order[min(i + 2 * AHEAD, order.shape[0] - 1)])
    row = order[min(i + AHEAD, order.shape[0] - 1)]
    start = indptr[row]
    prefetch(values, start)
    prefetch(values, start + 8)
    prefetch(indices, start)
    prefetch(indices, start + 8)
    return row
