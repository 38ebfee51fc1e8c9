"""What a user may hand in as x, brought to one form: indices and values. One way of reading for every learner.

A vector (list, array), a sparse row (tuple of indices and values, or a 1 × d scipy matrix), or a dict of named
features, in which text becomes an indicator, a missing value a feature of its own (`naming`), a moment its hour, weekday, month and
trend (`dates`). A data frame is its rows as such dicts (`frames`). A learner keeps to
the kind it saw first; vectors keep their length, names may appear at any time. What is read is copied: nothing
that happens to x afterwards changes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning import frames
from burkholder.learning.fields import LARGEST, features

INTERCEPT = "(intercept)"
DIRECT = 1 << 24  # larger indices go through a table, so that memory follows the features seen, not their numbers
TOP = 2**63 - 1


class Row(NamedTuple):
    """A row as it was read: names or indices, and values, all its own."""

    kind: str  # "names", "vector" or "sparse"
    keys: Any  # a tuple of names, or an array of indices
    values: np.ndarray


class Table(NamedTuple):
    """Many rows, in compressed form (scipy's CSR arrays), with what reading them would add to the memory."""

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    kind: str
    length: int | None  # of vectors
    new: tuple[Any, ...] = ()  # names, or indices beyond `DIRECT`

    @property
    def rows(self) -> int:
        return len(self.indptr) - 1

    def part(self, start: int, stop: int) -> Table:
        """Some of the rows; nothing is copied."""
        return self._replace(indptr=self.indptr[start : stop + 1])


class Rows:
    """The memory that turns x into a row: the kind of x seen first, its length, the names."""

    def __init__(self, intercept: bool = False) -> None:
        self.intercept = bool(intercept)
        self.kind: str | None = None
        self.length: int | None = None
        self.names: dict[Any, int] = {INTERCEPT: 0} if intercept else {}
        self.far: dict[int, int] = {}  # indices beyond DIRECT, in order of appearance
        self.source: Any = None  # how the table was read that this learner learned from: its rows come by column

    # --- one row -------------------------------------------------------------------------------------------
    def read(self, x: Any) -> Row:
        """The row, checked and copied. Nothing is stored: see `keep`."""
        if self.source is not None:
            return Row("sparse", *self.source.row(x))
        if isinstance(x, Mapping):
            self.check_kind("names")
            return _named(x)
        if hasattr(x, "tocsr") and hasattr(x, "nnz"):
            if x.shape[0] != 1:
                raise BadInput("x", x.shape, "give one row at a time, or use run or predict_many for a whole matrix")
            flat = x.tocsr()
            x = (flat.indices, flat.data)
        if isinstance(x, tuple) and len(x) == 2 and not np.isscalar(x[0]):
            self.check_kind("sparse")
            return _sparse(x[0], x[1])
        self.check_kind("vector")
        values = _numbers(x)
        self._check_length(len(values))
        return Row("vector", np.arange(len(values)), values)

    def places(self, row: Row) -> tuple[np.ndarray, np.ndarray, tuple[Any, ...]]:
        """(indices, values) over the learner's coordinates, and what is new among its names. Nothing is stored."""
        self.check_kind(row.kind)  # others may have come since it was read
        self._check_length(len(row.values))
        if row.kind == "names":
            indices, new = self._find(self.names, row.keys, 0)
        else:
            indices, new = self._near(row.keys)
            indices = indices + self.intercept
        if not self.intercept:
            return indices, row.values, new
        if row.kind == "names":  # the constant last, as compiled rounds on dicts have it: sums come out the same
            return np.append(indices, 0), np.append(row.values, 1.0), new
        return np.concatenate([[0], indices]), np.concatenate([[1.0], row.values]), new

    def keep(self, kind: str, length: int | None, new: tuple[Any, ...]) -> None:
        """Remember what was read, once the round is settled."""
        if self.kind is None:
            self.kind, self.length = kind, length if kind == "vector" else None
        known = self.names if kind == "names" else self.far
        for key in new:
            known[key] = len(known)

    def keep_row(self, row: Row, new: tuple[Any, ...]) -> None:
        """`keep` for one row."""
        self.keep(row.kind, len(row.values), new)

    @staticmethod
    def _find(known: dict[Any, int], keys: Any, first: int) -> tuple[np.ndarray, tuple[Any, ...]]:
        fresh: dict[Any, int] = {}
        out = np.empty(len(keys), np.int64)
        for k, key in enumerate(keys):
            place = known.get(key)
            if place is None:
                place = fresh.setdefault(key, len(known) + len(fresh))
            out[k] = first + place
        return out, tuple(fresh)

    def _near(self, indices: np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
        """Indices as they are, those beyond `DIRECT` by the table."""
        if not len(indices) or indices.max() < DIRECT:
            return indices, ()
        out = indices.astype(np.int64)
        beyond = np.flatnonzero(indices >= DIRECT)
        out[beyond], new = self._find(self.far, out[beyond].tolist(), DIRECT)
        return out, new

    def _check_length(self, features: int) -> None:
        if self.length is not None and features != self.length:
            raise BadInput("x", f"{features} features", f"this learner takes {self.length} features a row")

    def check_kind(self, kind: str) -> None:
        """Refuse features of another kind than the first."""
        if self.kind is not None and self.kind != kind:
            raise BadInput("x", kind, f"this learner was started with {self.kind}; keep to one kind of features")

    # --- many rows -----------------------------------------------------------------------------------------
    def table(self, X: Any, argument: str = "X") -> Table:
        """The rows of a matrix (dense or sparse), a data frame, or a list of rows. Nothing is stored.

        Finite values are the caller's to check, unless the rows are dicts.
        """
        if self.source is not None:
            if frames.is_frame(X):
                X = frames.dicts(X)
            elif not (isinstance(X, (list, tuple)) and all(isinstance(x, Mapping) for x in X)):
                self.source.row(X)  # refuses a bare matrix
        if frames.is_frame(X):
            self.check_kind("names")
            return self._framed(frames.columns(X, argument))
        if hasattr(X, "tocsr") and hasattr(X, "nnz"):
            matrix = X.tocsr()
            kind = "vector" if self.kind == "vector" else "sparse"
            if kind == "vector" and matrix.shape[1] != self.length:
                raise BadInput(argument, f"{matrix.shape[1]} columns", f"this learner takes {self.length} features a row")
            return self.compressed(matrix.indptr, matrix.indices, matrix.data, kind, matrix.shape[1])
        if isinstance(X, (list, tuple)) and not len(X):
            return self.compressed(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0), self.kind or "vector", self.length)
        if isinstance(X, (list, tuple)) and isinstance(X[0], (Mapping, tuple)):
            return self._listed(X, argument)
        try:
            rows = np.ascontiguousarray(X, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(argument, type(X).__name__, "give a matrix of numbers, or a list of rows") from None
        if rows.ndim != 2:
            raise BadInput(argument, rows.shape, "give a matrix, one row a round")
        n, d = rows.shape
        self.check_kind("vector")
        if self.length is not None and d != self.length:
            raise BadInput(argument, f"{d} columns", f"this learner takes {self.length} features a row")
        if d > DIRECT:
            return self.compressed(np.arange(n + 1) * d, np.tile(np.arange(d), n), rows.reshape(-1), "vector", d)
        wide = d + self.intercept
        if self.intercept:
            values = np.empty((n, wide))
            values[:, 0], values[:, 1:] = 1.0, rows
            rows = values
        return Table(np.arange(n + 1) * wide, np.tile(np.arange(wide), n), rows.reshape(-1), "vector", d)

    def compressed(self, indptr: Any, indices: Any, values: Any, kind: str = "sparse", length: int | None = None) -> Table:
        """CSR arrays as a table: checked to fit together, the constant put in front, far indices by the table.

        With `length`, all indices are below it; those of a matrix that says so and lies are found by compiled loops.
        """
        self.check_kind(kind)
        starts, where, numbers = np.asarray(indptr), np.asarray(indices), np.asarray(values)
        if starts.ndim != 1 or not starts.size or (starts.dtype.kind not in "iu" and starts.size > 1):
            raise BadInput("indptr", starts.shape, "give whole numbers, one more than there are rows")
        starts = starts.astype(np.int64, copy=False)
        if where.size and where.dtype.kind not in "iu":
            raise BadInput("indices", where.dtype, "feature indices are whole numbers")
        if starts[0] < 0 or starts[-1] > min(where.size, numbers.size) or np.any(starts[1:] < starts[:-1]):
            raise BadInput("indptr", starts, "row ends must not fall, and must lie within indices and values")
        new: tuple[Any, ...] = ()
        if not where.size:
            where = where.astype(np.int64)
        elif length is None or length > DIRECT:
            if where.dtype.kind == "i" and where.min() < 0:
                raise BadInput("indices", int(where.min()), f"feature indices lie between 0 and {TOP}")
            where, new = self._near(where)
        if self.intercept:
            starts, where, numbers = _with_constant(starts, where, numbers)
        return Table(starts, where, numbers, kind, length, new)

    def _framed(self, found: frames.Columns) -> Table:
        """A data frame: its features column by column, put in order row by row."""
        places, new = self._find(self.names, found.features, 0)
        rows, which, numbers = (
            np.concatenate(parts) if parts else np.zeros(0, np.int64) for parts in (found.row, found.which, found.value)
        )
        if self.intercept:  # the constant last, as with dicts
            rows, numbers = np.append(rows, np.arange(found.rows)), np.append(numbers, np.ones(found.rows))
            where = np.append(places[which.astype(np.int64)] if len(which) else which, np.zeros(found.rows, np.int64))
        else:
            where = places[which.astype(np.int64)] if len(which) else which.astype(np.int64)
        order = np.argsort(rows, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows.astype(np.int64), minlength=found.rows))])
        return Table(indptr, where[order].astype(np.int64), numbers[order].astype(float), "names", None, new)

    def _listed(self, X: Any, argument: str) -> Table:
        """A list of dicts or of sparse rows."""
        new: dict[Any, int] = {}
        counts, parts, numbers = [0], [], []
        kind = "names" if isinstance(X[0], Mapping) and self.source is None else "sparse"
        known = self.names if kind == "names" else self.far
        for t, x in enumerate(X):
            try:
                row = self.read(x)
            except BadInput as error:
                raise BadInput(f"{argument}[{t}]{error.argument[1:]}", error.value, error.remedy) from None
            if row.kind != kind:
                raise BadInput(f"{argument}[{t}]", row.kind, f"the first row is {kind}; keep to one kind of features")
            indices, values, fresh = self.places(row)
            if new or fresh:  # names of this very table come behind those known before it
                for key in fresh:
                    new.setdefault(key, len(known) + len(new))
                moved = {len(known) + k: new[key] for k, key in enumerate(fresh)}
                first = 0 if kind == "names" else DIRECT + self.intercept
                indices = np.array([first + moved.get(i - first, i - first) for i in indices.tolist()], np.int64)
            parts.append(indices)
            numbers.append(values)
            counts.append(counts[-1] + len(values))
        empty = [np.zeros(0, np.int64)], [np.zeros(0)]
        return Table(np.array(counts), np.concatenate(parts or empty[0]), np.concatenate(numbers or empty[1]), kind, None, tuple(new))

    # --- comparators ---------------------------------------------------------------------------------------
    def comparator(self, w: Any, dim: int) -> np.ndarray:
        """A comparator given as a vector or by names (or indices), as a vector over this learner's coordinates."""
        if not isinstance(w, Mapping):
            out = _numbers(w, "w")
            if len(out) > dim and np.any(out[dim:] != 0.0):
                raise BadInput("w", f"{len(out)} numbers", f"the stream has {dim} features, the intercept first if any")
            return np.concatenate([out[:dim], np.zeros(max(0, dim - len(out)))])
        out = np.zeros(dim)
        for name, value in w.items():
            place = self.place_of(name, dim)
            number = _numbers([value], f"w[{name!r}]")[0]
            if place < dim:
                out[place] = number
            elif number != 0.0:  # unknown, or first seen after this certificate was made
                raise BadInput("w", name, "the stream never had a feature of that name")
        return out

    def place_of(self, name: Any, dim: int) -> int:
        """The coordinate of a name or index; `dim` when there is none."""
        if self.kind == "names" or name == INTERCEPT:
            return self.names.get(name, dim)
        if isinstance(name, bool) or not isinstance(name, (int, np.integer)) or name < 0:
            return dim
        near = int(name) if name < DIRECT else DIRECT + self.far.get(int(name), dim)
        return near + self.intercept


def _numbers(values: Any, argument: str = "x") -> np.ndarray:
    try:
        out = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(argument, values, "give numbers; text and missing values belong in a dict of named features") from None
    if out.ndim != 1:
        raise BadInput(argument, out.shape, "give one row of features")
    check_finite(out, argument)
    return out


def check_finite(values: np.ndarray, argument: str) -> None:
    """Refuse NaN, infinities and what is too large to be squared."""
    good = np.abs(values) <= LARGEST  # false for NaN too
    if not good.all():
        place = int(np.argmin(good))
        raise BadInput(argument, float(values[place]), "give finite numbers of size at most 1e150; drop or fill missing values")


def _sparse(indices: Any, values: Any) -> Row:
    where, numbers = np.array(indices), _numbers(values)
    if where.size == 0:
        where = where.astype(np.int64)
    if where.ndim != 1 or where.dtype.kind not in "iu" or len(where) != len(numbers):
        raise BadInput("x", (where.shape, numbers.shape), "give (indices, values): whole numbers, one per value")
    if len(where) and (where.min() < 0 or where.max() > TOP):
        raise BadInput("x", int(where.min()), f"feature indices lie between 0 and {TOP}")
    return Row("sparse", where.astype(np.int64), numbers)


def _named(x: Mapping[Any, Any]) -> Row:
    names, numbers = [], []
    for name, value in x.items():
        if type(value) is float and -LARGEST <= value <= LARGEST:
            names.append(name)
            numbers.append(value)
        else:
            for feature, number in features(name, value, "x"):
                names.append(feature)
                numbers.append(number)
    return Row("names", tuple(names), np.array(numbers, dtype=float))


def _with_constant(indptr: np.ndarray, indices: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same rows with a constant 1 in front, as feature 0."""
    starts = indptr[:-1] - indptr[0]
    indices, values = indices[indptr[0] : indptr[-1]], values[indptr[0] : indptr[-1]]
    out_indices = np.insert(indices.astype(np.int64) + 1, starts, 0)
    out_values = np.insert(values.astype(values.dtype if values.dtype.kind == "f" else float), starts, 1.0)
    return indptr - indptr[0] + np.arange(len(indptr)), out_indices, out_values
