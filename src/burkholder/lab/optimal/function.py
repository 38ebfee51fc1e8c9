"""The optimal Burkholder function of a finite game, as an object: played, verified, plotted, compared."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import CLOSED, BurkholderFunction, Tau
from burkholder.functions.registry import get
from burkholder.lab.optimal.table import Table, build, exactly, name, parts, rows
from burkholder.learning.certificate import Comparators

MOST_ROUNDS = 200


class Excess(NamedTuple):
    """How far another U lies above the optimal one over all reachable states; `least` < 0 would refute it."""

    least: float
    largest: float
    time: int  # when and where the largest excess is
    state: tuple[Any, ...]


class Optimal(BurkholderFunction):
    """U of `eq:u_construction` for (T, V) and a finite game: no Burkholder function is smaller at a state the game reaches.

    Where V is convex in δ the rule is the sign flip, which is then optimal too: the unclipped prediction makes both signs
    cost the same. `price` is U(0): the pair's inequality holds on this game exactly when it is ≤ 0, and `shifted` plays
    for the bound A + price, which is the best possible.
    """

    kind = "time-indexed"
    structure = frozenset({CLOSED})
    growable = False

    def __init__(self, function: BurkholderFunction, table: Table) -> None:
        self.pair, self.table = function, table
        self.lipschitz, self.dimension = function.lipschitz, table.features.shape[1]
        self.name = f"optimal for {function.name}, {len(table.levels) - 1} rounds"
        self.rounds = len(table.levels) - 1
        self.price: Any = table.values[0][0]
        self.shift: Any = 0
        self._shapes = [np.shape(part) for part in function.zero(self.dimension)]

    # --- what it is worth --------------------------------------------------------------------------------------
    @property
    def exact(self) -> bool:
        """Whether every number of the table is a fraction."""
        return self.table.features.dtype == object

    @property
    def states(self) -> int:
        return sum(len(level.states) for level in self.table.levels)

    def shifted(self) -> Optimal:
        """The same U moved to U(0) = 0: it promises A + price instead of A, more or less than the pair asked for."""
        moved = copy.copy(self)
        moved.shift = self.price
        return moved

    def compared(self, other: BurkholderFunction | str) -> Excess:
        """Another function of the same statistic, a closed form say, less this one, over every state the game reaches."""
        other = get(other)
        least, largest, when, where = np.inf, -np.inf, 0, 0
        for t, (level, value) in enumerate(zip(self.table.levels, self.table.values)):
            excess = np.asarray(other.value(parts(level.states, self._shapes)) - value, float)
            least = min(least, float(excess.min()))
            if excess.max() > largest:
                largest, when, where = float(excess.max()), t, int(excess.argmax())
        return Excess(least, largest, when, tuple(self.table.levels[when].states[where].tolist()))

    def __str__(self) -> str:
        number = str(self.price) if self.exact else f"{float(self.price):.9g}"
        holds = "holds" if self.price <= 0 else "fails"
        return f"{self.name}: sup E V = {number} over {self.states:,} states; E V ≤ 0 {holds} on this game"

    # --- the function --------------------------------------------------------------------------------------------
    def zero(self, dim: int = 1) -> Tau:
        if dim != self.dimension:
            raise BadInput("x", dim, f"the game was solved for features of dimension {self.dimension}")
        return (*self.pair.zero(dim), np.zeros(()))

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        return (*self.pair.advance(tau[:-1], x, yhat, delta), tau[-1] + 1.0)

    def value(self, tau: Tau) -> np.ndarray:
        """U at reachable states (times, features and slopes of the game), by looking them up; Σδŷ may be anything."""
        return self._looked_up(tau) + np.asarray(tau[0], float) - float(self.shift)

    def target(self, tau: Tau) -> np.ndarray:
        return np.asarray(self.pair.target(tau[:-1]), float) - float(self.shift)

    def _looked_up(self, tau: Tau) -> np.ndarray:
        batch = np.shape(tau[-1])
        kind = object if self.exact else float
        flat = [np.reshape(part, (-1, *shape)) for part, shape in zip(tau[:-1], self._shapes)]
        flat[0] = np.zeros_like(flat[0])  # the table was made with ŷ = 0: Σδŷ is added behind it
        if self.exact:
            flat = [exactly(part, object) for part in flat]
        out = np.empty(len(flat[0]))
        for i, (row, t) in enumerate(zip(rows(tuple(flat), kind), np.ravel(tau[-1]))):
            if not 0 <= t <= self.rounds:
                raise BadInput("rounds", int(t), f"the game was solved for {self.rounds} rounds")
            place = self.table.levels[int(t)].places.get(name(row))
            if place is None:
                raise BadInput("x", row.tolist(), "not a state of the game: give its features and its slopes alone")
            out[i] = float(self.table.values[int(t)][place])
        return out.reshape(batch)

    def closed_form(self, tau: Tau, x: np.ndarray, bound: float) -> np.ndarray:
        return np.clip(self.sign_flip(tau, x), -bound, bound)

    def features(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        return np.asarray(self.table.features[rng.integers(0, len(self.table.features), count)], float)

    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        """States of every time before the last, each level as often as another, and features of the game."""
        times = rng.integers(0, self.rounds, count)
        chosen = [self.table.levels[t].states[rng.integers(0, len(self.table.levels[t].states))] for t in times]
        tau = parts(np.array(chosen, float), self._shapes)
        return (*tau, times.astype(float)), self.features(rng, count, dim)

    # --- the pair's own comparators --------------------------------------------------------------------------------
    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return np.asarray(self.pair.bound(w, tau[:-1])) + float(self.shift)

    def ball(self, radius: float | None, tau: Tau) -> float:
        return self.pair.ball(radius, tau[:-1]) + float(self.shift)

    def support(self, g: np.ndarray, radius: float | None) -> float:
        return self.pair.support(g, radius)

    def own_radius(self) -> float | None:
        return self.pair.own_radius()

    def longest_side(self, dim: int) -> float:
        return self.pair.longest_side(dim)

    def comparator_class(self) -> Comparators:
        return self.pair.comparator_class()

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        return self.pair.comparators(rng, count, dim)

    @property
    def has_bound(self) -> bool:
        return self.pair.has_bound

    @property
    def has_ball(self) -> bool:
        return self.pair.has_ball

    # --- pictures ------------------------------------------------------------------------------------------------
    def plot(self, path: Any = None) -> Any:
        """U_t over V for a few times t, along the first coordinate of Σδx at the states the game reaches. Returns the figure."""
        from burkholder.lab.plots import optimal

        return optimal(self, path)


def optimal(
    function: BurkholderFunction | str, features: Sequence[Any] = (1.0,), rounds: int = 8, slopes: Sequence[Any] | None = None
) -> Optimal:
    """The optimal U for a pair (T, V), a list of features and a number of rounds, by backward induction.

    `slopes` are the values δ may take, −L, 0 and L unless given: enough where V is convex in δ. With whole numbers or
    fractions for features and slopes, and T and V that take them, every number is exact.

    >>> best = optimal("smoothness", features=[1.0, 2.0], rounds=6)
    >>> float(best.price), best.compared("smoothness").largest < 1e-9  # U = V is optimal, as the paper says
    (0.0, True)
    >>> davis = optimal("square-function", features=[1.0], rounds=60)  # fixed steps: less than the sharp constant is enough
    >>> davis.price <= 0 and davis.compared("square-function").least >= -1e-9
    True
    """
    function = get(function)
    if function.in_expectation:
        raise BadInput("function", function.name, "it draws coins of its own; give a pair without them")
    if not isinstance(rounds, int) or isinstance(rounds, bool) or not 1 <= rounds <= MOST_ROUNDS:
        raise BadInput("rounds", rounds, f"give a whole number from 1 to {MOST_ROUNDS}")
    if slopes is None:
        limit: Any = function.lipschitz
        slopes = [-limit, 0.0, limit] if limit != int(limit) else [-int(limit), 0, int(limit)]
    given = [[entry] if np.ndim(entry) == 0 else list(entry) for entry in features]
    if not given or len({len(row) for row in given}) != 1:
        raise BadInput("features", features, "give at least one row of features, all of the same length")
    exact = all(isinstance(entry, (int, Fraction)) and not isinstance(entry, bool) for row in [*given, list(slopes)] for entry in row)
    if exact and not _takes_fractions(function, len(given[0])):
        exact = False
    kind = object if exact else float
    try:
        grid = np.array([[Fraction(entry) if exact else float(entry) for entry in row] for row in given], kind)
        deltas = np.array([Fraction(delta) if exact else float(delta) for delta in slopes], kind)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("features", features, "give numbers") from None
    if not exact and not (np.isfinite(grid).all() and np.isfinite(deltas).all()):
        raise BadInput("features", features, "give finite numbers")
    if max(abs(float(delta)) for delta in deltas) > function.lipschitz:
        raise BadInput("slopes", list(slopes), f"they lie in [-L, L], and L = {function.lipschitz:g}")
    return Optimal(function, build(function, grid, deltas, rounds))


def _takes_fractions(function: BurkholderFunction, dim: int) -> bool:
    """Whether one round of T and V in fractions stays in fractions."""
    one = np.array([[Fraction(1, 3)] * dim], object)
    try:
        start = tuple(exactly(np.asarray(part)[None], object) for part in function.zero(dim))
        after = function.advance(start, one, np.array([Fraction(0)], object), np.array([Fraction(1, 2)], object))
        numbers = [*(entry for part in after for entry in np.ravel(part)), *np.ravel(function.target(after))]
    except (TypeError, ValueError, AttributeError):
        return False
    return all(isinstance(entry, (int, Fraction)) for entry in numbers)
