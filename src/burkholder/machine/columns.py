"""Four numbers from each of eight rows of a table, as four vectors of eight, and back.

What belongs to one row lies together (one cache line each); to compute on eight rows side by side it is turned on the way in
and on the way out, which costs a few instructions for all eight.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types

from burkholder.machine.llvm import F64, I64, Many, picked, place, place_of, start_of
from burkholder.machine.operations import EIGHT, machine_code, numbers, vector
from burkholder.machine.pieces import register_jitable

# [a0 b0 a2 b2 | a4 …] and [a1 b1 a3 b3 | …]: pairs within 128 bits, as the processor does it in one instruction
_EVEN, _ODD = [0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]
_FIRST, _LAST = [0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]


def _turned(b: Any, rows: list[Any]) -> list[Any]:
    """Four vectors, each of two 4×4 halves; every half is transposed."""
    first, second, third, fourth = rows
    low, high = picked(b, first, second, _EVEN), picked(b, third, fourth, _EVEN)
    odd_low, odd_high = picked(b, first, second, _ODD), picked(b, third, fourth, _ODD)
    return [
        picked(b, low, high, _FIRST),
        picked(b, odd_low, odd_high, _FIRST),
        picked(b, low, high, _LAST),
        picked(b, odd_low, odd_high, _LAST),
    ]


def _rows(context: Any, b: Any, signature: Any, arguments: Any) -> list[Any]:
    """Where the eight rows begin whose numbers are slots[j], …, slots[j+7]."""
    table, slots = signature.args[0], start_of(context, b, signature.args[1], arguments[1])
    numbers = [b.load(place(b, slots, b.add(arguments[2], I64(i))), typ=slots.kind) for i in range(8)]
    return [place_of(context, b, table, arguments[0], [number, I64(0)]) for number in numbers]


def _columns(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    halves = [b.load(where, align=8, typ=Many(F64, 4)) for where in _rows(context, b, signature, arguments)]
    joined = [picked(b, halves[i], halves[i + 4], range(8)) for i in range(4)]
    return context.make_tuple(b, signature.return_type, _turned(b, joined))


@register_jitable
def _column(table, slots, j, c):
    return vector((
        table[slots[j], c], table[slots[j + 1], c], table[slots[j + 2], c], table[slots[j + 3], c],
        table[slots[j + 4], c], table[slots[j + 5], c], table[slots[j + 6], c], table[slots[j + 7], c],
    ))  # fmt: skip


@machine_code(lambda table, slots, j: types.UniTuple(EIGHT, 4)(table, slots, types.intp), _columns)
def columns(table, slots, j):
    """The first four columns of the rows slots[j], …, slots[j+7] of the table."""
    return _column(table, slots, j, 0), _column(table, slots, j, 1), _column(table, slots, j, 2), _column(table, slots, j, 3)


def _put_columns(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    joined, nothing = _turned(b, list(arguments[3:])), ir.Constant(Many(F64, 8), ir.Undefined)
    for i, where in enumerate(_rows(context, b, signature, arguments)):
        half = picked(b, joined[i % 4], nothing, range(4 * (i // 4), 4 * (i // 4) + 4))
        b.store(half, where, align=8)
    return context.get_dummy_value()


@machine_code(lambda table, slots, j, *parts: types.none(table, slots, types.intp, *parts), _put_columns)
def put_columns(table, slots, j, first, second, third, fourth):
    """Write the first four columns of the rows slots[j], …, slots[j+7], in this order."""
    a, b, c, d = numbers(first), numbers(second), numbers(third), numbers(fourth)
    for i in range(8):
        row = slots[j + i]
        table[row, 0], table[row, 1], table[row, 2], table[row, 3] = a[i], b[i], c[i], d[i]
