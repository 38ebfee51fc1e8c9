"""Absolute errors, the small ones free."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.losses.dispatch import Piece, formulas


def _insensitive(loss, yhat, y):
    return max(abs(yhat - y) - loss.epsilon, 0.0)


def _slope(loss, yhat, y):
    # rounding is monotone: a difference beyond ±epsilon is beyond it in real numbers too, and one that was rounded
    # to epsilon itself is told by what the rounding left over
    r = yhat - y
    back = r - yhat
    left = (yhat - (r - back)) - (y + back)
    if r > loss.epsilon or (r == loss.epsilon and left > 0.0):
        return 1.0
    return -1.0 if r < -loss.epsilon or (r == -loss.epsilon and left < 0.0) else 0.0


@formulas(_insensitive, _slope, "epsilon-insensitive", quantile=0.5, slope_error=0.0)
class EpsilonInsensitive(NamedTuple):
    """max(0, |ŷ − y| − epsilon): errors below epsilon are free.

    >>> from burkholder.losses import EpsilonInsensitive, value
    >>> value(EpsilonInsensitive(epsilon=0.5), 0.25, 0.0), value(EpsilonInsensitive(epsilon=0.5), 2.0, 0.0)
    (0.0, 1.5)
    """

    epsilon: float = 0.1

    def lipschitz(self, bound: float) -> float:
        return 1.0

    def check(self) -> None:
        if not (self.epsilon >= 0 and math.isfinite(self.epsilon)):
            raise BadInput("epsilon", self.epsilon, "give a finite number ≥ 0")

    def scaled(self, unit: float) -> EpsilonInsensitive:
        return EpsilonInsensitive(self.epsilon / unit)

    def pieces(self, y: np.ndarray) -> list[Piece]:
        return [(0.0, 1.0, side * y - self.epsilon, np.full(len(y), side)) for side in (1.0, -1.0)]

    def kinks(self, y: float) -> tuple[float, ...]:
        return (y - self.epsilon, y + self.epsilon)
