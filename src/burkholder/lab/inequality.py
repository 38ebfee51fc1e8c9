"""An inequality of one's own: E left ≤ E right, the constant C in `right`, for every martingale of a kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from burkholder.checker import Poly, Rejected, metered, parse, variable
from burkholder.discovery.problems import Problem
from burkholder.errors import BadInput
from burkholder.lab.formulas import Formula, read

MOVES = {
    "rademacher": "a = ±d with a fair sign, d chosen before the round",
    "general": "a of any law with mean 0 given the past",
    "transform": "a of any law with mean 0 given the past, k = 1 or k = -1 chosen before it",
}


@dataclass(frozen=True)
class Inequality:
    """E left ≤ E right for the sums that `state` describes, all from 0, over finitely many bounded rounds.

    `state` gives each coordinate after a round from the one before, the jump `a` and, for transforms, the sign `k`; the least C for which
    the inequality holds is what `sharp` looks for. How the sides scale is found, not asked.

    >>> mine = Inequality({"x": "x + a", "s": "s + a**2"}, moves="general", left="s**2", right="C*x**4")
    >>> mine.weights, mine.degree
    ({'x': Fraction(1, 1), 's': Fraction(2, 1)}, Fraction(4, 1))
    >>> print(mine)
    E[s**2] ≤ E[C*x**4], x ← x + a, s ← s + a**2: a of any law with mean 0 given the past
    """

    state: Mapping[str, str]
    moves: str
    left: str
    right: str

    def __post_init__(self) -> None:
        if not isinstance(self.moves, str) or self.moves not in MOVES:
            raise BadInput("moves", self.moves, "choose one of " + ", ".join(MOVES))
        if not isinstance(self.state, Mapping) or not 1 <= len(self.state) <= 6:
            raise BadInput("state", self.state, 'give one to six coordinates, {"x": "x + a", "s": "s + a**2"}')
        jumps = {"a", "k"} if self.moves == "transform" else {"a"}
        for name, text in self.state.items():
            if not isinstance(name, str) or not name.isascii() or not name.isalnum() or not name[0].isalpha() or name[0] == "e":
                raise BadInput("state", name, "names are letters and digits and do not begin with e, which is for signs")
            if name in {"a", "k", "C", "abs", "sqrt", "max", "min"}:
                raise BadInput("state", name, "a is the jump, k the sign of a transform, C the constant; choose another name")
            if unknown := read(text, "state").names() - jumps - {name}:
                raise BadInput("state", text, f"a coordinate moves by {', '.join(sorted(jumps))} and itself alone, not {min(unknown)}")
        for argument, text in (("left", self.left), ("right", self.right)):
            if unknown := read(text, argument).names() - set(self.state) - {"C"}:
                raise BadInput(argument, text, f"{min(unknown)} is no coordinate of the state")
        if "C" in read(self.left, "left").names() or "C" not in read(self.right, "right").names():
            raise BadInput("right", self.right, "the constant C stands on the right side, and only there")
        self._at_ones("left", self.left)
        rise = [self._at_ones("right", self.right, c) for c in (0, 1, 3)]
        if not abs((rise[2] - rise[0]) - 3 * (rise[1] - rise[0])) <= 1e-9 * abs(rise[2]) or not rise[1] > rise[0]:
            raise BadInput("right", self.right, "C must appear linearly, and a larger C must make the right side larger")
        _ = self.steps

    def _at_ones(self, argument: str, text: str, constant: float = 0.0) -> float:
        """A side where every coordinate is 1: a number, or the formula is refused."""
        try:
            with np.errstate(all="ignore"):
                found = float(read(text, argument).at(C=np.float64(constant), **dict.fromkeys(self.state, np.float64(1.0))))
        except ArithmeticError:
            found = math.nan
        if not math.isfinite(found):
            raise BadInput(argument, text[:80], "where every coordinate is 1 it is no finite number")
        return found

    @property
    def steps(self) -> dict[str, Poly]:
        """What each coordinate grows by in a round: a polynomial in the jump."""
        found = {}
        for name, text in self.state.items():
            try:
                with metered():
                    step = parse(text) - variable(name)
            except Rejected as error:
                raise BadInput("state", text, f"a coordinate is a sum of polynomials in the jump: {error}") from None
            if name in step.variables() or not step or "a" not in step.variables():
                raise BadInput("state", text, f"write {name} + a polynomial in the jump a")
            found[name] = step
        return found

    @property
    def weights(self) -> dict[str, Fraction] | None:
        """How each coordinate scales when the jump scales by 1, or None."""
        found = {}
        for name, step in self.steps.items():
            degrees = {sum(k for n, k in m if n == "a") for m in step}
            if len(degrees) != 1:
                return None
            found[name] = Fraction(degrees.pop())
        return found

    @property
    def degree(self) -> Fraction | None:
        """How both sides scale, or None where they scale differently."""
        if self.weights is None:
            return None
        scale = self.weights | {"C": Fraction(0)}
        left, right = (read(text, "side").degree(scale) for text in (self.left, self.right))
        return left if left is not None and left == right else None

    def sides(self) -> tuple[Formula, Formula]:
        return read(self.left, "left"), read(self.right, "right")

    def polynomial(self, name: str = "mine") -> Problem | None:
        """The same inequality for `discover`, which needs polynomials; None where a side is none."""
        try:
            with metered():
                target = str(parse(f"({self.left}) - ({self.right})"))
                if self.moves == "transform":
                    plain = {m: set(step.items()) for m, step in self.steps.items()}
                    if plain != {"x": set(parse("a").items()), "y": set(parse("k*a").items())}:
                        return None
                    even = all(k % 2 == 0 for m in parse(target) for n, k in m if n != "C")
                    return Problem(name, "zigzag", target) if even else None  # there x and y stand for |f| and |g|
                if self.moves == "general":
                    return Problem(name, "general", target, {n: str(step) for n, step in self.steps.items()})
                signed = {n: _signs(step.at(a=variable("e") * variable("d"))) for n, step in self.steps.items()}
                return Problem(name, "dyadic", target, {n: str(step) for n, step in signed.items()})
        except (Rejected, ValueError):  # or numbers too long to be written down
            return None

    def to_dict(self) -> dict[str, Any]:
        return {"state": dict(self.state), "moves": self.moves, "left": self.left, "right": self.right}

    def __str__(self) -> str:
        moved = ", ".join(f"{name} ← {text}" for name, text in self.state.items())
        return f"E[{self.left}] ≤ E[{self.right}], {moved}: {MOVES[self.moves]}"


def _signs(step: Poly) -> Poly:
    """With e² = 1."""
    total = Poly()
    for m, c in step.items():
        total += Poly({tuple((n, k % 2 if n == "e" else k) for n, k in m if n != "e" or k % 2): c})
    return total
