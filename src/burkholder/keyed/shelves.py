"""Which shelf fits a learner."""

from __future__ import annotations

from typing import Any

from burkholder.keyed.shelf import Shelf


def shelf_for(prototype: Any) -> Any:
    """Learners of this kind, side by side."""
    return Shelf(prototype)
