"""Find the smallest constant a polynomial U can prove, then prove it exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor, isfinite, log10
from pathlib import Path
from time import perf_counter
from typing import Any

from burkholder.checker import Rejected, parse
from burkholder.discovery import exact
from burkholder.discovery.catalogue import problem
from burkholder.discovery.problems import Problem, Worded
from burkholder.discovery.program import NotFound, Program, Solution
from burkholder.discovery.result import Found, ProofCertificate

SLACKS = (1e-8, 1e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 5e-4)  # how far above the solver's optimum a proof is tried

REASONS = {
    "unbounded": "C can be lowered without end. Check its sign in the target: the inequality must get weaker as C grows",
    "infeasible": "the solver finds no polynomial U of this degree, whatever C is. The inequality may be false, or "
    "need a higher `degree`, another statistic, or a U that is not a polynomial",
}
GAVE_UP = "the solver gave up. Rescale the variables with `scale` so that C is near 1, or lower the degree"


def discover(source: str | Path | Problem | Worded, **parameters: Any) -> Found:
    """Search for a Burkholder function and return it with an exact certificate; raise NotFound otherwise.

    `source` is a name of the catalogue, a file, a `Problem`, or an `Inequality`.

    >>> found = discover("zigzag-4")
    >>> str(found.exact), found.sharp
    ('81', True)
    >>> print(found.function)
    27/16*x**4 - 81/8*x**2*y**2 - 27/2*x*y**3 - 81/16*y**4
    """
    began = perf_counter()
    stated = problem(source, **parameters)
    best, optimum = None, 0.0
    for program, solution in _programs(stated):
        optimum = solution.constant
        if stated.exponent > 1:
            optimum = max(optimum, 0.0) ** (1 / stated.exponent)
        for constant in _trials(optimum, stated):
            if best is not None and constant >= best.exact:
                break
            try:
                certificate = exact.prove(program, constant)
            except Rejected as error:
                raise NotFound(f"{stated.name}: the checker refuses the problem: {error}") from None
            if certificate is not None:
                best = Found(stated, constant, optimum, ProofCertificate(certificate), perf_counter() - began)
                break
    if best is not None:
        return best
    raise NotFound(
        f"{stated.name}: the solver suggests C near {optimum:.8g}, but no exact proof was found within a "
        f"factor {1 + SLACKS[-1]:g} of it, so nothing is claimed. Rescale the variables with `scale` so that "
        "the constant is near 1, or lower the degree"
    )


def _programs(stated: Problem) -> Iterator[tuple[Program, Solution]]:
    """The programs worth proving, the simplest first: limits that do not help make the others singular, and proofs harder."""
    if not stated.limited:
        yield _minimise(stated)
        return
    found, reason = [], None
    for together in range(3):
        try:
            found.append(_minimise(stated, together))
        except NotFound as error:
            reason = error
    if not found:
        raise reason or NotFound(f"{stated.name}: {GAVE_UP}")
    yield from found


def _minimise(stated: Problem, together: int = 2) -> tuple[Program, Solution]:
    """The floating optimum. At bad scales solvers wrongly say 'infeasible', so others are tried too."""
    status = ""
    for ratio in (1, Fraction(1, 4), Fraction(1, 16), 4, 16):
        program = Program(_scaled(stated, Fraction(ratio)), together)
        solution = program.solve()
        if _solved(solution):
            return _refined(stated, program, solution)
        status = status or solution.status
        if not _against(stated):
            break
    raise NotFound(f"{stated.name}: {REASONS.get(status, GAVE_UP)}")


def _solved(solution: Solution) -> bool:
    return solution.status in ("optimal", "inaccurate") and isfinite(solution.constant)


def _refined(stated: Problem, program: Program, solution: Solution) -> tuple[Program, Solution]:
    """Solve once more in units where C is about 1: the interior that rounding needs is then widest."""
    terms = _against(stated)
    degree = min((sum(powers) for powers in terms.values()), default=0)
    if not degree or solution.constant <= 0 or 0.5 < solution.constant < 2:
        return program, solution
    ratio = solution.constant ** (1 / degree)
    # A simple scale keeps the points of contact simple fractions, which is how they are recognised.
    simple = Fraction(1, round(ratio)) if ratio > 1 else Fraction(round(1 / ratio))
    better = Program(_scaled(stated, simple), program.together)
    again = better.solve()
    return (better, again) if _solved(again) else (program, solution)


def _against(stated: Problem) -> dict[str, list[int]]:
    """The variables that C multiplies, with their powers there; none where the user chose the scale."""
    found: dict[str, list[int]] = {}
    for monomial in parse(stated.target) if stated.target and not stated.scale else ():
        if ("C", 1) in monomial:
            for name, k in monomial:
                found.setdefault(name, []).append(k)
    found.pop("C", None)
    return found


def _scaled(stated: Problem, ratio: Fraction) -> Problem:
    names = _against(stated)
    return replace(stated, scale=dict.fromkeys(names, ratio)) if names and ratio > 0 else stated


def _trials(optimum: float, stated: Problem) -> Iterator[Fraction]:
    """Constants to prove: the sharp one, simple fractions within solver error of the optimum, then above."""
    size, error = max(abs(optimum), 1e-6), 3e-8
    tried = set()
    if isinstance(stated.known, (int, Fraction)) and abs(stated.known - optimum) <= 1e-5 * size:
        tried.add(Fraction(stated.known))
        yield Fraction(stated.known)
    for bottom in range(1, 61):
        guess = Fraction(round(optimum * bottom), bottom)
        coincidence = error * size * bottom > 0.25  # a grid this fine would match any number
        if abs(float(guess) - optimum) <= error * size and guess not in tried and not coincidence:
            tried.add(guess)
            yield guess
    for slack in SLACKS:
        unit = Fraction(10) ** (floor(log10(size * slack)) - 1)
        yield ceil(Fraction(optimum + size * slack) / unit) * unit
