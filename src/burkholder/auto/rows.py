"""Rows in every shape a user has them, turned into ids and values; names get the next free id."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput

DIRECT = 1 << 22  # larger ids go through the table of names, so that memory follows the features seen


class Names:
    """Ids for named features, in the order they appear. Looking up without growing leaves it alone.

    A name and an index may come to the same id, so a learner keeps to the kind of row it first learned from:
    `kind` is "named", "indexed", or None before the first row.
    """

    def __init__(self, known: dict[Any, int] | None = None, kind: str | None = None) -> None:
        self.ids: dict[Any, int] = known or {}
        self.kind = kind
        self.table: Any = None  # how the table was read that this learner learned from: its rows come by column

    def keep_to(self, kind: str, grow: bool) -> None:
        """Refuse rows of the other kind; with `grow` this kind is the one from now on."""
        if self.kind not in (None, kind):
            remedy = f"so far its rows were {self.kind}; give dicts only, or indexed rows (dense or sparse) only"
            raise BadInput("x", f"{'an' if kind == 'indexed' else 'a'} {kind} row", remedy)
        if grow:
            self.kind = kind

    def find(self, name: Any, grow: bool) -> int:
        """The id of a name, −1 when it is new and must not be added."""
        place = self.ids.get(name, -1)
        if place < 0 and grow:
            place = len(self.ids)
            self.ids[name] = place
        return place


def numbers(values: Any, argument: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(argument, values, "give numbers; encode text columns first or pass a dict") from None
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)].flat[0]
        raise BadInput(argument, float(bad), "every feature must be finite; drop or fill missing values first")
    return array


def check_ids(indices: Any, argument: str = "indices") -> NDArray[np.int64]:
    array = np.asarray(indices)
    if array.size and array.dtype.kind not in "iu":
        raise BadInput(argument, indices, "feature ids must be whole numbers")
    array = np.ascontiguousarray(array, dtype=np.int64)
    if array.size and array.min() < 0:
        raise BadInput(argument, int(array.min()), "feature ids must be ≥ 0")
    return array


def row(x: Any, names: Names, grow: bool) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(ids, values) of one row: a dict, a pair (indices, values), or a dense row.

    >>> row({"age": 3.0, "job": "clerk"}, Names(), grow=True)
    (array([0, 1]), array([3., 1.]))
    """
    if names.table is not None:
        ids, values = names.table.row(x)
        return large_ids(ids, names, grow), values
    if isinstance(x, dict):
        names.keep_to("named", False)
        ids, values = _named(x, names, grow)
        names.keep_to("named", grow)
        return ids, values
    if hasattr(x, "tocsr"):
        matrix = x.tocsr()
        if matrix.shape[0] != 1:
            raise BadInput("x", matrix.shape, "give one row; use run for a matrix")
        return row((matrix.indices, matrix.data), names, grow)
    ids, values = _indexed(x)
    names.keep_to("indexed", grow)
    return large_ids(ids, names, grow), values


def _indexed(x: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if isinstance(x, tuple) and len(x) == 2 and np.ndim(x[0]) == 1 and np.ndim(x[1]) == 1:
        ids, values = check_ids(x[0], "x[0]"), numbers(x[1], "x[1]")
        if ids.shape != values.shape:
            raise BadInput("x", x, "indices and values must have the same length")
        return ids, np.ascontiguousarray(values)
    dense = numbers(x, "x")
    if dense.ndim != 1:
        raise BadInput("x", x, "give one row of features, (indices, values), or a dict")
    return np.arange(dense.size, dtype=np.int64), np.ascontiguousarray(dense)


def large_ids(ids: NDArray[np.int64], names: Names, grow: bool) -> NDArray[np.int64]:
    """Ids beyond DIRECT are treated as names; their rows lie above DIRECT."""
    if not ids.size or ids.max() < DIRECT:
        return ids
    mapped = ids.copy()
    for j in np.flatnonzero(ids >= DIRECT):
        place = names.find(int(ids[j]), grow)
        mapped[j] = DIRECT + place if place >= 0 else np.iinfo(np.int64).max
    return mapped


def _named(x: dict[Any, Any], names: Names, grow: bool) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers keep their name; text becomes an indicator named name=text."""
    pairs: list[tuple[Any, float]] = []
    for name, raw in x.items():
        if isinstance(raw, str):
            pairs.append((f"{name}={raw}", 1.0))
        else:
            try:
                number = float(raw)
            except (TypeError, ValueError):
                raise BadInput(f"x[{name!r}]", raw, "give a number or text") from None
            pairs.append((name, number))
    values = numbers([number for _, number in pairs], "x")
    ids = [names.find(name, grow) for name, _ in pairs]
    keep = [j for j, place in enumerate(ids) if place >= 0]
    return np.array([ids[j] for j in keep], dtype=np.int64), values[keep]


def matrix(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(indptr, indices, values) of a scipy sparse matrix or a dense array (whose zeros are left out)."""
    if hasattr(X, "tocsr"):
        csr = X.tocsr()
        return csr.indptr.astype(np.int64), check_ids(csr.indices), numbers(csr.data, "X")
    dense = numbers(X, "X")
    if dense.ndim != 2:
        raise BadInput("X", dense.shape, "give a matrix with one row a round")
    rows, columns = np.nonzero(dense)
    indptr = np.zeros(len(dense) + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=len(dense)), out=indptr[1:])
    return indptr, columns.astype(np.int64), dense[rows, columns]
