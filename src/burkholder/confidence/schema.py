"""What a saved confidence sequence must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.confidence.sequence import AXES, COUNT, GUESS, GUESS_REST, SLOTS, SUM, SUM_REST, UP
from burkholder.confidence.wealth import RATES
from burkholder.errors import BadInput
from burkholder.learning.schema import LARGEST, Array, Schema, check_header, number, truth

_HEADER = {"low": number, "high": number, "alpha": lambda value: number(value) and 0.0 < value < 1.0, "constant": truth}


def check(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Refuse what is not the state of a `Confidence`."""
    check_header(header, _HEADER)
    if not header["low"] < header["high"]:
        raise BadInput("header 'low'", header["low"], "it must lie below high")
    streams = arrays["state"].shape[1:] if "state" in arrays else ()
    if len(streams) > AXES:
        raise BadInput("array 'state'", streams, f"streams have at most {AXES} axes")
    low = np.full(SLOTS, -LARGEST)
    low[[COUNT, SUM, GUESS]] = 0.0
    described = {"state": Array((SLOTS, *streams), low=low.reshape(SLOTS, *[1] * len(streams)))}
    if "kept" in arrays:
        described["kept"] = Array((2, *streams), low=header["low"], high=header["high"])
    rules = (
        ("state: counts that are not whole", lambda a: bool((a["state"][0] == np.floor(a["state"][0])).all())),
        ("state: sums beyond the range", lambda a: _possible(a["state"])),
        ("kept: of means that may change", lambda a: header["constant"] or "kept" not in a),
    )
    Schema(described, rules).check(arrays)


def _possible(state: np.ndarray) -> bool:
    """Sums of values and of guesses in [0, 1], and no bet above what the best values would have made of it."""
    n = state[COUNT]
    most = n * (1.0 + 1e-9)
    rests = np.abs(state[[SUM_REST, GUESS_REST]]) <= 1e-6 * n
    sums = (state[SUM] <= most) & (state[GUESS] <= most)
    gains = np.multiply.outer(np.tile(np.log1p(RATES), 2), most)
    losses = np.multiply.outer(np.tile(np.log1p(-RATES), 2), most)
    return bool(rests.all() and sums.all() and (state[UP:] <= gains).all() and (state[UP:] >= losses).all())
