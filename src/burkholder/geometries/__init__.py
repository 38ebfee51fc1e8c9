"""Geometries: how g = Σδx enters a scalar potential.

>>> import numpy as np
>>> from burkholder import geometries
>>> float(geometries.get("l2").norm(np.array([3.0, 4.0])))
5.0
"""

from __future__ import annotations

import contextlib
from typing import Any

from burkholder.errors import BadInput
from burkholder.geometries.base import Geometry
from burkholder.geometries.structured import Group, Mahalanobis, Schatten
from burkholder.geometries.vectors import Coordinates, Euclidean, PNorm, Supremum, check


def get(geometry: Any) -> Any:
    """The geometry of that name, or the object itself: "l2", "l4", "coordinates", PNorm(3), Group(…) …

    "linf" names what the paper calls the l_∞ class, |w_i| ≤ R: its potential works per coordinate.

    >>> get("l3")
    PNorm(p=3.0)
    >>> get("l1")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: p = 1.0 cannot be used: l_p is smooth only for 2 ≤ p < ∞; for l_∞ use Supremum(dim)
    """
    if isinstance(geometry, str):
        text = geometry.lower().replace("_", "")
        if text in ("coordinates", "coordinate", "linf"):
            return Coordinates()
        if text == "l2":
            return Euclidean()
        if text.startswith("l"):
            with contextlib.suppress(ValueError):
                geometry = PNorm(float(text[1:]))
    check(geometry)
    if isinstance(geometry, str) or not (isinstance(geometry, (Coordinates, Geometry))):
        raise BadInput("geometry", geometry, "give 'l2', 'l3', 'l4', …, 'coordinates', or a geometry object")
    return geometry


__all__ = ["Coordinates", "Euclidean", "Geometry", "Group", "Mahalanobis", "PNorm", "Schatten", "Supremum", "get"]
