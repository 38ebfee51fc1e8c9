"""What a round does to the state, chosen by the types of three records: potential, geometry, clock.

A round is three steps. `recall` reads the touched coordinates once, `answer` turns what it saw into the raw
prediction, `absorb` writes ζ ← ζ + T. Each geometry has its own three in `coordinates`,
`euclidean`, `power`, `memory`; the choice is made when a loop is compiled, from the record's class, so one
module-level loop serves every learner and its machine code is found again on disk by the next process.

The state is two arrays. `cells` interleaves what belongs to one coordinate: g, s (per coordinate), g, s, top,
dead (per coordinate, with deleted atoms), or g alone (norms). `scalars` holds the rest, in float64 always.
"""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from burkholder.geometries import Coordinates, Euclidean
from burkholder.learning.rounding import add
from burkholder.machine.compiling import overload, register_jitable, types
from burkholder.machine.prefetch import prefetch, prefetch_near
from burkholder.machine.vectors import WIDTH
from burkholder.potentials import anchored
from burkholder.records import record

# Slots of `scalars`.
A, S, TOP, DEAD = 0, 1, 2, 3  # Σδŷ; the clock and the memory of a norm's potential
SCALE, POWER = 4, 5  # a norm's running sum: Σ|g_i/SCALE|^p, SCALE a power of two
DRIFT = 6  # bound on the rounding error of POWER since it was last summed afresh
TOUCHED, RESUMS = 7, 8  # entries absorbed since then, and how often that was
DIM = 9  # 1 + the largest index seen
CODE = 10  # why the last loop stopped
# What rounding is charged by: the correction of A, Σ|δŷ|, Σ|δ|·‖x‖₂, and Σ_t of the touched g (their l_1 norm per
# coordinate, the norm of all g otherwise): every step rounds each touched g_i by at most 2⁻⁵³ of it.
A_LOW, LEANED, MOVED, DRIFTED = 11, 12, 13, 14
SLOTS = 15

# Rows of the scratch matrix: the touched coordinates, side by side, so that formulas run as vector code.
G_ROW, S_ROW, TOP_ROW, DEAD_ROW, OUT_ROW = 0, 1, 2, 3, 4
X_ROW = 5  # the values
# A single round's own row and its merged form share the matrix (indices by their bits): each array handed to
# compiled code costs as much as ten entries.
ROW_INDICES, ROW_VALUES, MERGED_INDICES, MERGED_VALUES, TABLE_ROW = 6, 7, 8, 9, 10
SCRATCH_ROWS = 12  # the hash table has four times 32 bits an entry: two rows
FORESIGHT = 400  # entries between what is gathered and what is asked of the streams
BLOCK = 128  # cells come in whole blocks, so that spare room never changes the order of a sum


@record
class Square(NamedTuple):
    """s = Σ(L·size(x))², strategy S3."""


@record
class Gradient(NamedTuple):
    """s = Σ(δ·size(x))², strategy S4."""


@record
class Count(NamedTuple):
    """s = the number of rounds, strategy S3."""


@record
class Power(NamedTuple):
    """An l_p norm of g, p ≥ 2. `whole` is p when p is a small whole number, else 0; `top` 1: features by max|x_i|."""

    p: float
    whole: int
    top: int


@record
class Remembering(NamedTuple):
    """Per coordinate, for potentials that delete atoms: each coordinate has its own memory."""


@record
class Frame(NamedTuple):
    """Everything but the potential that a compiled round needs to know of its Burkholder function."""

    geometry: Any
    clock: Any
    lipschitz: float
    root: float  # √β
    limit: float  # X, what size(x) should stay below
    largest: float  # what |x_i| must stay below for squares to fit
    atoms: int  # how many atoms the potential may delete, 0 when it has none
    most: int  # coordinates the function admits


CLOCKS: dict[str, Any] = {"square": Square(), "gradient": Gradient(), "count": Count()}


_MODULES = {
    Coordinates: "coordinates", Remembering: "memory",
    Euclidean: "euclidean", Power: "power",
}  # fmt: skip


def _field(frame: Any, name: str) -> type:
    """The class of a record inside the frame, from its numba type."""
    return frame.types[frame.fields.index(name)].instance_class


def _module(frame: Any) -> ModuleType:
    return importlib.import_module(f"burkholder.rounds.{_MODULES[_field(frame, 'geometry')]}")


def recall(frame, potential, cells, scalars, scratch, indices, values, squares, ahead):
    """What the row meets: geometry-specific sums, always (first, second, scale of x, size of x, what `answer` has ready).

    The row is sound (`checks`), `squares` is Σx². `ahead` are those of the entries a row further on, as many, whose cells
    are asked for on the way; None when nothing is known of what comes.
    """
    raise NotImplementedError("only inside compiled loops")


def answer(frame, potential, cells, scalars, scratch, indices, values, seen):
    """The raw prediction from what `recall` saw."""
    raise NotImplementedError("only inside compiled loops")


def absorb(frame, cells, scalars, scratch, indices, values, seen, delta):
    """What δ does to g and s, right after `recall` of the same row; Σδŷ is `entered` by the loops."""
    raise NotImplementedError("only inside compiled loops")


@overload(recall)
def _recall(frame, potential, cells, scalars, scratch, indices, values, squares, ahead):
    return _module(frame).recall


@overload(answer)
def _answer(frame, potential, cells, scalars, scratch, indices, values, seen):
    return _module(frame).answer


@overload(absorb)
def _absorb(frame, cells, scalars, scratch, indices, values, seen, delta):
    return _module(frame).absorb


@register_jitable
def entered(scalars, yhat, delta, squares):
    """Σδŷ, and what rounding is charged by; `squares` is Σx² of the row."""
    term = delta * yhat
    add(scalars, A, A_LOW, term)
    scalars[LEANED] += abs(term)
    scalars[MOVED] += abs(delta) * math.sqrt(squares)


# --- what several geometries share ---------------------------------------------------------------------------
def tick(frame, size, delta):
    """What the clock grows by."""
    raise NotImplementedError("only inside compiled loops")


@overload(tick)
def _tick(frame, size, delta):
    clock = _field(frame, "clock")
    if clock is Square:
        return lambda frame, size, delta: (frame.lipschitz * size) * (frame.lipschitz * size)
    if clock is Gradient:
        return lambda frame, size, delta: (delta * size) * (delta * size)
    return lambda frame, size, delta: 1.0


def foresee(cells, width, indices, values, ahead, start):
    """Ask for what the coming entries need, eight at a time, between two steps of gathering.

    The cells of a row later, and the streams themselves further on: without this half of a sparse round is waiting.
    """
    raise NotImplementedError("only inside compiled loops")


@overload(foresee, inline="always")
def _foresee(cells, width, indices, values, ahead, start):
    if isinstance(ahead, types.NoneType):
        return lambda cells, width, indices, values, ahead, start: None

    def ask(cells, width, indices, values, ahead, start):
        prefetch(values, start + FORESIGHT)
        prefetch(indices, start + FORESIGHT)
        for k in range(start, start + WIDTH):
            prefetch_near(cells, width * np.int64(ahead[k]))

    return ask


@register_jitable
def memory(frame, scalars, size):
    """(top, dead) of a norm's potential once x was seen."""
    if frame.atoms > 0:
        return anchored(scalars[TOP], scalars[DEAD], frame.atoms, frame.lipschitz * size)
    return 0.0, 0.0


def by_clock(tangent: Any, sign_flip: Any) -> Any:
    """The strategy that belongs to the clock, for use inside an overload."""
    return lambda frame: tangent if _field(frame, "clock") is Gradient else sign_flip


@register_jitable
def power_of_two(size):
    """The power of two just above size > 0: dividing by it is exact. None is so small that its inverse, or a square of it, overflows."""
    return math.ldexp(1.0, max(math.frexp(size)[1], -900))
