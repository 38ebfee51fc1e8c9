"""What the saved ζ of a learner must be, for each of the three kinds of state."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction
from burkholder.learning import ledger
from burkholder.learning.schema import LARGEST, Array, Arrays, Schema
from burkholder.rounds import layout

_POSITIVE = (layout.S, layout.TOP, layout.DEAD, layout.POWER, layout.DRIFT, layout.TOUCHED, layout.RESUMS, layout.DIM, layout.CODE)
_COUNTS = (layout.DEAD, layout.DIM)


def book() -> Array:
    """The ledger: sums of sizes, and numbers of rounds."""
    low = np.zeros(ledger.SLOTS)
    low[ledger.LOSS] = -LARGEST  # a loss of one's own may be below 0
    high = np.full(ledger.SLOTS, LARGEST)
    high[ledger.ROUNDS] = 2.0**53
    return Array((ledger.SLOTS,), low=low, high=high)


def check_linear(arrays: Arrays, width: int, dtype: str, atoms: int) -> None:
    """Cells, `width` of them a coordinate, and the scalars beside them."""
    low, high = np.full(layout.SLOTS, -LARGEST), np.full(layout.SLOTS, LARGEST)
    low[list(_POSITIVE)] = 0.0
    low[layout.SCALE] = 1e-300
    high[layout.DEAD] = atoms
    high[layout.DIM] = 2.0**31
    most = float(np.finfo(dtype).max)

    def memories(a: Any) -> bool:
        dead = a["cells"][3::4]
        return bool(((dead >= 0.0) & (dead <= atoms) & (dead == np.floor(dead))).all() and (a["cells"][2::4] >= 0.0).all())

    Schema(
        {
            "cells": Array(("cells",), np.dtype(dtype).newbyteorder("<").str, low=-most, high=most),
            "scalars": Array((layout.SLOTS,), low=low, high=high),
        },
        (
            ("scalars: counts that are not whole", lambda a: all(a["scalars"][k] == np.floor(a["scalars"][k]) for k in _COUNTS)),
            ("cells: another number of coordinates", lambda a: len(a["cells"]) == int(a["scalars"][layout.DIM]) * width),
            ("cells: a clock below 0", lambda a: width == 1 or bool((a["cells"][1::width] >= 0.0).all())),
            ("cells: memories that are no number of rates", lambda a: width != 4 or memories(a)),
        ),
    ).check(arrays)


def check_tau(arrays: Arrays, function: BurkholderFunction, inverse: bool) -> None:
    """The parts of ζ as the function's own zero has them, Σδx, and four scalars: Σδŷ, rounds, dimension, seed."""
    dim = len(arrays["g"]) if "g" in arrays and arrays["g"].ndim == 1 else 0
    shapes = _shapes(function, dim, arrays) if dim else []
    # matrices are decomposed, which takes products of four
    most = 1e75 if any(len(shape) > 1 for shape in shapes) else LARGEST
    sides = {"inverse": Array(shapes[1], low=-most, high=most)} if inverse and dim else {}
    Schema(
        {
            **{f"tau{k}": Array(shape, low=-most, high=most) for k, shape in enumerate(shapes)},
            **sides,
            "g": Array((dim,), low=-most, high=most),
            "scalars": Array((4,), low=[-LARGEST, 0.0, 0.0, -LARGEST], high=[LARGEST, 2.0**53, 2.0**31, LARGEST]),
        },
        (
            ("scalars: another number of coordinates", lambda a: a["scalars"][2] == dim),
            ("scalars: rounds that are not whole", lambda a: a["scalars"][1] == np.floor(a["scalars"][1])),
        ),
    ).check(arrays)


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
