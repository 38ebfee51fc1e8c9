"""An inequality of one's own: E left ≤ E right, the constant C in `right`, for every martingale of a kind."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from burkholder.checker import Poly, Rejected, metered, number, parse, variable
from burkholder.discovery.problems import Problem
from burkholder.errors import BadInput
from burkholder.lab.formulas import FUNCTIONS, Formula, read
from burkholder.limited import KIND

MOVES = {
    "rademacher": "a = ±d with a fair sign, d chosen before the round",
    "general": "a of any law with mean 0 given the past",
    "transform": "a of any law with mean 0 given the past, k = 1 or k = -1 chosen before it",
}
VARIANCE = "sigma2"
JUMPS = {"rademacher": {"a"}, "general": {"a", VARIANCE}, "transform": {"a", "k"}}


@dataclass(frozen=True)
class Inequality:
    """E left ≤ E right for the sums that `state` describes, all from 0, over finitely many bounded rounds.

    `state` gives each coordinate after a round from the one before, the jump `a`, for transforms the sign `k`, and with general moves
    `sigma2`, the variance of `a` given the past; or it is a running maximum, "max(m, abs(x))". `where` limits the moves: polynomials of
    the jump, its variance and the state before it, "a**2 <= 1". A limit of the state alone is no assumption: it is proved to stay true.
    The least C for which the inequality holds is what `sharp` looks for. How the sides scale is found, not asked.

    >>> mine = Inequality({"x": "x + a", "s": "s + a**2"}, moves="general", left="s**2", right="C*x**4")
    >>> mine.weights, mine.degree
    ({'x': Fraction(1, 1), 's': Fraction(2, 1)}, Fraction(4, 1))
    >>> print(mine)
    E[s**2] ≤ E[C*x**4], x ← x + a, s ← s + a**2: a of any law with mean 0 given the past
    >>> print(Inequality({"x": "x + a", "v": "v + sigma2"}, "general", "x**4", "C*v**2", where=["a**2 <= 4*sigma2"]))
    E[x**4] ≤ E[C*v**2], x ← x + a, v ← v + sigma2: a of any law with mean 0 given the past, sigma2 its variance; a**2 <= 4*sigma2
    """

    state: Mapping[str, str]
    moves: str
    left: str
    right: str
    where: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.moves, str) or self.moves not in MOVES:
            raise BadInput("moves", self.moves, "choose one of " + ", ".join(MOVES))
        if not isinstance(self.state, Mapping) or not 1 <= len(self.state) <= 6:
            raise BadInput("state", self.state, 'give one to six coordinates, {"x": "x + a", "s": "s + a**2"}')
        jumps = JUMPS[self.moves]
        for name in self.state:
            if not isinstance(name, str) or not name.isascii() or not name.isalnum() or not name[0].isalpha() or name[0] == "e":
                raise BadInput("state", name, "names are letters and digits and do not begin with e, which is for signs")
            if name in {"a", "k", "d", "C", VARIANCE, *FUNCTIONS}:
                raise BadInput(
                    "state", name, f"a is the jump, k the sign of a transform, d its size, {VARIANCE} its variance, C the constant"
                )
        for name, text in self.state.items():
            allowed = jumps | (set(self.state) if name in self._maxima() else {name})
            if unknown := read(text, "state").names() - allowed:
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
        if isinstance(self.where, str) or not isinstance(self.where, Sequence):
            raise BadInput("where", self.where, 'give a list of limits, ["a**2 <= 1"]')
        if (self.where or self.peaks) and self.moves == "transform":
            raise BadInput("moves", self.moves, "limits and running maxima go with rademacher and general")
        if self.peaks and self.moves == "rademacher":
            raise BadInput("moves", self.moves, 'running maxima go with moves="general"')
        _ = self.steps, self.limits

    def _maxima(self) -> dict[str, Formula]:
        """The coordinates that are running maxima: max(m, …)."""
        found = {}
        for name, text in self.state.items():
            formula = read(text, "state")
            if formula.kind == "max" and formula.parts[0] == Formula("name", leaf=name) and name not in formula.parts[1].names():
                found[name] = formula.parts[1]
        return found

    @property
    def peaks(self) -> dict[str, tuple[Poly, ...]]:
        """What each running maximum is the largest of, besides 0: polynomials."""
        return {name: tuple(_tops(formula, self.state[name])) for name, formula in self._maxima().items()}

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
        """What each other coordinate grows by in a round: a polynomial in the jump."""
        found = {}
        jumps = JUMPS[self.moves]
        for name, text in self.state.items():
            if name in self._maxima():
                continue
            try:
                with metered():
                    step = parse(text) - variable(name)
            except Rejected as error:
                raise BadInput("state", text, f"a coordinate is a sum of polynomials in the jump: {error}") from None
            if name in step.variables() or not step or not step.variables() & jumps:
                raise BadInput("state", text, f"write {name} + a polynomial in the jump a")
            found[name] = step
        return found

    @property
    def limits(self) -> tuple[Poly, ...]:
        """The polynomials that `where` says are ≥ 0."""
        found = []
        for text in self.where:
            sides = text.replace(">=", "<=").split("<=") if isinstance(text, str) else []
            if len(sides) != 2:
                raise BadInput("where", text, "write a limit with <= or >=, a**2 <= 1")
            formulas = [read(side, "where") for side in sides]
            known = [*self.state, *(JUMPS[self.moves] - {"k"})]
            if unknown := (formulas[0].names() | formulas[1].names()) - set(known):
                raise BadInput("where", text, f"{min(unknown)} is none of {', '.join(known)}")
            pair = [formula.fraction() for formula in formulas]
            if pair[0] is None or pair[1] is None or any(below != number(1) for _, below in (pair[0], pair[1])):
                raise BadInput("where", text, "limits are polynomials, a**2 <= 1 in place of abs(a) <= 1")
            gap = pair[1][0] - pair[0][0]
            gap = number(-1) * gap if ">=" in text else gap
            if self.moves == "rademacher" and any(n == "a" and k % 2 for m in gap for n, k in m):
                raise BadInput("where", text, "a fair sign goes both ways: limit a**2")
            found.append(gap)
        return tuple(found)

    @property
    def weights(self) -> dict[str, Fraction] | None:
        """How each coordinate scales when the jump scales by 1, or None."""
        scale = {"a": 1, VARIANCE: 2}
        found: dict[str, Fraction] = {}
        for name, step in self.steps.items():
            degrees = {sum(k * scale.get(n, 0) for n, k in m) for m in step}
            if len(degrees) != 1:
                return None
            found[name] = Fraction(degrees.pop())
        for name, tops in self.peaks.items():
            whole = {sum((k * found.get(n, Fraction(scale.get(n, 0))) for n, k in m), Fraction(0)) for p in tops for m in p}
            if len(whole) != 1:
                return None
            found[name] = whole.pop()
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
        """Left and right, parsed."""
        return read(self.left, "left"), read(self.right, "right")

    def polynomial(self, name: str = "mine") -> Problem | None:
        """The same inequality for `discover`, which needs polynomials, or quotients of them; None where a side is neither."""
        try:
            with metered():
                left, right = self.sides()
                both = Formula("-", (left, right)).fraction()
                if both is None:
                    return None
                top, below = both
                target = str(top)
                if self.moves == "transform":
                    plain = {m: set(step.items()) for m, step in self.steps.items()}
                    if plain != {"x": set(parse("a").items()), "y": set(parse("k*a").items())} or below != number(1):
                        return None
                    even = all(k % 2 == 0 for m in top for n, k in m if n != "C")
                    return Problem(name, "zigzag", target) if even else None  # there x and y stand for |f| and |g|
                steps, limits = self.steps, list(self.limits)
                if self.moves == "rademacher":
                    steps = {n: _signs(step.at(a=variable("e") * variable("d"))) for n, step in steps.items()}
                    limits = [_signs(g.at(a=variable("e") * variable("d"))) for g in limits]
                used = set().union(
                    *(p.variables() for p in (top, below, *limits)), *(p.variables() for ps in self.peaks.values() for p in ps)
                )
                written = {n: str(step) for n, step in steps.items() if n in used}  # what nothing uses is no part of the statement
                if not written:
                    return None
                variance = (
                    VARIANCE if any(VARIANCE in p for p in written.values()) or any(VARIANCE in g.variables() for g in limits) else ""
                )
                if below == number(1) and not limits and not self.peaks and not variance:
                    return Problem(name, "general" if self.moves == "general" else "dyadic", target, written)
                if variance and not any(variance in step for step in written.values()):
                    return None
                peak = {m: tuple(map(str, tops)) for m, tops in self.peaks.items()}
                within = tuple(map(str, limits))
                under = "" if below == number(1) else str(below)
                return Problem(name, KIND, target, written, below=under, variance=variance, within=within, peak=peak)
        except (Rejected, ValueError):  # or numbers too long to be written down
            return None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        said = {"state": dict(self.state), "moves": self.moves, "left": self.left, "right": self.right}
        return said | ({"where": list(self.where)} if self.where else {})

    def __str__(self) -> str:
        moved = ", ".join(f"{name} ← {text}" for name, text in self.state.items())
        variance = f", {VARIANCE} its variance" if any(VARIANCE in text for text in (*self.state.values(), *self.where)) else ""
        limits = "".join(f"; {text}" for text in self.where)
        return f"E[{self.left}] ≤ E[{self.right}], {moved}: {MOVES[self.moves]}{variance}{limits}"


def _tops(formula: Formula, text: str) -> list[Poly]:
    """The polynomials whose maximum a formula is."""
    if formula.kind == "max":
        return [p for part in formula.parts for p in _tops(part, text)]
    if formula.kind == "abs":
        return [q for p in _tops(formula.parts[0], text) for q in (p, number(-1) * p)]
    found = formula.fraction()
    if found is None or found[1] != number(1) or () in found[0]:
        raise BadInput("state", text, "a running maximum is that of polynomials, which are 0 at the start, or of their abs")
    return [found[0]]


def _signs(step: Poly) -> Poly:
    """With e² = 1."""
    total = Poly()
    for m, c in step.items():
        total += Poly({tuple((n, k % 2 if n == "e" else k) for n, k in m if n != "e" or k % 2): c})
    return total
