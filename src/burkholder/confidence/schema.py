"""What a saved confidence sequence must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.schema import LARGEST, Array, Schema, check_header, number, truth

_HEADER = {"low": number, "high": number, "alpha": lambda value: number(value) and 0.0 < value < 1.0, "constant": truth}


def check(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Refuse what is not the state of a `Confidence`."""
    check_header(header, _HEADER)
    if not header["low"] < header["high"]:
        raise BadInput("header 'low'", header["low"], "it must lie below high")
    streams = arrays["state"].shape[1:] if "state" in arrays else ()
    if len(streams) > 4:
        raise BadInput("array 'state'", streams, "streams have at most four axes")
    low = np.array([0.0, -LARGEST, -LARGEST, 0.0, -LARGEST]).reshape(5, *[1] * len(streams))
    described = {"state": Array((5, *streams), low=low)}
    if "kept" in arrays:
        described["kept"] = Array((2, *streams), low=header["low"], high=header["high"])
    spread = header["high"] - header["low"]
    rules = (
        ("state: counts that are not whole", lambda a: bool((a["state"][0] == np.floor(a["state"][0])).all())),
        ("state: sums beyond the range", lambda a: _possible(a["state"], spread)),
        ("kept: of means that may change", lambda a: header["constant"] or "kept" not in a),
    )
    Schema(described, rules).check(arrays)


def _possible(state: np.ndarray, spread: float) -> bool:
    most = state[0] * spread * (1.0 + 1e-9)
    return bool((state[1] >= -1e-9 * most).all() and (state[1] <= most).all() and (state[3] <= most * spread).all())
