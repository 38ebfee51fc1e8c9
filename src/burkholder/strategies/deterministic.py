"""S2, S3, S4 and a function's own rule: one real number, no coins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.functions.base import SIGN_FLIP, BurkholderFunction, Tau
from burkholder.strategies.general import label_error, labels, payoffs, states_steepness

_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


class Convex:
    """S2 (`lem:det_strat2`): minimise ŷ ↦ max_y U over one real, by golden section to `tolerance`·B."""

    name = "convex"
    randomised = False

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float, tolerance: float = 1e-9) -> None:
        if not math.isfinite(bound):
            raise BadInput("bound", bound, "the convex strategy searches an interval: give a finite bound")
        self.function, self.loss, self.bound, self.tolerance = function, loss, bound, tolerance
        grid = np.linspace(-bound, bound, 33)
        ends = SIGN_FLIP in function.structure and not losses.is_classification(loss)
        self.answers = np.array([-bound, bound]) if ends else labels(loss, bound, grid)
        self.spacing = 0.5 * float(grid[1] - grid[0])

    @property
    def bounded(self) -> bool:
        """Whether the stated errors are bounds; where they are not, they are read off the grid."""
        return label_error(self.function, self.loss, 0.0, None) == 0.0 or states_steepness(self.function, self.loss)

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
        play = 0.5 * (low + high)
        return play, self._error(tau, x, play, high - low)

    def _error(self, tau: Tau, x: np.ndarray, play: float, width: float) -> float:
        """What the last interval and answers between the grid's may cost."""
        stated = self.function.steepness(tau, x, self.bound)
        between = label_error(self.function, self.loss, self.spacing, None if stated is None else stated[1])
        if between is None:
            rises = payoffs(self.function, tau, x, self.loss, np.array([play]), self.answers)
            between = 0.5 * float(np.max(np.abs(np.diff(rises, axis=1))))
        return (self.function.lipschitz if stated is None else stated[0]) * width + between


class SignFlip:
    """S3 (`lem:det_strat3`): −(F(L) − F(−L))/2L."""

    name = "sign-flip"
    randomised = False
    bounded = True

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float) -> None:
        self.function = function

    def play(self, tau: Tau, x: np.ndarray, uniform: float = 0.0) -> tuple[float, float]:
        return float(self.function.sign_flip(tau, x)), 0.0


class Tangent:
    """S4: −⟨∇_τ, x⟩, linear in x."""

    name = "tangent"
    randomised = False
    bounded = True

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float) -> None:
        self.function = function

    def play(self, tau: Tau, x: np.ndarray, uniform: float = 0.0) -> tuple[float, float]:
        return float(self.function.tangent(tau, x)), 0.0


class Closed:
    """The function's own rule."""

    name = "closed-form"
    randomised = False
    bounded = True

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float) -> None:
        self.function, self.bound = function, bound

    def play(self, tau: Tau, x: np.ndarray, uniform: float = 0.0) -> tuple[float, float]:
        return float(self.function.closed_form(tau, x, self.bound)), 0.0
