"""What a field of a table spells, compiled: nothing, a number, an infinite one, true or false."""

from __future__ import annotations

import numpy as np

from burkholder.machine.compiling import register_jitable
from burkholder.streams.readers.columns import DASHES, MISSING
from burkholder.streams.readers.numbers import NOT_A_NUMBER, decimal

# Words, letters lowered, as base-256 numbers.
_INFINITY = np.frombuffer(b"infinity", dtype=np.uint8).copy()
_TRUE, _FALSE = (int.from_bytes(word, "big") for word in (b"true", b"false"))
_MISSING_CODES, _DASH_CODES = (np.array([int.from_bytes(word.encode(), "big") for word in words]) for words in (MISSING, DASHES))


@register_jitable
def missing(text, start, stop):
    """Whether the field says that there is no value."""
    return _one_of(text, start, stop, _MISSING_CODES)


@register_jitable
def no_number(text, start, stop):
    """Whether the field says that there is no value, where a number or a date should stand."""
    return _one_of(text, start, stop, _MISSING_CODES) or _one_of(text, start, stop, _DASH_CODES)


@register_jitable
def _one_of(text, start, stop, words):
    if stop - start > 4:
        return False
    word = np.int64(0)
    for at in range(start, stop):
        c = np.int64(text[at])
        word = 256 * word + (c + 32 if 65 <= c <= 90 else c)
    found = False
    for known in words:
        found = found or word == known
    return found


@register_jitable
def with_comma(text, start, stop):
    """Whether the field is a number with a decimal comma: digits and perhaps points, one comma, digits."""
    commas, before, after = 0, 0, 0
    for at in range(start, stop):
        c = text[at]
        if 48 <= c <= 57:
            if commas:
                after += 1
            else:
                before += 1
        elif c == 44:
            commas += 1
        elif not ((c == 46 and commas == 0) or (at == start and (c == 43 or c == 45))):
            return False
    return commas == 1 and before > 0 and after > 0


@register_jitable
def infinite(text, start, stop):
    """Whether the field spells an infinite number: `inf` or `infinity`, with or without a sign, in any case of letters."""
    if start < stop and (text[start] == 43 or text[start] == 45):
        start += 1
    if stop - start != 3 and stop - start != 8:
        return False
    same = True
    for at in range(stop - start):
        same = same and (text[start + at] | 32) == _INFINITY[at]
    return same


@register_jitable
def truth(text, start, stop):
    """1 for `true`, 0 for `false`, in any case of letters; -1 for anything else."""
    if stop - start != 4 and stop - start != 5:
        return -1
    word = np.int64(0)
    for at in range(start, stop):
        word = 256 * word + (np.int64(text[at]) | 32)
    return 1 if word == _TRUE else 0 if word == _FALSE else -1


@register_jitable
def understood(text, start, stop, comma):
    """`decimal`, with the comma in the place of the point (in the text itself too) where `comma` says so."""
    if comma:
        for at in range(start, stop):
            if text[at] == 46:
                return 0.0, NOT_A_NUMBER
        for at in range(start, stop):
            if text[at] == 44:
                text[at] = 46
    return decimal(text, start, stop)
