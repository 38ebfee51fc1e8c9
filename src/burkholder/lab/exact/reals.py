"""Exact real arithmetic for proofs: z3 over polynomial constraints, python-flint balls for everything else."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from burkholder.errors import BadInput, MissingExtra

Number = int | float | str | Fraction


def rational(value: Number) -> Fraction:
    """The exact value of a number: an int, a fraction, a decimal string, or a float, which is a fraction too.

    >>> rational("0.1"), rational(0.1) - rational("0.1") > 0
    (Fraction(1, 10), True)
    """
    if isinstance(value, str) and ("e" in value.lower() or len(value) > 200):
        raise BadInput("number", value[:40], "write a fraction or a decimal of at most 200 characters")
    return Fraction(value)


def shown(value: Number) -> str:
    """The number as a reader wants it: a float by its shortest decimal, everything else as it is."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(rational(value))


def z3() -> Any:
    """The z3 module, or a message saying how to get it."""
    try:
        import z3 as module
    except ImportError as missing:
        raise MissingExtra("z3-solver", "discover") from missing
    return module


def flint() -> Any:
    """The flint module at a working precision of 128 bits, or a message saying how to get it."""
    try:
        import flint as module
    except ImportError as missing:
        raise MissingExtra("python-flint", "discover") from missing
    module.ctx.prec = 128
    return module


def constant(value: Number) -> Any:
    """A rational number as z3 sees it."""
    exact = rational(value)
    return z3().RatVal(exact.numerator, exact.denominator)


def ball(value: Number) -> Any:
    """A rational number as a ball; wide only by the working precision."""
    exact = rational(value)
    module = flint()
    return module.arb(module.fmpq(exact.numerator, exact.denominator))


def decide(cases: Mapping[str, Sequence[Any]], seconds: float) -> tuple[str, str | None, Mapping[str, Fraction] | None]:
    """Look for a point in any of the cases: ("none", ...), ("found", case, point) or ("unknown", case, None).

    Every case is a conjunction of polynomial constraints that describes a *violation*: "none" is a proof that
    there is no violation in any case. The coordinates of a point are rational approximations (within 1e-12) of
    what z3 found, which may be algebraic: the caller re-evaluates the violation there in exact arithmetic.
    """
    module = z3()
    deadline = time.perf_counter() + seconds
    unknown: str | None = None
    for name, constraints in cases.items():
        left = deadline - time.perf_counter()
        if left <= 0:
            return "unknown", name, None
        solver = module.SolverFor("QF_NRA")
        solver.set("timeout", max(1, int(1000 * left)))
        solver.add(*constraints)
        answer = solver.check()
        if answer == module.sat:
            model = solver.model()
            return "found", name, {str(item): _approximate(model[item]) for item in model.decls()}
        if answer != module.unsat:
            unknown = unknown or name
    return ("unknown", unknown, None) if unknown else ("none", None, None)


def with_margin(
    violation: Callable[[Fraction], Mapping[str, Sequence[Any]]], seconds: float
) -> tuple[str, str | None, list[Mapping[str, Fraction]]]:
    """`decide`, then on a find the points with the largest margins first: those survive rounding best."""
    outcome, case, point = decide(violation(Fraction(0)), seconds)
    if outcome != "found" or point is None:
        return outcome, case, []
    points = [point]
    for margin in (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 20)):
        outcome, _, better = decide(violation(margin), min(seconds, 2.0))  # a comfort, not worth long waits
        if outcome != "found" or better is None:
            break
        points.insert(0, better)
    return "found", case, points


def _approximate(value: Any) -> Fraction:
    """A rational within 1e-12 of a number of z3's, which may be an algebraic one."""
    module = z3()
    if module.is_algebraic_value(value):
        value = value.approx(12)
    return Fraction(value.numerator_as_long(), value.denominator_as_long())


def shorten(value: Fraction, denominator: int) -> Fraction:
    """The nearest fraction with a bounded denominator: a witness a person can type."""
    return value.limit_denominator(denominator)
