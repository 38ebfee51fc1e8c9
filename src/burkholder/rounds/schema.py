"""What the saved ζ of a learner must be, for each of the three kinds of state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction
from burkholder.learning.schema import COUNTED, LARGEST, Array, Arrays, Schema, within_sizes
from burkholder.rounds import checks, layout

_POSITIVE = (
    layout.S, layout.TOP, layout.DEAD, layout.POWER, layout.DRIFT, layout.TOUCHED, layout.RESUMS, layout.DIM, layout.CODE,
    layout.LEANED, layout.MOVED, layout.DRIFTED,
)  # fmt: skip
_COUNTS = (layout.DEAD, layout.DIM, layout.CODE)
_STEEPEST = 1e150 * 2.0**53  # of Σδx: no δx is above 1e150


def check_linear(arrays: Arrays, width: int, atoms: int, most: int) -> None:
    """Cells, `width` of them a coordinate, and the scalars beside them."""
    low, high = np.full(layout.SLOTS, -LARGEST), np.full(layout.SLOTS, LARGEST)
    low[list(_POSITIVE)] = 0.0
    low[layout.SCALE], high[layout.SCALE] = 5e-324, 2.0 * _STEEPEST
    high[layout.DEAD] = atoms
    high[layout.DIM] = most
    high[layout.CODE] = checks.TOO_STEEP

    def memories(a: Any) -> bool:
        dead = a["cells"][3::4]
        return bool(((dead >= 0.0) & (dead <= atoms) & (dead == np.floor(dead))).all() and (a["cells"][2::4] >= 0.0).all())

    Schema(
        {"cells": Array(("cells",)), "scalars": Array((layout.SLOTS,), low=low, high=high)},
        (
            ("scalars: counts that are not whole", lambda a: all(a["scalars"][k] == np.floor(a["scalars"][k]) for k in _COUNTS)),
            ("cells: another number of coordinates", lambda a: len(a["cells"]) == int(a["scalars"][layout.DIM]) * width),
            ("cells: sums larger than any stream has", lambda a: bool((np.abs(a["cells"][::width]) <= _STEEPEST).all())),
            ("cells: a clock below 0", lambda a: width == 1 or bool((a["cells"][1::width] >= 0.0).all())),
            ("cells: memories that are no number of rates", lambda a: width != 4 or memories(a)),
        ),
    ).check(arrays)


def check_tau(arrays: Arrays, function: BurkholderFunction, inverse: bool) -> None:
    """The parts of ζ as the function's own zero has them; Σδx, its correction and Σ|δx|; and seven scalars: Σδŷ and its
    correction, Σ|δŷ|, what the norms moved, rounds, dimension, seed.
    """
    dim = arrays["sums"].shape[1] if "sums" in arrays and arrays["sums"].ndim == 2 else 0
    shapes = _shapes(function, dim, arrays) if dim else []
    sides = {"inverse": Array(shapes[1], low=-1e75, high=1e75)} if inverse and dim else {}
    most = largest(len(shape) for shape in shapes)
    low = [-LARGEST, -LARGEST, 0.0, 0.0, 0.0, 0.0, -LARGEST]
    high = [LARGEST, LARGEST, LARGEST, LARGEST, COUNTED, 2.0**31, LARGEST]
    Schema(
        {
            **{f"tau{k}": Array(shape, low=-most, high=most) for k, shape in enumerate(shapes)},
            **sides,
            "sums": Array((3, dim)),
            "scalars": Array((7,), low=low, high=high),
        },
        (
            ("scalars: another number of coordinates", lambda a: a["scalars"][5] == dim),
            ("scalars: rounds that are not whole", lambda a: a["scalars"][4] == np.floor(a["scalars"][4])),
            ("sums: sizes below 0", lambda a: bool((a["sums"][2] >= 0.0).all())),
            ("sums: larger than what was summed", lambda a: within_sizes(a["sums"])),
        ),
    ).check(arrays)


def largest(axes: Iterable[int]) -> float:
    """The largest number in a ζ whose parts have so many axes: matrices are decomposed with their rates, which takes products of four."""
    return 1e75 if any(count > 1 for count in axes) else LARGEST


def _shapes(function: BurkholderFunction, dim: int, arrays: Arrays) -> list[tuple[int, ...]]:
    """The shapes of `function.zero(dim)`, found without making anything larger than what the file holds."""
    if function.growable:  # every axis grows in step with the dimension
        first, second = function.zero(1), function.zero(2)
        return [tuple(a + (dim - 1) * (b - a) for a, b in zip(one.shape, two.shape)) for one, two in zip(first, second)]
    shape = getattr(function, "shape", None)
    side = None if shape is None else (sum(shape), sum(shape))
    if side is not None and ("tau1" not in arrays or arrays["tau1"].shape != side):
        raise BadInput("array 'tau1'", "another shape", f"it must be {side[0]} × {side[1]}")
    return [part.shape for part in function.zero(dim)]
