"""Which of two models does better, looked at as often as one likes: a model and its shadow, round by round."""

from __future__ import annotations

from typing import Any

from burkholder.serve.model import Over


class Comparison:
    """Rounds that both played, and the losses of each."""

    def __init__(self) -> None:
        self.rounds = 0

    def add(self, mine: Over, other: Over) -> None:
        self.rounds += 1

    def to_list(self) -> list[Any]:
        return [self.rounds]

    def to_dict(self) -> dict[str, Any]:
        """What can be said now."""
        return {"rounds": self.rounds}

    @classmethod
    def from_list(cls, kept: list[Any]) -> Comparison:
        found = cls()
        (found.rounds,) = kept
        return found
