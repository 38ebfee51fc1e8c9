"""ln(1 + e^{−yŷ}), labels ±1. It has no finite minimiser, so clipping a prediction is never free."""

from __future__ import annotations

import math
from typing import NamedTuple

from burkholder.losses.dispatch import formulas
from burkholder.machine.elementary import exp, log1p


def _logistic(loss, yhat, y):
    m = y * yhat
    # ln(1+e^{-m}) without overflow on either side; one exponential serves both formulas, without a branch
    return log1p(exp(-abs(m))) + max(-m, 0.0)


def _slope(loss, yhat, y):
    m = y * yhat
    e = exp(-abs(m))
    return -y * ((e if m > 0.0 else 1.0) / (1.0 + e))


@formulas(_logistic, _slope, "logistic", classes=True, minimiser=False, odds=True, log=True, smoothness=0.25, slope_error=16.0)
class Logistic(NamedTuple):
    """ln(1 + e^{−yŷ}) in nats; ŷ is the log-odds of y = 1."""

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def curvature(self, bound: float) -> float:
        e = math.exp(-bound)  # 0 for an unbounded range: the curvature dies out in the tails
        return e / (1.0 + e) ** 2
