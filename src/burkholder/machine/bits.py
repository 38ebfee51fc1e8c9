"""Whole machine words: eight bytes of text at once, counting bits, products of 128 bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from burkholder.machine.llvm import F64, I1, I64, loaded, start_of
from burkholder.machine.operations import machine_code

_0, _1, _2, _4, _32, _52, _56, _63 = (np.uint64(k) for k in (0, 1, 2, 4, 32, 52, 56, 63))
_ODD, _PAIRS, _FOURS, _ONES = (np.uint64(k * 0x0101010101010101) for k in (0x55, 0x33, 0x0F, 0x01))
_LOW, _FRACTION = np.uint64(0xFFFFFFFF), np.uint64((1 << 52) - 1)


def _on_word(code: Any, result: Any = types.uint64) -> Any:
    """An operation on one word."""
    return machine_code(lambda word: result(types.uint64), lambda context, b, signature, arguments: code(b, arguments[0]))


def _load(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    return loaded(b, start_of(context, b, signature.args[0], arguments[0]), arguments[1], I64)


@machine_code(lambda text, at: types.uint64(text, at), _load)
def load64(text, at):
    """The eight bytes from `at` on, the first byte lowest. The place is not checked."""
    at, word = np.int64(at), _0
    for k in range(8):
        word |= np.uint64(text[at + k]) << np.uint64(8 * k)
    return word


@_on_word(lambda b, word: b.ctpop(word))
def ones(word):
    """How many bits are set."""
    word = word - ((word >> _1) & _ODD)
    word = (word & _PAIRS) + ((word >> _2) & _PAIRS)
    return (((word + (word >> _4)) & _FOURS) * _ONES) >> _56


@_on_word(lambda b, word: b.cttz(word, I1(0)))
def lowest(word):
    """The number of the lowest set bit; 64 for zero."""
    return ones(~word & (word - _1))


@_on_word(lambda b, word: b.ctlz(word, I1(0)))
def leading(word):
    """How many zero bits stand above the highest set bit."""
    for k in range(6):
        word |= word >> np.uint64(1 << k)
    return ones(~word)


def _upper_half(context: Any, b: Any, signature: Any, arguments: Any) -> Any:
    wide = ir.IntType(128)
    product = b.mul(b.zext(arguments[0], wide), b.zext(arguments[1], wide))
    return b.trunc(b.lshr(product, wide(64)), I64)


@machine_code(lambda a, b: types.uint64(types.uint64, types.uint64), _upper_half)
def high(a, b):
    """The upper 64 bits of a·b."""
    low = (a & _LOW) * (b & _LOW)
    cross = (a >> _32) * (b & _LOW) + (low >> _32)
    other = (a & _LOW) * (b >> _32) + (cross & _LOW)
    return (a >> _32) * (b >> _32) + (cross >> _32) + (other >> _32)


@_on_word(lambda b, word: b.bitcast(word, F64), types.float64)
def as_float(word):
    """The float64 with these 64 bits."""
    exponent, fraction = int((word >> _52) & np.uint64(0x7FF)), float(word & _FRACTION)
    if exponent == 2047:
        size = math.inf if fraction == 0.0 else math.nan
    else:
        size = math.ldexp(fraction + (2.0**52 if exponent > 0 else 0.0), max(exponent, 1) - 1075)
    return -size if word >> _63 else size
