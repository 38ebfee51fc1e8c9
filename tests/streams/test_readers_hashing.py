"""Feature hashing: one fixed rule, in Python and compiled, the same as other tools use."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.errors import BadInput
from burkholder.streams.readers.hashing import code, codes, feature_index, murmur3

# Published test vectors of MurmurHash3_x86_32.
VECTORS = [
    (b"", 0, 0),
    (b"", 1, 0x514E28B7),
    (b"", 0xFFFFFFFF, 0x81F16F39),
    (b"\xff\xff\xff\xff", 0, 0x76293B50),
    (b"!Ce\x87", 0, 0xF55B516B),
    (b"!Ce\x87", 0x5082EDEE, 0x2362F9DE),
    (b"!Ce", 0, 0x7E4A8634),
    (b"!C", 0, 0xA0F7B07A),
    (b"!", 0, 0x72661CF4),
    (b"\x00\x00\x00\x00", 0, 0x2362F9DE),
    (b"aaaa", 0x9747B28C, 0x5A97808A),
    (b"abc", 0, 0xB3DD93FA),
    (b"Hello, world!", 0x9747B28C, 0x24884CBA),
]


@pytest.mark.parametrize(("data", "seed", "expected"), VECTORS)
def test_published_vectors(data, seed, expected):
    assert murmur3(data, seed) == expected


@settings(deadline=None)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=20), st.integers(0, 2**32 - 1))
def test_compiled_is_the_definition(words, seed):
    words = [*words, b"", b"7", b"00123", b"99999999999999999999999"]
    text = np.frombuffer(b"".join(words), dtype=np.uint8)
    cuts = np.cumsum([0] + [len(word) for word in words])
    out = np.empty(len(words), dtype=np.uint64)
    codes(text, cuts, np.uint64(seed), out)
    assert out.tolist() == [code(word, seed) % 2**64 for word in words]


@settings(deadline=None)
@given(st.binary(max_size=40), st.integers(0, 2**32 - 1))
def test_agrees_with_scikit_learn(data, seed):
    murmurhash = pytest.importorskip("sklearn.utils.murmurhash")
    assert murmur3(data, seed) == murmurhash.murmurhash3_bytes_u32(data, seed)


def test_does_not_depend_on_the_process():
    line = "from burkholder.streams.readers import feature_index as f; print(f('red', 'colour'), f('grün'))"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", line],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{feature_index('red', 'colour')} {feature_index('grün')}\n"}


def test_indices_are_spread_evenly():
    counts = np.bincount([feature_index(f"word{i}", "text", bits=6) for i in range(64 * 200)], minlength=64)
    chi2 = ((counts - 200.0) ** 2 / 200.0).sum()
    assert 30.0 < chi2 < 110.0  # 63 degrees of freedom: within about four standard deviations


@pytest.mark.parametrize("bits", [0, 31, -1, 2.5, "18"])
def test_impossible_tables_are_refused(bits):
    with pytest.raises(BadInput, match="bits"):
        feature_index("a", bits=bits)
