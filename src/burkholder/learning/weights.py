"""How much rounds count: importance weights, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.errors import BadInput


def checked_weight(weight: Any) -> float:
    """The importance of a round: a finite number ≥ 0."""
    try:
        number = float(weight)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and number >= 0.0):
        raise BadInput("weight", weight, "give a finite number ≥ 0")
    return number


def checked_weights(weight: Any, rows: int) -> np.ndarray | None:
    """The importance of every round; None: all count once."""
    if weight is None:
        return None
    try:
        numbers = np.array(weight, dtype=float).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("weight", weight, "give one finite number ≥ 0 a row") from None
    if len(numbers) != rows:
        raise BadInput("weight", f"{len(numbers)} numbers", f"there are {rows} rows: give one weight for each")
    good = (numbers >= 0.0) & (numbers < math.inf)
    if not good.all():
        place = int(np.argmin(good))
        raise BadInput(f"weight[{place}]", float(numbers[place]), "give a finite number ≥ 0")
    return numbers
