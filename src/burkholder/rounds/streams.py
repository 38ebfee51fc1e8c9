"""Whole streams through a state: the loops are compiled, a bad row undoes everything."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from burkholder.errors import BadInput
from burkholder.learning import ledger as account
from burkholder.losses import Custom
from burkholder.rounds import checks as rounds_rows
from burkholder.rounds import layout as rounds
from burkholder.rounds import loops as rounds_loops

if TYPE_CHECKING:
    from burkholder.rounds.state import LinearState

LARGEST_SLOPE = 1e100  # targets and slopes beyond this get the careful treatment
_LONG = 4  # entries a cell from which a copy of all cells costs next to nothing beside the run
LARGEST = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e15}  # |L·x_i| beyond this: squares would not fit


def _machine_code(state: LinearState, loop: Any, loss: Any, given: tuple[np.ndarray, ...], arguments: tuple[Any, ...]) -> Any:
    """A loop compiled for these arguments, or found on disk. Only what is `given` from outside can change its type."""
    kinds = tuple((array.dtype.char, array.flags.writeable, array.flags.aligned) for array in given)
    return state.entry(loop, (loop.__name__, type(loss), kinds), arguments)


def run(
    state: LinearState, indptr: ArrayLike, indices: ArrayLike, values: ArrayLike, y: ArrayLike,
    weight: ArrayLike | None, loss: Any, bound: float, ledger: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Every row in turn: play, settle, learn. Returns ŷ; bad input leaves ζ and the ledger as they were."""
    y, weight = _targets(y, weight)
    indptr, indices, values = _rows(indptr, indices, values, y.size)
    if isinstance(loss, Custom):
        return _run_slowly(state, indptr, indices, values, y, weight, loss, bound, ledger)
    out = np.empty(y.size)
    merged = np.zeros(0, indices.dtype), np.zeros(0, values.dtype)
    touched, row = slice(int(indptr[0]), int(indptr[-1])), 0
    short = touched.stop - touched.start < _LONG * state.capacity
    fine = short and _certain(state, indptr, indices[touched], values[touched], y, weight, loss, bound)
    undo = None if fine else _keep(state, ledger, indices[touched] if short else None)
    while True:
        if merged[0].size != state.scratch.shape[1]:
            merged = np.zeros(state.scratch.shape[1], indices.dtype), np.zeros(state.scratch.shape[1], values.dtype)
        arguments = (
            state.frame, state.potential, loss, state.cells, state.scalars, state.scratch, *merged, state.table,
            state.width, indptr, indices, values, y, weight, bound, ledger, out, row,
        )  # fmt: skip
        row = _machine_code(state, rounds_loops.stream, loss, (indptr, indices, values, y, weight), arguments)(*arguments)
        if row == y.size:
            return out
        here = slice(int(indptr[row]), int(indptr[row + 1]))
        try:
            if state.scalars[rounds.CODE] == rounds_rows.GROW:
                state.grow(int(indices[here].max()))
            elif state.scalars[rounds.CODE] == rounds_rows.WIDE:
                state.reserve(here.stop - here.start)
            else:
                state.refuse(state.scalars[rounds.CODE], indices[here], values[here], f"[{row}]")
        except BadInput:
            if undo is not None:
                undo()
            raise


def run_dense(
    state: LinearState, X: ArrayLike, y: ArrayLike, weight: ArrayLike | None, loss: Any, bound: float,
    ledger: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The same for dense rows, bit for bit what `run` makes of their nonzeros."""
    y, weight = _targets(y, weight)
    rows = np.ascontiguousarray(X)
    rows = rows if rows.dtype in LARGEST else rows.astype(float)
    if rows.ndim != 2 or rows.shape[0] != y.size:
        raise BadInput("X", rows.shape, f"give a matrix with one row for each of the {y.size} targets")
    if isinstance(loss, Custom):
        each = np.tile(np.arange(rows.shape[1]), y.size)
        indptr = np.arange(y.size + 1) * rows.shape[1]
        return _run_slowly(state, indptr, each, rows.reshape(-1), y, weight, loss, bound, ledger)
    undo = _keep(state, ledger)
    state.reserve(rows.shape[1])
    if rows.shape[1]:
        state.grow(rows.shape[1] - 1)
    state.scalars[rounds.DIM] = max(state.dim, rows.shape[1])
    out = np.empty(y.size)
    merged = np.zeros(rows.shape[1] + 1, np.uint32), np.zeros(rows.shape[1] + 1, rows.dtype)
    arguments = (
        state.frame, state.potential, loss, state.cells, state.scalars, state.scratch, *merged, rows, y, weight,
        bound, ledger, out,
    )  # fmt: skip
    row = _machine_code(state, rounds_loops.stream_dense, loss, (rows, y, weight), arguments)(*arguments)
    if row < y.size:
        code = state.scalars[rounds.CODE]
        undo()
        state.refuse(code, np.arange(rows.shape[1]), rows[row], f"[{row}]")
    return out


def _run_slowly(state, indptr, indices, values, y, weight, loss, bound, ledger) -> np.ndarray:  # type: ignore[no-untyped-def]
    """For losses that are plain Python functions: the same rounds, one by one."""
    undo = _keep(state, ledger)
    out = np.empty(y.size)
    try:
        for t in range(y.size):
            row = indices[indptr[t] : indptr[t + 1]], values[indptr[t] : indptr[t + 1]]
            raw = state.play(*row)
            w = float(weight[min(t, weight.size - 1)])
            out[t], delta = account.settle(ledger, loss, raw, float(y[t]), w, bound, state.function.lipschitz)
            size = state.learn(*row, out[t], delta)
            if math.isfinite(state.function.feature_bound):
                account.measure(ledger, size, state.function.feature_bound)
    except Exception:
        undo()
        raise
    return out


def _certain(state, indptr, indices, values, y, weight, loss, bound) -> bool:  # type: ignore[no-untyped-def]
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
    return rounds_loops.within(indices, values, 2**31 - 1, limit)


def _keep(state: LinearState, ledger: np.ndarray, indices: np.ndarray | None = None) -> Callable[[], None]:
    """Remember ζ and the ledger before a run; the result puts them back.

    A copy of all cells when it is not said which the run will touch, else of those.
    """
    scalars, book, size = state.scalars.copy(), ledger.copy(), state.cells.size
    if indices is None:
        if state.before.size != size:
            state.before = np.empty(size, state.dtype)
        np.copyto(state.before, state.cells)

        def back() -> None:
            state.adopt(state.before.copy())
    else:
        kept = np.empty((indices.size, state.width), state.dtype)
        rounds_loops.journal(state.cells, state.width, indices, kept)

        def back() -> None:
            state.adopt(state.cells[:size].copy())
            rounds_loops.undo(state.cells, state.width, indices, kept)

    def undo() -> None:
        back()
        state.scalars[:] = scalars
        ledger[:] = book

    return undo


def _targets(y: ArrayLike, weight: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    y = np.ascontiguousarray(y, dtype=float)
    weight = np.ascontiguousarray(1.0 if weight is None else weight, dtype=float).reshape(-1)
    if y.ndim != 1:
        raise BadInput("y", y.shape, "give one target a row")
    if weight.size not in (1, y.size):
        raise BadInput("weight", weight.shape, f"give one number, or one for each of the {y.size} rows")
    return y, weight


def _rows(indptr: ArrayLike, indices: ArrayLike, values: ArrayLike, rows: int) -> tuple[np.ndarray, ...]:
    """CSR arrays in the few types loops are compiled for; unsigned indices need no test for negative ones."""
    indptr = np.ascontiguousarray(indptr, dtype=np.int64)
    indices, values = np.ascontiguousarray(indices), np.ascontiguousarray(values)
    if values.dtype not in LARGEST:
        values = values.astype(float)
    if indices.dtype == np.int32:
        indices = indices.view(np.uint32)
    elif indices.dtype != np.uint32:
        indices = indices.astype(np.int64, copy=False).view(np.uint64)
    if indptr.shape != (rows + 1,):
        raise BadInput("indptr", indptr.shape, f"give {rows + 1} numbers, one more than there are targets")
    if indptr[0] < 0 or indptr[-1] > min(indices.size, values.size) or np.any(indptr[1:] < indptr[:-1]):
        raise BadInput("indptr", indptr, "row ends must not fall, and must lie within indices and values")
    return indptr, indices, values
