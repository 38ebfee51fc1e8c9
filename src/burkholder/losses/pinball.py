"""The loss whose minimiser is a quantile."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.losses.dispatch import Piece, formulas


def _pinball(loss, yhat, y):
    return loss.quantile * (y - yhat) if y >= yhat else (1.0 - loss.quantile) * (yhat - y)


def _slope(loss, yhat, y):
    return (1.0 - loss.quantile) if yhat > y else (-loss.quantile if yhat < y else 0.0)


@formulas(_pinball, _slope, "pinball", homogeneous=True, beyond=True, slope_error=1.0)
class Pinball(NamedTuple):
    """quantile·(y−ŷ)₊ + (1−quantile)·(ŷ−y)₊; its minimiser is that quantile.

    >>> from burkholder.losses import Pinball, value
    >>> value(Pinball(quantile=0.75), 0.0, 1.0), value(Pinball(quantile=0.75), 1.0, 0.0)
    (0.75, 0.25)
    """

    quantile: float = 0.5

    def lipschitz(self, bound: float) -> float:
        return max(self.quantile, 1.0 - self.quantile)

    def check(self) -> None:
        if not 0.0 < self.quantile < 1.0:
            raise BadInput("quantile", self.quantile, "give a number strictly between 0 and 1")

    def pieces(self, y: np.ndarray) -> list[Piece]:
        return [(self.quantile - 1.0, self.quantile, y, np.ones(len(y)))]

    def kinks(self, y: float) -> tuple[float, ...]:
        return (y,)
