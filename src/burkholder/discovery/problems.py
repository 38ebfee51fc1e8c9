"""A problem: a martingale inequality with an unknown constant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

from burkholder.checker import KINDS, WORK, Poly, Rejected, metered, parse
from burkholder.errors import BadInput
from burkholder.limited import KIND, conditions, statement

MARTINGALES = (*KINDS, KIND)
STATED = (*(kind for kind, entries in KINDS.items() if "statistic" in entries), KIND)


@runtime_checkable
class Worded(Protocol):
    """An inequality in words of its own, as `burkholder.Inequality`."""

    def polynomial(self) -> Problem | None:
        """The same as a problem for polynomials, or None."""


@dataclass(frozen=True)
class Problem:
    """The inequality E V(ΣT) ≤ 0, to be proved with the smallest constant C.

    `martingale` says which martingales (see `burkholder.checker` for what each kind means); `statistic` is T,
    one step per coordinate of the state; `target` is V. In `zigzag` and `orthogonal` problems x, y stand for
    |f| and |g|. `scale` rescales variables for the solver only; `degree` (weighted) is V's unless given.

    >>> Problem("mine", "dyadic", "x**4 - C*s**2", statistic={"x": "e*d", "s": "d**2"}).statement()
    {'martingale': 'dyadic', 'target': 'x**4 - C*s**2', 'statistic': {'x': 'e*d', 's': 'd**2'}}
    """

    name: str
    martingale: str
    target: str = ""
    statistic: Mapping[str, str] = field(default_factory=dict)
    norm: str = ""
    p: int = 0
    power: int = 1
    below: str = ""  # of a quotient: U = P/below^power; of limited steps: U = P/below, V = target/below
    variance: str = ""  # of limited steps, as the next two: see `burkholder.limited`
    within: tuple[str, ...] = ()
    peak: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    degree: int | None = None
    scale: Mapping[str, Fraction | int] = field(default_factory=dict)
    known: float | Fraction | int | None = None

    def __post_init__(self) -> None:
        if self.martingale not in MARTINGALES:
            raise BadInput("martingale", self.martingale, f"choose one of {', '.join(MARTINGALES)}")
        if self.martingale in STATED and not self.statistic:
            raise BadInput("statistic", {}, "give a step for each coordinate of the state, {'x': 'e*d', ...}")
        if self.martingale not in STATED and self.statistic:
            raise BadInput("statistic", dict(self.statistic), f"the steps of {self.martingale} problems are fixed")
        if type(self.power) is not int or self.power < 1:
            raise BadInput("power", self.power, "give a positive integer")
        if self.degree is not None and (type(self.degree) is not int or self.degree < 1):
            raise BadInput("degree", self.degree, "give a positive integer")
        try:
            with metered(WORK // 4):
                at = [conditions(self.statement(), Poly(), Fraction(c)) for c in (0, 1, 2)]
        except (Rejected, SyntaxError, ArithmeticError, RecursionError, TypeError, ValueError) as error:
            hint = ""
            if any(word in str(self.target) for word in ("abs", "sqrt", "max", "min", ".", "|")):
                hint = "; a U that is no polynomial is the business of sharp: bk.sharp(bk.Inequality(state, moves, left, right))"
            raise BadInput("problem", self.statement(), str(error) + hint) from None
        steps = [[second - first for (_, first, _), (_, second, _) in zip(*pair)] for pair in pairwise(at)]
        if not any(steps[0]):
            raise BadInput("target", self.target, "the constant to be minimised must appear in it, as C")
        if self.exponent == 1 and steps[0] != steps[1]:
            raise BadInput("target", self.target, "C must appear linearly")
        if any(Fraction(value) <= 0 for value in self.scale.values()):
            raise BadInput("scale", dict(self.scale), "scales are positive")

    @property
    def exponent(self) -> int:
        """The conditions are affine in C to this power."""
        return self.p // 2 if self.martingale == "smooth" else 1

    @property
    def limited(self) -> bool:
        """Whether anything is known to be ≥ 0 besides coordinates."""
        return bool(self.within or self.peak)

    @property
    def state(self) -> tuple[str, ...]:
        """The variables U is a polynomial of."""
        if self.martingale == "smooth":
            return ()
        if self.martingale == "logarithmic":
            return ("x", "m")
        return (*self.statistic, *self.peak) if self.statistic else ("x", "y")

    @property
    def steps(self) -> dict[str, Poly]:
        """T as polynomials in the step's own variables."""
        if self.martingale in ("zigzag", "orthogonal"):
            return {"x": parse("e1*d"), "y": parse("e2*d")}
        if self.martingale == "logarithmic":
            return {"x": parse("e*d"), "m": parse("d**2")}
        return {name: parse(text) for name, text in self.statistic.items()}

    @property
    def goal(self) -> Poly:
        """V, and for a quotient V·q^k: what the numerator of U must be above."""
        target = parse(self.target)
        return target * parse(self.below) ** self.power if self.martingale == "quotient" else target

    @property
    def words(self) -> str:
        """The inequality that a proof would prove, as the checker words it."""
        return statement(self.statement())

    def statement(self) -> dict[str, Any]:
        """What a certificate must repeat: enough to rebuild every condition, and nothing else."""
        if self.martingale == "smooth":
            return {"martingale": "smooth", "norm": self.norm, "p": self.p}
        stated: dict[str, Any] = {"martingale": self.martingale, "target": self.target}
        if self.martingale in STATED:
            stated["statistic"] = dict(self.statistic)
        if self.martingale == "quotient":
            stated["below"] = self.below
        if self.martingale in ("logarithmic", "quotient"):
            stated["power"] = self.power
        if self.martingale == KIND:
            stated |= {"variance": self.variance, "within": list(self.within), "below": self.below or "1"}
            stated["peak"] = {name: list(texts) for name, texts in self.peak.items()}
        return stated
