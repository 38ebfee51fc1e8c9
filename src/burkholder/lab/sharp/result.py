"""The answer: a constant with a certified bracket, what each end rests on, and a picture."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import numpy as np
from scipy.optimize import linprog

from ...errors import BadInput
from ..inequality import Inequality
from . import chains, lower_walks, one_sided, upper_moves, upper_square
from .ends import LowerEnd, UpperEnd, shown_above, shown_below
from .own import OwnConstant, own
from .problems import Problem, find
from .program import Solution, solve


@dataclass(frozen=True)
class SharpConstant:
    """A sharp constant, computed: `lower` ≤ best constant ≤ `upper` whenever both ends are proved."""

    name: str
    statement: str
    constant: float  # the certified upper end: the constant we claim and can prove
    lower: float
    upper: float
    known: float | None  # what theory says, for comparison; nothing was computed from it; None: open
    seconds: float
    estimate: float  # what the linear program said before anything was certified
    upper_end: UpperEnd
    lower_end: LowerEnd
    problem: Problem
    program: Solution | None

    @property
    def proved(self) -> bool:
        return self.upper_end.proved and self.lower_end.proved

    @property
    def width(self) -> float:
        return self.upper - self.lower

    def to_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "name": self.name,
            "statement": self.statement,
            "constant": self.constant,
            "lower": self.lower,
            "upper": self.upper,
            "known": self.known,
            "seconds": self.seconds,
            "estimate": self.estimate,
            "proved": self.proved,
            "upper_rests_on": _rests(self.upper_end, "U"),
            "lower_rests_on": _rests(self.lower_end, "martingale"),
            "lower_steps": self.lower_end.steps,
        }

    def __str__(self) -> str:
        verdict = "proved" if self.proved else "NOT proved"
        lines = [
            f"{self.name}: {self.statement}",
            f"  constant  {shown_above(self.constant)}   "
            + ("(the best one is not known: it lies in the bracket)" if self.known is None else f"(theory says {self.known:.9g})"),
            f"  bracket   [{shown_below(self.lower)}, {shown_above(self.upper)}], width {self.width:.2g}, {verdict}",
            f"  estimate  {self.estimate:.9g} (where to look; nothing rests on it)",
        ]
        for label, end in (("upper", self.upper_end), ("lower", self.lower_end)):
            lines.append(f"  {label} end rests on: {end.basis}")
            lines += [f"    {'ok    ' if passed else 'FAILED'} {text}" for text, passed in end.checks]
        lines.append(f"  the martingale is stopped after at most {self.lower_end.steps:.3g} steps")
        lines.append(f"  {self.seconds:.2f} s")
        return "\n".join(lines)

    def plot(self, path: str | Path | None = None) -> Any:
        """U against V on x+y = 1 and the contact set; saved to `path` when given."""
        from ..plots import against

        return against(self, path)


def _rests(end: UpperEnd | LowerEnd, kind: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "basis": end.basis,
        "parameters": end.parameters,
        "proved": end.proved,
        "checks": [{"check": text, "passed": passed} for text, passed in end.checks],
    }


def _smooth_estimate(p: float) -> float:
    """The program of one unknown for smoothness in the plane: the least C over a grid of x and h."""
    angles = np.linspace(0, np.pi / 2, 33)
    turns = np.linspace(0, np.pi, 65)
    a, b, size = np.meshgrid(angles, turns, np.geomspace(1e-2, 10, 12), indexing="ij")

    def square(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (np.abs(u) ** p + np.abs(v) ** p) ** (2 / p)

    x, h = (np.cos(a), np.sin(a)), (size * np.cos(b), size * np.sin(b))
    rise = (square(x[0] + h[0], x[1] + h[1]) + square(x[0] - h[0], x[1] - h[1])) / 2 - square(*x)
    scale = square(*h)
    rows = -np.ones((rise.size, 1))
    answer = linprog([1.0], A_ub=rows, b_ub=-(rise / scale).ravel(), bounds=[(0, None)], method="highs")
    return float(answer.x[0])


def _upper(problem: Problem, program: Solution | None, estimate: float) -> UpperEnd:
    if program is None:
        return upper_moves.smooth(problem, estimate)
    if problem.moves == "transform":
        return upper_moves.transform(problem, program)
    if problem.moves == "decoupled":
        return upper_moves.decoupled(problem, program)
    if problem.moves == "general":
        family = upper_square.general_first if problem.p == 1 else upper_square.general_power
    else:
        family = {
            (1.0, False): upper_square.dyadic_first,
            (3.0, False): upper_square.dyadic_third,
            (3.0, True): upper_square.dyadic_third_reverse,
        }.get((problem.p, problem.reverse), upper_square.dyadic_fourth)
    return family(problem, program)


def _lower(problem: Problem, upper: UpperEnd) -> LowerEnd:
    if problem.moves == "smooth":
        return chains.search(upper.quoted, lambda c: chains.smooth(problem, c))
    if problem.moves == "transform":
        return chains.search(upper.quoted, lambda c: chains.transform(problem, c))
    if problem.moves == "general":
        chain = chains.general_first if problem.p == 1 else chains.general_power
        return chains.search(upper.quoted, lambda c: chain(problem, c))
    if problem.moves == "decoupled":
        walk = lower_walks.decoupled
    else:
        walk = lower_walks.inner if problem.reverse or problem.p == 1 else lower_walks.outer
    return chains.search(upper.quoted, lambda c: walk(problem, c, upper.contact))


def _one_sided(problem: Problem, began: float) -> SharpConstant:
    near = one_sided.estimate()
    upper = one_sided.upper(near)
    lower = one_sided.lower()
    return SharpConstant(
        problem.name,
        problem.statement,
        upper.quoted,
        lower.quoted,
        upper.quoted,
        None,
        time.perf_counter() - began,
        9 * near**2 / (near - 1) - 5 * near,
        upper,
        lower,
        problem,
        None,
    )


@overload
def sharp(name: Inequality) -> OwnConstant: ...
@overload
def sharp(name: str, martingale: str | None = None, p: float | None = None) -> SharpConstant: ...
def sharp(name: str | Inequality, martingale: str | None = None, p: float | None = None) -> SharpConstant | OwnConstant:
    """The best constant of an inequality, with a certified two-sided bracket.

    A linear program says where to look; a member of a family of functions, derived by hand, is then proved at its
    own constant (upper end), and an explicit martingale violates anything smaller (lower end).

    >>> found = sharp("square-function", martingale="dyadic")
    >>> found.lower < found.constant <= found.upper, round(found.constant, 4)
    (True, 1.3069)

    An `Inequality` of one's own gets an estimate, and an upper end with a certificate where a polynomial proves one.

    >>> mine = sharp(Inequality({"x": "x + a", "s": "s + a**2"}, "general", left="x**2*s", right="C*s**2"))
    >>> mine.exact, abs(mine.estimate - 9) < 0.01
    (Fraction(9, 1), True)
    """
    if isinstance(name, Inequality):
        if martingale is not None or p is not None:
            raise BadInput("martingale", (martingale, p), "an Inequality says these itself")
        return own(name)
    if not isinstance(name, str):
        raise BadInput("name", name, "give the name of an inequality (sharp.names() lists them) or an Inequality")
    problem = find(name, martingale, p)
    began = time.perf_counter()
    if problem.moves == "one-sided":
        return _one_sided(problem, began)
    program = None if problem.moves == "smooth" else solve(problem)
    estimate = _smooth_estimate(problem.p) if program is None else problem.quoted(program.power)
    upper = _upper(problem, program, estimate)
    lower = _lower(problem, upper)
    return SharpConstant(
        problem.name,
        problem.statement,
        upper.quoted,
        lower.quoted,
        upper.quoted,
        problem.known,
        time.perf_counter() - began,
        estimate,
        upper,
        lower,
        problem,
        program,
    )
