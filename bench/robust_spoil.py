"""Ways to change a model file with the checksum mended."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from typing import Any

import numpy as np

from burkholder.storage import container

START = container._START
NUMBERS = (
    0, 1, -1, 2, 3, 7, 63, 64, 65, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 10**9, 10**18,
    0.5, -0.0, 1e-320, 1e-150, 1e150, 1e300, -1e300, 1.7e308, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
WORDS = (None, True, False, "", "a", "auto", "logistic", "squared", "<f8", [], {}, [1, 2], {"a": 1}, "x" * 1000)


def opened(data: bytes) -> tuple[dict[str, Any], bytearray]:
    """(header with its table, the bytes of the arrays)."""
    _, _, _, words = START.unpack_from(data)
    return json.loads(data[START.size : START.size + words]), bytearray(data[START.size + words : -32])


def mended(header: Any, body: bytes) -> bytes:
    """A whole file again: lengths and checksum are right."""
    words = json.dumps(header, allow_nan=True).encode()
    words += b" " * (-(START.size + len(words)) % 64)
    whole = START.pack(container.MAGIC, container.SCHEMA, START.size + len(words) + len(body) + 32, len(words)) + words + bytes(body)
    return whole + hashlib.sha256(whole).digest()


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(leaf for key, item in items for leaf in _leaves(item, (*path, key)))]


def _header(rng: random.Random, header: dict[str, Any], body: bytearray) -> tuple[Any, bytearray]:
    """Change, remove, rename or double one thing in the header."""
    changed = copy.deepcopy(header)
    path = rng.choice(_leaves({key: part for key, part in changed.items() if key != "arrays"})[1:])
    parent: Any = changed
    for key in path[:-1]:
        parent = parent[key]
    how = rng.randrange(6)
    if how == 0:
        del parent[path[-1]]
    elif how == 1 and isinstance(parent, dict):
        parent[rng.choice(("x", "", str(path[-1]) + "_"))] = parent.pop(path[-1])
    elif how == 2 and isinstance(parent, list):
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(rng.choice(parent)))
    elif how == 3 and type(parent[path[-1]]) in (int, float):
        parent[path[-1]] = rng.choice((parent[path[-1]] + 1, -parent[path[-1]], float(parent[path[-1]]), str(parent[path[-1]])))
    else:
        parent[path[-1]] = copy.deepcopy(rng.choice(NUMBERS + WORDS))
    return changed, body


def _table(rng: random.Random, header: dict[str, Any], body: bytearray) -> tuple[Any, bytearray]:
    """Lie about an array: its name, type, shape or place."""
    changed = copy.deepcopy(header)
    entry = rng.choice(changed["arrays"])
    how = rng.randrange(6)
    if how == 0:
        entry[0] = rng.choice(("x", entry[0] + "x", rng.choice(changed["arrays"])[0]))
    elif how == 1:
        entry[1] = rng.choice((*container.DTYPES, "O", ">f8", "<c16", "|S9"))
    elif how == 2:
        entry[2] = [rng.choice((0, 1, -1, 2**31, 2**62, 10**30, *entry[2])) for _ in range(rng.randrange(4))]
    elif how == 3 and entry[2]:
        entry[2][rng.randrange(len(entry[2]))] += rng.choice((-1, 1, 8, 2**40))
    elif how == 4:
        entry[3] = rng.choice((0, 64, -64, 1, 2**62, rng.choice(changed["arrays"])[3]))
    else:
        changed["arrays"].remove(entry)
    return changed, body


def _arrays(rng: random.Random, header: dict[str, Any], body: bytearray) -> tuple[Any, bytearray]:
    """Other numbers, another type or another shape, with the table made to agree."""
    spoiled, plain, table = {}, bytearray(), []
    for name, dtype, shape, offset in header["arrays"]:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        spoiled[name] = np.frombuffer(bytes(body[offset : offset + size]), dtype).reshape(shape).copy()
    name = rng.choice(list(spoiled))
    with np.errstate(all="ignore"):
        spoiled[name] = _spoiled(rng, spoiled[name], spoiled)
    for key, array in spoiled.items():
        table.append([key, array.dtype.str, list(array.shape), len(plain)])
        plain += array.tobytes() + bytes(-array.nbytes % 64)
    return {**header, "arrays": table}, plain


def _spoiled(rng: random.Random, array: np.ndarray, others: dict[str, np.ndarray]) -> np.ndarray:
    how = rng.randrange(9)
    flat = array.reshape(-1)
    if how <= 4 and flat.size:  # one entry, a few, or all
        places = [rng.randrange(flat.size) for _ in range(rng.choice((1, 1, 1, 3, flat.size)))]
        for place in places[:4096]:
            value = rng.choice(NUMBERS)
            flat[place] = np.array(value).astype(array.dtype) if value == value or array.dtype.kind == "f" else 0
        return array
    if how == 5:
        return array.astype(rng.choice(("<f8", "<f4", "<i8", "<i4", "<u8", "<u4", "|b1")))
    if how == 6:
        return (
            np.concatenate([flat, flat[: rng.randrange(1, 9)]]) if rng.random() < 0.5 else flat[: max(flat.size - rng.randrange(1, 9), 0)]
        )
    if how == 7 and array.ndim:
        return np.ascontiguousarray(array[:-1] if rng.random() < 0.5 else np.concatenate([array, array[-1:]]))
    return rng.choice(list(others.values())).copy()


def _bytes(rng: random.Random, header: dict[str, Any], body: bytearray) -> tuple[Any, bytearray]:
    """Bits of the numbers turned over."""
    changed = bytearray(body)
    for _ in range(rng.choice((1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return header, changed


def spoil(rng: random.Random, data: bytes) -> bytes:
    """The file with one or two things wrong in it."""
    header, body = opened(data)
    for _ in range(rng.choice((1, 1, 2))):
        way = rng.choice((_header, _table, _arrays, _arrays, _arrays, _bytes))
        try:
            header, body = way(rng, header, body)
        except (ValueError, TypeError, IndexError, KeyError):
            continue  # an earlier change made this one impossible
    return mended(header, body)
