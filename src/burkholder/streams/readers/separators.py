"""Where the separators of a text are: 64 bytes at a time, one bit for each byte."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import register_jitable

from burkholder.machine.processor import I8, I32, I64, Vector, called, every, gathered, has, intrinsic, loaded, start_of, stored
from burkholder.streams.readers.words import lowest, ones

_0, _1, _8, _64 = (np.uint64(k) for k in (0, 1, 8, 64))
_BLOCK = Vector(I8, 64)


def _found(b: Any, block: Any) -> Any:
    """Spaces, control characters and colons."""
    return b.or_(b.icmp_unsigned("<=", block, every(_BLOCK, 32)), b.icmp_unsigned("==", block, every(_BLOCK, 58)))


@intrinsic
def _marks(typing, text, at):  # type: ignore[no-untyped-def]
    """Bit i is set when byte at+i is a separator."""

    def build(context, b, signature, args):  # type: ignore[no-untyped-def]
        return b.bitcast(_found(b, loaded(b, start_of(context, b, signature.args[0], args[0]), args[1], _BLOCK)), I64)

    return types.uint64(text, types.uint64), build


@intrinsic
def _squeezed(typing, text, at, wanted, places, kinds, slot):  # type: ignore[no-untyped-def]
    """Write the separators among 64 bytes and their places, pressed together; returns the slot behind them."""

    def build(context, b, signature, args):  # type: ignore[no-untyped-def]
        letters, marks, signs = (start_of(context, b, signature.args[place], args[place]) for place in (0, 3, 4))
        slot, some, unset = args[5], Vector(I32, 16), ir.Constant(_BLOCK, ir.Undefined)
        block = loaded(b, letters, args[1], _BLOCK)
        found = b.and_(_found(b, block), b.bitcast(args[2], Vector(ir.IntType(1), 64)))
        count = b.ctpop(b.bitcast(found, I64))
        press = "llvm.experimental.vector.compress.v64i8"
        within = called(b, press, _BLOCK, [ir.Constant(_BLOCK, list(range(64))), found, unset])
        stored(b, called(b, press, _BLOCK, [block, found, unset]), signs, slot)
        base = gathered(b, some, [b.trunc(args[1], I32)] * 16)

        def put(first: int) -> None:
            order = ir.Constant(Vector(I32, 16), list(range(first, first + 16)))
            place = b.add(b.zext(b.shuffle_vector(within, within, order), some), base)
            stored(b, place, marks, b.add(slot, I64(first)))

        put(0)
        with b.if_then(b.icmp_unsigned(">", count, I64(16)), likely=False):
            for first in (16, 32, 48):
                put(first)
        return b.add(slot, count)

    return types.uint64(text, types.uint64, types.uint64, places, kinds, types.uint64), build


@register_jitable
def _listed(text, at, wanted, places, kinds, slot):  # type: ignore[no-untyped-def]
    """`_squeezed` for processors that cannot press bytes together."""
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


_written = _squeezed if has("avx512vbmi2") else _listed


@register_jitable
def separators(text, start, stop, places, kinds):  # type: ignore[no-untyped-def]
    """List the separators in text[start:stop], with their places; returns how many. The arrays need 64 spare slots."""
    count, at, end = np.uint64(0), np.uint64(start), np.uint64(stop)
    while at < end:
        wanted = ~_0
        if end - at < _64:
            wanted = (_1 << (end - at)) - _1
        count = _written(text, at, wanted, places, kinds, count)
        at += _64
    return count
