"""ln(1 + e^{−yŷ}), labels ±1. It has no finite minimiser, so clipping a prediction is never free."""

from __future__ import annotations

import math
from typing import NamedTuple

from burkholder.losses.dispatch import formulas
from burkholder.machine.elementary import sigmoid, softplus


def _logistic(loss, yhat, y):
    return softplus(-(y * yhat))


def _slope(loss, yhat, y):
    return -y * sigmoid(-(y * yhat))


@formulas(_logistic, _slope, "logistic", classes=True, minimiser=False, odds=True, log=True, smoothness=0.25, slope_error=16.0)
class Logistic(NamedTuple):
    """ln(1 + e^{−yŷ}) in nats; ŷ is the log-odds of y = 1.

    >>> from burkholder.losses import Logistic, value
    >>> round(value(Logistic(), 0.0, 1.0), 6)
    0.693147
    """

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def curvature(self, bound: float) -> float:
        e = math.exp(-bound)  # 0 for an unbounded range: the curvature dies out in the tails
        return e / (1.0 + e) ** 2
