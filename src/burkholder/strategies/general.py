"""S1, the universal strategy (`eq:univ_algo`, `prop:burkholder_efficient`): any U, by a game on a grid."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.functions.base import CLOSED, SIGN_FLIP, TANGENT, BurkholderFunction, Tau
from burkholder.strategies.game import SOLVERS, Solution


class Distribution(NamedTuple):
    """Where to play and with what chance, and by how much E U may rise for the grid and the solver."""

    points: np.ndarray
    chances: np.ndarray
    error: float

    def at(self, uniform: float) -> float:
        """The point that a uniform number in [0, 1) draws."""
        place = int(np.searchsorted(np.cumsum(self.chances), uniform, side="right"))
        return float(self.points[min(place, len(self.points) - 1)])


def labels(loss: Any, bound: float, grid: np.ndarray) -> np.ndarray:
    """The answers the adversary may give: both classes, or a grid of [-B, B] (finer than the plays by half)."""
    if losses.is_classification(loss):
        return np.array([-1.0, 1.0])
    between = 0.5 * (grid[1:] + grid[:-1])
    return np.unique(np.concatenate([grid, between, [-bound, bound]]))


def payoffs(function: BurkholderFunction, tau: Tau, x: np.ndarray, loss: Any, plays: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """E U(ζ + T(x, z_i, ∂ℓ(z_i, y_j))) for every play z_i and answer y_j."""
    shape = (len(plays), len(answers))
    slopes = np.array([[losses.derivative(loss, float(z), float(y)) for y in answers] for z in plays])
    spread = tuple(np.broadcast_to(part, (shape[0] * shape[1], *part.shape)) for part in tau)
    rows = np.broadcast_to(x, (shape[0] * shape[1], len(x)))
    after = function.expected(spread, rows, np.repeat(plays, shape[1]), slopes.reshape(-1))
    return np.asarray(after).reshape(shape)


class General:
    """Solve the game between plays on a grid of [-B, B] and answers; draw the prediction from the solution.

    `solver` is "lp", "mirror-descent" or "mirror-prox". The guarantee is in expectation, up to the summed error
    K·step/2 (the grid) + gap (the solver) per round. For U = δŷ + F the constant K is L; otherwise it is read off
    the grid, as the steepest rise between neighbouring plays.
    """

    name = "general"
    randomised = True

    def __init__(self, function: BurkholderFunction, loss: Any, bound: float, grid: int = 33, solver: str = "lp") -> None:
        if not math.isfinite(bound):
            raise BadInput("bound", bound, "the general strategy plays on a grid: give a finite bound")
        if grid < 2:
            raise BadInput("grid", grid, "give at least 2 points")
        if solver not in SOLVERS:
            raise BadInput("solver", solver, f"choose one of {', '.join(SOLVERS)}")
        self.function, self.loss, self.bound, self.solver = function, loss, bound, solver
        self.plays = np.linspace(-bound, bound, grid)
        self.answers = labels(loss, bound, self.plays)

    def distribution(self, tau: Tau, x: np.ndarray) -> Distribution:
        table = payoffs(self.function, tau, x, self.loss, self.plays, self.answers)
        if not np.isfinite(table).all():
            raise BadInput("x", float(np.max(np.abs(x))), "with what was learned before, this row overflows: rescale the features")
        solution: Solution = SOLVERS[self.solver](table)
        step = float(self.plays[1] - self.plays[0])
        if self.function.structure & {SIGN_FLIP, TANGENT} and CLOSED not in self.function.structure:
            steep = self.function.lipschitz
        else:
            steep = float(np.max(np.abs(np.diff(table, axis=0)))) / step
        return Distribution(self.plays, solution.mixture, 0.5 * step * steep + solution.gap)

    def play(self, tau: Tau, x: np.ndarray, uniform: float) -> tuple[float, float]:
        """(prediction, additive error of this round)."""
        drawn = self.distribution(tau, x)
        return drawn.at(uniform), drawn.error
