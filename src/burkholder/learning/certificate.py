"""What a learner can say of itself at any moment: what it lost, what is guaranteed, against whom, and under what.

Three numbers about one class of comparators, each an upper bound on the regret, in this order by construction:
    realised   from this very stream; holds for any predictor
    corrected  the promise plus what the potential says now; holds whatever was played
    bound      promised in advance; rests on the assumptions
Rounding is charged: what is printed is true of real numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from burkholder.errors import BadInput, BurkholderError


@dataclass(frozen=True)
class Assumption:
    """One condition a guarantee rests on, with what was seen of it on this stream.

    >>> said = Assumption("labels", "|y| ≤ 1", limit=1.0, worst=3.0, violations=2, still_holds="what was realised")
    >>> said.held
    False
    """

    name: str
    statement: str
    limit: float | None = None  # what was assumed
    worst: float | None = None  # the most extreme value seen
    violations: int = 0
    still_holds: str = ""  # in words: what remains true when it was violated

    @property
    def held(self) -> bool:
        """Whether no round violated it."""
        return self.violations == 0

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "name": self.name, "statement": self.statement, "limit": self.limit, "worst": self.worst,
            "violations": self.violations, "held": self.held, "still_holds": self.still_holds,
        }  # fmt: skip


@dataclass(frozen=True)
class Comparators:
    """Whom a number is about: functions of `space`, no larger than `radius` in `norm`.

    >>> str(Comparators("⟨w, x⟩", "‖w‖₂", 2.0)), str(Comparators("every expert"))
    ('⟨w, x⟩ with ‖w‖₂ ≤ 2', 'every expert')
    """

    space: str
    norm: str = ""
    radius: float | None = None

    def __str__(self) -> str:
        if self.radius is not None:
            return f"{self.space} with {self.norm} ≤ {self.radius:g}"
        return f"{self.space} with {self.norm}" if self.norm else self.space

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"space": self.space, "norm": self.norm, "radius": self.radius}


@dataclass(frozen=True)
class Guarantee:
    """One inequality with a number in it, and whom it is about. `holds` is False once an assumption it needs was violated.

    >>> Guarantee("realised regret", "read off this very stream", 3.5).value
    3.5
    """

    name: str
    statement: str
    value: float | None
    holds: bool = True
    comparators: Comparators | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        whom = None if self.comparators is None else self.comparators.to_dict()
        return {"name": self.name, "statement": self.statement, "value": self.value, "holds": self.holds, "comparators": whom}


@dataclass(frozen=True)
class Certificate:
    """Rounds, loss, potential, guarantees and assumptions of one stream so far.

    A learner's own certificate fills in `_whom`, `_realised`, `_corrected` and `_promised`; whatever they compute, the
    three public numbers come in order.

    >>> import burkholder as bk
    >>> learner = bk.Learner("square-function", loss="absolute", bound=1.0)
    >>> certificate = learner.run([[1.0], [0.5]], [0.5, 0.2]).certificate
    >>> certificate.realised([0.4]) <= certificate.corrected([0.4]) <= certificate.bound([0.4])
    True
    """

    learner: str
    loss: str
    rounds: int
    cumulative_loss: float
    weight: float = math.nan  # Σ of importance weights; NaN: every round counted once
    potential: float | None = None
    comparators: Comparators = Comparators("nobody")  # the class the headline numbers are about
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    others: tuple[Guarantee, ...] = field(default=())  # about other comparators than the headline's

    # --- what a learner's certificate fills in -------------------------------------------------------------
    def _whom(self, w: Any, radius: float | None) -> Any:
        """The comparator as the three below take it; (None, None) asks for the worst of the class."""
        return w, radius

    def _realised(self, whom: Any) -> float:
        """What the stream proves, rounding charged."""
        raise BadInput("w", None, f"{self.learner} states no regret")

    def _corrected(self, whom: Any) -> float:
        """The promise with the potential as it is; the promise itself where a learner has no potential."""
        return self._promised(whom)

    def _promised(self, whom: Any) -> float:
        """What was promised in advance; infinite where nothing is."""
        return math.inf

    # --- the three numbers -----------------------------------------------------------------------------------
    def _asked(self, w: Any, radius: float | None) -> Any:
        if w is not None and radius is not None:
            raise BadInput("radius", radius, "give either a comparator w or a radius, not both")
        if radius is not None:
            if isinstance(radius, bool) or (not isinstance(radius, (int, float)) and not hasattr(radius, "__float__")):
                raise BadInput("radius", radius, "give a finite number ≥ 0")
            if not (math.isfinite(float(radius)) and float(radius) >= 0.0):
                raise BadInput("radius", radius, "give a finite number ≥ 0")
            radius = float(radius)
        return self._whom(w, radius)

    def realised(self, w: Any = None, radius: float | None = None) -> float:
        """What this very stream proves: the regret against w, or against everyone within `radius`, is at most this."""
        return self._realised(self._asked(w, radius))

    def corrected(self, w: Any = None, radius: float | None = None) -> float:
        """The promise plus the potential: holds on every path, whatever happened to the assumptions; ≥ realised."""
        whom = self._asked(w, radius)
        return max(self._realised(whom), self._corrected(whom))

    def bound(self, w: Any = None, radius: float | None = None, nominal: bool = False) -> float:
        """What was promised in advance, ≥ corrected. Infinite once an assumption was violated; `nominal` then tells
        what it would have been, which bounds nothing.
        """
        whom = self._asked(w, radius)
        if not self.valid:
            return self._promised(whom) if nominal else math.inf
        return max(self._realised(whom), self._corrected(whom), self._promised(whom))

    # --- what everybody has ----------------------------------------------------------------------------------
    @cached_property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """The three numbers over the certificate's own comparators, then what is known about others."""
        lines = []
        for name, statement, ask in (
            ("promised regret", "known in advance", lambda: self.bound(nominal=True)),
            ("corrected regret", "the promise with the potential as it is now, on this path", self.corrected),
            ("realised regret", "read off this very stream, for any predictor", self.realised),
        ):
            try:
                value = ask()
            except BurkholderError:
                continue  # this learner has no such number over a whole class
            holds = self.valid or name != "promised regret"
            lines.append(Guarantee(name, statement, value if math.isfinite(value) else None, holds, self.comparators))
        return (*lines, *self.others)

    @property
    def mean_loss(self) -> float:
        """The progressive loss, predicted before learned: Σ weight·loss over Σ weight."""
        total = self.rounds if math.isnan(self.weight) else self.weight
        return self.cumulative_loss / total if total else math.nan

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
            "mean_loss": None if math.isnan(self.mean_loss) else self.mean_loss,
            "potential": self.potential,
            "valid": self.valid,
            "comparators": self.comparators.to_dict(),
            "guarantees": [guarantee.to_dict() for guarantee in self.guarantees],
            "assumptions": [assumption.to_dict() for assumption in self.assumptions],
            "notes": list(self.notes),
        }

    def plot(self, path: str | None = None) -> Any:
        """Its numbers as bars, a row each: promised, corrected, realised, per round; saved when a path is given."""
        from burkholder.learning import drawing

        shown = [item for item in self.guarantees if item.value is not None]
        names = [item.name if item.comparators in (None, self.comparators) else f"{item.name}, {item.comparators}" for item in shown]
        figure, axes = drawing.sheet(8, 1.4 + 0.45 * len(shown))
        each = [(item.value or 0.0) / max(self.rounds, 1) for item in shown]
        colours = [drawing.BLUE if item.holds else drawing.OURS[3] for item in shown]
        axes.barh([drawing.textwrap.fill(name, 40) for name in names], each, color=colours)
        for place, value in enumerate(each):
            axes.text(max(value, 0.0), place, f"  {value:.4g}", va="center", fontsize=9, color=drawing.QUIET)
        axes.axvline(0.0, color=drawing.INK, linewidth=0.8)
        axes.margins(x=0.12)
        axes.invert_yaxis()
        axes.set(xlabel="regret a round, at most")
        drawing.titled(axes, f"{self.learner}, {self.rounds:,} rounds, against {self.comparators}", 70)
        return drawing.kept(figure, path)

    def __str__(self) -> str:
        lines = [f"{self.learner}, {self.loss} loss, {self.rounds:,} rounds"]
        if self.rounds:
            lines.append(f"  mean loss   {self.mean_loss:.6g}")
        if self.potential is not None:
            lines.append(f"  potential   {self.potential:.6g}")
        told: str | None = None
        for guarantee in self.guarantees:
            whom = "" if guarantee.comparators is None else str(guarantee.comparators)
            if whom != told and whom:
                lines.append(f"  against {whom}:")
            told = whom
            shown = "none" if guarantee.value is None else f"{guarantee.value:.6g}"
            mark = "" if guarantee.holds else "  [VOID: an assumption was violated]"
            lines.append(f"  {'  ' if whom else ''}{guarantee.name}: {shown}   {guarantee.statement}{mark}")
        for assumption in self.assumptions:
            if assumption.held:
                lines.append(f"  assumed and held: {assumption.statement}")
            else:
                worst = "" if assumption.worst is None else f" (worst {assumption.worst:.6g})"
                lines.append(
                    f"  VIOLATED {assumption.violations} times: {assumption.statement}{worst}. Still true: {assumption.still_holds}"
                )
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)
