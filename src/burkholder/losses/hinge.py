"""max(0, 1 − yŷ), labels ±1. Beyond the margin it is flat, so clipping a prediction is never taken to be free."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burkholder.losses.dispatch import Piece, formulas


def _hinge(loss, yhat, y):
    return max(0.0, 1.0 - y * yhat)


def _slope(loss, yhat, y):
    return -y if y * yhat < 1.0 else 0.0


@formulas(_hinge, _slope, "hinge", classes=True, minimiser=False, margin=True, slope_error=0.0)
class Hinge(NamedTuple):
    """max(0, 1 − yŷ).

    >>> from burkholder.losses import Hinge, value
    >>> value(Hinge(), 0.25, 1.0), value(Hinge(), 2.0, 1.0)
    (0.75, 0.0)
    """

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def pieces(self, y: np.ndarray) -> list[Piece]:
        return [(0.0, 1.0, np.ones(len(y)), y)]

    def kinks(self, y: float) -> tuple[float, ...]:
        return (y,)
