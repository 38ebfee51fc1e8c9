"""Losses on labels y = ±1. Neither has a finite minimiser, so clipping a prediction is never free here."""

from __future__ import annotations

import math
from typing import NamedTuple

from burkholder.losses.dispatch import formulas
from burkholder.machine.elementary import exp, log1p


def _logistic(loss, yhat, y):  # type: ignore[no-untyped-def]
    m = y * yhat
    # ln(1+e^{-m}) without overflow on either side; one exponential serves both formulas, without a branch
    return log1p(exp(-abs(m))) + max(-m, 0.0)


def _logistic_slope(loss, yhat, y):  # type: ignore[no-untyped-def]
    m = y * yhat
    e = exp(-abs(m))
    return -y * ((e if m > 0.0 else 1.0) / (1.0 + e))


@formulas(_logistic, _logistic_slope)
class Logistic(NamedTuple):
    """ln(1 + e^{−yŷ}) in nats; ŷ is the log-odds of y = 1."""

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def curvature(self, bound: float) -> float:
        e = math.exp(-bound)  # 0 for an unbounded range: the curvature dies out in the tails
        return e / (1.0 + e) ** 2


def _hinge(loss, yhat, y):  # type: ignore[no-untyped-def]
    return max(0.0, 1.0 - y * yhat)


def _hinge_slope(loss, yhat, y):  # type: ignore[no-untyped-def]
    return -y if y * yhat < 1.0 else 0.0


@formulas(_hinge, _hinge_slope)
class Hinge(NamedTuple):
    """max(0, 1 − yŷ)."""

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def curvature(self, bound: float) -> float:
        return 0.0
