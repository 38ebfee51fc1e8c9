"""The lower end where variances are given or steps are limited: waiting for one jump, or stopping on a lattice.

Both are proved by `burkholder.stopped`; what is found here in floating point only says which numbers to try.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from burkholder.checker import Poly, Rejected, digest, parse
from burkholder.discovery.problems import Problem
from burkholder.lab.sharp.plan import Array
from burkholder.stopped import LATTICE, STATES, STILL, refuted

GAPS = (1e-3, 3e-4, 1e-4, 5e-5, 2e-5, 1e-5)
HORIZON, UPS = 16, 32  # the sum of the variances, in units of the longest step squared, and how many such steps are looked at


def sealed(problem: Problem, form: str, constant: Fraction, **entries: Any) -> dict[str, Any] | None:
    """The certificate, if it passes the exact check."""
    data = {"format": form, "name": f"{problem.target}, limited", "problem": problem.statement(), "constant": str(constant), **entries}
    data |= {"digest": digest(data)}
    try:
        refuted(data)
    except Rejected:
        return None
    return data


def still(problem: Problem, weights: Mapping[str, int], sharp: float) -> dict[str, Any] | None:
    """The largest constant below `sharp` for which waiting for one jump passes the exact check."""
    best, degree = None, max(sum(weights.get(n, 0) * k for n, k in m) for m in parse(problem.target))
    for gap in GAPS:
        # those who wait gain as much as they lose at jump² = 2/p; a little above, more
        jump = Fraction(math.sqrt(2 / degree) * (1 + gap / (4 * degree))).limit_denominator(10**9)
        growth = 1 + Fraction(gap / 1000).limit_denominator(10**12)
        constant = Fraction(sharp * (1 - gap)).limit_denominator(10**9)
        found = sealed(problem, STILL, constant, weights=dict(weights), jump=str(jump), growth=str(growth))
        if found is None:
            break
        best = found
    return best


def longest(problem: Problem) -> Fraction | None:
    """How far up a step may go where a limit says so, in a problem that lattices are for."""
    if problem.peak or problem.below not in ("", "1") or not any("a" in step.variables() for step in problem.steps.values()):
        return None
    for g in (parse(text) for text in problem.within):
        if g.variables() == {"a"}:
            roots = np.roots([float(g.get((("a", k),) if k else (), Fraction(0))) for k in range(max(k for m in g for _, k in m), -1, -1)])
            above = [Fraction(float(z.real)).limit_denominator(1000) for z in roots if abs(z.imag) < 1e-9 and z.real > 1e-9]
            return min(above, default=None)
    return None


def lattice(problem: Problem, longest: Fraction, sharp: float) -> dict[str, Any] | None:
    """The largest constant for which stopping on a lattice, of steps `longest` up and small ones down, passes the exact check."""
    best = None
    for grain in (30, 2500):
        for up, down in _pairs(longest, grain):
            rounds, ups = _size(up, down, longest)
            at = _turn(problem, float(up), float(down), rounds, ups, 0.0 if best is None else float(Fraction(best["constant"])), sharp)
            if at is None:
                continue
            constant = Fraction(at * (1 - 1e-6)).limit_denominator(10**7)
            best = sealed(problem, LATTICE, constant, up=str(up), down=str(down), rounds=rounds, ups=ups) or best
        if best is None:
            break
    return best


def _pairs(longest: Fraction, grain: int) -> Iterator[tuple[Fraction, Fraction]]:
    yield longest, longest / grain


def _size(up: Fraction, down: Fraction, longest: Fraction) -> tuple[int, int]:
    rounds = int(HORIZON * longest**2 / (up * down))
    return min(rounds, STATES // (UPS + 1)), UPS


def _turn(problem: Problem, up: float, down: float, rounds: int, ups: int, low: float, high: float) -> float | None:
    """Where the worth of the game changes sign in C, between the two; None where it is below `low` already."""
    chance, k = down / (up + down), np.arange(ups + 1)
    steps = {n: [_value(p, a, up * down, problem.variance) for a in (up, -down)] for n, p in problem.steps.items()}
    target = parse(problem.target)

    def worth(c: float) -> float:
        here: Array | None = None
        for n in range(rounds, -1, -1):
            at = {name: k * u + (n - k) * d for name, (u, d) in steps.items()}
            stop = sum(
                (float(q) * c ** dict(m).get("C", 0) * np.prod([at[x] ** j for x, j in m if x != "C"], axis=0) for m, q in target.items()),
                0 * k,
            )
            if here is None:
                here = stop
                continue
            go = chance * here[1:] + (1 - chance) * here[:-1]
            here = np.append(np.maximum(stop[:-1], go) if n else go, stop[-1])
        return float(here[0])  # type: ignore[index]

    if worth(low) <= 0:
        return None
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) > 0 else (low, middle)
    return low


def _value(step: Poly, a: float, variance: float, name: str) -> float:
    return float(sum(float(c) * np.prod([(a if n == "a" else variance) ** k for n, k in m]) for m, c in step.items()))
