"""|ŷ − y|."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burkholder.losses.dispatch import Piece, formulas


def _absolute(loss, yhat, y):
    return abs(yhat - y)


def _slope(loss, yhat, y):
    return 1.0 if yhat > y else (-1.0 if yhat < y else 0.0)


@formulas(_absolute, _slope, "absolute", homogeneous=True, quantile=0.5, slope_error=0.0)
class Absolute(NamedTuple):
    """|ŷ − y|; its minimiser is the median.

    >>> from burkholder.losses import Absolute, value
    >>> value(Absolute(), 1.0, 3.0), Absolute().lipschitz(10.0)
    (2.0, 1.0)
    """

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def pieces(self, y: np.ndarray) -> list[Piece]:
        return [(-1.0, 1.0, y, np.ones(len(y)))]

    def kinks(self, y: float) -> tuple[float, ...]:
        return (y,)
