"""Eight bytes at a time: the machine words the text parsers are built from.

A parser that looks at one byte after another waits for each. These read whole words of a byte array, at any
place. They exist only inside compiled loops and do not check their place: the array must carry `PADDING` spare
bytes on both sides of the text.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import register_jitable

from burkholder.machine.processor import intrinsic, loaded, start_of

PADDING = 64

_ZEROS = np.uint64(0x3030303030303030)  # eight times the digit 0
_ABOVE_NINE = np.uint64(0x7676767676767676)  # added to 0..9 it stays below 128
_TOP_BITS = np.uint64(0x8080808080808080)
_POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)  # what a point becomes when 0 is taken off
_ONES = np.uint64(0x0101010101010101)


@intrinsic
def load64(typing, text, at):  # type: ignore[no-untyped-def]
    """The eight bytes from `at` on, the first byte lowest."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return loaded(builder, start_of(context, builder, signature.args[0], args[0]), args[1], ir.IntType(64))

    return types.uint64(text, at), build


@intrinsic
def lowest(typing, word):  # type: ignore[no-untyped-def]
    """The number of the lowest set bit; 64 for zero."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), build


@intrinsic
def ones(typing, word):  # type: ignore[no-untyped-def]
    """How many bits are set."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), build


@intrinsic
def leading(typing, word):  # type: ignore[no-untyped-def]
    """How many zero bits stand above the highest set bit."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), build


@intrinsic
def high(typing, a, b):  # type: ignore[no-untyped-def]
    """The upper 64 bits of a·b."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        wide = ir.IntType(128)
        product = builder.mul(builder.zext(args[0], wide), builder.zext(args[1], wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


@intrinsic
def as_float(typing, word):  # type: ignore[no-untyped-def]
    """The float64 with these 64 bits."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), build


@intrinsic
def digits(typing, text, end, count):  # type: ignore[no-untyped-def]
    """The 1 ≤ `count` ≤ 8 characters before `end`, as digit values, left-padded with zeros."""

    def build(context, builder, signature, args):  # type: ignore[no-untyped-def]
        word = ir.IntType(64)
        eight = ir.Constant(word, 8)
        raw = loaded(builder, start_of(context, builder, signature.args[0], args[0]), builder.sub(args[1], eight), word)
        raw = builder.xor(raw, ir.Constant(word, int(_ZEROS)))
        shift = builder.mul(builder.sub(eight, args[2]), eight)
        shift = builder.and_(shift, ir.Constant(word, 63))  # a count out of range: digits without meaning
        return builder.shl(builder.lshr(raw, shift), shift)

    return types.uint64(text, end, count), build


@register_jitable
def strange(word):  # type: ignore[no-untyped-def]
    """Zero when each of the eight values is 0..9."""
    return ((word + _ABOVE_NINE) | word) & _TOP_BITS


@register_jitable
def number(word):  # type: ignore[no-untyped-def]
    """The integer spelled by eight digit values: pairs, then fours, then the eight, in three products."""
    word = word * np.uint64(10) + (word >> np.uint64(8))
    low = (word & np.uint64(0x000000FF000000FF)) * np.uint64(100 + (1000000 << 32))
    top = ((word >> np.uint64(16)) & np.uint64(0x000000FF000000FF)) * np.uint64(1 + (10000 << 32))
    return (low + top) >> np.uint64(32)


@register_jitable
def everywhere(byte):  # type: ignore[no-untyped-def]
    """A word of eight times this byte."""
    return np.uint64(byte) * _ONES


@register_jitable
def next_of(text, at, stop, one, other):  # type: ignore[no-untyped-def]
    """The first place from `at` on with one of two bytes, given by `everywhere`; `stop` if there is none."""
    while at < stop:
        word = load64(text, at)
        a, b = word ^ one, word ^ other
        hit = (((a - _ONES) & ~a) | ((b - _ONES) & ~b)) & _TOP_BITS
        if hit != np.uint64(0):
            return min(at + np.int64(lowest(hit) >> np.uint64(3)), stop)
        at += 8
    return stop


@register_jitable
def plain(text, end, count):  # type: ignore[no-untyped-def]
    """The 1 ≤ `count` ≤ 8 characters before `end` as a number with at most one point.

    (digits as an integer, how many, how many behind the point or -1 without one, 0 if nothing else was there)
    """
    word = digits(text, end, count)
    other = word ^ _POINTS
    hit = (other - _ONES) & ~other & _TOP_BITS
    if hit == np.uint64(0):
        return number(word), np.int64(count), -1, strange(word)
    place = lowest(hit) & np.uint64(0x38)
    below = (np.uint64(1) << place) - np.uint64(1)
    # Close the gap: what stands before the point moves up by one character.
    word = ((word & below) << np.uint64(8)) | (word & ~((below << np.uint64(8)) | np.uint64(0xFF)))
    return number(word), np.int64(count) - 1, 7 - np.int64(place >> np.uint64(3)), strange(word)
