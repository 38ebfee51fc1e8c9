"""Arrays for many learners of one kind: one row of shared arrays each, in pages that never move, sorted by size.

A learner begins in rows just large enough for it and moves to larger ones when it grows, so that keys with few features stay small
whatever other keys have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from burkholder.auto.state import aligned
from burkholder.machine.memory import addressed
from burkholder.machine.processor import PLAIN

Shape = tuple[int, ...]
PAGE = 1 << 24  # bytes of a page, at most; and never more than so many rows:
MOST_ROWS = 1024


def room_for(count: int) -> int:
    """Room for so many features: whole eights, powers of two from 64 on.

    >>> [room_for(count) for count in (0, 8, 11, 64, 65)]
    [8, 8, 16, 64, 128]
    """
    return max(8, -(-count // 8) * 8) if count <= 64 else 1 << (count - 1).bit_length()


def poured(source: Any, target: Any) -> None:
    """Copy into every array of a record the corner it shares with that of another."""
    for old, new in zip(source, target, strict=True):
        corner = tuple(slice(0, min(a, b)) for a, b in zip(old.shape, new.shape))
        new[corner] = old[corner]


class Kept(NamedTuple):
    """Some rows as they were: which slots, of which size, and their arrays."""

    slots: np.ndarray
    shape: Shape
    arrays: list[np.ndarray]


class Room:
    """Rows of one size. `fresh` is the record of a newcomer; the fields named `shared` are constants, the same for all."""

    def __init__(self, fresh: Any, shape: Shape, shared: tuple[str, ...]) -> None:
        self.fresh, self.shape = fresh, shape
        self.own = [k for k, name in enumerate(fresh._fields) if name not in shared]
        self.bytes = sum(fresh[k].nbytes for k in self.own)
        self.per_page = 1 << max(0, min(MOST_ROWS, PAGE // max(1, self.bytes)).bit_length() - 1)
        self.pages: list[list[np.ndarray]] = []
        self.free: list[int] = []
        self.used = 0

    def taken(self, count: int) -> np.ndarray:
        """So many rows, as newcomers have them."""
        again = [self.free.pop() for _ in range(min(count, len(self.free)))]
        rows = np.concatenate([np.array(again, np.int64), np.arange(self.used, self.used + count - len(again))])
        self.used += count - len(again)
        while len(self.pages) * self.per_page < self.used:
            self.pages.append([_zeros(self.per_page, self.fresh[k]) for k in self.own])
        for page, where, _ in self._by_page(rows):
            for array, k in zip(page, self.own):
                array[where] = self.fresh[k]
        return rows

    def _by_page(self, rows: np.ndarray) -> Iterator[tuple[list[np.ndarray], np.ndarray, np.ndarray]]:
        """(the arrays of a page, rows in it, their places among `rows`)."""
        pages = rows // self.per_page
        order = np.argsort(pages, kind="stable")
        cuts = np.flatnonzero(np.diff(pages[order])) + 1
        for places in np.split(order, cuts):
            if len(places):
                yield self.pages[int(pages[places[0]])], rows[places] % self.per_page, places

    def read(self, rows: np.ndarray) -> list[np.ndarray]:
        """Copies of some rows, field by field."""
        out = [np.empty((len(rows), *self.fresh[k].shape), self.fresh[k].dtype) for k in self.own]
        for page, where, places in self._by_page(rows):
            for array, copy in zip(page, out):
                copy[places] = array[where]
        return out

    def write(self, rows: np.ndarray, arrays: list[np.ndarray]) -> None:
        """Such copies back; the corner they share where they are of another size."""
        for page, where, places in self._by_page(rows):
            for array, given in zip(page, arrays):
                corner: Any = tuple(slice(0, min(a, b)) for a, b in zip(given.shape[1:], array.shape[1:]))
                array[(where, *corner)] = given[(places, *corner)]

    def peek(self, rows: np.ndarray, field: str, at: int) -> np.ndarray:
        """One number of a field, of each of some rows."""
        k, out = self.own.index(self.fresh._fields.index(field)), np.empty(len(rows))
        for page, where, places in self._by_page(rows):
            out[places] = page[k][where, at]
        return out

    def poke(self, rows: np.ndarray, field: str, at: int, numbers: np.ndarray) -> None:
        """Write such numbers."""
        k = self.own.index(self.fresh._fields.index(field))
        for page, where, places in self._by_page(rows):
            page[k][where, at] = numbers[places]

    def record(self, row: int) -> Any:
        """One row as a record of the very arrays."""
        page, at = self.pages[row // self.per_page], row % self.per_page
        mine = dict(zip(self.own, (array[at] for array in page)))
        return type(self.fresh)(*(mine.get(k, array) for k, array in enumerate(self.fresh)))

    def addresses(self, rows: np.ndarray) -> Iterator[tuple[Any, Shape]]:
        """Where each field of some rows lies, and its lengths."""
        page, at = rows // self.per_page, rows % self.per_page
        mine = {k: place for place, k in enumerate(self.own)}
        for k, first in enumerate(self.fresh):
            if k not in mine:
                yield first.__array_interface__["data"][0], first.shape
                continue
            bases = np.array([arrays[mine[k]].__array_interface__["data"][0] for arrays in self.pages], np.int64)
            yield bases[page] + at * first.nbytes, first.shape


def _zeros(rows: int, like: np.ndarray) -> np.ndarray:
    return aligned(rows, *like.shape) if like.dtype == np.float64 else np.zeros((rows, *like.shape), like.dtype)


class Slabs:
    """The rows of as many slots as were placed; `fresh(shape)` makes the record of a newcomer of that size."""

    def __init__(self, fresh: Callable[[Shape], Any], shared: tuple[str, ...]) -> None:
        self.fresh, self.shared = fresh, shared
        self.rooms: list[Room] = []
        self.room_of, self.row_of = np.zeros(0, np.int32), np.zeros(0, np.int64)  # −1: nothing is kept

    def grow(self, count: int) -> None:
        """Have so many slots."""
        if count > len(self.room_of):
            more = max(count, len(self.room_of) * 5 // 4 + 16) - len(self.room_of)
            self.room_of = np.concatenate([self.room_of, np.full(more, -1, np.int32)])
            self.row_of = np.concatenate([self.row_of, np.full(more, -1, np.int64)])

    def _room(self, shape: Shape) -> int:
        for k, room in enumerate(self.rooms):
            if room.shape == shape:
                return k
        self.rooms.append(Room(self.fresh(shape), shape, self.shared))
        return len(self.rooms) - 1

    def place(self, slots: np.ndarray, shape: Shape) -> None:
        """Rows of that size for these slots, which have none."""
        room = self._room(shape)
        self.row_of[slots] = self.rooms[room].taken(len(slots))
        self.room_of[slots] = room

    def free(self, slots: np.ndarray) -> None:
        """These slots keep nothing any more."""
        for k, mine in self._by_room(slots):
            self.rooms[k].free += self.row_of[mine].tolist()
        self.room_of[slots] = -1

    def _by_room(self, slots: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        rooms = self.room_of[slots]
        for k in np.unique(rooms[rooms >= 0]).tolist():
            yield k, slots[rooms == k]

    def move(self, slots: np.ndarray, shape: Shape) -> None:
        """To rows of another size, or to their first ones."""
        kept = self.keep(slots)
        self.free(slots)
        self.place(slots, shape)
        for part in kept:
            self._write(part)

    def shapes(self, slots: np.ndarray, axes: int) -> np.ndarray:
        """The size of each slot's rows; 0 where it has none."""
        known = np.array([room.shape for room in self.rooms] + [(0,) * axes], np.int64).reshape(-1, axes)
        return known[self.room_of[slots]]

    def keep(self, slots: np.ndarray) -> list[Kept]:
        """Copies of what these slots keep; those without rows are left out."""
        return [Kept(mine, self.rooms[k].shape, self.rooms[k].read(self.row_of[mine])) for k, mine in self._by_room(slots)]

    def put(self, slots: np.ndarray, kept: list[Kept]) -> None:
        """These slots as they were when `kept` was made of them."""
        self.free(slots)
        for part in kept:
            self.place(part.slots, part.shape)
            self._write(part)

    def _write(self, part: Kept) -> None:
        for k, mine in self._by_room(part.slots):
            which = np.flatnonzero(self.room_of[part.slots] == k)
            self.rooms[k].write(self.row_of[mine], [array[which] for array in part.arrays])

    def record(self, slot: int) -> Any:
        """What a slot keeps, as a record of the very arrays; None where it has none."""
        room = int(self.room_of[slot])
        return None if room < 0 else self.rooms[room].record(int(self.row_of[slot]))

    def peek(self, slots: np.ndarray, field: str, at: int, otherwise: float = 0.0) -> np.ndarray:
        """One number of a field, of each of some slots; for those that keep nothing, something else."""
        out = np.full(len(slots), otherwise)
        for k, mine in self._by_room(slots):
            out[self.room_of[slots] == k] = self.rooms[k].peek(self.row_of[mine], field, at)
        return out

    def poke(self, slots: np.ndarray, field: str, at: int, numbers: np.ndarray) -> None:
        """Write such numbers."""
        for k, mine in self._by_room(slots):
            self.rooms[k].poke(self.row_of[mine], field, at, numbers[self.room_of[slots] == k])

    def tables(self, slots: np.ndarray) -> Any:
        """What compiled loops find these slots' records by. Good until one of them moves."""
        if PLAIN:
            return [self.record(slot) for slot in slots.tolist()]
        kind, out = type(self.rooms[0].fresh), None
        for k, mine in self._by_room(slots):
            found = addressed(kind, len(mine), self.rooms[k].addresses(self.row_of[mine])).reshape(len(mine), -1)
            if len(mine) == len(slots):
                return found.reshape(-1)
            out = np.empty((len(slots), found.shape[1]), np.int64) if out is None else out
            out[self.room_of[slots] == k] = found
        assert out is not None
        return out.reshape(-1)

    @property
    def nbytes(self) -> int:
        """Bytes of all rows in use."""
        return sum(room.bytes * (room.used - len(room.free)) for room in self.rooms)

    def __getstate__(self) -> dict[str, Any]:
        slots = np.flatnonzero(self.room_of >= 0)
        return {"fresh": self.fresh, "shared": self.shared, "count": len(self.room_of), "kept": self.keep(slots)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["fresh"], state["shared"])  # type: ignore[misc]
        self.grow(state["count"])
        self.put(np.zeros(0, np.int64), state["kept"])
