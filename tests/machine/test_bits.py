"""Operations on machine words: the compiled ones against their definitions and against Python's whole numbers."""

import math
import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from burkholder.machine import bits
from burkholder.machine.compiling import compiled
from burkholder.machine.separators import separators

WORDS = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 64).map(lambda k: (1 << k) - 1), st.integers(0, 63).map(lambda k: 1 << k))


@compiled
def _all(a, b, text, at):
    return bits.ones(a), bits.lowest(a), bits.leading(a), bits.high(a, b), bits.as_float(a), bits.load64(text, at)


def _same(a: float, b: float) -> bool:
    return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (math.isnan(a) and math.isnan(b))


@given(WORDS, WORDS, st.integers(0, 8))
def test_words_are_counted_multiplied_and_read(a, b, at):
    text = np.frombuffer(struct.pack("<QQ", a, b), np.uint8)
    lowest = (a & -a).bit_length() - 1 if a else 64
    number = struct.unpack("<d", struct.pack("<Q", a))[0]
    right = (a.bit_count(), lowest, 64 - a.bit_length(), (a * b) >> 64, int.from_bytes(text[at : at + 8].tobytes(), "little"))
    for function in (_all, _all.py_func):
        with np.errstate(over="ignore"):
            *counts, value, word = function(np.uint64(a), np.uint64(b), text, at)
        assert (*map(int, counts), int(word)) == right
        assert _same(float(value), number)


@compiled
def _listed(text, start, stop, places, kinds):
    return separators(text, start, stop, places, kinds)


@given(st.binary(max_size=300), st.integers(0, 70))
def test_separators_are_listed_with_their_places(data, start):
    text = np.frombuffer(bytes(64) + data + bytes(128), np.uint8)
    start, stop = 64 + min(start, len(data)), 64 + len(data)
    places, kinds = np.zeros(len(data) + 128, np.uint32), np.zeros(len(data) + 128, np.uint8)
    count = int(_listed(text, start, stop, places, kinds))
    right = [k for k in range(start, stop) if text[k] <= 32 or text[k] == 58]
    assert places[:count].tolist() == right and kinds[:count].tolist() == text[right].tolist()
