"""Learners of one Burkholder function side by side: ζ and the account of each key in a row of shared arrays."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.keyed.slabs import Shape, room_for
from burkholder.learning import ledger
from burkholder.learning.learner import Learner
from burkholder.learning.rows import Rows, Table
from burkholder.losses.batch import values
from burkholder.rounds import layout, many
from burkholder.rounds.many import Zeta
from burkholder.rounds.state import LinearState


class LinearPacking:
    """A `Learner` whose rounds are compiled. A size is the number of coordinates there is room for."""

    shared: tuple[str, ...] = ()
    axes = 1
    notes = 2  # plays so far, learners merged into this one

    def __init__(self, prototype: Learner) -> None:
        self.prototype = prototype
        self.first = prototype.rows
        self.work = many.Work(copy.deepcopy(prototype.state), prototype.loss, float(prototype.bound))

    @classmethod
    def fits(cls, learner: Any) -> bool:
        """Whether such a learner can be kept so."""
        compiled = type(learner) is Learner and learner.loss.compiled and isinstance(learner.state, LinearState)
        return compiled and learner.features is None and learner.rows.source is None

    def tabled(self, rows: Rows, X: Any) -> Table:
        """Many rows, as one of the learners reads them."""
        return rows.table(X)

    def fresh(self, shape: Shape) -> Zeta:
        """What a newcomer keeps."""
        state = self.prototype.state
        return Zeta(np.zeros(shape[0] * state.width), state.scalars.copy(), ledger.empty())

    def needs(self, keyed: Any, which: np.ndarray, entries: np.ndarray, tops: np.ndarray) -> np.ndarray:
        """The size each of some slots needs: they bring so many entries, all indices below `tops`."""
        return tops[:, None]

    def size(self, need: Any) -> Shape:
        """What is given to one that needs so much."""
        self.work.state.check_index(int(need[0]) - 1 if need[0] else 0)
        return (room_for(int(need[0])),)

    def certain(self, table: Table, y: np.ndarray, weight: np.ndarray | None) -> bool:
        """Whether these rows will be learned, whatever was learned before."""
        return many.certain(self.work, table, y, weight)

    # --- rounds ----------------------------------------------------------------------------------------------------
    def run(
        self, shelf: Any, which: np.ndarray, starts: np.ndarray, order: np.ndarray, table: Table, y: np.ndarray, weight: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(predictions, losses) of the rows of these slots, in the order of `grouped`."""
        yhat = many.run(self.work, shelf.slabs.tables(which), starts, order, table, y, weight)
        return yhat, values(self.prototype.loss, yhat, y)

    def predict(self, shelf: Any, which: np.ndarray, starts: np.ndarray, order: np.ndarray, table: Table) -> np.ndarray:
        """Predictions of the rows of these slots."""
        have = np.empty(table.rows, np.int64)
        have[order] = np.repeat(shelf.slabs.shapes(which, 1)[:, 0], np.diff(starts))
        return many.plays(self.work, shelf.slabs.tables(which), starts, order, table, have)

    # --- one learner ---------------------------------------------------------------------------------------------------
    def taken_from(self, learner: Any) -> tuple[Zeta, Shape, list[float], Rows]:
        """(what it keeps, the size it needs, notes, how it reads rows); `BadInput` where it cannot be kept so."""
        if not self.fits(learner) or learner.pending:
            raise BadInput("learner", type(learner).__name__, "it stays an object")
        state = learner.state
        cells = state.cells[: state.dim * state.width]
        return (
            Zeta(cells, state.scalars, learner.ledger),
            (room_for(state.dim),),
            [float(learner._tickets.issued), float(learner.parts)],
            learner.rows,
        )

    def made(self, record: Zeta, notes: np.ndarray, rows: Rows) -> Learner:
        """The plain learner that keeps this."""
        learner = copy.deepcopy(self.prototype)
        state: Any = learner.state
        dim = int(record.scalars[layout.DIM])
        state.adopt(state._fresh(dim))
        state.cells[: dim * state.width] = record.cells[: dim * state.width]
        state.scalars[:], learner.ledger[:] = record.scalars, record.ledger
        learner.rows, learner._tickets.issued, learner.parts = rows, int(notes[0]), int(notes[1])
        return learner

    def rounds(self, record: Zeta) -> int:
        return int(record.ledger[ledger.ROUNDS])

    def cumulative_loss(self, record: Zeta) -> float:
        return ledger.loss_of(record.ledger)

    def first_notes(self) -> list[float]:
        return [0.0, 1.0]
