"""Where the separators of a text are: 64 bytes at a time, one bit for each byte."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from burkholder.machine.bits import lowest, ones
from burkholder.machine.llvm import I8, I32, I64, Many, called, every, gathered, loaded, start_of, stored
from burkholder.machine.operations import machine_code
from burkholder.machine.pieces import register_jitable
from burkholder.machine.processor import has

_0, _1, _8, _64 = (np.uint64(k) for k in (0, 1, 8, 64))
_BLOCK = Many(I8, 64)


def _found(b: Any, block: Any) -> Any:
    """Spaces, control characters and colons."""
    return b.or_(b.icmp_unsigned("<=", block, every(_BLOCK, 32)), b.icmp_unsigned("==", block, every(_BLOCK, 58)))


def _mark_code(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    return b.bitcast(_found(b, loaded(b, start_of(context, b, signature.args[0], arguments[0]), arguments[1], _BLOCK)), I64)


@machine_code(lambda text, at: types.uint64(text, types.uint64), _mark_code)
def _marks(text, at):
    """Bit i is set when byte at+i is a separator."""
    found = _0
    for i in range(64):
        c = text[np.int64(at) + i]
        found |= np.uint64(c <= 32 or c == 58) << np.uint64(i)
    return found


def _squeezed(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    """The separators among 64 bytes and their places, pressed together by one instruction."""
    letters, marks, signs = (start_of(context, b, signature.args[place], arguments[place]) for place in (0, 3, 4))
    slot, some, unset = arguments[5], Many(I32, 16), ir.Constant(_BLOCK, ir.Undefined)
    block = loaded(b, letters, arguments[1], _BLOCK)
    found = b.and_(_found(b, block), b.bitcast(arguments[2], Many(ir.IntType(1), 64)))
    count = b.ctpop(b.bitcast(found, I64))
    press = "llvm.experimental.vector.compress.v64i8"
    within = called(b, press, _BLOCK, [ir.Constant(_BLOCK, list(range(64))), found, unset])
    stored(b, called(b, press, _BLOCK, [block, found, unset]), signs, slot)
    base = gathered(b, some, [b.trunc(arguments[1], I32)] * 16)

    def put(first: int) -> None:
        order = ir.Constant(some, list(range(first, first + 16)))
        place = b.add(b.zext(b.shuffle_vector(within, within, order), some), base)
        stored(b, place, marks, b.add(slot, I64(first)))

    put(0)
    with b.if_then(b.icmp_unsigned(">", count, I64(16)), likely=False):
        for first in (16, 32, 48):
            put(first)
    return b.add(slot, count)


def _typed(text: Any, at: Any, wanted: Any, places: Any, kinds: Any, slot: Any) -> Any:
    return types.uint64(text, types.uint64, types.uint64, places, kinds, types.uint64)


def _written(text, at, wanted, places, kinds, slot):
    """List those of the 64 bytes from `at` on that are separators and wanted; returns the slot behind them."""
    found = _marks(text, at) & wanted
    count = slot + ones(found)
    # Writing eight at once, wanted or not, spares the processor a guess; the count says which are real.
    while found != _0:
        for step in range(8):
            place = at + (lowest(found) & np.uint64(63))
            places[slot + np.uint64(step)] = place
            kinds[slot + np.uint64(step)] = text[place]
            found &= found - _1
        slot += _8
    return count


_written = machine_code(_typed, _squeezed)(_written) if has("avx512vbmi2") else register_jitable(_written)


@register_jitable
def separators(text, start, stop, places, kinds):
    """List the separators in text[start:stop], with their places; returns how many. The arrays need 64 spare slots."""
    count, at, end = np.uint64(0), np.uint64(start), np.uint64(stop)
    while at < end:
        wanted = ~_0
        if end - at < _64:
            wanted = (_1 << (end - at)) - _1
        count = _written(text, at, wanted, places, kinds, count)
        at += _64
    return count
