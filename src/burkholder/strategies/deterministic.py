"""S2, S3, S4 and a function's own rule: one real number, no coins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.strategies.general import labels, payoffs

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


class Convex:
    """S2 (`lem:det_strat2`): minimise ŷ ↦ max_y U over one real, by golden section to `tolerance`·B."""

    name = "convex"
    randomised = False

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float, tolerance: float = 1e-9) -> None:
        if not math.isfinite(bound):
            raise BadInput("bound", bound, "the convex strategy searches an interval: give a finite bound")
        self.function, self.loss, self.bound, self.tolerance = function, loss, bound, tolerance
        self.answers = labels(loss, bound, np.linspace(-bound, bound, 33))

    def _worst(self, tau: Tau, x: np.ndarray, yhat: float) -> float:
        # a kink at y = ŷ hides between answers: offer the answer ŷ itself as well
        answers = self.answers if len(self.answers) == 2 else np.append(self.answers, yhat)
        return float(payoffs(self.function, tau, x, self.loss, np.array([yhat]), answers).max())

    def play(self, tau: Tau, x: np.ndarray, uniform: float = 0.0) -> tuple[float, float]:
        low, high = -self.bound, self.bound
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = self._worst(tau, x, left), self._worst(tau, x, right)
        while high - low > self.tolerance * self.bound:
            if at_left <= at_right:
                high, right, at_right = right, left, at_left
                left = high - _GOLDEN * (high - low)
                at_left = self._worst(tau, x, left)
            else:
                low, left, at_left = left, right, at_right
                right = low + _GOLDEN * (high - low)
                at_right = self._worst(tau, x, right)
        return 0.5 * (low + high), self.function.lipschitz * (high - low)


class SignFlip:
    """S3 (`lem:det_strat3`): −(F(L) − F(−L))/2L."""

    name = "sign-flip"
    randomised = False

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float) -> None:
        self.function = function

    def play(self, tau: Tau, x: np.ndarray, uniform: float = 0.0) -> tuple[float, float]:
        return float(self.function.sign_flip(tau, x)), 0.0


class Tangent:
    """S4: −⟨∇_τ, x⟩, linear in x."""

    name = "tangent"
    randomised = False

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float) -> None:
        self.function = function

    def play(self, tau: Tau, x: np.ndarray, uniform: float = 0.0) -> tuple[float, float]:
        return float(self.function.tangent(tau, x)), 0.0


class Closed:
    """The function's own rule."""

    name = "closed-form"
    randomised = False

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float) -> None:
        self.function, self.bound = function, bound

    def play(self, tau: Tau, x: np.ndarray, uniform: float = 0.0) -> tuple[float, float]:
        return float(self.function.closed_form(tau, x, self.bound)), 0.0
