"""A model and its shadow, round by round: how often the shadow did better, with an interval that is valid at every moment.

The share of rounds lies between 0 and 1 whatever the loss, so the interval (`bk.Confidence`) rests on no range that would have
to be known. It takes a hundred numbers, however many rounds there were.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.confidence.sequence import Confidence


class Comparison:
    """Rounds that both played: the shadow's wins, ties counted half, and the sum of what it lost more.

    >>> comparison = Comparison()
    >>> for mine, shadows in [(1.0, 0.5), (1.0, 1.0), (0.2, 0.1)]:
    ...     comparison.add(mine, shadows)
    >>> comparison.rounds, comparison.wins, round(comparison.difference, 3)
    (3, 2.5, -0.6)
    """

    def __init__(self) -> None:
        self.rounds, self.wins, self.difference = 0, 0.0, 0.0
        self._share = Confidence(low=0.0, high=1.0, alpha=0.05)

    def add(self, mine: float, shadows: float) -> None:
        """One round: the loss of the model that answers, and that of its shadow."""
        win = 0.5 if shadows == mine else float(shadows < mine)
        self.rounds += 1
        self.wins += win
        self.difference += shadows - mine
        self._share.update(win)

    def to_dict(self) -> dict[str, Any]:
        """What can be said now."""
        if not self.rounds:
            return {"rounds": 0, "statement": "no round was played by both yet"}
        told = {"rounds": self.rounds, "shadow_better": self.wins / self.rounds, "loss_more": self.difference / self.rounds}
        low, high = self._share.interval()
        word = "more" if low > 0.5 else "fewer" if high < 0.5 else None
        statement = f"the shadow does better in {word} than half of the rounds" if word else "neither does better in most rounds, so far"
        return {**told, "interval": [float(low), float(high)], "alpha": 0.05, "statement": statement}

    def to_list(self) -> list[Any]:
        """Plain data."""
        header, arrays = self._share.state_dict()
        return [self.rounds, self.wins, self.difference, [header, {name: array.tolist() for name, array in arrays.items()}]]

    @classmethod
    def from_list(cls, kept: list[Any]) -> Comparison:
        """The comparison that was kept."""
        found = cls()
        found.rounds, found.wins, found.difference, (header, arrays) = kept
        found._share = Confidence.from_state(header, {name: np.array(array) for name, array in arrays.items()})
        return found
