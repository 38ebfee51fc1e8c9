"""Numbers in text come out as the very float64 that Python's float() gives."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from burkholder.machine.compiling import compiled
from burkholder.streams.readers.digits import PADDING, digits, number, strange
from burkholder.streams.readers.numbers import NOT_A_NUMBER, PARSED, UNDECIDED, decimal

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


@compiled
def decimals(text, cuts, out, status):
    for i in range(cuts.size - 1):
        out[i], status[i] = decimal(text, cuts[i], cuts[i + 1])


@compiled
def eight(text, end, count):
    word = digits(text, end, count)
    return number(word), strange(word)


def parse(tokens: list[str]) -> tuple[np.ndarray, np.ndarray]:
    data = "".join(tokens).encode()
    text = np.frombuffer(bytes(PADDING) + data + bytes(PADDING), dtype=np.uint8)
    cuts = PADDING + np.cumsum([0] + [len(token.encode()) for token in tokens])
    out, status = np.empty(len(tokens)), np.empty(len(tokens), dtype=np.int64)
    decimals(text, cuts, out, status)
    return out, status


def bits(value: float) -> bytes:
    return struct.pack("d", value)


spelled = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).flatmap(lambda v: st.integers(0, 25).map(lambda digits: f"{v:.{digits}g}")),
    st.tuples(st.integers(-(10**25), 10**25), st.integers(-345, 320)).map(lambda p: f"{p[0]}e{p[1]}"),
    # Half-way between two floats, and one beside it: rounding is decided by the last digit.
    st.tuples(st.integers(2**53, 2**54), st.integers(0, 8), st.integers(-1, 1)).map(lambda p: str((2 * p[0] + 1) * 2 ** p[1] + p[2])),
    st.tuples(st.integers(2**52, 2**53), st.integers(1, 4)).map(lambda p: f"{(2 * p[0] + 1) * 5 ** p[1]}e-{p[1]}"),
    st.from_regex(r"\A[+-]?[0-9]{0,12}\.?[0-9]{1,12}\Z"),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(spelled, min_size=1, max_size=40))
@example(["0", "-0", "-0.0", "5.", ".5", "1e22", "1e23", "9007199254740993", "1e308", "4.9e-324", "2e-324", "1e309"])
@example(["9007199254740992.999999999", "0.30000000000000004", "1.7976931348623159e308", "123456789012345678901234567890"])
def test_same_bits_as_float(tokens):
    out, status = parse(tokens)
    for token, value, verdict in zip(tokens, out, status):
        assert verdict in (PARSED, UNDECIDED), token
        if verdict == PARSED:
            assert bits(value) == bits(float(token)), token


@settings(deadline=None)
@given(st.lists(st.floats(1e-290, 1e290).map(repr), min_size=50, max_size=50))
def test_shortest_spellings_are_decided_here(tokens):
    # Python's float() is only for the rare rest: 17 digits must not fall back to it.
    assert (parse(tokens)[1] == PARSED).all()


@settings(deadline=None, max_examples=300)
@given(st.lists(st.text("0123456789+-.eE_ nxaif", max_size=9), min_size=1, max_size=20))
@example(["", "+", "-", ".", "e5", "1e", "1e+", "nan", "inf", "-inf", "1_0", "1 ", " 1", "--1", "1..2", "0x10", "1e5.0"])
def test_everything_else_is_no_number(tokens):
    _, status = parse(tokens)
    for token, verdict in zip(tokens, status):
        assert (verdict == NOT_A_NUMBER) == (NUMBER.fullmatch(token) is None), token


@pytest.mark.parametrize("count", range(1, 9))
def test_eight_digits_at_once(count):
    rng = np.random.default_rng(count)
    for value in rng.integers(0, 10**count, 50).tolist():
        text = np.frombuffer(b"x9x" * 10 + f"{value:0{count}d}".encode() + b"77", dtype=np.uint8)
        assert eight(text, 30 + count, count) == (value, 0)


@pytest.mark.parametrize("wrong", [b"12/4", b"12:4", b"a234", b"-123", b"1.23", bytes([49, 200, 50, 51])])
def test_strangers_among_digits_are_noticed(wrong):
    text = np.frombuffer(b"0" * 16 + wrong, dtype=np.uint8)
    assert eight(text, 20, 4)[1] != 0
