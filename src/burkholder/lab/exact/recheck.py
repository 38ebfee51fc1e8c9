"""A witness, evaluated a second time: what is claimed, written out again for balls instead of floats.

The search evaluates `functions.properties` in float64. Here the same excess is written a second time, by the
definitions, in an arithmetic that bounds its own errors: a slip in either would show as a disagreement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burkholder.functions.base import BurkholderFunction
from burkholder.functions.properties import Points
from burkholder.lab.exact.ball import balls
from burkholder.lab.exact.replay import view

Rows = list[tuple[np.ndarray, Any, Any]]  # (x, ŷ, δ) of each round
GROSS = 1e-6  # of the terms involved: no rounding of a formula worth verifying is as large
Excess = Callable[[BurkholderFunction, Points, Any], Any]


class Enclosure(NamedTuple):
    """Between which numbers the excess lies, at the doubles of a point, and what floats made of it."""

    lower: float
    upper: float
    floating: float


def excess(function: BurkholderFunction, claim: str, point: Points) -> Enclosure | None:
    """The excess at the doubles of a point, by the function's own formulas; None when balls cannot run them."""
    formula = FORMULAS.get(claim)
    if formula is None:
        return None
    bound = np.full(1, function.lipschitz)
    try:
        at = Points(tuple(balls(part) for part in point.tau), *(balls(part) for part in point[1:]))
        amount = formula(view(function), at, bound)[0].arb
        with np.errstate(all="ignore"):
            floating = float(formula(function, point, bound)[0])
    except Exception:  # whatever it was, floats keep the last word
        return None
    return _enclosure(amount, floating)


def start(function: BurkholderFunction, dim: int) -> Enclosure | None:
    """The same for U(ζ₀)."""
    try:
        zero = tuple(np.asarray(part, float)[None] for part in function.zero(dim))
        return _enclosure(view(function).value(tuple(balls(part) for part in zero))[0].arb, float(function.value(zero)[0]))
    except Exception:
        return None


def judge(found: Enclosure | None, amount: float, relative: float, stable: bool) -> tuple[float, str] | str:
    """(amount, arithmetic) of a violation, or in words why it is none.

    Only balls may call a residual rounding: when they say that the function's own formula exceeds by (next to) nothing
    there. What balls cannot run is believed when it stands a jitter; and so is a residual far above all rounding, stable,
    of a function that tells balls another story than floats.
    """
    if found is not None and found.lower > 0:
        return found.lower, "ball arithmetic at these numbers"
    explained = found is not None and found.upper <= max(0.0, 1e-3 * found.floating)
    if stable and (not explained or relative > GROSS):
        return amount, "float64, relative"
    if explained and found is not None:
        return f"the worst residual in floats, {relative:.1e}, is rounding: in ball arithmetic it is at most {found.upper:.1e}"
    return f"a residual of {relative:.1e} did not stand a jitter of 1e-11: it could not be told from rounding"


def _enclosure(amount: Any, floating: float) -> Enclosure | None:
    return Enclosure(float(amount.lower()), float(amount.upper()), floating) if amount.is_finite() else None


def _dominates(f: BurkholderFunction, at: Points, bound: Any) -> Any:
    return f.target(at.tau) - f.value(at.tau)


def _signs(f: BurkholderFunction, at: Points, bound: Any) -> Any:
    return (_after(f, at, bound) + _after(f, at, -bound)) / 2.0 - f.value(at.tau)


def _average(f: BurkholderFunction, at: Points, bound: Any) -> Any:
    other = bound if at.alpha[0] < 0 else -bound
    weight = abs(other) * _after(f, at, at.alpha) + abs(at.alpha) * _after(f, at, other)
    return weight / (abs(at.alpha) + abs(other)) - f.value(at.tau)


def _convex(f: BurkholderFunction, at: Points, bound: Any) -> Any:
    chord = (at.alpha + bound) * _after(f, at, bound) + (bound - at.alpha) * _after(f, at, -bound)
    return _after(f, at, at.alpha) - chord / (2.0 * bound)


def _sign_flip(f: BurkholderFunction, at: Points, bound: Any) -> Any:
    play = f.sign_flip(at.tau, at.x)
    return f.expected(at.tau, at.x, play, at.alpha) - f.value(at.tau)


def _tangent(f: BurkholderFunction, at: Points, bound: Any) -> Any:
    play = f.tangent(at.tau, at.x)
    return f.expected(at.tau, at.x, play, at.alpha) - f.value(at.tau)


def _regret(f: BurkholderFunction, at: Points, bound: Any) -> Any:
    return f.linearised(at.w, at.tau) - f.bound(at.w, at.tau) - f.target(at.tau)


def stream_excess(function: BurkholderFunction, rows: Rows, w: np.ndarray, dim: int, floating: float) -> Enclosure | None:
    """The same for a whole stream of rounds (x, ŷ, δ) against a comparator."""
    try:
        tau: Any = tuple(np.asarray(part)[None] for part in function.zero(dim))
        a, g = np.zeros(1), np.zeros((1, rows[0][0].shape[-1]))
        for row in rows:
            x, yhat, delta = (balls(part) for part in row)
            tau = function.advance(tau, x, yhat, delta)
            a, g = a + delta * yhat, g + delta[:, None] * x
        against = balls(w)
        given_back, promise = function.refine(against, tau), function.bound(against, tau)
        amount = (a - (against * g).sum(axis=-1) - given_back - promise - function.target(tau))[0].arb
    except Exception:
        return None
    return _enclosure(amount, floating)


def _after(f: BurkholderFunction, at: Points, delta: Any) -> Any:
    return f.expected(at.tau, at.x, at.yhat, delta)


FORMULAS: dict[str, Excess] = {
    "2": _dominates,
    "3'": _signs,
    "3": _average,
    "convex": _convex,
    "sign-flip": _sign_flip,
    "tangent": _tangent,
    "regret": _regret,
}
