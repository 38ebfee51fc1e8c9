"""Rows as Auto takes them: read as every learner reads them, with a short way for dicts of known names and plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput
from burkholder.learning.rows import INTERCEPT, LARGEST, Row, Rows, Table
from burkholder.learning.saved import checked_row, rows_in
from burkholder.rounds.plain import plain

Found = tuple[NDArray[np.int64], NDArray[np.float64]]


class Reading:
    """The one `Rows`, without a constant: Auto's lanes have their own."""

    def __init__(self, rows: Rows | None = None) -> None:
        self.rows = rows or Rows()

    # --- one row -------------------------------------------------------------------------------------------
    def known(self, x: Any) -> Found | None:
        """(indices, values) of a dict whose names are all known and whose values are plain numbers; None for any other row."""
        if type(x) is not dict or self.rows.kind != "names" or not plain(x):
            return None
        try:
            indices = np.fromiter(map(self.rows.names.__getitem__, x), np.int64, len(x))
        except KeyError:
            return None
        values = np.fromiter(x.values(), np.float64, len(x))
        if len(x) and not (values.max() <= LARGEST and values.min() >= -LARGEST):
            return None
        return indices, values

    def read(self, x: Any) -> Row:
        """The row, checked and copied."""
        return self.rows.read(x)

    def places(self, row: Row) -> tuple[NDArray[np.int64], NDArray[np.float64], tuple[Any, ...]]:
        """(indices, values) and the names that are new. Nothing is stored."""
        indices, values, new = self.rows.places(row)
        return np.ascontiguousarray(indices, np.int64), values, new

    def keep(self, kind: str, length: int | None, new: tuple[Any, ...]) -> None:
        """Remember what was read."""
        self.rows.keep(kind, length, new)

    # --- many rows -----------------------------------------------------------------------------------------
    def table(self, X: Any) -> Table:
        """The rows of X in compressed form, every value checked."""
        return self.checked(self.rows.table(X), "X")

    def compressed(self, indptr: Any, indices: Any, values: Any) -> Table:
        """CSR arrays, every value checked."""
        return self.checked(self.rows.compressed(indptr, indices, values), "values")

    @staticmethod
    def checked(table: Table, argument: str = "X") -> Table:
        """The table, if every value in it can be learned from."""
        try:
            values = np.ascontiguousarray(table.values, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(argument, table.values.dtype, "give numbers") from None
        part = slice(int(table.indptr[0]), int(table.indptr[-1]))
        used, where = values[part], table.indices[part]
        if where.size and where.min() < 0:
            raise BadInput("indices", int(where.min()), "feature indices are whole numbers ≥ 0")
        if used.size and not (used.max() <= LARGEST and used.min() >= -LARGEST):  # false for NaN too
            place = int(np.argmin(np.abs(used) <= LARGEST)) + int(table.indptr[0])
            row = int(np.searchsorted(table.indptr, place, "right")) - 1
            remedy = "give finite numbers of size at most 1e150; drop or fill missing values"
            raise BadInput(f"X[{row}]", float(values[place]), remedy)
        indptr = np.ascontiguousarray(table.indptr, np.int64)
        return table._replace(indptr=indptr, indices=np.ascontiguousarray(table.indices, np.int64), values=values)

    def keep_table(self, table: Table) -> None:
        """Remember what was read, once; parts of one table bring the same."""
        known = self.rows.names if table.kind == "names" else self.rows.far
        new = () if table.new and table.new[0] in known else table.new
        if table.rows and (new or self.rows.kind is None):
            self.rows.keep(table.kind, table.length, new)

    # --- going back ----------------------------------------------------------------------------------------
    def mark(self) -> tuple[Any, ...]:
        """How much is remembered now; `back_to` forgets the rest."""
        return self.rows.kind, self.rows.length, len(self.rows.names), len(self.rows.far)

    def back_to(self, mark: tuple[Any, ...]) -> None:
        """Forget what came after the mark."""
        self.rows.kind, self.rows.length, names, far = mark
        for known, count in ((self.rows.names, names), (self.rows.far, far)):
            while len(known) > count:
                known.popitem()

    # --- features by name ----------------------------------------------------------------------------------
    def by_feature(self, each: NDArray[np.float64], slot_of: NDArray[np.int32]) -> Any:
        """Numbers kept a slot, as a dict over the names, or as an array over the indices."""
        if self.rows.kind == "names":
            return {name: self._of(each, slot_of, place) for name, place in self.rows.names.items()}
        found = np.flatnonzero(slot_of >= 0)
        out = np.zeros(self.rows.length or (int(found[-1]) + 1 if found.size else 0))
        found = found[found < len(out)]
        out[found] = each[slot_of[found]]
        return out

    @staticmethod
    def _of(each: NDArray[np.float64], slot_of: NDArray[np.int32], place: int) -> float:
        return float(each[slot_of[place]]) if place < len(slot_of) and slot_of[place] >= 0 else 0.0

    def comparator(self, u: Any, intercept: bool, features: int, slot_of: NDArray[np.int32]) -> NDArray[np.float64]:
        """A comparator (by name, or as a vector, the constant first where there is one), slot by slot."""
        out = np.zeros(features)
        if isinstance(u, Mapping):
            named = dict(u)
            constant = Rows().comparator([named.pop(INTERCEPT, 0.0) if intercept else 0.0], 1)
            vector = self.rows.comparator(named, len(slot_of))
        else:
            whole = self.rows.comparator(u, len(slot_of) + intercept)
            constant, vector = whole[: int(intercept)], whole[int(intercept) :]
        out[: len(constant)] = constant
        seen = np.flatnonzero((slot_of[: len(vector)] >= 0) & (slot_of[: len(vector)] < features))
        out[slot_of[seen]] = vector[seen]
        missed = np.flatnonzero((vector != 0.0) & (slot_of[: len(vector)] < 0))
        if missed.size and self.rows.kind != "vector":
            raise BadInput("w", int(missed[0]), "the stream never had this feature")
        return out

    # --- saved ---------------------------------------------------------------------------------------------
    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        rows = self.rows
        return {"kind": rows.kind, "length": rows.length, "names": list(rows.names), "far": list(rows.far)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Reading:
        """What `to_dict` described."""
        return cls(rows_in({**data, "intercept": False}))


def row_out(row: Row) -> list[Any]:
    """A row that was played, as plain data."""
    return [row.kind, list(row.keys) if row.kind == "names" else row.keys.tolist(), row.values.tolist()]


def row_in(data: list[Any]) -> Row:
    """What `row_out` described."""
    kind, keys, values = data
    return checked_row(kind, tuple(keys) if kind == "names" else np.array(keys, np.int64), np.array(values, float))
