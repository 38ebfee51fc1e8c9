"""The inequalities whose best constant we look for: what moves, what is compared, and what theory says.

Every problem has a two-dimensional state (x, y) with x, y ≥ 0 and a target homogeneous of degree p,
V_C(x, y) = ± (x^p − C·y^p) in the sense of `target`. The moves are

* ``dyadic``     x ± d with a fair sign, y = √s and s grows by d² (square function, Rademacher signs);
* ``general``    x + d with any mean-zero d, s grows by d² (square function, general martingales);
* ``transform``  (x + d, y ± d) with any mean-zero d: the zigzag lines of a ±1 transform;
* ``decoupled``  (x ± d, y ± d) with two independent fair signs;
* ``one-sided``  the same, but d may look at the first sign's past alone (see `one_sided`);
* ``smooth``     one fair step x ± h in l_p, compared with C·‖h‖².
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import cos, pi, sin, sqrt

import numpy as np

from ...errors import BadInput

WHO = {
    "dyadic": "f = Σe_t v_t, S² = Σv_t²: e_t fair signs, v_t chosen from everything before round t",
    "general": "f any martingale from 0, S² = Σ(df)²",
    "transform": "f any martingale from 0, dg = ±df with the sign chosen before the step",
    "decoupled": "f = Σe_t v_t, g = Σe'_t v_t: e_t, e'_t independent fair signs, v_t chosen from both sequences before round t",
    "one-sided": "f = Σe_t v_t, g = Σe'_t v_t: e_t, e'_t independent fair signs, v_t chosen from e_1 … e_{t−1} alone",
}


@dataclass(frozen=True)
class Problem:
    """One inequality E[left] ≤ C·E[right]. `root` says that the constant is quoted as C^{1/p} (norms)."""

    name: str
    moves: str  # dyadic, general, transform, decoupled, one-sided, smooth
    p: float
    known: float | None  # what theory says; never used in a computation, only shown beside it
    reverse: bool = False  # the square function (or y) on the left instead of x
    root: bool = False

    @property
    def statement(self) -> str:
        """The inequality in words, made from what is solved."""
        if self.moves == "smooth":
            return f"(‖x+h‖² + ‖x−h‖²)/2 ≤ ‖x‖² + C‖h‖² for all x and h, in l_{self.p:g}"
        other = "S" if self.moves in ("dyadic", "general") else "g"
        left, right = (other, "f") if self.reverse else ("f", other)
        power = "" if self.p == 1 else f"^{self.p:g}"
        about = f"‖{left}‖_{self.p:g} ≤ C‖{right}‖_{self.p:g}" if self.root else f"E|{left}|{power} ≤ C·E|{right}|{power}"
        return f"{about}, {WHO[self.moves]}"

    def majorant(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The two parts of the target V_C = left − C·right at a state."""
        return (y**self.p, x**self.p) if self.reverse else (x**self.p, y**self.p)

    def target(self, x: np.ndarray, y: np.ndarray, power: float) -> np.ndarray:
        """V_C for C = `power` (the constant on p-th powers)."""
        left, right = self.majorant(x, y)
        return left - power * right

    def quoted(self, power: float) -> float:
        """The constant as the table quotes it, from the one on p-th powers."""
        return float(power) ** (1 / self.p) if self.root else float(power)

    def power(self, quoted: float) -> float:
        """The constant on p-th powers from the quoted one."""
        return float(quoted) ** self.p if self.root else float(quoted)


def _davis(p: float, reverse: bool) -> float:
    """First zero of M(−p/2, ½, z²/2), the reference value for comparison only."""
    from scipy.optimize import brentq
    from scipy.special import hyp1f1

    root = brentq(lambda z: hyp1f1(-p / 2, 0.5, z * z / 2), 1e-3, 1.9 if p < 2 else 1.2, xtol=1e-15)
    return 1 / root if reverse else root


def _transform(p: float) -> Problem:
    return Problem(f"transform-{p:g}", "transform", p, max(p, p / (p - 1)) - 1, reverse=True, root=True)


def _general(p: int) -> Problem:
    return Problem(f"square-function-{p}-general", "general", float(p), p - 1.0, root=True)


def _other(name: str) -> Problem | None:
    """Powers that are not listed but that the same proofs cover."""
    if match := re.fullmatch(r"transform-(\d+(?:\.\d+)?)", name):
        p = float(match[1])
        return _transform(p) if 1.1 <= p <= 5 and p != 2 else None
    return _general(5) if name == "square-function-5-general" else None


def _problems() -> tuple[Problem, ...]:
    return (
        *(_transform(p) for p in (1.5, 3.0, 4.0)),
        Problem("decoupled-4", "decoupled", 4.0, (cos(pi / 8) / sin(pi / 8)) ** 4, reverse=True),
        Problem("one-sided-decoupled-4", "one-sided", 4.0, None),
        Problem("square-function-dyadic", "dyadic", 1.0, _davis(1.0, False)),
        Problem("square-function-general", "general", 1.0, 2.0),
        _general(3),
        Problem("square-function-4-general", "general", 4.0, 81.0),
        Problem("square-function-3-dyadic", "dyadic", 3.0, sqrt(3), root=True),
        Problem("square-function-4-dyadic", "dyadic", 4.0, (3 + sqrt(6)) ** 2),
        Problem("reverse-square-function-3-dyadic", "dyadic", 3.0, _davis(3.0, True), reverse=True, root=True),
        Problem("reverse-square-function-4-dyadic", "dyadic", 4.0, 1 / (3 - sqrt(6)) ** 2, reverse=True),
        Problem("smoothness-4", "smooth", 4.0, 3.0),
    )


def names() -> list[str]:
    """Every inequality `sharp` knows.

    >>> "square-function-dyadic" in names()
    True
    """
    return [problem.name for problem in _problems()]


def find(name: str, martingale: str | None = None, p: float | None = None) -> Problem:
    """The problem of that name; `martingale` and `p` complete a short name.

    >>> find("square-function", martingale="dyadic").name
    'square-function-dyadic'
    >>> find("square-function", martingale="general", p=4).name
    'square-function-4-general'
    """
    parts = [name] + ([f"{p:g}"] if p is not None and p != 1 else []) + ([martingale] if martingale else [])
    full = "-".join(parts)
    if full.startswith("zigzag"):  # the transforms under the name of their U
        full = full.replace("zigzag", "transform", 1)
    for problem in _problems():
        if problem.name == full:
            return problem
    # A single problem behind a short name is what was meant: "decoupled", "smoothness".
    begun = [problem for problem in _problems() if problem.name.startswith(full + "-")]
    if len(begun) == 1:
        return begun[0]
    if other := _other(full):
        return other
    raise BadInput("name", full, "use one of: " + ", ".join(names()) + "; also transform-P for 1.1 ≤ P ≤ 5 and square-function-5-general")
