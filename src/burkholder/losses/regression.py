"""Losses on real targets. `bound` is B: predictions and targets lie in [-B, B]."""

from __future__ import annotations

import math
from typing import NamedTuple

from burkholder.errors import BadInput
from burkholder.losses.dispatch import formulas


def _absolute(loss, yhat, y):  # type: ignore[no-untyped-def]
    return abs(yhat - y)


def _absolute_slope(loss, yhat, y):  # type: ignore[no-untyped-def]
    return 1.0 if yhat > y else (-1.0 if yhat < y else 0.0)


@formulas(_absolute, _absolute_slope)
class Absolute(NamedTuple):
    """|ŷ − y|; its minimiser is the median."""

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def curvature(self, bound: float) -> float:
        return 0.0


def _squared(loss, yhat, y):  # type: ignore[no-untyped-def]
    return (yhat - y) * (yhat - y)


def _squared_slope(loss, yhat, y):  # type: ignore[no-untyped-def]
    return 2.0 * (yhat - y)


@formulas(_squared, _squared_slope)
class Squared(NamedTuple):
    """(ŷ − y)²; its minimiser is the mean."""

    def lipschitz(self, bound: float) -> float:
        return 4.0 * bound

    def curvature(self, bound: float) -> float:
        return 2.0


def _huber(loss, yhat, y):  # type: ignore[no-untyped-def]
    r = abs(yhat - y)
    k = loss.threshold
    return 0.5 * r * r if r <= k else k * (r - 0.5 * k)


def _huber_slope(loss, yhat, y):  # type: ignore[no-untyped-def]
    return min(max(yhat - y, -loss.threshold), loss.threshold)


@formulas(_huber, _huber_slope)
class Huber(NamedTuple):
    """½r² for |r| ≤ threshold, then linear: squares near the target, absolute in the tails."""

    threshold: float = 1.0

    def lipschitz(self, bound: float) -> float:
        return min(self.threshold, 2.0 * bound)

    def curvature(self, bound: float) -> float:
        return 1.0 if 2.0 * bound <= self.threshold else 0.0


def _pinball(loss, yhat, y):  # type: ignore[no-untyped-def]
    return loss.quantile * (y - yhat) if y >= yhat else (1.0 - loss.quantile) * (yhat - y)


def _pinball_slope(loss, yhat, y):  # type: ignore[no-untyped-def]
    return (1.0 - loss.quantile) if yhat > y else (-loss.quantile if yhat < y else 0.0)


@formulas(_pinball, _pinball_slope)
class Pinball(NamedTuple):
    """quantile·(y−ŷ)₊ + (1−quantile)·(ŷ−y)₊; its minimiser is that quantile."""

    quantile: float = 0.5

    def lipschitz(self, bound: float) -> float:
        return max(self.quantile, 1.0 - self.quantile)

    def curvature(self, bound: float) -> float:
        return 0.0


def _insensitive(loss, yhat, y):  # type: ignore[no-untyped-def]
    return max(abs(yhat - y) - loss.epsilon, 0.0)


def _insensitive_slope(loss, yhat, y):  # type: ignore[no-untyped-def]
    r = yhat - y
    return 1.0 if r > loss.epsilon else (-1.0 if r < -loss.epsilon else 0.0)


@formulas(_insensitive, _insensitive_slope)
class EpsilonInsensitive(NamedTuple):
    """max(0, |ŷ − y| − epsilon): errors below epsilon are free."""

    epsilon: float = 0.1

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def curvature(self, bound: float) -> float:
        return 0.0


def check_parameters(loss: NamedTuple) -> None:
    """Refuse a record whose parameter makes no convex loss."""
    if isinstance(loss, Huber) and not (loss.threshold > 0 and math.isfinite(loss.threshold)):
        raise BadInput("threshold", loss.threshold, "give a positive finite number")
    if isinstance(loss, Pinball) and not 0.0 < loss.quantile < 1.0:
        raise BadInput("quantile", loss.quantile, "give a number strictly between 0 and 1")
    if isinstance(loss, EpsilonInsensitive) and not (loss.epsilon >= 0 and math.isfinite(loss.epsilon)):
        raise BadInput("epsilon", loss.epsilon, "give a finite number ≥ 0")
