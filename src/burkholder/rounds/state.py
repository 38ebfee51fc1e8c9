"""ζ of a linear learner in two flat arrays, and the compiled rounds that move it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakMethod

import numpy as np
from numba import typeof
from numpy.typing import ArrayLike

from burkholder.errors import BadInput
from burkholder.functions.base import TANGENT, Tau
from burkholder.functions.linear import Linear
from burkholder.geometries import Coordinates, Euclidean, PNorm, Supremum
from burkholder.potentials import batch
from burkholder.rounds import checks as rounds_rows
from burkholder.rounds import layout as rounds
from burkholder.rounds import loops as rounds_loops
from burkholder.rounds import streams as rounds_streams
from burkholder.rounds.euclidean import BLOCK
from burkholder.rounds.schema import check_linear
from burkholder.rounds.streams import LARGEST

MOST = 2**31  # features a state can have


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
            return Euclidean()  # type: ignore[call-arg]
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
        self.followers: list[WeakMethod[Callable[[], None]]] = []  # called when the arrays have changed
        self.before = np.zeros(0, self.dtype)  # a copy of the cells, reused by every long run
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

    def grow(self, index: int) -> None:
        if not 0 <= index < MOST:
            raise BadInput("indices", index, f"feature numbers lie between 0 and {MOST - 1}")
        if index >= self.capacity:
            cells = self._fresh(max(index + 1, 2 * self.capacity))
            cells[: self.cells.size] = self.cells
            self.adopt(cells)

    def _reserve(self, width: int) -> None:
        """Room for rows of that many entries: the row itself, its merged form, and what it touches."""
        self.scratch = np.zeros((rounds.SCRATCH_ROWS, max(64, 1 << (width - 1).bit_length())))
        self.row_indices = self.scratch[rounds.ROW_INDICES].view(np.uint64)
        self.row_values = self.scratch[rounds.ROW_VALUES]
        self.table = self.scratch[rounds.TABLE_ROW : rounds.TABLE_ROW + 2].reshape(-1).view(np.int32)
        self._gather()

    def _gather(self) -> None:
        """What every single round is handed; the arrays change only when room is made."""
        self._fixed = (self.frame, self.potential, self.cells, self.scalars, self.scratch, self.width)
        self._play: Any = None
        for follower in self.followers:
            if (follow := follower()) is not None:
                follow()

    def adopt(self, cells: np.ndarray) -> None:
        self.cells = cells
        self._gather()

    def reserve(self, width: int) -> tuple[np.ndarray, np.ndarray]:
        """The row buffers (indices uint64, values float64), with room for that many entries."""
        if width > self.row_indices.size:
            self._reserve(width)
        return self.row_indices, self.row_values

    def entry(self, loop: Any, key: Any, arguments: tuple[Any, ...]) -> Any:
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

    def _mend(self, n: int) -> None:
        """Make room for the row in the buffers, or say what is wrong with it."""
        code = self.scalars[rounds.CODE]
        if code == rounds_rows.GROW:
            self.grow(int(self.row_indices[:n].max()))
            return
        self.refuse(code, self.row_indices[:n], self.row_values[:n], "")

    def refuse(self, code: float, indices: np.ndarray, values: np.ndarray, where: str) -> None:
        self.scalars[rounds.CODE] = rounds_rows.FINE
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
        raw = (self._play or self._bind_play())(n)
        while raw != raw:
            self._mend(n)
            raw = (self._play or self._bind_play())(n)
        return raw

    def _bind_play(self) -> Any:
        entry = self.entry(rounds_loops.one_play, "play", (*self._fixed, 1))
        self._play = partial(entry, *self._fixed)
        return self._play

    def play(self, indices: ArrayLike, values: ArrayLike) -> float:
        """The raw, unclipped prediction; ζ stays as it is."""
        return self.play_row(self._load(indices, values))

    def learn(self, indices: ArrayLike, values: ArrayLike, yhat: float, delta: float) -> float:
        """ζ ← ζ + T(x, ŷ, δ); returns size(x) where the function assumes a limit on it."""
        n = self._load(indices, values)
        while True:
            arguments = (self.frame, *self._fixed[2:], n, float(yhat), float(delta))
            size = self.entry(rounds_loops.one_learn, "learn", arguments)(*arguments)
            if size == size:
                return size
            self._mend(n)

    def rounds(self, loss: Any, bound: float, ledger: np.ndarray) -> Callable[[int, float, float], float]:
        """A function (n, y, weight) → ŷ that plays, settles and learns the row in the row buffers in one call."""
        last = loss, float(bound), ledger
        arguments = (*self._fixed, *last, 1, 1.0, 1.0)
        entry = self.entry(rounds_loops.one_round, type(loss), arguments)

        fixed, bound_entry = self._fixed, partial(entry, *self._fixed, *last)

        def step(n: int, y: float, weight: float) -> float:
            nonlocal fixed, bound_entry
            while True:
                if self._fixed is not fixed:  # room was made since
                    fixed, bound_entry = self._fixed, partial(entry, *self._fixed, *last)
                yhat = bound_entry(n, y, weight)
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
        return rounds_streams.run(self, indptr, indices, values, y, weight, loss, float(bound), ledger)

    def run_dense(self, X: ArrayLike, y: ArrayLike, weight: ArrayLike | None, loss: Any, bound: float, ledger: np.ndarray) -> np.ndarray:
        """The same for dense rows, bit for bit what `run` makes of their nonzeros."""
        return rounds_streams.run_dense(self, X, y, weight, loss, float(bound), ledger)

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
        check_linear(arrays, self.width, self.dtype.str, self.frame.atoms)
        cells, scalars = arrays["cells"], arrays["scalars"]
        self.adopt(self._fresh(cells.size // self.width))
        self.cells[: cells.size] = cells
        self.scalars[:] = scalars

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "dtype": self.dtype, "arrays": self.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # machine code and row buffers are tied to one state: a copy makes its own
        self.__init__(state["function"], 0, state["dtype"])  # type: ignore[misc]
        self.restore(state["arrays"])

    def copy(self) -> LinearState:
        """An independent state with the same ζ."""
        other = LinearState(self.function, 0, self.dtype)
        other.restore(self.arrays())
        return other
