"""|ŷ − y|."""

from __future__ import annotations

from typing import NamedTuple

from burkholder.losses.dispatch import formulas


def _absolute(loss, yhat, y):
    return abs(yhat - y)


def _slope(loss, yhat, y):
    return 1.0 if yhat > y else (-1.0 if yhat < y else 0.0)


@formulas(_absolute, _slope)
class Absolute(NamedTuple):
    """|ŷ − y|; its minimiser is the median."""

    name = "absolute"
    quantile = 0.5
    slope_error = 0.0

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def kinks(self, y: float) -> tuple[float, ...]:
        return (y,)
