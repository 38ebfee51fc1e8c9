"""Many learners of one kind side by side: the rounds of `loops`, each row on the ζ it belongs to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from burkholder.learning.rows import Table
from burkholder.losses import Absolute
from burkholder.machine.compiling import uncounted
from burkholder.machine.memory import Vector, array, named
from burkholder.machine.prefetch import prefetch, prefetch_rows
from burkholder.rounds.checks import FINE, WIDE
from burkholder.rounds.layout import CODE
from burkholder.rounds.loops import Desk, Stream, learned_row, played_row, room_for
from burkholder.rounds.state import LinearState
from burkholder.rounds.streams import certainly, compressed, known_only, room


class Zeta(NamedTuple):
    """What one learner remembers, and its account."""

    cells: Vector
    scalars: Vector
    ledger: Vector


zeta_of = named(Zeta)


@uncounted
def stream(desk, zetas, starts, order, rows, first, learning):
    """The rows of every ζ in turn: those of the k-th stand in the order from starts[k] on. Begins with the first-th of them all; returns
    the place it stopped at. The desk's own ζ stays as it is.
    """
    for k in range(starts.size - 1):
        if starts[k + 1] <= first:
            continue
        zeta = zeta_of(zetas, k)
        cells, scalars, ledger = array(zeta.cells), array(zeta.scalars), array(zeta.ledger)
        mine = Desk(desk.frame, desk.potential, desk.loss, cells, scalars, desk.scratch, ledger, desk.width, desk.bound)
        dim = room_for(mine)
        scalars[CODE] = FINE
        for i in range(max(starts[k], first), starts[k + 1]):
            row = prefetch_rows(order, i, rows.indptr, rows.indices, rows.values)
            prefetch(rows.y, row)
            prefetch(rows.weight, row)
            prefetch(rows.out, row)
            done = learned_row(mine, dim, rows, order[i], None) if learning else played_row(mine, dim, rows, order[i], None)
            if not done:
                return i
    return order.size


@uncounted
def verdict(zetas, k):
    """Why a stream stopped at this ζ, which forgets it."""
    scalars = zeta_of(zetas, k).scalars
    code = scalars[CODE]
    scalars[CODE] = float(FINE)
    return code


class Work(NamedTuple):
    """What all these learners have in common: the function's own rounds and room for a row (of a state nobody learns with), loss, bound."""

    state: LinearState
    loss: Any
    bound: float


def run(
    work: Work, zetas: Any, starts: np.ndarray, order: np.ndarray, table: Table, y: np.ndarray, weight: np.ndarray | None
) -> np.ndarray:
    """The rows of every ζ in turn (see `stream`): play, settle, learn. Returns ŷ, row by row; a bad row leaves all half done."""
    indptr, indices, values = compressed(table)
    weights = np.ones(1) if weight is None else np.array(weight, float)
    rows = Stream(indptr, indices, values, np.array(y, float), weights, np.empty(table.rows), *room(work.state, indices, values))
    return _walk(work, work.loss, zetas, starts, order, rows, True)


def plays(work: Work, zetas: Any, starts: np.ndarray, order: np.ndarray, table: Table, capacity: np.ndarray) -> np.ndarray:
    """The prediction for every row; `capacity` is how many coordinates the ζ of each row has room for. Nothing is learned."""
    indptr, indices, values = compressed(table)
    out, nothing = np.empty(table.rows), np.zeros(0)
    rows = Stream(indptr, indices, values, nothing, nothing, out, *room(work.state, indices, values))
    have = np.empty(indices.size, np.int64)
    have[int(indptr[0]) : int(indptr[-1])] = np.repeat(capacity, np.diff(indptr))
    return _walk(work, Absolute(), zetas, starts, order, known_only(work.state, rows, have), False)


def certain(work: Work, table: Table, y: np.ndarray, weight: np.ndarray | None) -> bool:
    """Whether no row of the table can be refused, whatever was learned before."""
    indptr, indices, values = compressed(table)
    weights = np.ones(1) if weight is None else np.asarray(weight, float)
    part = slice(int(indptr[0]), int(indptr[-1]))
    return certainly(work.state, indptr, indices[part], values[part], np.asarray(y, float), weights, work.loss, work.bound)


def _walk(work: Work, loss: Any, zetas: Any, starts: np.ndarray, order: np.ndarray, rows: Stream, learning: bool) -> np.ndarray:
    if isinstance(zetas, list):  # plain numba: one learner after another
        for k, zeta in enumerate(zetas):
            mine = order[starts[k] : starts[k + 1]].copy()
            rows = _stretch(work, loss, (zeta,), np.array([0, len(mine)]), mine, rows, learning)
        return rows.out
    return _stretch(work, loss, zetas, starts, order, rows, learning).out


def _stretch(work: Work, loss: Any, zetas: Any, starts: np.ndarray, order: np.ndarray, rows: Stream, learning: bool) -> Stream:
    state, at = work.state, 0
    while True:
        at = stream(state.desk(loss, work.bound, np.zeros(0)), zetas, starts, order, rows, at, learning)
        if at == len(order):
            return rows
        row = int(order[at])
        here = slice(int(rows.indptr[row]), int(rows.indptr[row + 1]))
        code = verdict(zetas, int(np.searchsorted(starts, at, "right")) - 1)
        if code != WIDE:
            state.refuse(code, rows.indices[here], rows.values[here], f"[{row}]")
        state.reserve(here.stop - here.start)
        spare = room(state, rows.indices, rows.values)
        rows = rows._replace(merged_indices=spare[0], merged_values=spare[1], table=spare[2])
