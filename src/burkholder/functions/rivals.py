"""Regret against any class of functions, as a pair (T, V): a finite class, or a convex one known by an oracle.

    φ = min over f in F of Σ ℓ(f(x_t), y_t) + A(f)

On finitely many points x every f is the row of its values, f(x) = ⟨f, e_x⟩, and convexity asks for nothing but Σδ over each
point:

    T(x, ŷ, δ) = (δŷ, δe_x),    V(a, g) = a − min over f of { Σ_x g_x·f(x) + A(f) }.

The minimum is a list gone through, or one question to an oracle: whatever can be minimised linearly is a class, monotone
functions, Lipschitz functions, paths of a graph. Nothing is linear in F itself. `bk.optimal` finds U for the pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.learning.certificate import Comparators


class Rivals(BurkholderFunction):
    """The pair (T, V) of a class of functions on these points.

    `functions` are callables of a point, with a price A(f) each where `prices` are given; or `oracle(g)` returns the least of
    Σ g_i·f(points[i]) over the class, for any numbers g. With whole numbers or fractions everything is exact.

    >>> import burkholder as bk
    >>> steps = [lambda x, k=k: 1 if x >= k else -1 for k in (1, 2, 3)]
    >>> finite = Rivals([1, 2], steps)
    >>> bk.optimal(finite, finite.rows, rounds=4).price  # what four rounds against the best step cost
    Fraction(17, 8)
    >>> least = lambda g: min(sum(g[:k]) * -1 + sum(g[k:]) for k in range(len(g) + 1))  # all rising functions into [-1, 1]
    >>> rising = Rivals([1, 2], oracle=least)
    >>> bk.optimal(rising, rising.rows, rounds=4).price  # the steps are its corners
    Fraction(17, 8)
    """

    kind = "additive"
    growable = False
    comparator_space = "f(x)"
    comparator_norm = "the class"

    def __init__(
        self,
        points: Iterable[Any],
        functions: Iterable[Callable[[Any], Any]] | None = None,
        *,
        oracle: Callable[[Sequence[Any]], Any] | None = None,
        prices: Sequence[Any] | None = None,
        name: str = "rivals",
    ) -> None:
        self.points_of_game = [_point(point) for point in points]
        self.name, self.dimension = name, len(self.points_of_game)
        try:
            self._places = {point: i for i, point in enumerate(self.points_of_game)}
        except TypeError:
            raise BadInput("points", self.points_of_game, "give numbers, names or tuples: what can be looked up") from None
        if not self._places or len(self._places) < self.dimension:
            raise BadInput("points", self.points_of_game, "give at least one point, each once")
        if (functions is None) == (oracle is None):
            raise BadInput("functions", functions, "give a list of functions, or an oracle")
        self.oracle = oracle
        rows = None if functions is None else [[number("functions", f(point)) for point in self.points_of_game] for f in functions]
        if rows is not None and not rows:
            raise BadInput("functions", functions, "give at least one function")
        if rows is None and prices is not None:
            raise BadInput("prices", prices, "prices go with a list of functions")
        self._values = None if rows is None else np.array(rows, object)
        paid = [Fraction(0)] * len(rows or []) if prices is None else [number("prices", price) for price in prices]
        if rows is not None and len(paid) != len(rows):
            raise BadInput("prices", prices, f"give a price to each of the {len(rows)} functions")
        self._prices = np.array(paid, object)

    # --- the game's rows ------------------------------------------------------------------------------------------
    @property
    def rows(self) -> list[list[int]]:
        """Every point, as a learner takes it: what `bk.optimal` is to be given for features."""
        return [self.row(point) for point in self.points_of_game]

    def row(self, point: Any) -> list[int]:
        """One point, as a learner takes it."""
        place = self._places.get(_point(point))
        if place is None:
            raise BadInput("point", point, f"the game has the points {self.points_of_game}")
        return [int(i == place) for i in range(len(self.points_of_game))]

    def values(self, f: Callable[[Any], Any]) -> np.ndarray:
        """A function as certificates take it for a comparator."""
        return np.array([float(f(point)) for point in self.points_of_game])

    # --- the pair ---------------------------------------------------------------------------------------------------
    def zero(self, dim: int = 1) -> Tau:
        if dim != len(self.points_of_game):
            raise BadInput("x", dim, f"a row has an entry for each of the {len(self.points_of_game)} points: give `rows`, or `row(point)`")
        return np.zeros(()), np.zeros(dim)

    def statistic(self, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        return delta * yhat, delta[..., None] * x

    def target(self, tau: Tau) -> np.ndarray:
        return np.asarray(tau[0] - self._least(np.asarray(tau[1]), priced=True))

    def value(self, tau: Tau) -> np.ndarray:
        raise BadInput("function", self.name, "this is a pair (T, V) without a U: solve it with bk.optimal(pair, pair.rows, rounds)")

    def _least(self, g: np.ndarray, priced: bool) -> Any:
        """min over f of Σ g·f, and A(f); batched, in the numbers that come."""
        if self._values is not None:
            kind: Any = object if g.dtype == object else float
            prices = self._prices.astype(kind) if priced else 0
            return (g @ self._values.astype(kind).T + prices).min(axis=-1)
        assert self.oracle is not None
        kind = object if g.dtype == object else float
        flat = [number("oracle", self.oracle(row)) for row in g.reshape(-1, g.shape[-1]).tolist()]
        return np.array(flat, kind).reshape(g.shape[:-1])

    # --- whom it is about ----------------------------------------------------------------------------------------------
    def comparator_class(self) -> Comparators:
        return Comparators("the best function of the class")

    def support(self, g: np.ndarray, radius: float | None) -> float:
        return -float(self._least(np.asarray(g, float), priced=False))

    def unpaid(self, g: np.ndarray, tau: Tau) -> float:
        return -float(self._least(np.asarray(g, float), priced=True))

    def ball(self, radius: float | None, tau: Tau) -> float:
        return max((float(price) for price in self._prices), default=0.0)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        """A(f) where w is the row of one of the functions. An oracle's class has no price; that w belongs to it is the caller's word."""
        if self._values is None:
            return np.zeros(np.shape(w)[:-1])
        same = (np.asarray(w)[..., None, :] == self._values.astype(float)).all(axis=-1)
        return np.where(same, self._prices.astype(float), np.inf).min(axis=-1)

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        if self._values is None:
            raise BadInput("function", self.name, "an oracle tells the least, not the functions: none can be drawn")
        return self._values.astype(float)[rng.integers(0, len(self._values), count)]


def number(name: str, entry: Any) -> Any:
    """A finite number: a fraction where it is a whole number or a fraction, else a float."""
    if isinstance(entry, (int, Fraction, np.integer)) and not isinstance(entry, bool):
        return Fraction(int(entry) if isinstance(entry, np.integer) else entry)
    try:
        result = float(entry)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(name, entry, "give numbers") from None
    if not np.isfinite(result):
        raise BadInput(name, entry, "give finite numbers")
    return result


def _point(point: Any) -> Any:
    """A point as it can be looked up: a list or an array is a tuple."""
    return tuple(np.ravel(point).tolist()) if isinstance(point, (list, np.ndarray)) else point
