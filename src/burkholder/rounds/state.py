"""The compiled rounds of a linear learner, and the room that its ζ takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakMethod

import numpy as np
from numpy.typing import ArrayLike

from burkholder.errors import BadInput
from burkholder.functions.linear import Linear
from burkholder.geometries import Coordinates, Euclidean, PNorm, Supremum
from burkholder.learning.ledger import empty
from burkholder.learning.rows import Table
from burkholder.losses import Absolute
from burkholder.machine.compiling import typeof
from burkholder.rounds import checks, layout, loops, streams
from burkholder.rounds.schema import check_linear
from burkholder.rounds.zeta import Zeta

MOST = 2**28  # coordinates a state can have
LARGEST = 1e150  # |L·x_i| beyond this: squares would not fit


def _geometry(function: Linear) -> Any:
    """The record the compiled rounds know this geometry by, or None."""
    geometry = function.geometry
    if isinstance(geometry, Coordinates):
        return layout.Remembering() if function.remembers else geometry
    if isinstance(geometry, Euclidean):
        return geometry
    if isinstance(geometry, (PNorm, Supremum)):
        p = float(geometry.p)
        if p == 2.0 and isinstance(geometry, PNorm):
            return Euclidean()
        return layout.Power(p, int(p) if p == int(p) and p <= 64.0 else 0, int(isinstance(geometry, Supremum)))
    return None


class LinearState(Zeta):
    """ζ for a `Linear` function met per coordinate or through an l_p norm.

    >>> from burkholder.functions.linear import Linear
    >>> from burkholder.potentials import SquareRoot
    >>> state = LinearState(Linear("AdaGrad", SquareRoot(radius=2.0), "coordinates", "gradient"))
    >>> _ = state.learn([0, 3], [1.0, -2.0], yhat=0.0, delta=-1.0)
    >>> state.play([0, 3], [1.0, 1.0]), state.dim
    (0.0, 4)
    """

    def __init__(self, function: Linear, dim: int = 0) -> None:
        geometry = _geometry(function)
        if geometry is None:
            raise BadInput("geometry", function.geometry, "compiled rounds know coordinates, l_p norms and l_∞")
        self.function = function
        self.separable = function.separable
        self.width = (4 if function.remembers else 2) if self.separable else 1
        self.potential = function.potential
        self.frame = layout.Frame(
            geometry,
            layout.CLOCKS[function.clock],
            float(function.lipschitz),
            float(function.root),
            float(function.feature_bound),
            LARGEST / function.lipschitz,
            function.potential.atoms,
            MOST if function.dimension is None else function.dimension,
        )
        self.scalars = np.zeros(layout.SLOTS)
        self.scalars[layout.SCALE] = 1.0
        self.scalars[layout.DIM] = dim
        self.cells = self._fresh(dim)
        self._entries: dict[Any, Any] = {}
        self.followers: list[WeakMethod[Callable[[], None]]] = []  # called when the arrays have changed
        self.before = np.zeros(0)  # a copy of the cells, reused by every long run
        self._reserve(64)

    @classmethod
    def fits(cls, function: Any, strategy: Any) -> bool:
        """Whether these rounds are compiled."""
        return isinstance(function, Linear) and strategy.name in ("tangent", "sign-flip") and _geometry(function) is not None

    @classmethod
    def fresh(cls, function: Any, strategy: Any, seed: int) -> LinearState:
        """An empty state; these rounds toss no coins."""
        return cls(function)

    atomic = True  # a run that meets a bad row puts back what it did

    @property
    def size_limit(self) -> float:
        """What size(x) is assumed to stay below."""
        return self.function.feature_bound

    # --- room ----------------------------------------------------------------------------------------------
    def _fresh(self, dim: int) -> np.ndarray:
        return np.zeros(max(1, -(-dim // layout.BLOCK)) * layout.BLOCK * self.width)

    @property
    def capacity(self) -> int:
        """Coordinates the arrays have room for."""
        return self.cells.size // self.width

    def check_index(self, index: int) -> None:
        """Refuse a coordinate the function does not admit."""
        if not 0 <= index < self.frame.most:
            raise BadInput("indices", index, f"feature numbers of this learner lie between 0 and {self.frame.most - 1}")

    def grow(self, index: int) -> None:
        self.check_index(index)
        if index >= self.capacity:
            cells = self._fresh(max(index + 1, 2 * self.capacity))
            cells[: self.cells.size] = self.cells
            self.adopt(cells)

    def _reserve(self, width: int) -> None:
        """Room for rows of that many entries: the row itself, its merged form, and what it touches."""
        self.scratch = np.zeros((layout.SCRATCH_ROWS, max(64, 1 << (width - 1).bit_length())))
        self.row_indices = self.scratch[layout.ROW_INDICES].view(np.uint64)
        self.row_values = self.scratch[layout.ROW_VALUES]
        self.table = self.scratch[layout.TABLE_ROW : layout.TABLE_ROW + 2].reshape(-1).view(np.int32)
        self._gather()

    def _gather(self) -> None:
        """What every single round is handed; the arrays change only when room is made."""
        self._desk = self.desk(Absolute(), math.inf, empty())
        self._play: Any = None
        for follower in self.followers:
            if (follow := follower()) is not None:
                follow()

    def desk(self, loss: Any, bound: float, ledger: np.ndarray) -> loops.Desk:
        """What compiled rounds are handed; good until room is made."""
        return loops.Desk(self.frame, self.potential, loss, self.cells, self.scalars, self.scratch, ledger, self.width, float(bound))

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
        code = self.scalars[layout.CODE]
        if code == checks.GROW:
            self.grow(int(self.row_indices[:n].max()))
            return
        self.refuse(code, self.row_indices[:n], self.row_values[:n], "")

    def refuse(self, code: float, indices: np.ndarray, values: np.ndarray, where: str) -> None:
        """Say what is wrong with a row; `where` is its place in a stream, as "[17]"."""
        self.scalars[layout.CODE] = checks.FINE
        if code == checks.BAD_VALUE:
            good = np.abs(values) <= self.frame.largest
            culprit = float(values[np.argmin(good)])
            limit = f"give finite numbers with L·|x| ≤ {LARGEST:g}"
            raise BadInput(f"x{where}", culprit, limit + " (repeated indices add up)" * bool(good.all()))
        if code == checks.BAD_TARGET:
            raise BadInput(f"y{where}", math.nan, "give a finite number")
        if code == checks.BAD_WEIGHT:
            raise BadInput(f"weight{where}", math.nan, "give a finite number ≥ 0")
        raise BadInput(f"weight{where}", "δ·x", f"the product of δ and a feature exceeds {LARGEST:g}")

    def play_row(self, n: int) -> float:
        """`play` for the row in the first n places of the row buffers."""
        raw = (self._play or self._bind_play())(n)
        while raw != raw:
            self._mend(n)
            raw = (self._play or self._bind_play())(n)
        return raw

    def _bind_play(self) -> Any:
        entry = self.entry(loops.one_play, "play", (self._desk, 1))
        self._play = partial(entry, self._desk)
        return self._play

    def move(self, indices: ArrayLike, values: ArrayLike) -> tuple[float, float]:
        """(raw prediction, additive error of the strategy, here none)."""
        return self.play(indices, values), 0.0

    def play(self, indices: ArrayLike, values: ArrayLike) -> float:
        """The raw, unclipped prediction; ζ stays as it is."""
        return self.play_row(self._load(indices, values))

    def learn(self, indices: ArrayLike, values: ArrayLike, yhat: float, delta: float, weight: float = 1.0) -> float:
        """ζ ← ζ + T(x, ŷ, δ), with the weight in δ; returns size(x) where the function assumes a limit on it."""
        n = self._load(indices, values)
        while True:
            arguments = (self._desk, n, float(yhat), float(delta))
            size = self.entry(loops.one_learn, "learn", arguments)(*arguments)
            if size == size:
                return size
            self._mend(n)

    # --- whole streams -------------------------------------------------------------------------------------
    def run(self, table: Table, y: np.ndarray, weight: np.ndarray | None, loss: Any, bound: float, ledger: np.ndarray) -> np.ndarray:
        """Every row in turn: play, settle, learn. Returns ŷ; bad input leaves ζ and the ledger as they were."""
        return streams.run(self, table, y, weight, loss, float(bound), ledger)

    def settle(
        self, table: Table, raw: np.ndarray, y: np.ndarray, weight: np.ndarray | None, loss: Any, bound: float, ledger: np.ndarray
    ) -> np.ndarray:
        """Every row in turn: settle what was played then, raw, and learn. As `run` otherwise."""
        return streams.settle(self, table, raw, y, weight, loss, float(bound), ledger)

    def plays(self, table: Table, loss: Any, bound: float, ledger: np.ndarray) -> np.ndarray:
        """The prediction for every row; ζ stays as it is."""
        return streams.plays(self, table, loss, float(bound), ledger)

    def keep(self, ledger: np.ndarray) -> Callable[[], None]:
        """Remember ζ and the ledger; the result puts them back."""
        back, self.before = streams.keep(self, ledger), np.zeros(0)  # the next run makes a spare copy of its own
        return back

    # --- keeping it ----------------------------------------------------------------------------------------
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that must be saved to go on bit for bit."""
        return {"cells": self.cells[: self.dim * self.width].copy(), "scalars": self.scalars.copy()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Take over what `arrays` gave."""
        check_linear(arrays, self.width, self.frame.atoms, self.frame.most)
        cells, scalars = arrays["cells"], arrays["scalars"]
        self.adopt(self._fresh(cells.size // self.width))
        self.cells[: cells.size] = cells
        self.scalars[:] = scalars
        self.scalars[layout.CODE] = checks.FINE

    def __getstate__(self) -> dict[str, Any]:
        return {"function": self.function, "arrays": self.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # machine code and row buffers are tied to one state: a copy makes its own
        self.__init__(state["function"])  # type: ignore[misc]
        self.restore(state["arrays"])

    def copy(self) -> LinearState:
        """An independent state with the same ζ."""
        other = LinearState(self.function)
        other.restore(self.arrays())
        return other
