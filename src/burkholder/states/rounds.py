"""What a round does to the state, chosen by the types of three records: potential, geometry, clock.

A round is three steps. `recall` reads the touched coordinates once, `answer` turns what it saw into the raw
prediction, `absorb` writes ζ ← ζ + T. Each geometry has its own three in `rounds_coordinates`,
`rounds_euclidean`, `rounds_power`; the choice is made when a loop is compiled, from the record's class, so one
module-level loop serves every learner and its machine code is found again on disk by the next process.

The state is two arrays. `cells` interleaves what belongs to one coordinate: g, s (per coordinate), g, s, top,
dead (per coordinate, with deleted atoms), or g alone (norms). `scalars` holds the rest, in float64 always.
"""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import Any, NamedTuple

from numba import types
from numba.extending import overload, register_jitable

from burkholder.geometries import Coordinates, Euclidean
from burkholder.potentials import Mixture, anchored

# Slots of `scalars`.
A, S, TOP, DEAD = 0, 1, 2, 3  # Σδŷ; the clock and the memory of a norm's potential
SCALE, POWER = 4, 5  # a norm's running sum: Σ|g_i/SCALE|^p, SCALE a power of two
DRIFT = 6  # bound on the rounding error of POWER since it was last summed afresh
TOUCHED, RESUMS = 7, 8  # entries absorbed since then, and how often that was
DIM = 9  # 1 + the largest index seen
CODE = 10  # why the last loop stopped
SLOTS = 12

# Rows of the scratch matrix: the touched coordinates, side by side, so that formulas run as vector code.
G_ROW, S_ROW, TOP_ROW, DEAD_ROW, OUT_ROW = 0, 1, 2, 3, 4
SCRATCH_ROWS = 5


class Square(NamedTuple):
    """s = Σ(L·size(x))², strategy S3."""


class Gradient(NamedTuple):
    """s = Σ(δ·size(x))², strategy S4."""


class Count(NamedTuple):
    """s = the number of rounds, strategy S3."""


class Power(NamedTuple):
    """An l_p norm of g, p ≥ 2. `whole` is p when p is a small whole number, else 0; `top` 1: features by max|x_i|."""

    p: float
    whole: int
    top: int


class Rule(NamedTuple):
    """Everything a compiled round needs to know of its Burkholder function."""

    potential: Any
    geometry: Any
    clock: Any
    lipschitz: float
    root: float  # √β
    limit: float  # X, what size(x) should stay below
    largest: float  # what |x_i| must stay below for squares to fit


CLOCKS: dict[str, Any] = {"square": Square(), "gradient": Gradient(), "count": Count()}


def _field(rule: Any, name: str) -> type:
    """The class of a record inside the rule, from its numba type."""
    return rule.types[rule.fields.index(name)].instance_class


def _module(rule: Any) -> ModuleType:
    geometry = _field(rule, "geometry")
    if geometry is Coordinates:
        name = "rounds_memory" if _field(rule, "potential") is Mixture else "rounds_coordinates"
    else:
        name = "rounds_euclidean" if geometry is Euclidean else "rounds_power"
    return importlib.import_module(f"burkholder.states.{name}")


def recall(rule, cells, scalars, scratch, indices, values):
    """What the row meets: geometry-specific sums, always (first, second, scale of x, size of x)."""
    raise NotImplementedError("only inside compiled loops")


def answer(rule, cells, scalars, scratch, indices, values, seen):
    """The raw prediction from what `recall` saw."""
    raise NotImplementedError("only inside compiled loops")


def absorb(rule, cells, scalars, scratch, indices, values, seen, yhat, delta):
    """ζ ← ζ + T(x, ŷ, δ), right after `recall` of the same row."""
    raise NotImplementedError("only inside compiled loops")


@overload(recall)
def _recall(rule, cells, scalars, scratch, indices, values):
    return _module(rule).recall


@overload(answer)
def _answer(rule, cells, scalars, scratch, indices, values, seen):
    return _module(rule).answer


@overload(absorb)
def _absorb(rule, cells, scalars, scratch, indices, values, seen, yhat, delta):
    return _module(rule).absorb


# --- what several geometries share ---------------------------------------------------------------------------
def tick(rule, size, delta):
    """What the clock grows by."""
    raise NotImplementedError("only inside compiled loops")


@overload(tick)
def _tick(rule, size, delta):
    clock = _field(rule, "clock")
    if clock is Square:
        return lambda rule, size, delta: (rule.lipschitz * size) * (rule.lipschitz * size)
    if clock is Gradient:
        return lambda rule, size, delta: (delta * size) * (delta * size)
    return lambda rule, size, delta: 1.0


def memory(rule, scalars, size):
    """(top, dead) of a norm's potential once x was seen."""
    raise NotImplementedError("only inside compiled loops")


@overload(memory)
def _memory(rule, scalars, size):
    if _field(rule, "potential") is Mixture:
        return lambda rule, scalars, size: anchored(
            scalars[TOP], scalars[DEAD], rule.potential.atoms, rule.lipschitz * size
        )
    return lambda rule, scalars, size: (0.0, 0.0)


def by_clock(tangent: Any, sign_flip: Any) -> Any:
    """The strategy that belongs to the clock, for use inside an overload."""
    return lambda rule: tangent if _field(rule, "clock") is Gradient else sign_flip


@register_jitable
def power_of_two(size):
    """The power of two just above size > 0: dividing by it is exact."""
    return math.ldexp(1.0, math.frexp(size)[1])


def is_number(argument: Any) -> bool:
    return isinstance(argument, (types.Float, types.Integer))
