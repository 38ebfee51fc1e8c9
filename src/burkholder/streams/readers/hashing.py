"""The hash that turns a feature's name into its index: MurmurHash3, 32 bits, the same in every process.

A feature has a namespace (a VW namespace, or the column of a table) and a name (a VW feature, or the value of
a categorical column):

    index(namespace, name) = code(name, seed = code(namespace, seed = 0)) mod 2^bits
    code(text, seed)       = the number itself plus seed   if text is decimal digits
                             murmur3_32(text, seed)        otherwise

which is Vowpal Wabbit's rule too. The empty namespace has code 0.
"""

from __future__ import annotations

import numpy as np

from burkholder.errors import BadInput
from burkholder.machine.compiling import compiled, register_jitable

BITS = 18
_MASK32 = 0xFFFFFFFF


def murmur3(data: bytes, seed: int = 0) -> int:
    """MurmurHash3_x86_32 of some bytes: the definition, in plain Python.

    >>> hex(murmur3(b"hello")), hex(murmur3(b"hello, world", seed=1))
    ('0x248bfa47', '0x6f5cb2e9')
    """
    h = seed & _MASK32
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        h ^= _mixed(int.from_bytes(data[at : at + 4], "little"))
        h = (((h << 13) | (h >> 19)) * 5 + 0xE6546B64) & _MASK32
    if len(data) > whole:
        h ^= _mixed(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & _MASK32
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & _MASK32
    return h ^ (h >> 16)


def _mixed(k: int) -> int:
    k = (k * 0xCC9E2D51) & _MASK32
    return (((k << 15) | (k >> 17)) * 0x1B873593) & _MASK32


def code(text: str | bytes, seed: int = 0) -> int:
    """The number a name stands for before it is cut to so many bits."""
    data = text.encode() if isinstance(text, str) else text
    if data == b"":
        return seed
    return int(data) + seed if data.isdigit() else murmur3(data, seed)


def feature_index(name: str, namespace: str = "", bits: int = BITS) -> int:
    """The index of a feature among 2^bits.

    >>> feature_index("123"), feature_index("colour"), feature_index("red", namespace="colour")
    (123, 186465, 49487)
    """
    check_bits(bits)
    return code(name, code(namespace)) & ((1 << bits) - 1)


def check_bits(bits: int) -> int:
    """Refuse a table no array of 32-bit indices can address."""
    if not (isinstance(bits, (int, np.integer)) and 1 <= bits <= 30):
        raise BadInput("bits", bits, "give a whole number from 1 to 30; 18 means 262,144 hashed features")
    return int(bits)


@register_jitable
def _scrambled(k):
    k = np.uint32(k * np.uint32(0xCC9E2D51))
    k = np.uint32(np.uint32(k << np.uint32(15)) | np.uint32(k >> np.uint32(17)))
    return np.uint32(k * np.uint32(0x1B873593))


@register_jitable
def murmur(text, start, stop, seed):
    """`murmur3` of text[start:stop] inside compiled loops."""
    h = np.uint32(seed)
    length = np.int64(stop) - np.int64(start)
    at = np.int64(start)
    while at + 4 <= np.int64(stop):
        k = np.uint32(text[at]) | np.uint32(np.uint32(text[at + 1]) << np.uint32(8))
        k |= np.uint32(np.uint32(text[at + 2]) << np.uint32(16))
        k |= np.uint32(np.uint32(text[at + 3]) << np.uint32(24))
        h = np.uint32(h ^ _scrambled(np.uint32(k)))
        h = np.uint32(np.uint32(h << np.uint32(13)) | np.uint32(h >> np.uint32(19)))
        h = np.uint32(np.uint32(h * np.uint32(5)) + np.uint32(0xE6546B64))
        at += 4
    if at < np.int64(stop):
        k = np.uint32(0)
        for back in range(np.int64(stop) - 1, at - 1, -1):
            k = np.uint32(np.uint32(k << np.uint32(8)) | np.uint32(text[back]))
        h = np.uint32(h ^ _scrambled(k))
    h = np.uint32(h ^ np.uint32(length))
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    h = np.uint32(np.uint32(h ^ np.uint32(h >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(h ^ np.uint32(h >> np.uint32(16)))


@register_jitable
def code_of(text, start, stop, seed):
    """`code` of text[start:stop] inside compiled loops, modulo 2^64."""
    total = np.uint64(0)
    for at in range(start, stop):
        c = text[at]
        if c < 48 or c > 57:
            return np.uint64(murmur(text, start, stop, np.uint32(seed)))
        total = total * np.uint64(10) + np.uint64(c - 48)
    return total + np.uint64(seed)


@compiled
def codes(text, cuts, seed, out):
    """The code of each text[cuts[i]:cuts[i+1]]."""
    for i in range(cuts.size - 1):
        out[i] = code_of(text, cuts[i], cuts[i + 1], np.uint64(seed))
