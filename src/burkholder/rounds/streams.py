"""Whole streams through a state: the loops are compiled, a bad row undoes everything."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from burkholder.errors import BadInput
from burkholder.learning import ledger as account
from burkholder.learning.rows import Table
from burkholder.losses import Absolute
from burkholder.rounds import checks, layout, loops

if TYPE_CHECKING:
    from burkholder.rounds.state import LinearState

LARGEST_SLOPE = 1e100  # targets and slopes beyond this get the careful treatment
_LONG = 4  # entries a cell from which a copy of all cells costs next to nothing beside the run
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))  # what the loops are compiled for


def run(
    state: LinearState, table: Table, y: ArrayLike, weight: ArrayLike | None, loss: Any, bound: float, ledger: np.ndarray
) -> np.ndarray:
    """Every row in turn: play, settle, learn. Returns ŷ; bad input leaves ζ and the ledger as they were."""
    y, weight = _given(y, weight)
    rows = compressed(table)
    if not loss.compiled:
        return _run_slowly(state, rows, y, weight, loss, bound, ledger)
    return _learned(state, loops.stream, rows, np.empty(y.size), y, weight, loss, bound, ledger)


def settle(
    state: LinearState, table: Table, raw: np.ndarray, y: ArrayLike, weight: ArrayLike | None, loss: Any, bound: float, ledger: np.ndarray
) -> np.ndarray:
    """Every row in turn: settle what was played then, learn. Returns ŷ; bad input leaves ζ and the ledger as they were."""
    y, weight = _given(y, weight)
    return _learned(state, loops.stream_late, compressed(table), np.array(raw, dtype=float), y, weight, loss, bound, ledger)


def _given(y: ArrayLike, weight: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    return np.ascontiguousarray(y, dtype=float), np.ascontiguousarray(1.0 if weight is None else weight, dtype=float).reshape(-1)


def _learned(
    state: LinearState,
    loop: Any,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    out: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: Any,
    bound: float,
    ledger: np.ndarray,
) -> np.ndarray:
    indptr, indices, values = rows
    touched = slice(int(indptr[0]), int(indptr[-1]))
    short = touched.stop - touched.start < _LONG * state.capacity
    fine = short and certainly(state, indptr, indices[touched], values[touched], y, weight, loss, bound)
    undo = None if fine else keep(state, ledger, indices[touched] if short else None)
    try:
        return _walk(state, loop, loops.Stream(indptr, indices, values, y, weight, out, *room(state, indices, values)), loss, bound, ledger)
    except BadInput:
        if undo is not None:
            undo()
        raise


def plays(state: LinearState, table: Table, loss: Any, bound: float, ledger: np.ndarray) -> np.ndarray:
    """The prediction for every row; ζ stays as it is."""
    indptr, indices, values = compressed(table)
    nothing = np.zeros(0)
    out = np.empty(table.rows)
    rows = loops.Stream(indptr, indices, values, nothing, nothing, out, *room(state, indices, values))
    # whatever the loss: nothing is paid, and one loop plays for all of them, Python's own included
    return _walk(state, loops.stream_plays, rows, Absolute(), bound, ledger)


def _walk(state: LinearState, loop: Any, rows: loops.Stream, loss: Any, bound: float, ledger: np.ndarray) -> np.ndarray:
    """Through all rows, making room wherever the loop asks for it."""
    row, learning = 0, loop is not loops.stream_plays
    kinds = tuple((array.dtype.char, array.flags.writeable, array.flags.aligned) for array in rows[:5])
    if not learning and rows.indices.size and int(rows.indices[rows.indptr[0] : rows.indptr[-1]].max(initial=0)) >= state.capacity:
        rows = known_only(state, rows, state.capacity)  # a coordinate never seen contributes nothing, and predicting makes no room
    while True:
        arguments = (state.desk(loss, bound, ledger), rows, row)
        row = state.entry(loop, (loop.__name__, type(loss), kinds), arguments)(*arguments)
        if row == rows.out.size:
            return rows.out
        here = slice(int(rows.indptr[row]), int(rows.indptr[row + 1]))
        code = state.scalars[layout.CODE]
        if code == checks.GROW:
            state.grow(int(rows.indices[here].max()))
        elif code == checks.WIDE:
            state.reserve(here.stop - here.start)
            spare = room(state, rows.indices, rows.values)
            rows = rows._replace(merged_indices=spare[0], merged_values=spare[1], table=spare[2])
        else:
            state.refuse(code, rows.indices[here], rows.values[here], f"[{row}]")


def room(state: LinearState, indices: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for a row's distinct indices and their sums, and for the table that finds them."""
    width = state.scratch.shape[1]
    return np.zeros(width, indices.dtype), np.zeros(width, values.dtype), state.table


def known_only(state: LinearState, rows: loops.Stream, capacity: Any) -> loops.Stream:
    """The rows with unseen coordinates, those beyond the capacity (one number, or one an entry), moved to place 0 at the value 0."""
    new = rows.indices >= capacity
    indices, values = rows.indices.copy(), rows.values.copy()
    fit = np.abs(values) <= state.frame.largest
    indices[new & fit], values[new & fit] = 0, 0.0
    return rows._replace(indices=indices, values=values)


def _run_slowly(
    state: LinearState, rows: tuple[np.ndarray, ...], y: np.ndarray, weight: np.ndarray, loss: Any, bound: float, ledger: np.ndarray
) -> np.ndarray:
    """For losses that are plain Python functions: the same rounds, one by one."""
    indptr, indices, values = rows
    undo = keep(state, ledger)
    out = np.empty(y.size)
    try:
        for t in range(y.size):
            row = indices[indptr[t] : indptr[t + 1]], values[indptr[t] : indptr[t + 1]]
            try:
                raw = state.play(*row)
            except BadInput as error:
                raise BadInput(f"{error.argument}[{t}]", error.value, error.remedy) from None
            w = float(weight[min(t, weight.size - 1)])
            out[t], delta = account.settle(ledger, loss, raw, float(y[t]), w, bound, state.function.lipschitz)
            if not (math.isfinite(delta) and math.isfinite(ledger[account.LOSS])):
                raise BadInput(f"y[{t}]", float(y[t]), f"the loss at the prediction {out[t]:g}, or its slope, is not finite")
            size = state.learn(*row, out[t], delta)
            if math.isfinite(state.function.feature_bound):
                account.measure(ledger, size, state.function.feature_bound)
    except BaseException:
        undo()
        raise
    return out


def certainly(
    state: LinearState,
    indptr: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
    loss: Any,
    bound: float,
) -> bool:
    """Whether no row can be refused, so that nothing need be kept to undo: one quick look at the arrays.

    Only for losses with a Lipschitz constant: then δ, and with it every number that is stored, is bounded ahead.
    NaN makes a comparison false, and so is never certain.
    """
    steep = float(loss.lipschitz(bound)) * float(np.max(weight, initial=0.0))
    if not indices.size or not (np.min(weight, initial=0.0) >= 0.0 and steep <= LARGEST_SLOPE):
        return False
    if not (np.max(y) <= LARGEST_SLOPE and np.min(y) >= -LARGEST_SLOPE):
        return False
    # repeated indices add up, at most as often as a row is long
    limit = state.frame.largest * min(1.0, state.frame.lipschitz / max(steep, 1e-300)) / float(np.max(np.diff(indptr)))
    return loops.within(indices, values, 2**31 - 1, limit)


def keep(state: LinearState, ledger: np.ndarray, indices: np.ndarray | None = None) -> Callable[[], None]:
    """Remember ζ and the ledger before a run; the result puts them back.

    A copy of all cells when it is not said which the run will touch, else of those.
    """
    scalars, book, size = state.scalars.copy(), ledger.copy(), state.cells.size
    if indices is None:
        if state.before.size != size:
            state.before = np.empty(size)
        before = state.before
        np.copyto(before, state.cells)

        def back() -> None:
            state.adopt(before.copy())
    else:
        kept = np.empty((indices.size, state.width))
        loops.journal(state.cells, state.width, indices, kept)

        def back() -> None:
            state.adopt(state.cells[:size].copy())
            loops.undo(state.cells, state.width, indices, kept)

    def undo() -> None:
        back()
        state.scalars[:] = scalars
        ledger[:] = book

    return undo


def compressed(table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """CSR arrays in the few types loops are compiled for; unsigned indices need no test for negative ones."""
    indptr = np.ascontiguousarray(table.indptr, dtype=np.int64)
    indices, values = np.ascontiguousarray(table.indices), np.ascontiguousarray(table.values)
    if values.dtype not in _FLOATS:
        values = values.astype(float)
    if indices.dtype == np.int32:
        indices = indices.view(np.uint32)
    elif indices.dtype != np.uint32:
        indices = indices.astype(np.int64, copy=False).view(np.uint64)
    return indptr, indices, values
