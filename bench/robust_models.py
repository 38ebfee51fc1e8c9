"""Model files to spoil: one of every kind of learner, and ways to change them with the checksum mended."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from typing import Any

import numpy as np
from scipy.sparse import coo_matrix

import burkholder as bk
from burkholder import functions, storage
from burkholder.auto import Auto, AutoMulticlass
from burkholder.experts import Experts
from burkholder.learning.feature_maps import Parity
from burkholder.matrix.completion import MatrixCompletion
from burkholder.matrix.learner import MatrixLearner
from burkholder.storage import container, tables
from burkholder.streams.readers.reading import Reading
from robust_use import Use, learning, plays, predicting, revealing

START = container._START
NUMBERS = (
    0, 1, -1, 2, 3, 7, 63, 64, 65, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 10**9, 10**18,
    0.5, -0.0, 1e-320, 1e-150, 1e150, 1e300, -1e300, 1.7e308, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
WORDS = (None, True, False, "", "a", "auto", "logistic", "squared", "<f8", [], {}, [1, 2], {"a": 1}, "x" * 1000)


# --- one of every kind ----------------------------------------------------------------------------------------------
def _learner(name: str) -> tuple[bytes, Use]:
    entry = functions.CATALOGUE[name]
    dim = entry.dims[-1]
    rng = np.random.default_rng(1)
    X = rng.uniform(-1.0, 1.0, (6, dim)) / dim
    learner = bk.Learner(name, loss="squared" if entry.curved else "absolute", bound=1.0)
    for x in X[:5]:
        learner.update(x, float(np.clip(x.sum(), -1, 1)))
    learner.play(X[5])
    return storage.pack(learner), plays(X[5], 0.25, (np.full(dim, 0.5), np.zeros(dim)))


def _named(**options: Any) -> tuple[bytes, Use]:
    """Features by name."""
    learner = bk.Learner("adagrad", loss="logistic", intercept=True, **options)
    row = {"a": 1.0, "b": -0.5}
    for t in range(6):
        learner.update({**row, f"n{t}": 0.25}, t % 2)
    learner.play({"a": 1.0, "new": 3.0})
    return storage.pack(learner), plays({**row, "later": 1.0}, 1.0, ({"a": 0.5},))


def _general() -> tuple[bytes, Use]:
    """The strategy that searches a grid."""
    learner = bk.Learner("square-function", loss="absolute", bound=1.0, strategy="general", strategy_options={"grid": 65})
    for t in range(4):
        learner.update([1.0, t % 3 - 1.0], 0.5)
    return storage.pack(learner), plays([0.5, 0.5], 0.25, ([0.5, 0.5],))


def _merged() -> tuple[bytes, Use]:
    parts = [bk.Learner("adagrad-norm", loss="absolute", radius=2.0) for _ in range(2)]
    for t in range(8):
        parts[t % 2].update({"a": 1.0, f"n{t}": 1.0}, 0.5)
    return storage.pack(bk.merge(*parts)), plays({"a": 1.0, "b": 2.0}, 0.5, ({"a": 0.5},))


def _of_table(kind: Any) -> tuple[bytes, Use]:
    """A learner that takes rows as a table had them."""
    learner, columns = kind(), ("size", "city", "price")
    tables.give(learner, Reading(columns, ("number", "category", "target"), None, 6, False, True, "."))
    for t in range(6):
        learner.update({"size": float(t), "city": "Rome" if t % 2 else "Oslo"}, 0.5)
    return storage.pack(learner), plays({"size": None, "city": "Bern"}, 0.25)


def _auto(loss: str, named: bool, rounds: int = 30) -> tuple[bytes, Use]:
    learner = Auto(loss, full_features=6)
    rng = np.random.default_rng(2)
    for _ in range(rounds):
        x = rng.normal(size=4)
        row = {"a": x[0], "b": x[1], "c": "red" if x[2] > 0 else "blue", "d": x[3]} if named else x
        learner.update(row, float(x.sum() > 0) if loss == "logistic" else float(x.sum()))
    row = {"a": 1.0, "c": "green", "new": 2.0} if named else np.ones(4)
    learner.play(row)
    return storage.pack(learner), plays(row, 1.0, ({"a": 0.5, "d": -0.25},) if named else (np.full(4, 0.5),))


def _sparse() -> tuple[bytes, Use]:
    learner = Auto("hinge", full_features=0)
    for t in range(9):
        learner.update((np.array([t % 4, 7]), np.array([1.0, -0.5])), t % 2)
    learner.play((np.array([2, 30]), np.array([1.0, 2.0])))
    return storage.pack(learner), plays((np.array([1, 99]), np.array([1.0, 2.0])), 1.0)


def _classes() -> tuple[bytes, Use]:
    learner = AutoMulticlass(full_features=3)
    for t in range(20):
        learner.update({"x": t % 3 - 1.0, "z": float(t)}, "abc"[t % 3])
    learner.play({"x": 1.0, "w": 2.0})

    steps = (predicting({"x": 1.0}, how="predict_proba"), learning({"x": 1.0, "new": 2.0}, "a"), learning({"x": -1.0}, "d"), revealing("b"))
    return storage.pack(learner), Use(*steps)


def _experts(method: str) -> tuple[bytes, Use]:
    learner = Experts("pinball", method=method, rate=0.5 if method == "ewa" else None, quantile=0.7)
    rng = np.random.default_rng(3)
    for _ in range(8):
        learner.update({"a": rng.normal(), "b": rng.normal(), "c": None}, rng.normal())
    learner.play({"b": 1.0, "e": 0.5})
    return storage.pack(learner), plays({"a": 1.0, "b": 0.5, "d": 2.0}, 0.75)


def _ratings(**options: Any) -> tuple[bytes, Use]:
    learner = MatrixCompletion(1, 5, **options)
    rng = np.random.default_rng(4)
    for _ in range(20):
        learner.update(int(rng.integers(5)), f"m{rng.integers(4)}", float(rng.integers(1, 6)))
    learner.play(1, "m2")
    learner.play(7, "later")

    steps = (
        predicting(1, "m1"),
        learning(1, "m1", 4.0),
        learning(99, "new", 2.0),
        revealing(3.0),
        revealing(2.0),
        lambda other: other.top(1, 2),
    )
    return storage.pack(learner), Use(*steps)


def _matrix(shape: tuple[int, int], entries: bool, **options: Any) -> tuple[bytes, Use]:
    learner = MatrixLearner(*shape, **options)
    rng = np.random.default_rng(5)
    for _ in range(6):
        i, j = int(rng.integers(3)), int(rng.integers(3))
        left, right = rng.normal(size=(shape[0], 1)), rng.normal(size=(shape[1], 1))
        left[4:] = 0.0  # what is kept of a wide matrix is its nonzeros: few, or the file is large
        learner.update((i, j) if entries else (left, right), 0.5)
    learner.play((2, 1, 0.5))
    if not entries:
        dense = rng.normal(size=shape)
        dense[4:] = 0.0
        learner.play(dense)
        learner.play(coo_matrix(([1.0, 2.0], ([0, 1], [2, 0])), shape=shape))
    return storage.pack(learner), plays((1, 2), -0.5)


def _audit() -> tuple[bytes, Use]:
    audit = bk.Audit("squared")
    for t in range(4):
        audit.update([1.0, float(t)], 0.5, 1.0)
    return storage.pack(audit), Use(learning([1.0, 2.0], 0.5, 1.0), comparators=([0.5, 0.25],))


def _bands(kind: Any, *options: Any, **more: Any) -> tuple[bytes, Use]:
    """Intervals and quantiles, past the labels that warm them."""
    learner, rng = kind(*options, **more), np.random.default_rng(6)
    X = rng.normal(size=(40, 3))
    learner.run(X, X[:, 0] + 0.1 * rng.normal(size=40), trace=0)
    learner.play(X[0])
    return storage.pack(learner), plays(X[1], 0.5)


def _sets() -> tuple[bytes, Use]:
    learner = bk.PredictionSets(0.8)
    for t in range(9):
        learner.update({"a": 0.5, "b": 0.3, "c": 0.2}, "abc"[t % 3])
    learner.play({"a": 0.9, "b": 0.1})
    steps = (lambda other: other.predict({"a": 1.0}), learning({"a": 0.6, "d": 0.4}, "d"), revealing("a"))
    return storage.pack(learner), Use(*steps, comparators=([0.5],))


def seeds(few: bool = False) -> dict[str, tuple[bytes, Use]]:
    """Every kind of learner in a state worth spoiling; `few` leaves out what compiles long."""
    made: dict[str, tuple[bytes, Use]] = {"audit": _audit()}
    chosen = ("adagrad", "strongly-convex", "mixture", "matrix") if few else functions.CATALOGUE
    made |= {f"learner {name}": _learner(name) for name in chosen}
    made |= {
        f"experts {method}": _experts(method) for method in (("squint",) if few else ("huber-root", "ewa", "ml-poly", "boa", "squint"))
    }
    made["auto"] = _auto("logistic", True)
    made["ratings"] = _ratings()
    made["matrix"] = _matrix((4, 3), False, radius=1.0)
    made["sets"] = _sets()
    if few:
        return made
    made |= {"auto squared": _auto("squared", False), "auto absolute": _auto("absolute", True), "classes": _classes()}
    made |= {"learner named": _named(), "learner parity": _named(features=Parity(2)), "learner general": _general(), "merged": _merged()}
    made |= {"table": _of_table(lambda: bk.Learner("adaptive", loss="absolute")), "auto table": _of_table(lambda: Auto("absolute"))}
    made |= {"auto sparse": _sparse(), "ratings fast": _ratings(fast=True)}
    for rate in ("lowering", "doubling", "mixture"):
        made[f"ratings {rate}"] = _ratings(strategy="sign-flip", rate=rate, radius=None if rate == "mixture" else 2.0)
    made["matrix entries"] = _matrix((60, 50), True, radius=1.0)
    made["matrix doubling"] = _matrix((60, 50), True, radius=1.0, rate="doubling")
    made["matrix wide"] = _matrix((2040, 20), False, radius=1.0)
    made["intervals"] = _bands(bk.Intervals, 0.8)
    made["intervals around a column"] = _bands(bk.Intervals, 0.8, model=1)
    made["quantiles"] = _bands(bk.Quantiles, (0.2, 0.6))
    made["matrix tangent"] = _matrix((4, 3), False, radius=1.0, strategy="tangent")
    return made


# --- ways to spoil a file ---------------------------------------------------------------------------------------------
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
