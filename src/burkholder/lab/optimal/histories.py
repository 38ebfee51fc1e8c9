"""The prediction game with φ as it is defined, for any class: no linearisation, no sufficient statistic.

    max over x₁ min over ŷ₁ max over y₁ … of  Σ ℓ(ŷ_t, y_t) − φ(x₁, y₁, …, x_n, y_n)

by going through every history: what pairs (T, V) of the class are to be compared with on small horizons. The learner plays
ŷ in [-B, B]; labels and points are finitely many. For both losses the best ŷ is a label, an end, or where two labels cost
the same, each a closed form: in fractions the value is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from burkholder.errors import BadInput
from burkholder.functions.rivals import number

MOST_HISTORIES = 200_000
History = tuple[tuple[Any, Any], ...]


def _absolute(yhat: Any, y: Any) -> Any:
    return abs(yhat - y)


def _squared(yhat: Any, y: Any) -> Any:
    return (yhat - y) ** 2


# where two labels cost the same, given what comes after each
_CROSSINGS: dict[str, tuple[Callable[[Any, Any], Any], Callable[..., Any]]] = {
    "absolute": (_absolute, lambda y, z, after_y, after_z: (y + z + after_z - after_y) / 2),
    "squared": (_squared, lambda y, z, after_y, after_z: (y * y + after_y - z * z - after_z) / (2 * (y - z))),
}


class Minimax:
    """The solved game: its value, and the best prediction after every history."""

    def __init__(self, best: Callable[[History], Any], points: Sequence[Any], rounds: int, labels: Sequence[Any], loss: str, bound: Any):
        self.best, self.points, self.rounds, self.labels, self.bound = best, tuple(points), rounds, tuple(labels), bound
        self.loss, self._crossing = _CROSSINGS[loss]
        self._known: dict[tuple[int, ...], Any] = {}
        self.value = self._worth((0,) * (len(self.points) * len(self.labels)), rounds)

    @property
    def exact(self) -> bool:
        """Whether the value is a fraction."""
        return isinstance(self.value, Fraction)

    def predict(self, history: Iterable[tuple[Any, Any]], x: Any) -> Any:
        """The best ŷ at x after rounds (x, y), in any order."""
        counts, past = [0] * (len(self.points) * len(self.labels)), list(history)
        if x not in self.points or any(a not in self.points or b not in self.labels for a, b in past) or len(past) >= self.rounds:
            raise BadInput("history", past, f"the game has {self.rounds} rounds, the points {self.points} and the labels {self.labels}")
        for a, b in past:
            counts[self.points.index(a) * len(self.labels) + self.labels.index(b)] += 1
        return self._answer(tuple(counts), self.points.index(x), self.rounds - len(past))[1]

    def _worth(self, counts: tuple[int, ...], left: int) -> Any:
        found = self._known.get(counts)
        if found is None:
            if left:
                found = max(self._answer(counts, place, left)[0] for place in range(len(self.points)))
            else:
                pairs = [(x, y) for x in self.points for y in self.labels]
                found = -number("rivals", self.best(tuple(pair for pair, many in zip(pairs, counts) for _ in range(many))))
            self._known[counts] = found
        return found

    def _answer(self, counts: tuple[int, ...], place: int, left: int) -> tuple[Any, Any]:
        """What the best prediction at that point is worth, and the prediction."""
        after = []
        for k in range(len(self.labels)):
            spot = place * len(self.labels) + k
            after.append(self._worth((*counts[:spot], counts[spot] + 1, *counts[spot + 1 :]), left - 1))
        told = list(zip(self.labels, after))
        tried = [-self.bound, self.bound, *self.labels]
        tried += [self._crossing(y, z, one, two) for y, one in told for z, two in told if y != z]
        inside = [min(max(yhat, -self.bound), self.bound) for yhat in tried]
        return min((max(self.loss(yhat, y) + later for y, later in told), yhat) for yhat in inside)

    def __str__(self) -> str:
        return f"{self.rounds} rounds of the game are worth {self.value} ({'in fractions' if self.exact else 'in floating point'})"


def minimax(
    rivals: Iterable[Callable[[Any], Any]] | Callable[[History], Any],
    points: Iterable[Any],
    rounds: int,
    labels: Iterable[Any] = (-1, 1),
    loss: str = "absolute",
    bound: Any = None,
) -> Minimax:
    """The value of the game against a class: functions of a point, or an oracle of a history ((x, y), …) that returns φ.

    An oracle is told the rounds in the order of the points, not as they were played: φ must not depend on it. `bound` is B,
    the largest label unless given.

    >>> found = minimax([lambda x: 1, lambda x: -1], points=["here"], rounds=4)  # two constants: E|ε₁ + … + ε₄|
    >>> found.value, found.predict([("here", 1)], "here")
    (Fraction(3, 2), Fraction(1, 2))
    >>> mean = lambda history: sum(y * y for x, y in history) - Fraction(sum(y for x, y in history) ** 2, len(history))
    >>> minimax(mean, [0], rounds=2, loss="squared").value  # every constant, through its oracle
    Fraction(5, 4)
    """
    if loss not in _CROSSINGS:
        raise BadInput("loss", loss, f"give one of {', '.join(_CROSSINGS)}")
    if not isinstance(rounds, int) or isinstance(rounds, bool) or rounds < 1:
        raise BadInput("rounds", rounds, "give a whole number, at least 1")
    spots, told = list(dict.fromkeys(points)), list(dict.fromkeys(number("labels", label) for label in labels))
    if not spots or not told:
        raise BadInput("points", spots, "give at least one point and one label")
    limit = max(abs(label) for label in told) if bound is None else number("bound", bound)
    if limit < 0:
        raise BadInput("bound", bound, "give a bound of at least 0")
    width = len(spots) * len(told)
    if rounds > 500 or math.comb(rounds + width, width) > MOST_HISTORIES:
        raise BadInput("rounds", rounds, f"more than {MOST_HISTORIES:,} histories: give fewer rounds, points or labels")
    return Minimax(rivals if callable(rivals) else _listed(list(rivals), loss), spots, rounds, told, loss, limit)


def _listed(functions: list[Callable[[Any], Any]], loss: str) -> Callable[[History], Any]:
    if not functions:
        raise BadInput("rivals", functions, "give at least one function, or an oracle")
    paid = _CROSSINGS[loss][0]

    def best(history: History) -> Any:
        return min(sum((paid(number("rivals", f(x)), y) for x, y in history), Fraction(0)) for f in functions)

    return best
