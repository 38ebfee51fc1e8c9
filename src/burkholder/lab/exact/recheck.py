"""A witness, evaluated a second time: what is claimed, written out again for balls instead of floats.

The search evaluates `functions.properties` in float64. Here the same excess is written a second time, by the
definitions, in an arithmetic that bounds its own errors: a slip in either would show as a disagreement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.functions.base import BurkholderFunction
from burkholder.functions.properties import Points
from burkholder.lab.exact.ball import balls
from burkholder.lab.exact.replay import view

Rows = list[tuple[np.ndarray, Any, Any]]  # (x, ŷ, δ) of each round
Excess = Callable[[BurkholderFunction, Points, Any], Any]


def excess(function: BurkholderFunction, claim: str, point: Points) -> float | None:
    """A lower bound of the excess at the doubles of a point; None when U is not made of what balls can do."""
    formula = FORMULAS.get(claim)
    if formula is None:
        return None
    try:
        at = Points(tuple(balls(part) for part in point.tau), *(balls(part) for part in point[1:]))
        bound = np.full(1, function.lipschitz)
        amount = formula(view(function), at, bound)[0].arb
    except Exception:  # whatever it was, floats keep the last word
        return None
    return float(amount.lower()) if amount.is_finite() else None


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


def stream_excess(function: BurkholderFunction, rows: Rows, w: np.ndarray, dim: int) -> float | None:
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
    return float(amount.lower()) if amount.is_finite() else None


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
