"""The best constant of an inequality that a user wrote: an estimate, and what of a bracket around it is proved.

The upper end is a polynomial U, or a quotient of two, with an exact certificate (`burkholder.discovery`), a file that `burkholder.checker`
verifies alone; where neither is found, the program's spline, lifted and proved in intervals (`lifted`, `splined`). The lower end is a
stopped walk or a ray (`lower`), a file that `burkholder.refuter` verifies. An end that was not found is not claimed, and the answer says
so. No number of any known inequality is used.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from burkholder.checker import Poly, Rejected, metered, number, parse, variable
from burkholder.discovery.problems import Problem
from burkholder.discovery.program import NotFound
from burkholder.discovery.result import Found, FoundFunction, ProofCertificate
from burkholder.discovery.search import discover
from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction
from burkholder.lab.formulas import Formula
from burkholder.lab.inequality import VARIANCE, Inequality
from burkholder.lab.sharp.ends import above, below, shown_above, shown_below
from burkholder.lab.sharp.lifted import SplineFunction, lifted
from burkholder.lab.sharp.lower import lower
from burkholder.lab.sharp.lower_limited import lattice, longest, still
from burkholder.lab.sharp.shape import Array, Game, Program, Unsolved


@dataclass(frozen=True)
class OwnConstant:
    """What is known of the least C: `upper` is proved where it is given, `estimate` never is."""

    inequality: Inequality
    estimate: float | None  # of the linear program; None where it does not apply
    exact: Fraction | None  # proved: the inequality holds with it
    found: Found | None
    walk: dict[str, Any] | None  # the certificate of the lower end
    why: str  # why an end is missing, or empty
    seconds: float
    spline: dict[str, Any] | None = None  # the certificate of the upper end where U is a spline

    @property
    def upper(self) -> float | None:
        """A float not below the exact constant."""
        return None if self.exact is None else above(self.exact)

    @property
    def lower(self) -> float | None:
        """A float not above the constant at which the inequality is proved to fail."""
        return None if self.walk is None else below(Fraction(self.walk["constant"]))

    @property
    def proved(self) -> bool:
        """Whether both ends are proved."""
        return self.exact is not None and self.walk is not None

    @property
    def width(self) -> float:
        """The relative width of the bracket; infinite where an end is missing."""
        return math.inf if self.upper is None or self.lower is None else self.upper / self.lower - 1

    @property
    def function(self) -> FoundFunction | SplineFunction | None:
        """The U of the proof."""
        if self.spline is not None:
            return SplineFunction(self.spline)
        return None if self.found is None else self.found.function

    def as_function(self, **options: Any) -> BurkholderFunction:
        """The U of the proof as the Burkholder function of a learner, where it has a prediction side: `bk.Learner(found, …)` plays it."""
        if self.found is None:
            raise BadInput("inequality", str(self.inequality), "only a polynomial U becomes a learner, and none was found")
        return self.found.as_function(**options)

    def save(self, path: str | Path, end: str = "upper") -> Path:
        """Write the certificate of the upper or of the lower end, for `burkholder check`."""
        if end not in ("upper", "lower"):
            raise BadInput("end", end, "choose upper or lower")
        data = self.walk if end == "lower" else self.spline if self.found is None else self.found.certificate.data
        if data is None:
            raise BadInput("path", str(path), f"there is no certificate of the {end} end: {self.why}")
        return ProofCertificate(data).save(path)

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.inequality.to_dict(),
            "estimate": self.estimate,
            "upper": self.upper,
            "exact": None if self.exact is None else str(self.exact),
            "lower": self.lower,
            "proved": self.proved,
            "statement": None if self.found is None else self.found.statement,
            "why": self.why,
            "certificate": self.spline if self.found is None else dict(self.found.certificate.data),
            "walk": self.walk,
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        lines = [str(self.inequality)]
        if self.upper is not None:
            how = "exact" if self.spline is None else "interval"
            lines.append(f"  C ≤ {shown_above(self.upper)}, proved in {how} arithmetic: {self.exact}")
        if self.lower is not None and self.walk is not None:
            lines.append(f"  C > {shown_below(self.lower)}, proved in exact arithmetic: it fails with {self.walk['constant']}")
        if self.found is not None:
            lines.append(f"  U = {self.found.function}")
        if self.estimate is not None:
            lines.append(f"  the linear program says {self.estimate:.6g}: an estimate, neither an upper nor a lower bound")
        lines += [f"  {self.why}"] * bool(self.why)
        return "\n".join([*lines, f"  {self.seconds:.2f} s"])


def own(inequality: Inequality) -> OwnConstant:
    """Estimate the least C, prove the best upper end that a polynomial U allows, and look for a walk below it.

    >>> found = own(Inequality({"x": "x + a", "s": "s + a**2"}, "general", "s**2", "C*x**4"))
    >>> round(found.upper, 6), found.lower > 5.82, found.proved
    (5.828427, True, True)
    """
    began = time.perf_counter()
    program, coefficients, estimate, why = _estimate(inequality)
    found: Found | None = None
    problem, missing = inequality.polynomial(), "a polynomial proof needs polynomial sides, and even ones for transforms"
    if problem is not None:
        try:
            found = _better(inequality, discover(problem), estimate)
        except NotFound as error:
            missing = str(error)
    spline = lifted(inequality, program, coefficients) if found is None and program is not None else None
    if found is None and spline is None:
        why += f"no upper end is proved: {missing}. "
    exact = found.exact if found is not None else None if spline is None else Fraction(spline["constant"])
    near = estimate if exact is None else float(exact)
    walk = _lower(inequality, problem, near)
    if walk is None:
        why += "no lower end is proved: no stopped walk was found. "
    return OwnConstant(inequality, estimate, exact, found, walk, why.strip(), time.perf_counter() - began, spline)


def _lower(inequality: Inequality, problem: Problem | None, near: float | None) -> dict[str, Any] | None:
    """A martingale for which the inequality fails just below: waiting for one jump, a lattice, a walk or a ray."""
    degree, weights = inequality.degree, inequality.weights
    if near is None:
        return None
    if problem is not None and (reach := longest(problem)) is not None:
        return lattice(problem, reach, near)
    if degree is None or weights is None or degree.denominator != 1:
        return None
    if problem is not None and problem.variance and not inequality.where and all(w.denominator == 1 for w in weights.values()):
        found = still(problem, {name: int(w) for name, w in weights.items()}, near)
        if found is not None:
            return found
    plane, moves = in_plane(inequality), _walked(inequality)
    if plane is None or moves is None:
        return None
    return lower(str(plane), moves, int(degree), near)


def _better(inequality: Inequality, found: Found, estimate: float | None) -> Found:
    """Where the estimate says that a polynomial is not the best U, a polynomial over s + x², if that proves less."""
    if inequality.moves != "general" or not _square(inequality) or estimate is None or found.constant <= estimate * (1 + 3e-4):
        return found
    first, second = inequality.state
    try:
        other = discover(replace(found.problem, martingale="quotient", below=f"{second} + {first}**2", power=1))
    except NotFound:
        return found
    return min(found, other, key=lambda one: one.exact)


def _square(inequality: Inequality) -> bool:
    return _walked(inequality) in ("general", "rademacher") and not inequality.peaks


def _walked(inequality: Inequality) -> str | None:
    """The moves of a walk in (|f|, S), or in (|f|, v) where v is the sum of the variances; None where the state is another."""
    steps = list(inequality.steps.values())
    if len(steps) != 2 or steps[0] != parse("a") or inequality.where or inequality.moves == "transform":
        return None
    return inequality.moves if steps[1] == parse("a**2") else "variance" if steps[1] == variable(VARIANCE) else None


def in_plane(inequality: Inequality) -> Poly | None:
    """left − right as a polynomial in x = |f|, y = √s and the largest |f| so far, m, or None."""
    if _walked(inequality) is None:
        return None
    if inequality.peaks or _walked(inequality) == "variance":
        return _even(inequality)
    if game(inequality)[0] is None:
        return None
    first, second = inequality.state

    def turn(f: Formula) -> Poly | None:
        if f.kind == "number":
            return number(f.leaf)
        if f.kind == "name":
            return variable("C") if f.leaf == "C" else variable("x") if f.leaf == first else variable("y") ** 2
        if f.kind == "sqrt" and f.parts[0].kind == "name" and f.parts[0].leaf == second:
            return variable("y")
        if f.kind == "**" and f.parts[0].kind == "name" and f.parts[0].leaf == second and (2 * f.leaf).denominator == 1:
            return variable("y") ** int(2 * f.leaf)
        inner = [turn(part) for part in f.parts]
        if any(part is None for part in inner):
            return None
        one, two = inner[0] or Poly(), inner[-1] or Poly()
        if f.kind == "abs" and f.parts[0].kind == "name":
            return one  # both coordinates of the plane are nonnegative, and the sides are even: that was checked
        if f.kind == "**" and f.leaf.denominator == 1:
            return one ** int(f.leaf)
        if f.kind == "/" and f.parts[1].kind == "number" and f.parts[1].leaf:
            return one * number(1 / f.parts[1].leaf)
        return {"+": one + two, "-": one - two, "*": one * two}.get(f.kind)

    try:
        with metered():
            left, right = (turn(side) for side in inequality.sides())
            return None if left is None or right is None else left - right
    except Rejected:
        return None


def _even(inequality: Inequality) -> Poly | None:
    """The same for polynomial sides, even in x."""
    (first, second), below = inequality.steps, number(1)
    x, tops = variable(first), {}
    for name, ps in inequality.peaks.items():
        if set(map(str, ps)) == {str(x), str(number(-1) * x)}:
            tops[name] = variable("m")
        elif ps == (x * x,):
            tops[name] = variable("m") ** 2
        else:
            return None
    left, right = inequality.sides()
    both = Formula("-", (left, right)).fraction()
    if both is None or both[1] != below or any(k % 2 for m in both[0] for n, k in m if n == first):
        return None
    return both[0].at(**{first: variable("x"), second: variable("y") ** 2, **tops})


def game(inequality: Inequality) -> tuple[Game | None, str]:
    """The inequality as the linear program sees it, or why it cannot."""
    steps, weights, degree = inequality.steps, inequality.weights, inequality.degree
    names = list(steps)
    second = "k*a" if inequality.moves == "transform" else "a**2"
    if inequality.where or inequality.peaks or VARIANCE in str(steps):
        return None, "no estimate: the linear program knows neither limits nor variances nor maxima. "
    if len(names) != 2 or steps[names[0]] != parse("a") or steps[names[1]] != parse(second):
        return None, f"no estimate: the linear program knows states of two coordinates, moved by a and by {second}. "
    if weights is None or degree is None or not 1 <= degree <= 16:
        return None, "no estimate: the sides do not scale alike, with a degree from 1 to 16. "
    left, right = inequality.sides()
    root = weights[names[1]] == 2

    def state(x: Array, y: Array) -> dict[str, Array]:
        return {names[0]: x, names[1]: y * y if root else y}

    def first(x: Array, y: Array) -> Array:
        return np.asarray(left.at(**state(x, y)) - right.at(**state(x, y), C=0.0)) + np.zeros_like(x)

    def against(x: Array, y: Array) -> Array:
        return np.asarray(right.at(**state(x, y), C=1.0) - right.at(**state(x, y), C=0.0)) + np.zeros_like(x)

    t = np.linspace(0.001, 0.999, 97)
    with np.errstate(all="ignore"):
        for side in (first, against):
            flipped = [side(-t, 1 - t)] + ([side(t, t - 1)] if not root else [])
            if any(not np.allclose(side(t, 1 - t), other, rtol=1e-9, atol=1e-12) for other in flipped):
                return None, "no estimate: the linear program knows sides that do not change with the signs of the coordinates. "
        ends = np.array([0.0, 1.0])
        if not all(np.all(np.isfinite(side(ends, 1 - ends))) for side in (first, against)):
            return None, "no estimate: a side is infinite where a coordinate is 0. "
    slopes = (1.0, -1.0) if inequality.moves == "transform" else ()
    return Game(float(degree), first, against, inequality.moves, 0.5, slopes), ""


def _estimate(inequality: Inequality) -> tuple[Program | None, Array, float | None, str]:
    """The program, its spline and its value; or why there is none."""
    stated, why = game(inequality)
    if stated is None:
        return None, np.zeros(0), None, why
    try:
        program = Program(stated, 72)
        return program, *program.solve(), ""
    except Unsolved as error:
        return None, np.zeros(0), None, f"no estimate: the linear program found no U ({error}); the inequality may fail for every C. "
