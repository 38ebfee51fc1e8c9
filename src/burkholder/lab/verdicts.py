"""The three verdicts: proved, refuted with a witness, not refuted with how hard one searched.

A sampled check never says "proved", and a failed proof attempt never says "refuted": only a point does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """What a check may conclude. `unchecked` is for a property that does not apply or could not be tried."""

    PROVED = "proved"
    REFUTED = "refuted"
    NOT_REFUTED = "not refuted"
    UNCHECKED = "not checked"

    @classmethod
    def of(cls, proved: bool, witness: object = None) -> Status:
        """What a proof attempt concludes: it passed, or a point refutes it, or neither."""
        return cls.PROVED if proved else cls.NOT_REFUTED if witness is None else cls.REFUTED


@dataclass(frozen=True)
class Witness:
    """A point at which a property fails, and by how much.

    `point` maps names to numbers, strings of exact numbers, or lists of them; `arithmetic` says in what the
    residual was evaluated, so that nobody has to take a float's word for it.

    >>> Witness({"x": 1.0}, residual=0.25).residual
    0.25
    """

    point: Mapping[str, Any]
    residual: float
    arithmetic: str = "float64"

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {"point": dict(self.point), "residual": self.residual, "arithmetic": self.arithmetic}

    def __str__(self) -> str:
        place = ", ".join(f"{name} = {_show(value)}" for name, value in self.point.items())
        return f"at {place} the residual is {self.residual:.6g} > 0 ({self.arithmetic})"


@dataclass(frozen=True)
class Verdict:
    """What was concluded of one property.

    >>> print(Verdict("1", Status.PROVED, "U(0) ≤ 0", arithmetic="rational"))
    proved       1           U(0) ≤ 0  [rational]
    """

    claim: str  # "1", "2", "3", "convex", "tangent", "regret", ...
    status: Status
    statement: str  # what exactly was examined
    domain: str = ""  # where
    arithmetic: str = ""  # in what
    witness: Witness | None = None
    points: int = 0
    seconds: float = 0.0
    worst: float | None = None  # the largest relative residual met; at most rounding when nothing was found
    note: str = ""

    def __post_init__(self) -> None:
        if (self.status is Status.REFUTED) != (self.witness is not None):
            raise ValueError("a refutation carries a witness, and nothing else does")

    @property
    def refuted(self) -> bool:
        """Whether a witness was found."""
        return self.status is Status.REFUTED

    @property
    def proved(self) -> bool:
        """Whether exact arithmetic proves it."""
        return self.status is Status.PROVED

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "claim": self.claim,
            "status": self.status.value,
            "statement": self.statement,
            "domain": self.domain,
            "arithmetic": self.arithmetic,
            "witness": self.witness.to_dict() if self.witness else None,
            "points": self.points,
            "seconds": self.seconds,
            "worst": self.worst,
            "note": self.note,
        }

    def __str__(self) -> str:
        parts = [f"{self.status.value:<12} {self.claim:<11} {self.statement}"]
        if self.domain:
            parts.append(f"on {self.domain}")
        if self.arithmetic and not self.refuted:  # a refutation's arithmetic is its witness's
            parts.append(f"[{self.arithmetic}]")
        if self.status is Status.NOT_REFUTED:
            worst = "" if self.worst is None else f", worst residual {self.worst:.2g}"
            parts.append(f"({self.points:,} points, {self.seconds:.1f} s{worst})")
        lines = ["  ".join(parts)]
        if self.witness is not None:
            lines.append(f"{'':<25}{self.witness}")
        if self.note:
            lines.append(f"{'':<25}{self.note}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Report:
    """The verdicts on one function, one per property (and one more per exact proof that was run).

    >>> report = Report("mine", (Verdict("1", Status.NOT_REFUTED, "U(0) ≤ 0"),))
    >>> report.refuted
    ()
    """

    name: str
    verdicts: tuple[Verdict, ...]
    seconds: float = 0.0
    notes: tuple[str, ...] = field(default=())

    @property
    def refuted(self) -> tuple[Verdict, ...]:
        """The claims that were refuted."""
        return tuple(verdict for verdict in self.verdicts if verdict.refuted)

    @property
    def status(self) -> Status:
        """Refuted if anything is; proved only when every claim examined is, by one of its verdicts."""
        claims: dict[str, set[Status]] = {}
        for verdict in self.verdicts:
            if verdict.status is not Status.UNCHECKED:
                claims.setdefault(verdict.claim, set()).add(verdict.status)
        if any(Status.REFUTED in seen for seen in claims.values()):
            return Status.REFUTED
        if claims and all(Status.PROVED in seen for seen in claims.values()):
            return Status.PROVED
        return Status.NOT_REFUTED if claims else Status.UNCHECKED

    def __getitem__(self, claim: str) -> Verdict:
        for verdict in self.verdicts:
            if verdict.claim == claim:
                return verdict
        raise KeyError(claim)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "function": self.name,
            "status": self.status.value,
            "seconds": self.seconds,
            "verdicts": [verdict.to_dict() for verdict in self.verdicts],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.status.value} ({self.seconds:.1f} s)"]
        lines += [f"  {line}" for verdict in self.verdicts for line in str(verdict).splitlines()]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def _show(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    if isinstance(value, (list, tuple)):
        return "(" + ", ".join(_show(item) for item in value) + ")"
    return str(value)
