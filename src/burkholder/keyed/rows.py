"""Whose row it is: the key and the row, told apart; one row, or many in any order of keys."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning import frames

Key = str | int
REMEDY = "a key is text or a whole number"


def checked(key: Any, argument: str = "key") -> Key:
    """The key as it is kept.

    >>> checked(np.int64(3)), checked("shop")
    (3, 'shop')
    """
    if isinstance(key, np.generic):
        key = key.item()
    if type(key) is str or type(key) is int:
        return key
    raise BadInput(argument, key, REMEDY)


def split(x: Any, name: Any, argument: str = "x") -> tuple[Key, Any]:
    """(key, row) of a dict with the key inside, or of such a pair.

    >>> split({"store": "a", "price": 2.0}, "store"), split(("a", [2.0]), "store")
    (('a', {'price': 2.0}), ('a', [2.0]))
    """
    if isinstance(x, Mapping):
        if name not in x:
            raise BadInput(argument, x, f"every row needs its key {name!r}")
        return checked(x[name], f"{argument}[{name!r}]"), {key: part for key, part in x.items() if key != name}
    if isinstance(x, tuple) and len(x) == 2 and (isinstance(x[0], (str, int, np.integer)) and not isinstance(x[0], bool)):
        return checked(x[0], argument), x[1]
    raise BadInput(argument, x, f"give a dict with its key {name!r}, or (key, row)")


class Block(NamedTuple):
    """Many rows and the key of each, a list or an array of whole numbers; nothing of the rows has been checked."""

    keys: list[Key] | np.ndarray
    X: Any

    @property
    def rows(self) -> int:
        return len(self.keys)

    def part(self, start: int, stop: int) -> Block:
        """Some of the rows."""
        return self if (start, stop) == (0, self.rows) else Block(self.keys[start:stop], taken(self.X, np.arange(start, stop)))


def taken(X: Any, places: np.ndarray) -> Any:
    """The rows of X at these places."""
    if isinstance(X, (list, tuple)):
        return [X[place] for place in places.tolist()]
    return frames.opened(X)[places.tolist()].to_native() if frames.is_frame(X) else X[places]


def block(X: Any, name: Any, keys: Any = None) -> Block:
    """The rows of X with their keys: given beside, in a column of a frame, or in every row."""
    if keys is not None:
        if not (isinstance(X, (list, tuple, np.ndarray)) or frames.is_frame(X) or hasattr(X, "tocsr")):
            raise BadInput("X", type(X).__name__, "give a matrix, a frame or a list of rows")
        rows = X.tocsr() if hasattr(X, "tocsr") else X
        many = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        found = many_keys(keys)
        if len(found) != many:
            raise BadInput("keys", f"{len(found)} keys", f"there are {many} rows: give one key for each")
        return Block(found, rows)
    if frames.is_frame(X):
        frame = frames.opened(X)
        if name not in frame.columns:
            raise BadInput("X", list(map(str, frame.columns)), f"there is no column {name!r} of keys")
        return Block(many_keys(frame[name], f"X[{name!r}]"), frame.drop(name).to_native())
    if not isinstance(X, (list, tuple)):
        raise BadInput("X", type(X).__name__, "give keys= beside a matrix, or a list of rows with their keys, or a frame")
    pairs = [split(x, name, f"X[{t}]") for t, x in enumerate(X)]
    return Block([key for key, _ in pairs], [row for _, row in pairs])


def many_keys(keys: Any, argument: str = "keys") -> list[Key] | np.ndarray:
    """Every key, checked; an array or a column of whole numbers stays an array."""
    numbers = np.asarray(keys.to_numpy() if hasattr(keys, "to_numpy") else keys) if hasattr(keys, "dtype") else None
    if numbers is not None and numbers.ndim == 1 and numbers.dtype.kind in "iu" and numbers.dtype != np.uint64:
        return np.ascontiguousarray(numbers, np.int64)
    try:
        listed = list(keys.to_list() if hasattr(keys, "to_list") else keys.tolist() if hasattr(keys, "tolist") else keys)
    except TypeError:
        raise BadInput(argument, keys, "give one key for each row") from None
    if not set(map(type, listed)) <= {str, int}:
        for t, key in enumerate(listed):
            listed[t] = checked(key, f"{argument}[{t}]")
    return listed


def _near(keys: list[Key] | np.ndarray) -> tuple[np.ndarray, int, int] | None:
    """(keys less the least, the least, how far they reach) of whole numbers that lie close enough together for an array of them all."""
    if isinstance(keys, np.ndarray) and len(keys):
        low, high = int(keys.min()), int(keys.max())
        if high - low < 4 * len(keys):
            return keys - low, low, high - low + 1
    return None


def looked_up(slots: dict[Key, int], keys: list[Key] | np.ndarray) -> np.ndarray:
    """The slot of each key, −1 where there is none.

    >>> looked_up({5: 0, 3: 1}, np.array([3, 4, 5, 3])).tolist(), looked_up({"a": 0}, ["b", "a"]).tolist()
    ([1, -1, 0, 1], [-1, 0])
    """
    near = _near(keys)
    if near is None:
        listed = keys.tolist() if isinstance(keys, np.ndarray) else keys
        return np.fromiter(map(slots.get, listed, repeat(-1)), np.int64, len(listed))
    places, low, span = near
    known = np.zeros(span, bool)
    known[places] = True
    met, found = np.flatnonzero(known), np.empty(span, np.int64)
    found[met] = np.fromiter(map(slots.get, (met + low).tolist(), repeat(-1)), np.int64, len(met))
    return found[places]


def appearing(keys: list[Key] | np.ndarray) -> list[Key]:
    """The different keys, in order of appearance.

    >>> appearing(np.array([7, 5, 7, 6])), appearing(["b", "a", "b"])
    ([7, 5, 6], ['b', 'a'])
    """
    near = _near(keys)
    if near is None:
        return list(dict.fromkeys(keys.tolist() if isinstance(keys, np.ndarray) else keys))
    places, low, span = near
    first = np.full(span, len(places))
    np.minimum.at(first, places, np.arange(len(places)))
    met = np.flatnonzero(first < len(places))
    return (met[np.argsort(first[met])] + low).tolist()
