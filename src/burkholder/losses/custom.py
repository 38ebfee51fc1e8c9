"""A loss of the user's own, from two plain Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from burkholder.losses.dispatch import formulas


def _custom(loss, yhat, y):
    return float(loss.function(yhat, y))


def _custom_slope(loss, yhat, y):
    return float(loss.slope(yhat, y))


@formulas(_custom, _custom_slope)
class Custom(NamedTuple):
    """Any convex loss: `function(ŷ, y)`, its (sub)derivative `slope(ŷ, y)` and a Lipschitz constant.

    At a kink, `slope` should return the subgradient of least modulus. Set `minimiser` to False when
    ℓ(·, y) has no finite minimiser, so that clipping is not taken to be free.

    >>> from burkholder.losses import value
    >>> import math
    >>> logcosh = Custom(lambda p, y: math.log(math.cosh(p - y)), lambda p, y: math.tanh(p - y), 1.0)
    >>> round(value(logcosh, 1.0, 0.0), 4)
    0.4338
    """

    function: Callable[[float, float], float]
    slope: Callable[[float, float], float]
    constant: float
    strong: float = 0.0
    classes: bool = False
    minimiser: bool = True
    name = "custom"
    compiled = False
    slope_error = 16.0

    def lipschitz(self, bound: float) -> float:
        return self.constant

    def curvature(self, bound: float) -> float:
        return self.strong
