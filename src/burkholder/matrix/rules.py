"""The rules for the rate η, by name, and the grid of the mixture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.losses.dispatch import derivative
from burkholder.matrix.sign_flip import DOUBLING, FIXED, LOWERING, MIXTURE, TIE, Rule

KINDS = {"doubling": DOUBLING, "lowering": LOWERING, "mixture": MIXTURE}
MIXTURE_RATES = 10


def mixture_grid(lipschitz: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """η_k = 2^{−k}/L, k = 0..9, with equal masses.

    >>> mixture_grid(2.0)[0][:3]
    array([0.5  , 0.25 , 0.125])
    """
    rates = np.ldexp(1.0 / lipschitz, -np.arange(MIXTURE_RATES))
    return rates, np.full(MIXTURE_RATES, 1.0 / MIXTURE_RATES)


def tie(loss: Any) -> float:
    """How close to y counts as a hit: there rounding noise would choose δ = ±1. 0 for losses without a kink at y.

    >>> tie(losses.Absolute()), tie(losses.Squared()), tie(losses.Hinge())
    (1e-07, 0.0, 0.0)
    """
    known = losses.name(loss) != "custom" and losses.has_minimiser(loss)
    return TIE if known and derivative(loss, TIE, 0.0) - derivative(loss, -TIE, 0.0) > 1e-3 else 0.0


def rule(
    rate: Any, radius: float | None, lipschitz: float, bound: float, tol: float, kappa: float = 1.0, tie: float = 0.0
) -> tuple[Rule, NDArray[np.float64], NDArray[np.float64]]:
    """(rule, rates, masses) for rate = a number (fixed), "doubling", "lowering" or "mixture".

    The first three need the radius r of the ball ‖W‖_Σ ≤ r; the mixture needs neither r nor η and risks κ.
    """
    if isinstance(rate, str) and rate not in KINDS:
        raise BadInput("rate", rate, f"give a positive number, or one of {', '.join(KINDS)}")
    if not isinstance(rate, str) and not (isinstance(rate, (int, float)) and 0.0 < rate < math.inf):
        raise BadInput("rate", rate, f"give a positive number, or one of {', '.join(KINDS)}")
    if rate == "mixture":
        if not 0.0 < kappa < math.inf:
            raise BadInput("kappa", kappa, "give what may be lost against W = 0, a positive number")
        rates, masses = mixture_grid(lipschitz)
        return Rule(MIXTURE, float(kappa), lipschitz, float(bound), float(tol), tie), rates, masses
    if radius is None or not 0.0 < radius < math.inf:
        raise BadInput("radius", radius, "give the nuclear norm of the best matrix, a positive number; rate='mixture' needs none")
    kind = KINDS[rate] if isinstance(rate, str) else FIXED
    # under the doubling rules η is set by the first X; until then any value serves
    start = 1.0 if isinstance(rate, str) else float(rate)
    return Rule(kind, float(radius), lipschitz, float(bound), float(tol), tie), np.array([start]), np.ones(1)
