"""Which shelf fits a learner."""

from __future__ import annotations

from typing import Any

from burkholder.keyed.light import LightPacking
from burkholder.keyed.linear import LinearPacking
from burkholder.keyed.packed import PackedShelf
from burkholder.keyed.shelf import Shelf

PACKINGS: tuple[Any, ...] = (LinearPacking, LightPacking)


def shelf_for(prototype: Any) -> Shelf:
    """Learners of this kind, side by side: in shared arrays where there is a way to pack them."""
    for packing in PACKINGS:
        if packing.fits(prototype):
            return PackedShelf(prototype, packing(prototype))
    return Shelf(prototype)
