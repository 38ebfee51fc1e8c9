"""Learners of burkholder 0.1.0, taken over where what their files lack can be bounded by what they hold.

0.1.0 kept Σδŷ, Σδx and the clock, but none of the sums by which rounding is charged. For the potentials of the square function
these are bounded by the clock: with n rounds and |δ| ≤ D, Cauchy and Schwarz give Σ|δx_i| ≤ √(n·Σ(δx_i)²), and predictions are at
most R·|x|, for such potentials have slopes of at most R. So Σ|δŷ| ≤ R·Σ|δ|‖x‖, and what plain sums lost is at most n + 1 times 2⁻⁵³
of that. The numbers of the certificate are larger for it, by some n·10⁻¹⁶ of what was summed, and true.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.learning.ledger import ROUNDS, SLOTS, STEEPEST
from burkholder.learning.rows import DIRECT
from burkholder.learning.tickets import MAX_PENDING
from burkholder.potentials import DavisWang, SquareRoot
from burkholder.rounds import layout
from burkholder.storage.container import Arrays

WRITTEN_BY = "0.1.0"
SAFE = 1.001  # sums of squares are good to far less than that
KEPT = 11  # scalars whose slots are where they were


def renewed(header: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays] | None:
    """A state of 0.1.0 as this version has it, or None where nothing bounds what it lacks: another potential or geometry, single
    precision, plays that wait for their labels, learners that were merged.
    """
    from burkholder.learning.learner import Learner

    made = dict(header["made"])
    whole = made.pop("dtype", None) == "<f8" and not header["pending"] and header["parts"] == 1
    function, loss = header["function"], header["loss"]
    if not whole or isinstance(loss, dict) or header["features"] is not None or (isinstance(function, dict) and "name" not in function):
        return None
    name, options = (function["name"], function["options"]) if isinstance(function, dict) else (function, {})
    fresh = Learner(name, loss=loss, bound=header["bound"], strategy=made["strategy"], **options)
    bounded = _moved(fresh, arrays)
    if bounded is None or arrays["ledger"].shape != (SLOTS - 1,):
        return None
    moved, leaned, rounds = bounded
    scalars = np.zeros(layout.SLOTS)
    scalars[:KEPT] = arrays["state.scalars"][:KEPT]
    scalars[layout.LEANED] = SAFE * (rounds + 2.0) * leaned  # as large as covers what the plain sum lost
    scalars[layout.MOVED] = SAFE * moved
    scalars[layout.DRIFTED] = SAFE * rounds * moved
    if scalars[layout.DIM] > DIRECT:
        return None
    new = {**header, "made": made, "rows": {**header["rows"], "far": []}, "max_pending": MAX_PENDING}
    return new, {"state.cells": arrays["state.cells"], "state.scalars": scalars, "ledger": np.append(arrays["ledger"], 0.0)}


def _moved(learner: Any, arrays: Arrays) -> tuple[float, float, float] | None:
    """(at least Σ|δ|‖x‖, at least Σ|δŷ|, rounds) from the clock."""
    from burkholder.rounds.state import LinearState

    function, state = learner.function, learner.state
    if (
        not isinstance(state, LinearState)
        or type(state.potential) not in (SquareRoot, DavisWang)
        or function.clock not in ("gradient", "square")
    ):
        return None
    if state.width > 2 or type(state.frame.geometry).__name__ not in ("Coordinates", "Euclidean") or function.root != 1.0:
        return None
    rounds, steepest = float(arrays["ledger"][ROUNDS]), float(arrays["ledger"][STEEPEST])
    clock = arrays["state.cells"][1::2] if state.separable else arrays["state.scalars"][layout.S : layout.S + 1]
    ratio = 1.0 if function.clock == "gradient" else max(steepest / function.lipschitz, 1.0)
    moved = ratio * math.fsum(np.sqrt(rounds * (clock + 1e-300 * rounds)))
    return moved, function.potential.radius * moved, rounds
