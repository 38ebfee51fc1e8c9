"""Which state holds ζ: the first kind that fits the function and its strategy."""

from __future__ import annotations

from typing import Any

from burkholder.functions.base import BurkholderFunction
from burkholder.rounds.curved import CurvedState
from burkholder.rounds.generic import TauState
from burkholder.rounds.state import LinearState

KINDS: tuple[Any, ...] = (LinearState, CurvedState, TauState)  # fastest first; the last fits everything


def state_for(function: BurkholderFunction, strategy: Any, seed: int) -> Any:
    """An empty state for this function under this strategy."""
    kind = next(kind for kind in KINDS if kind.fits(function, strategy))
    return kind.fresh(function, strategy, seed)
