"""Light Autos side by side: the lanes of each key in a row of shared arrays."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from burkholder.auto import kernel
from burkholder.auto.late import losses_of
from burkholder.auto.learner import Auto
from burkholder.auto.nonlinear import TREES
from burkholder.auto.reading import Reading
from burkholder.auto.room import plain
from burkholder.auto.state import FEATURES, LOSS, LOSS_REST, ROUNDS, UNIT, State, copied, grown, new_work, side_of
from burkholder.auto.targets import TINY
from burkholder.errors import BadInput
from burkholder.keyed.slabs import Shape, poured, room_for
from burkholder.learning.rows import Rows, Table
from burkholder.machine.memory import table as table_of

KNOWN, LATE, LATE_SIZE, PLAYS = range(4)  # notes: whether the unit is known, late labels and what they paid, plays so far


class LightPacking:
    """An `Auto` of linear lanes alone. A size is room for so many features, and for their ids."""

    shared = ("v0", "drift", "wide", "radii", "full_spec", "prior")
    axes = 2
    notes = 4

    def __init__(self, prototype: Auto) -> None:
        self.prototype, self.plan = prototype, prototype.plan
        self.first = prototype.reading.rows
        self._room(64)

    def _room(self, features: int) -> None:
        self.work = new_work(self.plan, features, 1 + features)

    @classmethod
    def fits(cls, learner: Any) -> bool:
        """Whether such a learner can be kept so: no trees, and a loss that is the same in every unit."""
        if type(learner) is not Auto or learner.reading.rows.source is not None:
            return False
        return (TREES[learner.effort] == 0 or learner.loss.margin) and learner.loss.scaled(2.0) == learner.loss

    def tabled(self, rows: Rows, X: Any) -> Table:
        """Many rows, as one of the learners reads them."""
        return Reading(rows).table(X)

    def fresh(self, shape: Shape) -> State:
        """What a newcomer keeps: covariances no wider than there are features."""
        features, ids = shape
        whole = grown(self.plan, self.prototype.state, features, ids)
        side = side_of(self.plan, features)
        cut: dict[str, Any] = whole._asdict() | {
            "stat": whole.stat[:features],
            "lanes": whole.lanes[:features],
            "dense": whole.dense[:features],
            "slot_of": whole.slot_of[:ids],
            "full_w": whole.full_w[:, :side],
            "full_p": whole.full_p[:, :side, :side],
            "full_u": whole.full_u[:, :, :side],
            "full_drift": whole.full_drift[:, :side],
            "full_variance": whole.full_variance[:, :side],
        }
        return State(*(copied(array) for array in cut.values()))

    def needs(self, shelf: Any, which: np.ndarray, entries: np.ndarray, tops: np.ndarray) -> np.ndarray:
        """The size each of some slots needs: they bring so many entries, all ids below `tops`."""
        have = shelf.slabs.peek(which, "scalars", FEATURES, 1.0)
        return np.column_stack([np.minimum(have.astype(np.int64) + entries, 1 + tops), tops])

    def size(self, need: Any) -> Shape:
        """What is given to one that needs so much."""
        return room_for(int(need[0])), room_for(int(need[1]))

    def certain(self, table: Table, y: np.ndarray, weight: np.ndarray | None) -> bool:
        """Whether these rows will be learned, whatever was learned before: labels are looked at before anything is changed."""
        return True

    # --- rounds ----------------------------------------------------------------------------------------------------
    def run(
        self, shelf: Any, which: np.ndarray, starts: np.ndarray, order: np.ndarray, table: Table, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(predictions, losses) of the rows of these slots, in the order of `grouped`."""
        labels, many = np.where(np.abs(y) < TINY, 0.0, y), np.diff(starts)
        units, found = self._units(shelf, which, starts, labels[order])
        each = np.empty(len(y))
        each[order] = np.repeat(units, many)
        if not self.prototype.loss.classes:
            self.prototype.targets.check(y, each)
        # as in `Auto`: until then every label and so every weight was 0
        shelf.slabs.poke(which[found], "scalars", UNIT, units[found])
        shelf.notes[which[found], KNOWN] = 1.0
        yhat, paid = np.empty(len(y)), np.empty(len(y))
        weights = np.ones(len(y)) if weight is None else plain(weight, np.float64)
        self._walk(shelf, which, starts, order, table, labels / each, weights, yhat, paid, True)
        if weight is not None:
            return yhat, losses_of(self.prototype.loss, yhat, y)
        worth = np.array([unit**self.prototype.loss.degree for unit in units.tolist()])
        paid[order] *= np.repeat(worth, many)
        return yhat, paid

    def _units(self, shelf: Any, which: np.ndarray, starts: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What each slot's labels are divided by, and for which it was found only now: the size of the first label that is not 0."""
        units, found = shelf.slabs.peek(which, "scalars", UNIT), shelf.notes[which, KNOWN] == 0.0
        if found.any():
            end = len(labels)
            first = np.minimum.reduceat(np.where(labels != 0.0, np.arange(end), end), starts[:-1])
            found &= first < end
            units[found] = np.abs(labels[first[found]])
        return units, found

    def predict(self, shelf: Any, which: np.ndarray, starts: np.ndarray, order: np.ndarray, table: Table) -> np.ndarray:
        """Predictions of the rows of these slots."""
        out = np.empty(table.rows)
        self._walk(shelf, which, starts, order, table, out, out, out, out, False)
        return out

    def _walk(self, shelf: Any, which: np.ndarray, starts: np.ndarray, order: np.ndarray, table: Table, *rest: Any) -> None:
        wide = int(shelf.slabs.shapes(which, 2)[:, 0].max(initial=0))
        if wide > len(self.work.mark):
            self._room(wide)
        loop: Any = kernel.run_many
        states, plans, works = shelf.slabs.tables(which), table_of(self.plan), table_of(self.work)
        rows = kernel.plain_rows((table.indptr, table.indices, table.values))
        if not isinstance(states, list):
            loop(plans, states, works, self.prototype.loss, starts, order, *rows, *rest)
            return
        for k, state in enumerate(states):  # plain numba: one learner after another, each with rows of its own
            one: Any = kernel.run_rows
            for t in order[starts[k] : starts[k + 1]].tolist():
                parts = [array[t : t + 1] for array in rest[:4]]
                one(plans, (state,), works, self.prototype.loss, rows[0][t : t + 2], rows[1], rows[2], *parts, rest[4])

    # --- one learner ---------------------------------------------------------------------------------------------------
    def taken_from(self, learner: Any) -> tuple[State, Shape, list[float], Rows]:
        """(what it keeps, the size it needs, notes, how it reads rows); `BadInput` where it cannot be kept so."""
        if not self.fits(learner) or learner.pending or learner._nonlinear is not None:
            raise BadInput("learner", type(learner).__name__, "it stays an object")
        state = learner.state
        used = np.flatnonzero(state.slot_of >= 0)
        ids = max(int(used[-1]) + 1 if len(used) else 0, learner.rows.length or 0)
        notes = [float(learner._unit_known), float(learner._late), learner._late_size, float(learner._tickets.issued)]
        return state, (room_for(int(state.scalars[FEATURES])), room_for(ids)), notes, learner.rows

    def made(self, record: State, notes: np.ndarray, rows: Rows) -> Auto:
        """The plain learner that keeps this."""
        learner = copy.deepcopy(self.prototype)
        used = np.flatnonzero(record.slot_of >= 0)
        ids = max(int(used[-1]) + 1 if len(used) else 0, rows.length or 0)
        learner.state = grown(self.plan, learner.state, int(record.scalars[FEATURES]), ids)
        poured(record, learner.state)
        learner.reading = Reading(rows)
        learner._unit_known, learner._late, learner._late_size = bool(notes[KNOWN]), int(notes[LATE]), float(notes[LATE_SIZE])
        learner._tickets.issued = int(notes[PLAYS])
        learner._ready()
        return learner

    def rounds(self, record: State) -> int:
        return int(record.scalars[ROUNDS])

    def cumulative_loss(self, record: State) -> float:
        return float(record.scalars[LOSS] + record.scalars[LOSS_REST]) * float(record.scalars[UNIT]) ** self.prototype.loss.degree

    def first_notes(self) -> list[float]:
        return [float(self.prototype._unit_known), 0.0, 0.0, 0.0]

    def __getstate__(self) -> dict[str, Any]:
        return {"prototype": self.prototype}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["prototype"])  # type: ignore[misc]
