"""Importance weights: there are none here. Promises rest on slopes of known size, and a weight would change it."""

from __future__ import annotations

import numpy as np

from burkholder.errors import BadInput

REMEDY = "matrix learners count every round once: leave the weight out"


def refuse(weight: float) -> None:
    """Only 1 is taken."""
    if weight != 1.0:
        raise BadInput("weight", weight, REMEDY)


def refuse_many(weights: np.ndarray | None) -> None:
    """Only ones are taken."""
    if weights is not None and (weights != 1.0).any():
        place = int(np.argmax(weights != 1.0))
        raise BadInput(f"weight[{place}]", float(weights[place]), REMEDY)
