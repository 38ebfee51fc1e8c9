"""S1, the universal strategy (`eq:univ_algo`, `prop:burkholder_efficient`): any U, by a game on a grid."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.functions.base import CLOSED, SIGN_FLIP, TANGENT, BurkholderFunction, Tau
from burkholder.strategies.game import SOLVERS, Solution, solved


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


def label_error(function: BurkholderFunction, loss: Any, spacing: float, steep: float | None) -> float | None:
    """By how much an answer between two of the grid's may beat both; None where nothing bounds it.

    Nothing is lost for two classes; for U convex in δ, since δ is monotone in y and the ends are answers; and for losses
    with one corner, at y, since the grid has an answer on either side of every play. Elsewhere δ moves by at most the loss's
    second derivative times the distance, and U by `steep` times that.
    """
    if losses.is_classification(loss) or SIGN_FLIP in function.structure or _one_corner(loss):
        return 0.0
    return None if steep is None or not math.isfinite(loss.smoothness) else steep * loss.smoothness * 0.5 * spacing


def states_steepness(function: BurkholderFunction, loss: Any) -> bool:
    """Whether the function bounds its own steepness, for a loss whose slope moves continuously."""
    return type(function).steepness is not BurkholderFunction.steepness and math.isfinite(loss.smoothness)


def _one_corner(loss: Any) -> bool:
    places = np.array([-0.75, 0.5])
    corners = loss.kinks(places)
    return corners is not None and np.array_equal(np.ravel(corners), places)


class General:
    """Solve the game between plays on a grid of [-B, B] and answers; draw the prediction from the solution.

    `solver` is "lp", "mirror-descent" or "mirror-prox". `spacing` asks for plays at most that far apart (ε₁ of
    `prop:burkholder_efficient`: N = ⌈2B/ε₁⌉ follows), `precision` for a game solved that exactly (ε₂). The guarantee is in
    expectation, up to the summed error

        K·spacing/2 (plays) + what answers between the grid's may gain (`label_error`) + gap (the solver)

    a round. K is L for U = δŷ + F: the sign-flip or tangent play, moved to the grid, costs L times the distance. Otherwise K comes
    from the function's `steepness`; without one it is read off the grid, and `bounded` says that the error is an estimate.
    """

    name = "general"
    randomised = True

    def __init__(
        self,
        function: BurkholderFunction,
        loss: Any,
        bound: float,
        grid: int = 33,
        solver: str = "lp",
        spacing: float | None = None,
        precision: float | None = None,
    ) -> None:
        if not math.isfinite(bound):
            raise BadInput("bound", bound, "the general strategy plays on a grid: give a finite bound")
        for name, number in (("spacing", spacing), ("precision", precision)):
            if number is not None and not (number > 0.0 and math.isfinite(number)):
                raise BadInput(name, number, "give a positive number")
        grid = grid if spacing is None else math.ceil(2.0 * bound / spacing) + 1
        if not 2 <= grid <= 10_001:
            raise BadInput("grid", grid, "give 2 to 10,001 points, or a spacing that asks for no more")
        if solver not in SOLVERS:
            raise BadInput("solver", solver, f"choose one of {', '.join(SOLVERS)}")
        self.function, self.loss, self.bound, self.solver, self.precision = function, loss, bound, solver, precision
        self.plays = np.linspace(-bound, bound, max(grid, 2))
        self.step = float(self.plays[1] - self.plays[0])
        self.linear = bool(function.structure & {SIGN_FLIP, TANGENT}) and CLOSED not in function.structure
        ends = SIGN_FLIP in function.structure and not losses.is_classification(loss)
        self.answers = np.array([-bound, bound]) if ends else labels(loss, bound, self.plays)

    @property
    def bounded(self) -> bool:
        """Whether the stated errors are bounds; where they are not, they are read off the grid."""
        return (self.linear and label_error(self.function, self.loss, 0.0, None) == 0.0) or states_steepness(self.function, self.loss)

    def distribution(self, tau: Tau, x: np.ndarray) -> Distribution:
        table = payoffs(self.function, tau, x, self.loss, self.plays, self.answers)
        if not np.isfinite(table).all():
            raise BadInput("x", float(np.max(np.abs(x))), "with what was learned before, this row overflows: rescale the features")
        solution: Solution = solved(table, self.solver, self.precision)
        return Distribution(self.plays, solution.mixture, self._error(tau, x, table) + solution.gap)

    def _error(self, tau: Tau, x: np.ndarray, table: np.ndarray) -> float:
        """What plays and answers on grids may cost beside the game over the whole interval."""
        stated = self.function.steepness(tau, x, self.bound)
        between = label_error(self.function, self.loss, 0.5 * self.step, None if stated is None else stated[1])
        if self.linear:
            played: float | None = self.function.lipschitz
        else:  # δ moves with the play, too
            played = None if stated is None or not math.isfinite(self.loss.smoothness) else stated[0] + stated[1] * self.loss.smoothness
        if played is None:
            played = float(np.max(np.abs(np.diff(table, axis=0)))) / self.step
        if between is None:
            between = 0.5 * float(np.max(np.abs(np.diff(table, axis=1)))) if table.shape[1] > 1 else 0.0
        return 0.5 * self.step * played + between

    def play(self, tau: Tau, x: np.ndarray, uniform: float) -> tuple[float, float]:
        """(prediction, additive error of this round)."""
        drawn = self.distribution(tau, x)
        return drawn.at(uniform), drawn.error
