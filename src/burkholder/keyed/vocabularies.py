"""How the keys' rows are read: keys that met the same features in the same order share one memory of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.keyed.rows import taken
from burkholder.learning.grouping import grouped
from burkholder.learning.rows import Rows, Table

NEW = 0  # the vocabulary of a key that met nothing yet


class Read(NamedTuple):
    """Some rows of a block, read in one way: where they stand, whose they are, and how their keys will read from then on."""

    places: np.ndarray
    slots: np.ndarray
    table: Table
    after: int


class Vocabularies:
    """Which of the known `Rows` each slot reads with. `tabled(rows)` reads many rows for one of them."""

    def __init__(self, first: Rows, tabled: Callable[[Rows, Any], Table]) -> None:
        self.tabled = tabled
        self.all: dict[int, Rows] = {NEW: copied(first)}
        self.ids: dict[Any, int] = {_signature(first): NEW}
        self.users = {NEW: 0}
        self.of = np.zeros(0, np.int32)
        self._next = 1

    def grow(self, count: int) -> None:
        """Have so many slots."""
        if count > len(self.of):
            more = max(count, len(self.of) * 5 // 4 + 16) - len(self.of)
            self.of = np.concatenate([self.of, np.full(more, NEW, np.int32)])

    def rows(self, slot: int) -> Rows:
        """A memory of its own, as this slot has it."""
        return copied(self.all[int(self.of[slot])])

    def known(self, rows: Rows) -> int:
        """The number of such a memory."""
        signature = _signature(rows)
        found = self.ids.get(signature)
        if found is None:
            found, self._next = self._next, self._next + 1
            self.ids[signature], self.all[found], self.users[found] = found, copied(rows), 0
        return found

    def assign(self, slots: np.ndarray, ids: Any) -> None:
        """Let these slots, each named once, read so from now on; memories without readers are let go."""
        before, self.of[slots] = self.of[slots], ids
        for sign, which in ((1, self.of[slots]), (-1, before)):
            for number, many in zip(*(part.tolist() for part in np.unique(which, return_counts=True))):
                self.users[number] += sign * many
                if sign < 0 and number != NEW and self.users[number] <= 0:
                    del self.ids[_signature(self.all[number])], self.all[number], self.users[number]

    def read(self, slots: np.ndarray, X: Any, learning: bool) -> Iterator[Read]:
        """The rows of a block, as few tables as can be; a slot of −1 is nobody's. Nothing is stored but new memories."""
        ids = np.full(len(slots), NEW, np.int32)
        ids[slots >= 0] = self.of[slots[slots >= 0]]
        for number in [int(ids[0])] if len(ids) and (ids == ids[0]).all() else np.unique(ids).tolist():
            places = np.flatnonzero(ids == number)
            yield from self._read(number, places, slots[places], X, learning)

    def _read(self, number: int, places: np.ndarray, slots: np.ndarray, X: Any, learning: bool) -> Iterator[Read]:
        rows = self.all[number]
        try:
            table = self.tabled(rows, X if len(places) == _length(X) else taken(X, places))
        except BadInput as error:
            raise error.placed(places.tolist().__getitem__) from None
        if not learning or not len(places) or not (table.new or rows.kind is None):
            yield Read(places, slots, table, number)
        elif not table.new or _alike(table):
            after = copied(rows)
            after.keep(table.kind, table.length, table.new)
            yield Read(places, slots, table, self.known(after))
        else:  # what is new to one key may not be to another
            which, starts, order = grouped(slots)
            if len(which) == 1:
                after = copied(rows)
                after.keep(table.kind, table.length, table.new)
                yield Read(places, slots, table, self.known(after))
                return
            for start, stop in zip(starts[:-1].tolist(), starts[1:].tolist()):
                mine = order[start:stop]
                yield from self._read(number, places[mine], slots[mine], X, learning)


def _length(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _alike(table: Table) -> bool:
    """Whether every row has the very same features, in the same order."""
    many = np.diff(table.indptr)
    if table.kind != "names" or not len(many) or (many != many[0]).any():
        return False
    part = table.indices[table.indptr[0] : table.indptr[-1]].reshape(len(many), -1)
    return bool((part == part[0]).all())


def _signature(rows: Rows) -> Any:
    return rows.kind, rows.length, tuple(rows.names), tuple(rows.far)


def copied(rows: Rows) -> Rows:
    """A memory of its own with the same content."""
    other = Rows(rows.intercept)
    other.kind, other.length, other.names, other.far = rows.kind, rows.length, dict(rows.names), dict(rows.far)
    return other
