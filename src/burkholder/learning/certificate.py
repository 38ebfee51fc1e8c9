"""What a learner can say of itself at any moment: what it lost, what is guaranteed, and under what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Assumption:
    """One condition a guarantee rests on, with what was seen of it on this stream."""

    name: str
    statement: str
    limit: float | None = None  # what was assumed
    worst: float | None = None  # the most extreme value seen
    violations: int = 0
    still_holds: str = ""  # in words: what remains true when it was violated

    @property
    def held(self) -> bool:
        return self.violations == 0

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "statement": self.statement,
            "limit": self.limit,
            "worst": self.worst,
            "violations": self.violations,
            "held": self.held,
            "still_holds": self.still_holds,
        }


@dataclass(frozen=True)
class Guarantee:
    """One inequality with a number in it. `holds` is False once an assumption it needs was violated."""

    name: str
    statement: str
    value: float | None
    holds: bool = True

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "statement": self.statement, "value": self.value, "holds": self.holds}


@dataclass(frozen=True)
class Certificate:
    """Rounds, loss, potential, guarantees and assumptions of one stream so far."""

    learner: str
    loss: str
    rounds: int
    cumulative_loss: float
    potential: float | None = None
    guarantees: tuple[Guarantee, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def mean_loss(self) -> float:
        """The progressive loss: predicted before learned."""
        return self.cumulative_loss / self.rounds if self.rounds else float("nan")

    @property
    def valid(self) -> bool:
        """Whether every assumption held so far."""
        return all(assumption.held for assumption in self.assumptions)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines; a mean over no round is None."""
        return {
            "learner": self.learner,
            "loss": self.loss,
            "rounds": self.rounds,
            "cumulative_loss": self.cumulative_loss,
            "mean_loss": self.mean_loss if self.rounds else None,
            "potential": self.potential,
            "valid": self.valid,
            "guarantees": [guarantee.to_dict() for guarantee in self.guarantees],
            "assumptions": [assumption.to_dict() for assumption in self.assumptions],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [f"{self.learner}, {self.loss} loss, {self.rounds:,} rounds"]
        if self.rounds:
            lines.append(f"  mean loss   {self.mean_loss:.6g}")
        if self.potential is not None:
            lines.append(f"  potential   {self.potential:.6g}")
        for guarantee in self.guarantees:
            shown = "none" if guarantee.value is None else f"{guarantee.value:.6g}"
            mark = "" if guarantee.holds else "  [VOID: an assumption was violated]"
            lines.append(f"  {guarantee.name}: {shown}   {guarantee.statement}{mark}")
        for assumption in self.assumptions:
            if assumption.held:
                lines.append(f"  assumed and held: {assumption.statement}")
            else:
                lines.append(
                    f"  VIOLATED {assumption.violations} times: {assumption.statement}"
                    f" (worst {assumption.worst:.6g}). Still true: {assumption.still_holds}"
                )
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)
