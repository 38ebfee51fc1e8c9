"""Ratings and labels: the map between them, and what its rounding may cost a regret."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput
from burkholder.learning.rounding import UNIT, more
from burkholder.matrix.certificate import Charge


class Scale(NamedTuple):
    """Ratings in [low, high] and labels in [−1, 1]; the ends of the range are never passed."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        return 0.5 * (self.low + self.high)

    @property
    def half(self) -> float:
        return 0.5 * (self.high - self.low)

    def label(self, rating: Any, argument: str = "rating") -> float:
        """The label of a rating, which must lie in the range."""
        try:
            number = float(rating)
        except (TypeError, ValueError, OverflowError):
            raise BadInput(argument, rating, "give a number") from None
        if not self.low <= number <= self.high:
            raise BadInput(argument, rating, f"ratings must lie in [{self.low:g}, {self.high:g}], the range given")
        return min(max((2.0 * number - self.low - self.high) / (self.high - self.low), -1.0), 1.0)

    def labels(self, ratings: list[Any]) -> NDArray[np.float64]:
        """(rating, label), one row each; a bad one is named by its place."""
        try:
            numbers = np.array(ratings, dtype=float).reshape(len(ratings))
            good = bool(((numbers >= self.low) & (numbers <= self.high)).all())
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            numbers = np.array([(self.label(rating, f"ratings[{t}]"), float(rating))[1] for t, rating in enumerate(ratings)])
        labels = np.clip((2.0 * numbers - self.low - self.high) / (self.high - self.low), -1.0, 1.0)
        return np.column_stack([numbers, labels])

    def rating(self, label: Any) -> Any:
        """The rating of a label, or of an array of them."""
        return np.clip(self.middle + self.half * label, self.low, self.high)

    def comparator(self, base: str) -> str:
        """How a comparator predicts a rating on top of `base`, W being about labels in [−1, 1]."""
        factor = "" if self.half == 1.0 else f"{self.half:g}·"
        return f"{base} + {factor}⟨W, X⟩" if base else f"{factor}⟨W, X⟩"

    def charge(self, degree: int, rounds: int) -> Charge:
        """What mapping ratings to labels and predictions back may cost a regret in rating units.

        Let s = max(|low|, |high|), h = (high − low)/2 ≤ s and m the middle. The computed label y of a rating r, and the
        computed prediction r̂ (or bias) of a ŷ in [−1, 1], satisfy r = m + hy + e, r̂ = m + hŷ + e′ with |e|, |e′| ≤ 8us: seven
        roundings of numbers up to 3s, and cutting off at the ends of the range only helps.
        A loss that is a 1-Lipschitz function of r̂ − r (degree 1) moves by at most 8us for each of r̂, and r twice.
        For (r̂−r)² and a comparator c = base + hW_ij: (r̂−r)² − (c−r)² ≤ 2(r̂−r)(r̂−c), and with 2(r̂−r) = 2h(ŷ−y) + d, |d| ≤
        32us, and r̂ − base = h(ŷ−b) + d′, |d′| ≤ 16us, this is 2h²·(ŷ−y)(ŷ−b−W_ij) up to 4h·16us + 32us·2h + 512(us)² +
        32us·h|W_ij|; |W_ij| ≤ ‖W‖_Σ.
        """
        size = UNIT * max(abs(self.low), abs(self.high))
        if degree == 1:
            return Charge(more(32.0 * size * rounds, 16.0))
        once = rounds * (130.0 * self.half * size + 520.0 * size * size)
        return Charge(more(once, 16.0), more(33.0 * self.half * size * rounds, 16.0))
