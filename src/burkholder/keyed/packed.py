"""Learners of one kind packed in shared arrays: one compiled call for the rows of all keys, in any order of keys.

The rounds are those of the plain learner, on the same numbers in the same order, so a key is, bit for bit, a learner of its own.
One that has plays waiting for their labels, or that cannot be packed, stands beside them as an object for that long.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.keyed.rows import Block, taken
from burkholder.keyed.shelf import Shelf, taken_labels
from burkholder.keyed.slabs import Slabs
from burkholder.keyed.vocabularies import NEW, Vocabularies, copied
from burkholder.learning.grouping import grouped


class PackedShelf(Shelf):
    """The same as a `Shelf`, in arrays. `packing` knows the kind of learner."""

    def __init__(self, prototype: Any, packing: Any) -> None:
        super().__init__(prototype)
        self.packing = packing
        self.count = 0
        self.slabs = Slabs(packing.fresh, packing.shared)
        self.words = Vocabularies(packing.first, packing.tabled)
        self.notes = np.zeros((0, packing.notes))
        self.loose: dict[int, Any] = {}  # slots that are objects

    @property
    def atomic(self) -> bool:  # type: ignore[override]
        return not self.loose

    # --- slots -----------------------------------------------------------------------------------------------------
    def grow(self, count: int) -> None:
        if count <= self.count:
            return
        self.slabs.grow(count)
        self.words.grow(count)
        if count > len(self.notes):
            more = max(count, len(self.notes) * 5 // 4 + 16) - len(self.notes)
            self.notes = np.concatenate([self.notes, np.tile(self.packing.first_notes(), (more, 1))])
        self.count = count

    def shrink(self, count: int) -> None:
        self._clear(np.arange(count, self.count))
        self.count = count

    def _clear(self, slots: np.ndarray) -> None:
        """Let these slots be as new."""
        for slot in self.loose.keys() & set(slots.tolist()):
            del self.loose[slot]
        self.slabs.free(slots)
        self.words.assign(slots, NEW)
        self.notes[slots] = self.packing.first_notes()

    def reset(self, slot: int) -> None:
        self._clear(np.array([slot]))

    def drop(self, slot: int) -> None:
        self._clear(np.array([slot]))

    def learner(self, slot: int) -> Any:
        found = self.loose.get(slot)
        if found is not None:
            return found
        record = self.slabs.record(slot)
        return copy.deepcopy(self.prototype) if record is None else self.packing.made(record, self.notes[slot], self.words.rows(slot))

    def put(self, slot: int, learner: Any) -> None:
        self._clear(np.array([slot]))
        try:
            record, shape, notes, rows = self.packing.taken_from(learner)
        except BadInput:
            self.loose[slot] = learner
            return
        one = np.array([slot])
        self.slabs.place(one, shape)
        for name, mine, its in zip(record._fields, self.slabs.record(slot), record):
            if name not in self.packing.shared:
                corner = tuple(slice(0, min(a, b)) for a, b in zip(mine.shape, its.shape))
                mine[corner] = its[corner]
        self.words.assign(one, self.words.known(rows))
        self.notes[slot] = notes

    def held(self, slot: int) -> Any:
        self.loose[slot] = learner = self.learner(slot)
        return learner

    def settle(self, slot: int) -> None:
        learner = self.loose.get(slot)
        if learner is not None and not learner.pending:
            self.put(slot, learner)

    def predict_one(self, slot: int, row: Any) -> Any:
        found = self.loose.get(slot)
        return found.predict(row) if found is not None else float(self.predict(np.array([slot]), Block([0], [row]))[0])

    def rounds(self, slot: int) -> int:
        return self._told(slot, "rounds", 0)

    def cumulative_loss(self, slot: int) -> float:
        return self._told(slot, "cumulative_loss", 0.0)

    def _told(self, slot: int, what: str, nothing: Any) -> Any:
        if slot in self.loose:
            return getattr(self.loose[slot], what)
        record = self.slabs.record(slot)
        return nothing if record is None else getattr(self.packing, what)(record)

    # --- blocks ----------------------------------------------------------------------------------------------------
    def keep(self, slots: np.ndarray) -> Callable[[], None]:
        mine = grouped(slots)[0]
        undos = [(slot, self.loose[slot], self.loose[slot]._undo()) for slot in self.loose.keys() & set(mine.tolist())]
        kept, notes, ids = self.slabs.keep(mine), self.notes[mine].copy(), self.words.of[mine].copy()
        words = {number: copied(self.words.all[number]) for number in np.unique(ids).tolist()}

        def back() -> None:
            self.slabs.put(mine, kept)
            self.notes[mine] = notes
            again = {number: self.words.known(rows) for number, rows in words.items()}
            self.words.assign(mine, [again[number] for number in ids.tolist()])
            for slot, learner, undo in undos:
                self.loose[slot] = learner
                undo()

        return back

    def run(self, slots: np.ndarray, block: Block, targets: Any, weights: np.ndarray | None) -> tuple[Any, np.ndarray]:
        packed, said, paid = self._apart(slots), np.empty(len(slots)), np.empty(len(slots))
        if packed is not None:
            for mine in (packed, np.setdiff1d(np.arange(len(slots)), packed)):
                part = Block(taken(block.keys, mine), taken(block.X, mine))
                work = self.run if mine is packed else super().run
                try:
                    said[mine], paid[mine] = work(
                        slots[mine], part, taken_labels(targets, mine), None if weights is None else weights[mine]
                    )
                except BadInput as error:
                    raise error.placed(mine.tolist().__getitem__) from None
            return said, paid
        kept: Callable[[], None] | None = None
        reads = list(self.words.read(slots, block.X, True))
        for read in reads:
            which, starts, order = grouped(read.slots)
            whole = len(reads) == 1
            y = targets if whole else targets[read.places]
            some = weights if whole or weights is None else weights[read.places]
            if kept is None and not (whole and self.packing.certain(read.table, y, some)):
                kept = self.keep(slots)
            try:
                self._make_room(which, starts, order, read.table)
                said[read.places], paid[read.places] = self.packing.run(self, which, starts, order, read.table, y, some)
            except BaseException as error:
                if kept is not None:
                    kept()
                raise error.placed(read.places.tolist().__getitem__) if isinstance(error, BadInput) else error from None
            self.words.assign(which, read.after)
        return said, paid

    def predict(self, slots: np.ndarray, block: Block) -> Any:
        packed, out = self._apart(slots), np.empty(len(slots))
        if packed is not None:
            for mine in (packed, np.setdiff1d(np.arange(len(slots)), packed)):
                part = Block(taken(block.keys, mine), taken(block.X, mine))
                out[mine] = self.predict(slots[mine], part) if mine is packed else super().predict(slots[mine], part)
            return out
        for read in self.words.read(slots, block.X, False):
            which, starts, order = grouped(read.slots)
            fresh = which < 0
            fresh[~fresh] = self.slabs.room_of[which[~fresh]] < 0
            if fresh.any():  # nothing was learned: all of them answer alike
                out[read.places] = self.prototype._predict_many(read.table)
                which, starts, order, table = self._without(fresh, which, starts, order, read.table)
                if not len(which):
                    continue
                out[read.places[order]] = self.packing.predict(self, which, starts, order, table)[order]
            else:
                out[read.places] = self.packing.predict(self, which, starts, order, read.table)
        return out

    @staticmethod
    def _without(fresh: np.ndarray, which: np.ndarray, starts: np.ndarray, order: np.ndarray, table: Any) -> Any:
        """Groups and their rows, less some of the groups."""
        many = np.diff(starts)
        stay = np.repeat(~fresh, many)
        return which[~fresh], np.concatenate([[0], np.cumsum(many[~fresh])]), order[stay], table

    def _apart(self, slots: np.ndarray) -> np.ndarray | None:
        """The places of rows whose learners are packed, where others are not."""
        if not self.loose:
            return None
        packed = np.flatnonzero(~np.isin(slots, list(self.loose)))
        return None if len(packed) == len(slots) else packed

    def _make_room(self, which: np.ndarray, starts: np.ndarray, order: np.ndarray, table: Any) -> None:
        """Rows large enough for what these learners are about to see."""
        if not len(which):
            return
        begin, end = int(table.indptr[0]), int(table.indptr[-1])
        highest = int(table.indices[begin:end].max()) + 1 if end > begin else 0
        have = self.slabs.shapes(which, self.packing.axes)
        if (have >= 1 + highest).all():
            return
        many, tops = np.diff(table.indptr), np.full(table.rows, highest)
        if table.kind != "vector":
            full = np.flatnonzero(many)
            tops[:] = 0
            tops[full] = np.maximum.reduceat(np.asarray(table.indices[:end]).astype(np.int64), np.asarray(table.indptr)[full]) + 1
        top, entries = np.maximum.reduceat(tops[order], starts[:-1]), np.add.reduceat(many[order], starts[:-1])
        needs = self.packing.needs(self, which, entries, top)
        short = (needs > have).any(axis=1) | (self.slabs.room_of[which] < 0)
        if not short.any():
            return
        wanted = np.maximum(needs, have)[short]
        sizes, where = np.unique(wanted, axis=0, return_inverse=True)
        for k, size in enumerate(sizes):
            self.slabs.move(which[short][where.reshape(-1) == k], self.packing.size(size))

    def _each(self, slots: np.ndarray, block: Block, one: Callable[..., Any]) -> tuple[Any, np.ndarray]:
        self.learners = self.loose  # type: ignore[assignment]  # a slot's learner, by its number
        return super()._each(slots, block, one)
