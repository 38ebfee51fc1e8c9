"""Many learners of one kind side by side: the rounds of `loops`, each row on the ζ it belongs to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from burkholder.learning.rows import Table
from burkholder.losses import Absolute
from burkholder.machine.compiling import uncounted
from burkholder.machine.memory import Vector, array, named
from burkholder.rounds.checks import FINE, WIDE
from burkholder.rounds.layout import CODE
from burkholder.rounds.loops import Desk, Stream, learned_row, played_row
from burkholder.rounds.state import LinearState
from burkholder.rounds.streams import compressed, known_only, room


class Zeta(NamedTuple):
    """What one learner remembers, and its account."""

    cells: Vector
    scalars: Vector
    ledger: Vector


zeta_of = named(Zeta)


@uncounted
def stream(desk, zetas, which, order, rows, learning):
    """Rows in this order, each on the ζ `which` says; returns the place in the order it stopped at. The desk's own ζ stays as it is."""
    for i in range(order.size):
        zeta = zeta_of(zetas, which[i])
        cells, scalars, ledger = array(zeta.cells), array(zeta.scalars), array(zeta.ledger)
        mine = Desk(desk.frame, desk.potential, desk.loss, cells, scalars, desk.scratch, ledger, desk.width, desk.bound)
        scalars[CODE] = FINE
        done = learned_row(mine, rows, order[i], None) if learning else played_row(mine, rows, order[i], None)
        if not done:
            return i
    return order.size


@uncounted
def verdict(zetas, k):
    """Why a stream stopped at this ζ."""
    return zeta_of(zetas, k).scalars[CODE]


class Work(NamedTuple):
    """What all these learners have in common: the function's own rounds and room for a row (of a state nobody learns with), loss, bound."""

    state: LinearState
    loss: Any
    bound: float


def run(work: Work, zetas: Any, which: np.ndarray, order: np.ndarray, table: Table, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """Every row of the table, in this order, on the ζ `which` says: play, settle, learn. Returns ŷ; a bad row leaves all half done."""
    indptr, indices, values = compressed(table)
    weights = np.ones(1) if weight is None else np.array(weight, float)
    rows = Stream(indptr, indices, values, np.array(y, float), weights, np.empty(table.rows), *room(work.state, indices, values))
    return _walk(work, work.loss, zetas, which, order, rows, True)


def plays(work: Work, zetas: Any, which: np.ndarray, order: np.ndarray, table: Table, capacity: np.ndarray) -> np.ndarray:
    """The prediction for every row; `capacity` is how many coordinates the ζ of each row has room for. Nothing is learned."""
    indptr, indices, values = compressed(table)
    out, nothing = np.empty(table.rows), np.zeros(0)
    rows = Stream(indptr, indices, values, nothing, nothing, out, *room(work.state, indices, values))
    have = np.empty(indices.size, np.int64)
    have[int(indptr[0]) : int(indptr[-1])] = np.repeat(capacity, np.diff(indptr))
    return _walk(work, Absolute(), zetas, which, order, known_only(work.state, rows, have), False)


def _walk(work: Work, loss: Any, zetas: Any, which: np.ndarray, order: np.ndarray, rows: Stream, learning: bool) -> np.ndarray:
    if isinstance(zetas, list):  # plain numba: one learner after another
        for k in range(len(zetas)):
            _stretch(work, loss, (zetas[k],), np.zeros(int((which == k).sum()), np.int64), order[which == k], rows, learning)
        return rows.out
    _stretch(work, loss, zetas, which, order, rows, learning)
    return rows.out


def _stretch(work: Work, loss: Any, zetas: Any, which: np.ndarray, order: np.ndarray, rows: Stream, learning: bool) -> None:
    state, at = work.state, 0
    while True:
        desk = state.desk(loss, work.bound, np.zeros(0))
        at += stream(desk, zetas, which[at:].copy(), order[at:].copy(), rows, learning)
        if at == len(order):
            return
        row = int(order[at])
        here = slice(int(rows.indptr[row]), int(rows.indptr[row + 1]))
        code = verdict(zetas, int(which[at]))
        if code != WIDE:
            state.refuse(code, rows.indices[here], rows.values[here], f"[{row}]")
        state.reserve(here.stop - here.start)
        spare = room(state, rows.indices, rows.values)
        rows = rows._replace(merged_indices=spare[0], merged_values=spare[1], table=spare[2])
