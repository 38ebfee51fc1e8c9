"""The prediction game itself beside its martingale: `lem:suff_to_martingale` and `prop:necessary` on small horizons.

With the absolute loss the learner plays ŷ in [-B, B], the labels come from [-B, B], and the last state is paid V. Inside the
interval both signs are open to the adversary; at ŷ = B the derivative is 1 or, at y = B, 0. One round is worth

    min over ŷ of  max(ŷ + F₊, −ŷ + F₋)  inside,   max(B + F₊, F₀) and max(B + F₋, F₀) at the ends,

F₊, F₀, F₋ being what the next level is worth at δ = 1, 0, −1: a closed form, in fractions where the table has them.
The lemma says that the game is worth at most the martingale's sup E V, so that sup E V ≤ 0 is enough. It is also needed for
comparators with |⟨w, x⟩| ≤ B: then the fair coin y = ±B forces E V from every learner's regret, whatever it plays, since
nothing is lost by linearising. Where no prediction wants to leave [-B, B] the three numbers are equal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction
from burkholder.lab.optimal.function import Optimal, optimal
from burkholder.lab.optimal.table import Table


class Equivalence(NamedTuple):
    """What the martingale is worth, what the game is worth, and what the coin-flipping adversary forces."""

    martingale: Any
    game: Any
    forced: Any
    exact: bool
    optimal: Optimal

    @property
    def achievable(self) -> bool:
        """Whether a learner has the regret bound on this game: the game with the linearised loss is worth at most 0."""
        return bool(self.game <= 0)

    @property
    def agrees(self) -> bool:
        """`lem:suff_to_martingale`: game ≤ martingale, and forced ≤ martingale; exactly in fractions, up to rounding in floats."""
        slack = 0 if self.exact else 1e-9 * max(1.0, abs(float(self.martingale)))
        return bool(max(self.forced, self.game) <= self.martingale + slack)

    def __str__(self) -> str:
        told = "achievable" if self.achievable else "not achievable"
        kind = "in fractions" if self.exact else "in floating point"
        numbers = f"sup E V = {self.martingale}, the game is worth {self.game}, a coin forces {self.forced}"
        return f"{numbers} ({kind}): the bound is {told} on this game"


def equivalence(function: BurkholderFunction | str, features: Any = (1,), rounds: int = 6, bound: float = 1) -> Equivalence:
    """The three numbers for a pair on a finite game with the absolute loss (L = 1).

    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from burkholder import PlainFunction
    >>> def pair(price):  # (Σδx)² ≤ price·Σx², weighed by ½, as a regret bound against every w with a price of w²/2
    ...     return PlainFunction(
    ...         "second moment",
    ...         zero=lambda dim: (np.zeros(()), np.zeros(dim), np.zeros(())),
    ...         statistic=lambda x, yhat, delta: (delta * yhat, delta[..., None] * x, (x * x).sum(-1)),
    ...         value=lambda tau: tau[0] + ((tau[1] ** 2).sum(-1) - price * tau[2]) / 2,
    ...     )
    >>> one = equivalence(pair(1), features=[1, Fraction(1, 2)], rounds=4)
    >>> one.exact, one.martingale, one.achievable, one.agrees
    (True, Fraction(0, 1), True, True)
    >>> equivalence(pair(Fraction(3, 4)), features=[1], rounds=4).martingale  # ¼ of Σx² too little
    Fraction(1, 2)
    """
    best = optimal(function, features, rounds)
    if best.lipschitz != 1:
        raise BadInput("function", best.lipschitz, "the absolute loss has L = 1: give a function with lipschitz=1")
    table = best.table
    places = {float(delta): k for k, delta in enumerate(table.slopes)}
    if not {-1.0, 0.0, 1.0} <= set(places):
        raise BadInput("slopes", list(table.slopes), "the game needs the slopes −1, 0 and 1")
    limit: Any = bound if not best.exact else type(table.features[0, 0])(bound)
    worth = _played(table, places, limit)
    return Equivalence(best.price, worth, _coin(table, places), best.exact, best)


def _played(table: Table, places: dict[float, int], bound: Any) -> Any:
    later = table.values[-1]
    for level, here in reversed(list(zip(table.levels[:-1], table.targets))):
        assert level.after is not None
        up, still, down = (later[level.after[..., places[delta]]] for delta in (1.0, 0.0, -1.0))
        inside = np.where(np.abs(down - up) < 2 * bound, (up + down) / 2, np.maximum(up, down) - bound)
        inside = np.maximum(inside, still)  # the label may be what was played
        high, low = np.maximum(up + bound, still), np.maximum(down + bound, still)
        later = np.minimum(np.minimum(inside, high), low).max(axis=1)
        later = np.maximum(later, here) if table.still else later
    return later[0]


def _coin(table: Table, places: dict[float, int]) -> Any:
    """E V along the worst features when δ is a fair sign: what y = ±B forces, and Σδŷ is fair."""
    later = table.values[-1]
    for level, here in reversed(list(zip(table.levels[:-1], table.targets))):
        assert level.after is not None
        up, down = later[level.after[..., places[1.0]]], later[level.after[..., places[-1.0]]]
        later = ((up + down) / 2).max(axis=1)
        later = np.maximum(later, here) if table.still else later
    return later[0]
