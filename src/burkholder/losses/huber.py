"""Squares near the target, absolute values in the tails."""

from __future__ import annotations

import math
from typing import NamedTuple

from burkholder.errors import BadInput
from burkholder.losses.dispatch import formulas


def _huber(loss, yhat, y):
    r = abs(yhat - y)
    k = loss.threshold
    return 0.5 * r * r if r <= k else k * (r - 0.5 * k)


def _slope(loss, yhat, y):
    return min(max(yhat - y, -loss.threshold), loss.threshold)


@formulas(_huber, _slope, "huber", degree=2, smoothness=1.0, quantile=0.5, slope_error=1.0)
class Huber(NamedTuple):
    """½r² for |r| ≤ threshold, then linear.

    >>> from burkholder.losses import Huber, value
    >>> value(Huber(threshold=1.0), 0.5, 0.0), value(Huber(threshold=1.0), 3.0, 0.0)
    (0.125, 2.5)
    """

    threshold: float = 1.0

    def lipschitz(self, bound: float) -> float:
        return min(self.threshold, 2.0 * bound)

    def curvature(self, bound: float) -> float:
        return 1.0 if 2.0 * bound <= self.threshold else 0.0

    def check(self) -> None:
        if not (self.threshold > 0 and math.isfinite(self.threshold)):
            raise BadInput("threshold", self.threshold, "give a positive finite number")

    def scaled(self, unit: float) -> Huber:
        return Huber(self.threshold / unit)
