"""Statistics of eight features at once: four numbers from each of eight rows, as four vectors of eight, and back.

The statistics of a feature lie together (one cache line each); to compute on eight features side by side they are
turned on the way in and on the way out, which costs a few instructions for all eight.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from burkholder.machine.vectors import EIGHT, _pointer, _vector, intrinsic


def _picked(builder: Any, a: Any, b: Any, places: list[int]) -> Any:
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
    return builder.shuffle_vector(a, b, mask)


# [a0 b0 a2 b2 | a4 …] and [a1 b1 a3 b3 | …]: pairs within 128 bits, as the processor does it in one instruction
_EVEN, _ODD = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
_FIRST, _LAST = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]


def _turned(builder: Any, rows: list[Any]) -> list[Any]:
    """Four vectors, each of two 4×4 halves; every half is transposed."""
    a, b, c, d = rows
    low, high = _picked(builder, a, b, _EVEN), _picked(builder, c, d, _EVEN)
    odd_low, odd_high = _picked(builder, a, b, _ODD), _picked(builder, c, d, _ODD)
    return [
        _picked(builder, low, high, _FIRST),
        _picked(builder, odd_low, odd_high, _FIRST),
        _picked(builder, low, high, _LAST),
        _picked(builder, odd_low, odd_high, _LAST),
    ]


def _rows(context: Any, builder: Any, table_type: Any, table: Any, slot_type: Any, slots: Any, j: Any) -> list[Any]:
    """Where the eight rows begin whose numbers are slots[j], …, slots[j+7]."""
    places = []
    for i in range(8):
        at = builder.add(j, ir.Constant(j.type, i))
        where = builder.bitcast(_pointer(context, builder, slot_type, slots, [at], 8), ir.IntType(64).as_pointer())
        places.append(_pointer(context, builder, table_type, table, [builder.load(where), ir.Constant(j.type, 0)], 4))
    return places


@intrinsic
def columns(typingctx, table, slots, j):  # type: ignore[no-untyped-def]
    """The first four columns of the rows slots[j], …, slots[j+7] of the table."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        places = _rows(context, builder, sig.args[0], args[0], sig.args[1], args[1], args[2])
        halves = [builder.load(place, align=8) for place in places]
        joined = [_picked(builder, halves[i], halves[i + 4], list(range(8))) for i in range(4)]
        return context.make_tuple(builder, sig.return_type, _turned(builder, joined))

    return types.UniTuple(EIGHT, 4)(table, slots, types.intp), codegen


@intrinsic
def put_columns(typingctx, table, slots, j, first, second, third, fourth):  # type: ignore[no-untyped-def]
    """Write the first four columns of the rows slots[j], …, slots[j+7], in this order."""

    def codegen(context, builder, sig, args):  # type: ignore[no-untyped-def]
        places = _rows(context, builder, sig.args[0], args[0], sig.args[1], args[1], args[2])
        joined = _turned(builder, list(args[3:]))
        nothing = ir.Constant(_vector(8), ir.Undefined)
        for i in range(8):
            half = _picked(builder, joined[i % 4], nothing, list(range(4 * (i // 4), 4 * (i // 4) + 4)))
            builder.store(half, places[i], align=8)
        return context.get_dummy_value()

    return types.none(table, slots, types.intp, first, second, third, fourth), codegen
