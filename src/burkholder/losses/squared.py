"""(ŷ − y)²."""

from __future__ import annotations

from typing import NamedTuple

from burkholder.losses.dispatch import formulas


def _squared(loss, yhat, y):
    return (yhat - y) * (yhat - y)


def _slope(loss, yhat, y):
    return 2.0 * (yhat - y)


@formulas(_squared, _slope, "squared", degree=2, homogeneous=True, smoothness=2.0, slope_error=1.0)
class Squared(NamedTuple):
    """(ŷ − y)²; its minimiser is the mean.

    >>> from burkholder.losses import Squared, value
    >>> value(Squared(), 1.0, 3.0), Squared().lipschitz(10.0)
    (4.0, 40.0)
    """

    def lipschitz(self, bound: float) -> float:
        return 4.0 * bound

    def curvature(self, bound: float) -> float:
        return 2.0
