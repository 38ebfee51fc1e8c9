"""A loss, a potential with its function, and a line of the catalogue: all that a user writes to add them.

Importing this file is enough: afterwards they are known by their names, in Python and, in a process that imports it, to
the commands: `python -c "import my_parts; from burkholder.cli import main; main()" learn data.csv --loss quantile-huber`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE
from burkholder.functions.base import positive
from burkholder.functions.linear import Linear
from burkholder.functions.registry import Entry
from burkholder.losses.dispatch import formulas as loss_formulas
from burkholder.potentials import batch
from burkholder.potentials.dispatch import LARGEST, formulas


# --- a loss -----------------------------------------------------------------------------------------------------------
def _loss(loss, yhat, y):
    r = yhat - y
    share = 1.0 - loss.quantile if r > 0.0 else loss.quantile
    k, size = loss.threshold, abs(r)
    return share * (0.5 * r * r if size <= k else k * (size - 0.5 * k))


def _loss_slope(loss, yhat, y):
    r = yhat - y
    share = 1.0 - loss.quantile if r > 0.0 else loss.quantile
    return share * min(max(r, -loss.threshold), loss.threshold)


@loss_formulas(_loss, _loss_slope, "quantile-huber", degree=2, smoothness=1.0, slope_error=4.0)
class QuantileHuber(NamedTuple):
    """Huber's loss, too low and too high weighed as the quantile asks."""

    quantile: float = 0.7
    threshold: float = 0.5

    def lipschitz(self, bound: float) -> float:
        return max(self.quantile, 1.0 - self.quantile) * min(self.threshold, 2.0 * bound)

    def check(self) -> None:
        if not (0.0 < self.quantile < 1.0 and 0.0 < self.threshold < math.inf):
            raise BadInput("quantile, threshold", (self.quantile, self.threshold), "give a quantile in (0, 1) and a positive threshold")

    def scaled(self, unit: float) -> QuantileHuber:
        return QuantileHuber(self.quantile, self.threshold / unit)


# --- a potential --------------------------------------------------------------------------------------------------------
def _value(p, g, s, top, dead):
    z = p.rate * g
    exponent = z + math.log1p(math.exp(-2.0 * z)) - math.log(2.0) - 0.5 * p.rate * (p.rate * s)
    return p.scale * math.expm1(min(exponent, 600.0))


def _gap(p, high, low, difference, s):
    a, b = 0.5 * p.rate * (high + low), 0.5 * p.rate * abs(difference)
    exponent = a + b - 0.5 * p.rate * (p.rate * s)
    size = 0.25 * p.scale * math.exp(min(exponent, 600.0)) * math.expm1(-2.0 * a) * math.expm1(-2.0 * b)
    return math.copysign(min(size, LARGEST), difference)


@formulas(_value, _gap)
class FixedRate(NamedTuple):
    """κ[cosh(λg)·exp(−λ²s/2) − 1]: exponential weights of ±λ; `scale` is κ, `rate` is λ."""

    scale: float = 1.0
    rate: float = 0.5

    def bound(self, u: Any, s: Any, top: Any = 0.0, dead: Any = 0.0) -> np.ndarray:
        """κ + (u/λ)(ln(2u/(κλ)) + λ²s/2 − 1), from cosh z ≥ eᶻ/2."""
        u = np.asarray(u, float)
        safe = np.where(u > 0.0, u, 1.0)
        cost = (safe / self.rate) * (np.log(2.0 * safe / (self.scale * self.rate)) + 0.5 * self.rate**2 * np.asarray(s) - 1.0)
        return self.scale + np.where(u > 0.0, cost, 0.0)

    def magnitude(self, g: Any, s: Any, top: Any = 0.0, dead: Any = 0.0) -> np.ndarray:
        return self.scale + np.abs(batch.value(self, g, s))

    def reach(self, s: Any) -> np.ndarray:
        return 30.0 * (np.sqrt(s) + 1.0 / self.rate)


class FixedRateFunction(Linear):
    """Exponential weights at one rate λ, per coordinate or in a norm."""

    def __init__(self, geometry: Any = "l2", scale: float = 1.0, rate: float = 0.5, lipschitz: float | None = None) -> None:
        scale, rate = positive("scale", scale), positive("rate", rate)
        self.options = {"geometry": geometry, "scale": scale, "rate": rate, "lipschitz": lipschitz}
        super().__init__("fixed rate", FixedRate(scale, rate), geometry, "square", lipschitz or 1.0)


CATALOGUE["fixed-rate"] = Entry("exponential weights at one rate", FixedRateFunction)
