"""Digits eight at a time: numbers out of whole words of a text.

A parser that looks at one byte after another waits for each. These read whole words of a byte array, at any place. They
exist only inside compiled loops and do not check their place: the array must carry `PADDING` spare bytes on both sides of
the text.
"""

from __future__ import annotations

import numpy as np

from burkholder.machine.bits import load64, lowest
from burkholder.machine.compiling import register_jitable

PADDING = 64

_ZEROS = np.uint64(0x3030303030303030)  # eight times the digit 0
_ABOVE_NINE = np.uint64(0x7676767676767676)  # added to 0..9 it stays below 128
_TOP_BITS = np.uint64(0x8080808080808080)
_POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)  # what a point becomes when 0 is taken off
_ONES = np.uint64(0x0101010101010101)


@register_jitable
def digits(text, end, count):
    """The 1 ≤ `count` ≤ 8 characters before `end`, as digit values, left-padded with zeros."""
    word = load64(text, np.int64(end) - 8) ^ _ZEROS
    shift = (np.uint64(64) - (np.uint64(count) << np.uint64(3))) & np.uint64(63)  # a count out of range: digits without meaning
    return (word >> shift) << shift


@register_jitable
def strange(word):
    """Zero when each of the eight values is 0..9."""
    return ((word + _ABOVE_NINE) | word) & _TOP_BITS


@register_jitable
def number(word):
    """The integer spelled by eight digit values: pairs, then fours, then the eight, in three products."""
    word = word * np.uint64(10) + (word >> np.uint64(8))
    low = (word & np.uint64(0x000000FF000000FF)) * np.uint64(100 + (1000000 << 32))
    top = ((word >> np.uint64(16)) & np.uint64(0x000000FF000000FF)) * np.uint64(1 + (10000 << 32))
    return (low + top) >> np.uint64(32)


@register_jitable
def everywhere(byte):
    """A word of eight times this byte."""
    return np.uint64(byte) * _ONES


@register_jitable
def next_of(text, at, stop, one, other):
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
def plain(text, end, count):
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
