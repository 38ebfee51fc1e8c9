"""What a user may hand in as x, brought to one form: indices and values.

A vector (list, array), a sparse row (tuple of indices and values, or a 1 × d scipy matrix), or a dict of named
features. A learner keeps to the kind it saw first; vectors keep their length, names may appear at any time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from burkholder.errors import BadInput

INTERCEPT = "(intercept)"
Row = tuple[np.ndarray, np.ndarray]


class Rows:
    """The memory that turns x into a row: the kind of x seen first, its length, the names."""

    def __init__(self, intercept: bool = False) -> None:
        self.intercept = bool(intercept)
        self.kind: str | None = None  # "vector", "sparse" or "names"
        self.length: int | None = None
        self.names: dict[str, int] = {INTERCEPT: 0} if intercept else {}
        self.table: Any = None  # how the table was read that this learner learned from: its rows come by column

    def read(self, x: Any) -> tuple[Row, list[str]]:
        """The row, and the names it would add. Nothing is stored: see `keep`."""
        if self.table is not None:
            return self.table.row(x), []
        if isinstance(x, Mapping):
            return self._named(x)
        if isinstance(x, tuple) and len(x) == 2 and not np.isscalar(x[0]):
            row = self._sparse(x[0], x[1])
        elif hasattr(x, "tocsr") and hasattr(x, "nnz"):
            if x.shape[0] != 1:
                raise BadInput("x", x.shape, "give one row at a time, or use run for a whole matrix")
            flat = x.tocsr()
            row = self._sparse(flat.indices, flat.data)
            self.check_kind("sparse")
        else:
            return self._vector(x), []
        self.check_kind("sparse")
        return row, []

    def keep(self, x: Any, new: list[str]) -> None:
        """Remember what `read` found, once the round is settled."""
        if self.kind is None:
            named = isinstance(x, Mapping)
            sparse = isinstance(x, tuple) or hasattr(x, "tocsr")
            self.kind = "names" if named else ("sparse" if sparse else "vector")
            if self.kind == "vector":
                self.length = len(x)
        for name in new:
            self.names[name] = len(self.names)

    def check_kind(self, kind: str) -> None:
        """Refuse features of another kind than the first."""
        if self.kind is not None and self.kind != kind:
            raise BadInput("x", kind, f"this learner was started with {self.kind}; keep to one kind of features")

    def _numbers(self, values: Any) -> np.ndarray:
        try:
            out = np.array(values, dtype=float)
        except (TypeError, ValueError):
            raise BadInput("x", values, "features must be numbers; encode text first") from None
        if out.ndim != 1:
            raise BadInput("x", out.shape, "give one row of features")
        good = np.abs(out) <= 1e150  # false for NaN too
        if not good.all():
            culprit = float(out[np.argmin(good)])
            raise BadInput("x", culprit, "give finite numbers of size at most 1e150; drop or fill missing values")
        return out

    def _shift(self, indices: np.ndarray, values: np.ndarray) -> Row:
        if not self.intercept:
            return indices, values
        return np.concatenate([[0], indices + 1]), np.concatenate([[1.0], values])

    def _vector(self, x: Any) -> Row:
        self.check_kind("vector")
        values = self._numbers(x)
        if self.length is not None and len(values) != self.length:
            raise BadInput("x", f"{len(values)} features", f"this learner takes {self.length} features a row")
        return self._shift(np.arange(len(values)), values)

    def _sparse(self, indices: Any, values: Any) -> Row:
        where, numbers = np.asarray(indices), self._numbers(values)
        if where.size == 0:
            where = where.astype(np.int64)
        if where.ndim != 1 or where.dtype.kind not in "iu" or len(where) != len(numbers):
            raise BadInput("x", (where.shape, numbers.shape), "give (indices, values): whole numbers, one per value")
        if len(where) and (where.min() < 0 or where.max() >= 2**31 - 1):
            raise BadInput("x", int(where.min()), "feature indices lie between 0 and 2147483646")
        return self._shift(where.astype(np.int64), numbers)

    def _named(self, x: Mapping[Any, Any]) -> tuple[Row, list[str]]:
        self.check_kind("names")
        names = self.names
        new: list[str] = []
        where, numbers = [], []
        for name, value in x.items():
            try:
                number = float(value)
            except (TypeError, ValueError, OverflowError):
                raise BadInput(f"x[{name!r}]", value, "features must be numbers; encode text first") from None
            if not abs(number) <= 1e150 or math.isnan(number):
                raise BadInput(f"x[{name!r}]", value, "give finite numbers of size at most 1e150")
            place = names.get(name)
            if place is None:
                place = len(names) + len(new)
                new.append(name)
            where.append(place)
            numbers.append(number)
        if self.intercept:
            where.append(0)
            numbers.append(1.0)
        return (np.array(where, dtype=np.int64), np.array(numbers)), new

    def comparator(self, w: Any, dim: int) -> np.ndarray:
        """A comparator given as a vector or by names, as a vector over this learner's coordinates."""
        if isinstance(w, Mapping):
            out = np.zeros(dim)
            for name, value in w.items():
                place = self.names.get(name, dim)
                if place < dim:
                    out[place] = float(value)
                elif float(value) != 0.0:  # unknown, or first seen after this certificate was made
                    raise BadInput("w", name, "the stream never had a feature of that name")
            return out
        out = self._numbers(w)
        if len(out) > dim and np.any(out[dim:] != 0.0):
            raise BadInput("w", f"{len(out)} numbers", f"the stream has {dim} features, the intercept first if any")
        return np.concatenate([out[:dim], np.zeros(max(0, dim - len(out)))])
