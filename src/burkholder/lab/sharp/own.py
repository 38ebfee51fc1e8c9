"""The best constant of an inequality that a user wrote: an estimate, and what of a bracket around it is proved.

The upper end is a polynomial U with an exact certificate (`burkholder.discovery`), a file that `burkholder.checker` verifies alone. Where a
side is no polynomial there is an estimate and no upper end, and the answer says so. No number of any known inequality is used.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from burkholder.checker import parse
from burkholder.discovery.program import NotFound
from burkholder.discovery.result import Found, FoundFunction
from burkholder.discovery.search import discover
from burkholder.errors import BadInput
from burkholder.lab.inequality import Inequality
from burkholder.lab.sharp.ends import above, shown_above
from burkholder.lab.sharp.shape import Array, Game, Program, Unsolved


@dataclass(frozen=True)
class OwnConstant:
    """What is known of the least C: `upper` is proved where it is given, `estimate` never is."""

    inequality: Inequality
    estimate: float | None  # of the linear program; None where it does not apply
    exact: Fraction | None  # proved: the inequality holds with it
    found: Found | None
    why: str  # why an end is missing, or empty
    seconds: float

    @property
    def upper(self) -> float | None:
        """A float not below the exact constant."""
        return None if self.exact is None else above(self.exact)

    @property
    def proved(self) -> bool:
        """Whether the upper end is proved; a lower end is never claimed here."""
        return self.exact is not None

    @property
    def function(self) -> FoundFunction | None:
        """The polynomial U of the proof."""
        return None if self.found is None else self.found.function

    def save(self, path: str | Path) -> Path:
        """Write the certificate of the upper end, for `burkholder check`."""
        if self.found is None:
            raise BadInput("path", str(path), f"there is no certificate: {self.why}")
        return self.found.certificate.save(path)

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.inequality.to_dict(),
            "estimate": self.estimate,
            "upper": self.upper,
            "exact": None if self.exact is None else str(self.exact),
            "proved": self.proved,
            "statement": None if self.found is None else self.found.statement,
            "why": self.why,
            "certificate": None if self.found is None else dict(self.found.certificate.data),
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        lines = [str(self.inequality)]
        if self.upper is not None:
            lines.append(f"  C ≤ {shown_above(self.upper)}, proved in exact arithmetic: {self.exact}")
        if self.found is not None:
            lines.append(f"  U = {self.found.function}")
        if self.estimate is not None:
            lines.append(f"  the linear program says {self.estimate:.6g}: an estimate, neither an upper nor a lower bound")
        lines += [f"  {self.why}"] * bool(self.why)
        return "\n".join([*lines, "  no lower end is proved", f"  {self.seconds:.2f} s"])


def own(inequality: Inequality) -> OwnConstant:
    """Estimate the least C and prove the best upper end that a polynomial U allows.

    >>> found = own(Inequality({"x": "x + a", "s": "s + a**2"}, "general", "s**2", "C*x**4"))
    >>> round(found.upper, 6), found.proved
    (5.828427, True)
    """
    began = time.perf_counter()
    estimate, why = _estimate(inequality)
    found: Found | None = None
    problem = inequality.polynomial()
    if problem is None:
        why += "no upper end is proved: a polynomial proof needs polynomial sides, and even ones for transforms. "
    else:
        try:
            found = discover(problem)
        except NotFound as error:
            why += f"no upper end is proved: {error}. "
    exact = None if found is None else found.exact
    return OwnConstant(inequality, estimate, exact, found, why.strip(), time.perf_counter() - began)


def game(inequality: Inequality) -> tuple[Game | None, str]:
    """The inequality as the linear program sees it, or why it cannot."""
    steps, weights, degree = inequality.steps, inequality.weights, inequality.degree
    names = list(steps)
    second = "k*a" if inequality.moves == "transform" else "a**2"
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


def _estimate(inequality: Inequality) -> tuple[float | None, str]:
    stated, why = game(inequality)
    if stated is None:
        return None, why
    try:
        return Program(stated, 72).solve()[1], ""
    except Unsolved as error:
        return None, f"no estimate: the linear program found no U ({error}); the inequality may fail for every C. "
