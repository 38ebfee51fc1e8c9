"""Decimal text to float64, rounded correctly: the same bits as Python's float().

Up to 19 significant digits are read into an integer m, with the value m·10^q. When m ≤ 2^53 and |q| ≤ 22
both are exact in float64 and one multiplication or division rounds once. Otherwise m is multiplied by the
leading 128 bits of 5^q, which settles the rounding in all but rare cases (Eisel and Lemire, "Number parsing
at a gigabyte per second", 2021). The rest (20 digits and more, subnormal numbers, ties that 128 bits cannot
settle) come back as UNDECIDED, for Python's float() to read.
"""

from __future__ import annotations

import numpy as np

from burkholder.machine.bits import as_float, high, leading
from burkholder.machine.compiling import register_jitable
from burkholder.streams.readers.digits import plain

PARSED, UNDECIDED, NOT_A_NUMBER = 0, 1, 2

_LEAST, _MOST = -330, 308  # powers of ten handled here
EXACT = np.array([10.0**k for k in range(23)])
TENS = np.array([10**k for k in range(20)], dtype=np.uint64)


def _leading_bits(q: int) -> tuple[int, int]:
    """5^q scaled to 128 bits, truncated; rounded up where 5^−q fits a word, so that exact quotients show."""
    power = 5 ** abs(q)
    if q < 0:
        power = (1 << (127 + power.bit_length())) // power + (q >= -27)
    shift = power.bit_length() - 128
    scaled = power >> shift if shift > 0 else power << -shift
    return scaled >> 64, scaled & (2**64 - 1)


_FIVES = np.array([_leading_bits(q) for q in range(_LEAST, _MOST + 1)], dtype=np.uint64)


@register_jitable
def scale(m, q):
    """(m·10^q, PARSED or UNDECIDED) for a uint64 m and an integer q."""
    if m <= np.uint64(9007199254740992) and -22 <= q <= 22:
        return (np.float64(m) * EXACT[q] if q >= 0 else np.float64(m) / EXACT[-q]), PARSED
    if m == np.uint64(0):
        return 0.0, PARSED
    if q > _MOST:
        return np.inf, PARSED
    if q < _LEAST:
        return 0.0, UNDECIDED
    zeros = leading(m)
    m = m << zeros
    five = _FIVES[q - _LEAST]
    upper, lower = high(m, five[0]), m * five[0]
    if upper & np.uint64(0x1FF) == np.uint64(0x1FF):  # the bits below the rounding one may still carry
        second = high(m, five[1])
        lower = lower + second
        if lower < second:
            upper = upper + np.uint64(1)
        if lower == np.uint64(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
            return 0.0, UNDECIDED
    top = upper >> np.uint64(63)
    drop = top + np.uint64(9)
    mantissa = upper >> drop  # 54 bits: one more than float64 keeps
    exponent = np.int64((217706 * q) >> 16) + 63 + np.int64(top) - np.int64(zeros) + 1023
    if exponent <= 0:
        return 0.0, UNDECIDED
    exactly_half = lower <= np.uint64(1) and -4 <= q <= 23 and (mantissa << drop) == upper
    if exactly_half and mantissa & np.uint64(3) == np.uint64(1):
        mantissa = mantissa - np.uint64(1)  # a tie goes to the even neighbour
    mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
    if mantissa >= np.uint64(1 << 53):
        mantissa = np.uint64(1 << 52)
        exponent += 1
    if exponent >= 2047:
        return np.inf, PARSED
    bits = (np.uint64(exponent) << np.uint64(52)) | (mantissa & np.uint64((1 << 52) - 1))
    return as_float(bits), PARSED


@register_jitable
def decimal(text, start, stop):
    """(value, PARSED | UNDECIDED | NOT_A_NUMBER) of text[start:stop]: [sign] digits [. digits] [e digits].

    The text needs 8 spare bytes before `start`. Words such as `nan` and `inf` are not numbers here; neither
    are spaces, underscores or an empty field.
    """
    at, end = np.int64(start), np.int64(stop)  # unsigned places would turn into floats when 1 is added
    negative = at < end and text[at] == 45
    if at < end and (text[at] == 45 or text[at] == 43):
        at += 1
    length = end - at
    if 1 <= length <= 16:  # the usual spellings, eight characters at a time
        tail = min(length, 8)
        m, count, fraction, odd = plain(text, end, tail)
        if length > 8:
            head, more, before, strangers = plain(text, end - 8, length - 8)
            m = m + head * TENS[count]
            odd |= strangers | np.uint64(before >= 0 and fraction >= 0)
            count += more
            if before >= 0:
                fraction = before + 8
        if odd == np.uint64(0) and count > 0:
            value, status = scale(m, -max(fraction, 0))
            return (-value if negative else value), status
    m = np.uint64(0)
    kept, seen, fraction, point = 0, 0, 0, False
    while at < end:
        c = text[at]
        if 48 <= c <= 57:
            seen += 1
            if kept > 0 or c != 48:
                kept += 1
                if kept <= 19:
                    m = m * np.uint64(10) + np.uint64(c - 48)
            fraction += point
        elif c == 46 and not point:
            point = True
        else:
            break
        at += 1
    if seen == 0:
        return 0.0, NOT_A_NUMBER
    q = 0
    if at < end:
        if text[at] != 101 and text[at] != 69:
            return 0.0, NOT_A_NUMBER
        at += 1
        down = at < end and text[at] == 45
        if at < end and (text[at] == 45 or text[at] == 43):
            at += 1
        if at == end:
            return 0.0, NOT_A_NUMBER
        while at < end:
            c = text[at]
            if c < 48 or c > 57:
                return 0.0, NOT_A_NUMBER
            if q < 100000:
                q = 10 * q + (c - 48)
            at += 1
        if down:
            q = -q
    if kept > 19:
        return 0.0, UNDECIDED
    value, status = scale(m, q - fraction)
    return (-value if negative else value), status
