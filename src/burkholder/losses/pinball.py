"""The loss whose minimiser is a quantile."""

from __future__ import annotations

from typing import NamedTuple

from burkholder.errors import BadInput
from burkholder.losses.dispatch import formulas


def _pinball(loss, yhat, y):
    return loss.quantile * (y - yhat) if y >= yhat else (1.0 - loss.quantile) * (yhat - y)


def _slope(loss, yhat, y):
    return (1.0 - loss.quantile) if yhat > y else (-loss.quantile if yhat < y else 0.0)


@formulas(_pinball, _slope)
class Pinball(NamedTuple):
    """quantile·(y−ŷ)₊ + (1−quantile)·(ŷ−y)₊; its minimiser is that quantile."""

    quantile: float = 0.5
    name = "pinball"
    slope_error = 1.0

    def lipschitz(self, bound: float) -> float:
        return max(self.quantile, 1.0 - self.quantile)

    def check(self) -> None:
        if not 0.0 < self.quantile < 1.0:
            raise BadInput("quantile", self.quantile, "give a number strictly between 0 and 1")

    def kinks(self, y: float) -> tuple[float, ...]:
        return (y,)
