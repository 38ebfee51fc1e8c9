"""ζ of a linear learner in two flat arrays, and the compiled rounds that move it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import typeof
from numpy.typing import ArrayLike

from burkholder import ledger as account
from burkholder.errors import BadInput
from burkholder.functions.base import TANGENT, Tau
from burkholder.functions.linear import Linear
from burkholder.geometries import Coordinates, Euclidean, PNorm, Supremum
from burkholder.losses import Custom
from burkholder.potentials import batch
from burkholder.states import rounds, rounds_loops, rounds_rows
from burkholder.states.rounds_euclidean import BLOCK

MOST = 2**31  # features a state can have
LARGEST = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e15}  # |L·x_i| beyond this: squares would not fit


def _geometry(function: Linear) -> Any:
    """The record the compiled rounds know this geometry by, or None."""
    geometry = function.geometry
    if isinstance(geometry, Coordinates):
        return rounds.Remembering() if function.remembers else geometry
    if isinstance(geometry, Euclidean):
        return geometry
    if isinstance(geometry, (PNorm, Supremum)):
        p = float(geometry.p)
        if p == 2.0 and isinstance(geometry, PNorm):
            return Euclidean()
        return rounds.Power(p, int(p) if p == int(p) and p <= 64.0 else 0, int(isinstance(geometry, Supremum)))
    return None


class LinearState:
    """ζ for a `Linear` function met per coordinate or through an l_p norm.

    >>> from burkholder.functions.linear import Linear
    >>> from burkholder.potentials import SquareRoot
    >>> state = LinearState(Linear("AdaGrad", SquareRoot(radius=2.0), "coordinates", "gradient"))
    >>> _ = state.learn([0, 3], [1.0, -2.0], yhat=0.0, delta=-1.0)
    >>> state.play([0, 3], [1.0, 1.0]), state.dim
    (0.0, 4)
    """

    def __init__(self, function: Linear, dim: int = 0, dtype: Any = np.float64) -> None:
        geometry = _geometry(function)
        if geometry is None:
            raise BadInput("geometry", function.geometry, "compiled rounds know coordinates, l_p norms and l_∞")
        self.dtype = np.dtype(dtype)
        if self.dtype not in LARGEST:
            raise BadInput("dtype", dtype, "give float64 or float32")
        self.function = function
        self.separable = function.separable
        self.width = (4 if function.remembers else 2) if self.separable else 1
        self.potential = function.potential
        self.frame = rounds.Frame(
            geometry, rounds.CLOCKS[function.clock], float(function.lipschitz),
            float(function.root), float(function.feature_bound), LARGEST[self.dtype] / function.lipschitz,
            function.potential.atoms if function.remembers else 0,
        )  # fmt: skip
        self.scalars = np.zeros(rounds.SLOTS)
        self.scalars[rounds.SCALE] = 1.0
        self.scalars[rounds.DIM] = dim
        self.cells = self._fresh(dim)
        self._entries: dict[Any, Any] = {}
        self._before = np.zeros(0, self.dtype)
        self._reserve(64)

    # --- room ----------------------------------------------------------------------------------------------
    def _fresh(self, dim: int) -> np.ndarray:
        return np.zeros(max(1, -(-dim // BLOCK)) * BLOCK * self.width, self.dtype)

    @property
    def capacity(self) -> int:
        """Coordinates the arrays have room for."""
        return self.cells.size // self.width

    @property
    def dim(self) -> int:
        """1 + the largest index seen (at least the `dim` asked for)."""
        return int(self.scalars[rounds.DIM])

    def _grow(self, index: int) -> None:
        if not 0 <= index < MOST:
            raise BadInput("indices", index, f"feature numbers lie between 0 and {MOST - 1}")
        if index >= self.capacity:
            cells = self._fresh(max(index + 1, 2 * self.capacity))
            cells[: self.cells.size] = self.cells
            self.cells = cells

    def _reserve(self, width: int) -> None:
        """Room for rows of that many entries: the row itself, its merged form, and what it touches."""
        width = max(64, 1 << (width - 1).bit_length())
        self.row_indices, self.row_values = np.zeros(width, np.uint64), np.zeros(width)
        self._scratch = np.zeros((rounds.SCRATCH_ROWS, width))
        self._merged = np.zeros(width, np.uint64), np.zeros(width)
        self._table = np.zeros(4 * width, np.int32)

    def reserve(self, width: int) -> tuple[np.ndarray, np.ndarray]:
        """The row buffers (indices uint64, values float64), with room for that many entries."""
        if width > self.row_indices.size:
            self._reserve(width)
        return self.row_indices, self.row_values

    def _entry(self, loop: Any, key: Any, arguments: tuple[Any, ...]) -> Any:
        """The machine code for these argument types: numba's own look-up costs more than a whole round."""
        if (found := self._entries.get(key)) is None:
            found = self._entries[key] = loop.compile(tuple(typeof(a) for a in arguments))
        return found

    # --- one round -----------------------------------------------------------------------------------------
    def _load(self, indices: ArrayLike, values: ArrayLike) -> int:
        n = len(indices)  # type: ignore[arg-type]
        if n > self.row_indices.size:
            self._reserve(n)
        self.row_indices[:n] = np.asarray(indices).astype(np.int64, copy=False)
        self.row_values[:n] = values
        return n

    def _row(self) -> tuple[Any, ...]:
        return (
            self.cells, self.scalars, self._scratch, self.row_indices, self.row_values, *self._merged, self._table,
            self.width,
        )  # fmt: skip

    def _mend(self, n: int) -> None:
        """Make room for the row in the buffers, or say what is wrong with it."""
        code = self.scalars[rounds.CODE]
        if code == rounds_rows.GROW:
            self._grow(int(self.row_indices[:n].max()))
            return
        self._refuse(code, self.row_indices[:n], self.row_values[:n], "")

    def _refuse(self, code: float, indices: np.ndarray, values: np.ndarray, where: str) -> None:
        if code == rounds_rows.BAD_VALUE:
            good = np.abs(values) <= self.frame.largest
            culprit = float(values[np.argmin(good)])
            limit = f"give finite numbers with L·|x| ≤ {LARGEST[self.dtype]:g}"
            raise BadInput(f"x{where}", culprit, limit + " (repeated indices add up)" * bool(good.all()))
        if code == rounds_rows.BAD_TARGET:
            raise BadInput(f"y{where}", math.nan, "give a finite number")
        if code == rounds_rows.BAD_WEIGHT:
            raise BadInput(f"weight{where}", math.nan, "give a finite number ≥ 0")
        raise BadInput(f"weight{where}", "δ·x", f"the product of δ and a feature exceeds {LARGEST[self.dtype]:g}")

    def play_row(self, n: int) -> float:
        """`play` for the row in the first n places of the row buffers."""
        while True:
            arguments = (self.frame, self.potential, *self._row(), n)
            entry = self._entries.get("play") or self._entry(rounds_loops.one_play, "play", arguments)
            raw = entry(*arguments)
            if raw == raw:
                return raw
            self._mend(n)

    def play(self, indices: ArrayLike, values: ArrayLike) -> float:
        """The raw, unclipped prediction; ζ stays as it is."""
        return self.play_row(self._load(indices, values))

    def learn(self, indices: ArrayLike, values: ArrayLike, yhat: float, delta: float) -> float:
        """ζ ← ζ + T(x, ŷ, δ); returns size(x) where the function assumes a limit on it."""
        n = self._load(indices, values)
        while True:
            arguments = (self.frame, *self._row(), n, float(yhat), float(delta))
            size = self._entry(rounds_loops.one_learn, "learn", arguments)(*arguments)
            if size == size:
                return size
            self._mend(n)

    def rounds(self, loss: Any, bound: float, ledger: np.ndarray) -> Callable[[int, float, float], float]:
        """A function (n, y, weight) → ŷ that plays, settles and learns the row in the row buffers in one call."""
        bound = float(bound)

        def step(n: int, y: float, weight: float) -> float:
            while True:
                arguments = (
                    self.frame, self.potential, loss, self.cells, self.scalars, self._scratch, self.row_indices, self.row_values,
                    *self._merged, self._table, self.width, n, y, weight, bound, ledger,
                )  # fmt: skip
                entry = self._entries.get(loss.__class__) or self._entry(
                    rounds_loops.one_round, loss.__class__, arguments
                )
                yhat = entry(*arguments)
                if yhat == yhat:
                    return yhat
                self._mend(n)

        return step

    # --- whole streams -------------------------------------------------------------------------------------
    def run(
        self, indptr: ArrayLike, indices: ArrayLike, values: ArrayLike, y: ArrayLike, weight: ArrayLike | None,
        loss: Any, bound: float, ledger: np.ndarray,
    ) -> np.ndarray:  # fmt: skip
        """Every row in turn: play, settle, learn. Returns ŷ; bad input leaves ζ and the ledger as they were."""
        y, weight = _targets(y, weight)
        indptr, indices, values = _rows(indptr, indices, values, y.size)
        if isinstance(loss, Custom):
            return self._run_slowly(indptr, indices, values, y, weight, loss, bound, ledger)
        out = np.empty(y.size)
        merged = np.zeros(0, indices.dtype), np.zeros(0, values.dtype)
        undo, row = self._keep(indices, ledger), 0
        while True:
            if merged[0].size != self._scratch.shape[1]:
                merged = np.zeros(self._scratch.shape[1], indices.dtype), np.zeros(self._scratch.shape[1], values.dtype)
            arguments = (
                self.frame, self.potential, loss, self.cells, self.scalars, self._scratch, *merged, self._table, self.width,
                indptr, indices, values, y, weight, float(bound), ledger, out, row,
            )  # fmt: skip
            row = rounds_loops.stream.compile(tuple(typeof(a) for a in arguments))(*arguments)
            if row == y.size:
                return out
            here = slice(int(indptr[row]), int(indptr[row + 1]))
            try:
                if self.scalars[rounds.CODE] == rounds_rows.GROW:
                    self._grow(int(indices[here].max()))
                elif self.scalars[rounds.CODE] == rounds_rows.WIDE:
                    self._reserve(here.stop - here.start)
                else:
                    self._refuse(self.scalars[rounds.CODE], indices[here], values[here], f"[{row}]")
            except BadInput:
                undo()
                raise

    def run_dense(
        self, X: ArrayLike, y: ArrayLike, weight: ArrayLike | None, loss: Any, bound: float, ledger: np.ndarray
    ) -> np.ndarray:
        """The same for dense rows, bit for bit what `run` makes of their nonzeros."""
        y, weight = _targets(y, weight)
        rows = np.ascontiguousarray(X)
        rows = rows if rows.dtype in LARGEST else rows.astype(float)
        if rows.ndim != 2 or rows.shape[0] != y.size:
            raise BadInput("X", rows.shape, f"give a matrix with one row for each of the {y.size} targets")
        if isinstance(loss, Custom):
            each = np.tile(np.arange(rows.shape[1]), y.size)
            indptr = np.arange(y.size + 1) * rows.shape[1]
            return self._run_slowly(indptr, each, rows.reshape(-1), y, weight, loss, bound, ledger)
        undo = self._keep(np.zeros(rows.size, np.int8), ledger, whole=True)
        self.reserve(rows.shape[1])
        if rows.shape[1]:
            self._grow(rows.shape[1] - 1)
        self.scalars[rounds.DIM] = max(self.dim, rows.shape[1])
        out = np.empty(y.size)
        merged = np.zeros(rows.shape[1] + 1, np.uint32), np.zeros(rows.shape[1] + 1, rows.dtype)
        arguments = (
            self.frame, self.potential, loss, self.cells, self.scalars, self._scratch, *merged, rows, y, weight, float(bound), ledger,
            out,
        )  # fmt: skip
        row = rounds_loops.stream_dense.compile(tuple(typeof(a) for a in arguments))(*arguments)
        if row < y.size:
            code = self.scalars[rounds.CODE]
            undo()
            self._refuse(code, np.arange(rows.shape[1]), rows[row], f"[{row}]")
        return out

    def _run_slowly(self, indptr, indices, values, y, weight, loss, bound, ledger) -> np.ndarray:  # type: ignore[no-untyped-def]
        """For losses that are plain Python functions: the same rounds, one by one."""
        undo = self._keep(indices, ledger, whole=True)
        out = np.empty(y.size)
        try:
            for t in range(y.size):
                row = indices[indptr[t] : indptr[t + 1]], values[indptr[t] : indptr[t + 1]]
                raw = self.play(*row)
                w = float(weight[min(t, weight.size - 1)])
                out[t], delta = account.settle(ledger, loss, raw, float(y[t]), w, bound, self.function.lipschitz)
                size = self.learn(*row, out[t], delta)
                if math.isfinite(self.function.feature_bound):
                    account.measure(ledger, size, self.function.feature_bound)
        except Exception:
            undo()
            raise
        return out

    def _keep(self, indices: np.ndarray, ledger: np.ndarray, whole: bool = False) -> Callable[[], None]:
        """Remember ζ and the ledger before a run; the result puts them back.

        A copy of all cells when the run touches many times more entries than there are cells, else of those
        it will touch: neither costs more than a few per cent of the run.
        """
        scalars, book, size = self.scalars.copy(), ledger.copy(), self.cells.size
        if whole or indices.size >= 4 * self.capacity:
            if self._before.size != size:
                self._before = np.empty(size, self.dtype)
            np.copyto(self._before, self.cells)

            def back() -> None:
                self.cells = self._before.copy()
        else:
            kept = np.empty((indices.size, self.width), self.dtype)
            rounds_loops.journal(self.cells, self.width, indices, kept)

            def back() -> None:
                self.cells = self.cells[:size].copy()
                rounds_loops.undo(self.cells, self.width, indices, kept)

        def undo() -> None:
            back()
            self.scalars[:] = scalars
            ledger[:] = book

        return undo

    # --- what ζ is -----------------------------------------------------------------------------------------
    def _column(self, field: int, dim: int) -> np.ndarray:
        column = np.zeros(dim)
        stored = self.cells[field :: self.width][:dim]
        column[: stored.size] = stored
        return column

    @property
    def a(self) -> float:
        """Σδŷ."""
        return float(self.scalars[rounds.A])

    @property
    def g(self) -> np.ndarray:
        """Σδx."""
        return self._column(0, self.dim)

    def tau(self, dim: int | None = None) -> Tau:
        """ζ as `Linear.value` takes it, over the first `dim` coordinates (all that were seen)."""
        dim = self.dim if dim is None else dim
        fields = (rounds.S, rounds.TOP, rounds.DEAD)[: 3 if self.function.remembers else 1]
        if self.separable:
            rest = tuple(self._column(k + 1, dim) for k in range(len(fields)))
        else:
            rest = tuple(np.array(self.scalars[k]) for k in fields)
        return (np.array(self.scalars[rounds.A]), self._column(0, dim), *rest)

    def weights(self, dim: int | None = None) -> np.ndarray:
        """w with ŷ = ⟨w, x⟩, for tangent functions (features no larger than those already seen)."""
        if TANGENT not in self.function.structure:
            raise BadInput("weights", self.function.name, "sign-flip predictions are not linear in x: use play")
        tau = self.tau(dim)
        memory = tau[3:] or (0.0, 0.0)
        if self.separable:
            return -np.sign(tau[1]) * batch.slope(self.function.potential, np.abs(tau[1]), tau[2], *memory)
        norm = self.function.geometry.norm(tau[1]) / self.function.root
        slope = batch.slope(self.function.potential, norm, tau[2], *memory)
        return -slope * self.function.geometry.gradient(tau[1]) / self.function.root

    @property
    def drift(self) -> float:
        """Bound on the relative rounding error of the running norm since it was last summed; 0 per coordinate."""
        power = self.scalars[rounds.POWER]
        if self.separable or power == 0.0:
            return 0.0
        return float(self.scalars[rounds.DRIFT] / power) / getattr(self.frame.geometry, "p", 2.0)

    # --- keeping it ----------------------------------------------------------------------------------------
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that must be saved to go on bit for bit."""
        return {"cells": self.cells[: self.dim * self.width].copy(), "scalars": self.scalars.copy()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Take over what `arrays` gave."""
        cells, scalars = np.asarray(arrays["cells"]), np.asarray(arrays["scalars"], float)
        if cells.dtype != self.dtype or scalars.shape != self.scalars.shape:
            raise BadInput("arrays", cells.dtype, f"these are not the arrays of a state of {self.dtype}")
        if cells.ndim != 1 or cells.size != int(scalars[rounds.DIM]) * self.width:
            raise BadInput("arrays", cells.shape, "these are not the arrays of a state of this function")
        self.cells = self._fresh(cells.size // self.width)
        self.cells[: cells.size] = cells
        self.scalars[:] = scalars

    def copy(self) -> LinearState:
        """An independent state with the same ζ."""
        other = LinearState(self.function, 0, self.dtype)
        other.restore(self.arrays())
        return other


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
