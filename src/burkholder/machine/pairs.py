"""Eight `id:value` pairs at once, for the spelling nearly all of them have.

A pair is usual when its id has 1 to 8 digits and its value 1 to 16 characters: perhaps a minus, digits, at most one point.
The digits are then a whole number m ≤ 2^53 and the value is m divided by a power of ten ≤ 10^15: both exact, one rounding,
the same bits as Python's float(). Each value is looked at as 16 bytes that end where it ends; what is true of which byte is
kept as 16 bits a value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from burkholder.machine.llvm import F64, I1, I8, I16, I32, I64, Many, called, every, gathered, loaded, picked, start_of, stored
from burkholder.machine.operations import machine_code
from burkholder.machine.processor import has

_EVEN, _ODD = range(0, 16, 2), range(1, 16, 2)
_BYTES, _BITS, _PLACES, _WORDS, _NUMBERS = Many(I8, 64), Many(I16, 8), Many(I32, 8), Many(I64, 8), Many(F64, 8)


def _joined(b: Any, digits: Any, base: int) -> Any:
    """Neighbouring numbers x, y as one: base·x + y, twice as wide. For 64 bytes, 32 or 16 words of 16 or 32 bits."""
    bits, count = digits.type.element.width, digits.type.count // 2
    wide = Many(ir.IntType(2 * bits), count)
    if bits < 32 and has("avx512bw") and bits * 2 * count == 512:
        name = "pmaddubs.w" if bits == 8 else "pmaddw.d"
        factors = ir.Constant(digits.type, [base, 1] * count)
        return called(b, f"llvm.x86.avx512.{name}.512", wide, [digits, factors])
    both = b.bitcast(digits, wide)
    first = b.and_(both, every(wide, (1 << bits) - 1))
    return b.add(b.mul(first, every(wide, base)), b.lshr(both, every(wide, bits)))


def _ids(b: Any, words: Any, lengths: Any) -> tuple[Any, Any]:
    """(ids, which are usual) from the eight bytes before each colon."""
    cut = b.and_(b.sub(every(_PLACES, 64), b.shl(lengths, every(_PLACES, 3))), every(_PLACES, 63))
    kept = b.shl(every(_WORDS, -1), b.zext(cut, _WORDS))  # the bytes of the id itself
    digits = b.and_(b.xor(words, every(_WORDS, 0x3030303030303030)), kept)
    above = b.or_(b.add(digits, every(_WORDS, 0x7676767676767676)), digits)  # a byte beyond 9 gets its top bit
    usual = b.icmp_unsigned("==", b.and_(above, every(_WORDS, 0x8080808080808080)), every(_WORDS, 0))
    number = _joined(b, _joined(b, _joined(b, b.bitcast(digits, _BYTES), 10), 100), 10000)
    return b.trunc(number, _PLACES), usual


def _bits(b: Any, tests: list[Any]) -> Any:
    """Sixteen bits a value from tests of every byte: values 0, 2, 4, 6 in the first, 1, 3, 5, 7 in the second."""
    both = b.bitcast(gathered(b, Many(I64, 2), [b.bitcast(test, I64) for test in tests]), _BITS)
    return picked(b, both, both, [0, 4, 1, 5, 2, 6, 3, 7])


def _tests(b: Any, bits: Any) -> list[Any]:
    """The way back."""
    both = b.bitcast(picked(b, bits, bits, [*_EVEN[:4], *_ODD[:4]]), Many(I64, 2))
    return [b.bitcast(b.extract_element(both, I32(half)), Many(I1, 64)) for half in range(2)]


def _whole(b: Any, fours: list[Any]) -> Any:
    """The 16 digits of each value as one number, from numbers of four digits."""
    if has("avx512bw"):
        packed = called(b, "llvm.x86.avx512.packusdw.512", Many(I16, 32), fours)
    else:
        even, odd = (b.bitcast(b.trunc(part, Many(I16, 16)), Many(I64, 4)) for part in fours)
        packed = b.bitcast(picked(b, even, odd, [0, 4, 1, 5, 2, 6, 3, 7]), Many(I16, 32))
    return _joined(b, _joined(b, packed, 10000), 10**8)


def _power(b: Any, exponent: Any) -> Any:
    """10^k for 0 ≤ k < 16."""
    if has("avx512f"):
        low, high = (ir.Constant(_NUMBERS, [10.0**k for k in range(first, first + 8)]) for first in (0, 8))
        return called(b, "llvm.x86.avx512.vpermi2var.pd.512", _NUMBERS, [low, exponent, high])
    power = ir.Constant(_NUMBERS, [1.0] * 8)
    for bit in range(4):  # squares of squares are exact this far
        one = b.and_(exponent, every(_WORDS, 1 << bit))
        factor = b.select(
            b.icmp_unsigned("==", one, every(_WORDS, 0)), ir.Constant(_NUMBERS, [1.0] * 8), ir.Constant(_NUMBERS, [10.0 ** (1 << bit)] * 8)
        )
        power = b.fmul(power, factor)
    return power


def _values(b: Any, halves: list[Any], lengths: Any) -> tuple[Any, Any]:
    """(values, which are usual) from the sixteen bytes before each end."""
    zero, nothing = every(_BITS, 0), every(_BYTES, 0)
    room = b.and_(b.sub(every(_BITS, 16), b.trunc(lengths, _BITS)), every(_BITS, 15))
    token = b.shl(every(_BITS, -1), room)  # the bytes of the value itself
    low = [b.xor(half, every(_BYTES, 48)) for half in halves]
    digits = b.and_(_bits(b, [b.icmp_unsigned("<=", half, every(_BYTES, 9)) for half in low]), token)
    point = b.and_(_bits(b, [b.icmp_unsigned("==", half, every(_BYTES, 46)) for half in halves]), token)
    minus = b.and_(_bits(b, [b.icmp_unsigned("==", half, every(_BYTES, 45)) for half in halves]), token)
    before = b.sub(point, every(_BITS, 1))
    unusual = b.xor(b.or_(b.or_(digits, point), minus), token)
    unusual = b.or_(unusual, b.and_(point, before))  # two points
    unusual = b.or_(unusual, b.and_(minus, b.not_(b.shl(every(_BITS, 1), room))))  # a minus inside
    usual = b.and_(b.icmp_unsigned("==", unusual, zero), b.icmp_unsigned("!=", digits, zero))
    # Close the gap: digits before the point move up by one byte.
    moved = b.select(b.icmp_unsigned("==", point, zero), zero, b.or_(point, before))
    fours = []
    for half, kept, over in zip(low, _tests(b, digits), _tests(b, moved), strict=True):
        cleared = b.select(kept, half, nothing)
        up = picked(b, cleared, nothing, [place - 1 if place % 16 else 64 for place in range(64)])
        fours.append(_joined(b, _joined(b, b.select(over, up, cleared), 10), 100))
    m = _whole(b, fours)
    usual = b.and_(usual, b.icmp_unsigned("<=", m, every(_WORDS, 1 << 53)))
    behind = called(b, "llvm.ctlz.v8i32", _PLACES, [b.zext(point, _PLACES), I1(0)])  # 16 + digits behind the point
    value = b.fdiv(b.sitofp(m, _NUMBERS), _power(b, b.zext(b.and_(behind, every(_PLACES, 15)), _WORDS)))
    return b.select(b.icmp_unsigned("!=", minus, zero), b.fneg(value), value), usual


def _built(context: Any, b: Any, signature: Any, args: Any) -> Any:
    letters, marks, signs, out, numbers = (start_of(context, b, signature.args[place], args[place]) for place in (0, 1, 2, 4, 5))
    k, slot = args[3], args[6]
    here = loaded(b, marks, k, Many(I32, 16))
    earlier = loaded(b, marks, b.sub(k, I64(1)), Many(I32, 16))
    colon, end, start = picked(b, here, here, _EVEN), picked(b, here, here, _ODD), picked(b, earlier, earlier, _EVEN)
    one = every(_PLACES, 1)
    length, size = b.sub(b.sub(colon, start), one), b.sub(b.sub(end, colon), one)
    sign = loaded(b, signs, k, Many(I8, 16))
    first, last = picked(b, sign, sign, _EVEN), picked(b, sign, sign, _ODD)
    usual = b.and_(b.icmp_unsigned("==", first, every(first.type, 58)), b.icmp_unsigned("!=", last, every(last.type, 58)))
    usual = b.and_(usual, b.icmp_unsigned("<", b.sub(length, one), every(_PLACES, 8)))
    usual = b.and_(usual, b.icmp_unsigned("<", b.sub(size, one), every(_PLACES, 16)))

    def before(mark: int, kind: Any, width: int) -> Any:
        place = b.zext(loaded(b, marks, b.add(k, I64(mark)), I32), I64)
        return loaded(b, letters, b.sub(place, I64(width)), kind)

    number, plain = _ids(b, gathered(b, _WORDS, [before(mark, I64, 8) for mark in _EVEN]), length)
    usual = b.and_(usual, plain)
    stored(b, b.add(number, gathered(b, _PLACES, [b.trunc(args[7], I32)] * 8)), out, slot)
    halves = []
    for half in (1, 3):  # values 0, 2, 4, 6 and 1, 3, 5, 7: packed together they are in order again
        four = [before(mark, Many(I8, 16), 16) for mark in range(half, 16, 4)]
        pairs = [picked(b, four[at], four[at + 1], range(32)) for at in (0, 2)]
        halves.append(picked(b, pairs[0], pairs[1], range(64)))
    value, plain = _values(b, halves, size)
    usual = b.and_(usual, plain)
    stored(b, value, numbers, slot)
    ends = b.icmp_unsigned("==", last, every(last.type, 10))
    return b.or_(b.zext(b.bitcast(usual, I8), I64), b.shl(b.zext(b.bitcast(ends, I8), I64), I64(8)))


def _typed(text: Any, places: Any, kinds: Any, k: Any, indices: Any, values: Any, slot: Any, shift: Any) -> Any:
    return types.uint64(text, places, kinds, types.uint64, indices, values, types.int64, types.int64)


@machine_code(_typed, _built)
def eight_pairs(text, places, kinds, k, indices, values, slot, shift):
    """Write the pairs whose separators are places[k], places[k+1], … to indices[slot:] (plus shift) and values[slot:].

    Bit i of the result is set when pair i is usual (what was written for others means nothing), bit 8 + i when a line ends
    behind it. `kinds` are the separators themselves; places[k − 1] is the one before the first id. In plain numba no pair is
    usual: each is read by itself.
    """
    return np.uint64(0)
