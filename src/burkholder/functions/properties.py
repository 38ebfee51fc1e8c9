"""The properties as residuals: positive where a property fails, relative to the size of the terms involved.

One definition for the property tests, for verification and for searches: each takes a batch of points and
returns one number a point. Nothing here proves anything; it says how far a point is from refuting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from burkholder.functions.base import CLOSED, SIGN_FLIP, TANGENT, BurkholderFunction, Tau


class Points(NamedTuple):
    """A batch of places to look at: state, features, a play, a derivative in [-L, L], a comparator."""

    tau: Tau
    x: np.ndarray
    yhat: np.ndarray
    alpha: np.ndarray
    w: np.ndarray


def draw(function: BurkholderFunction, rng: np.random.Generator, count: int, dim: int) -> Points:
    """Random points of the function's own domain."""
    tau, x = function.points(rng, count, dim)
    alpha = function.lipschitz * rng.uniform(-1.0, 1.0, count)
    # small and full derivatives both matter
    alpha = np.where(rng.random(count) < 0.3, function.lipschitz * rng.choice([-1.0, 1.0], count), alpha)
    return Points(tau, x, function.plays(rng, x), alpha, function.comparators(rng, count, dim))


def _relative(excess: np.ndarray, *sizes: np.ndarray) -> np.ndarray:
    scale = np.maximum.reduce([np.abs(size) for size in sizes] + [np.full(np.shape(excess), 1e-290)])
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(excess), -np.inf, excess / scale)


def starts_low(function: BurkholderFunction, points: Points) -> np.ndarray:
    """1°: U(0) ≤ 0."""
    return np.atleast_1d(function.value(function.zero(points.x.shape[-1])))


def dominates(function: BurkholderFunction, points: Points) -> np.ndarray:
    """2°: U ≥ V."""
    return _relative(function.target(points.tau) - function.value(points.tau), function.magnitude(points.tau))


def _after(function: BurkholderFunction, points: Points, yhat: np.ndarray, delta: np.ndarray) -> np.ndarray:
    return function.expected(points.tau, points.x, yhat, delta)


def _scale(function: BurkholderFunction, points: Points, *values: np.ndarray) -> np.ndarray:
    """The size of the terms before and after a full step: rounding errors are relative to these."""
    full = np.full(points.alpha.shape, function.lipschitz)
    after = function.advance(points.tau, points.x, points.yhat, full)
    return np.maximum.reduce([function.magnitude(points.tau), function.magnitude(after), *(np.abs(value) for value in values)])


def falls_on_signs(function: BurkholderFunction, points: Points) -> np.ndarray:
    """3′: E_ε U(τ + T(z, εL)) ≤ U(τ) for a random sign."""
    full = np.full(points.alpha.shape, function.lipschitz)
    up, down = _after(function, points, points.yhat, full), _after(function, points, points.yhat, -full)
    now = function.value(points.tau)
    return _relative(0.5 * (up + down) - now, _scale(function, points, up, down))


def falls_on_average(function: BurkholderFunction, points: Points) -> np.ndarray:
    """3°: E_α U(τ + T(z, α)) ≤ U(τ) for two-point mean-zero α, one value `alpha`, the other ±L."""
    first = points.alpha
    second = -np.where(first >= 0.0, 1.0, -1.0) * function.lipschitz
    chance = np.abs(second) / (np.abs(first) + np.abs(second))  # of `first`
    here, there = _after(function, points, points.yhat, first), _after(function, points, points.yhat, second)
    now = function.value(points.tau)
    return _relative(chance * here + (1.0 - chance) * there - now, _scale(function, points, here, there))


def is_convex(function: BurkholderFunction, points: Points) -> np.ndarray:
    """α ↦ U(τ + T(z, α)) lies below its chord over [-L, L]: what makes 3′ enough."""
    full = np.full(points.alpha.shape, function.lipschitz)
    up, down = _after(function, points, points.yhat, full), _after(function, points, points.yhat, -full)
    share = (points.alpha + full) / (2.0 * full)
    middle = _after(function, points, points.yhat, points.alpha)
    return _relative(middle - share * up - (1.0 - share) * down, _scale(function, points, up, down, middle))


def keeps_sign_flip(function: BurkholderFunction, points: Points) -> np.ndarray:
    """S3's lemma: with the sign-flip prediction U does not rise at `alpha`, ends included."""
    yhat = function.sign_flip(points.tau, points.x)
    after = _after(function, points, yhat, points.alpha)
    now = function.value(points.tau)
    return _relative(after - now, _scale(function, points, after, points.alpha * yhat))


def keeps_tangent(function: BurkholderFunction, points: Points) -> np.ndarray:
    """S4's majorant: with the tangent prediction U does not rise at `alpha`."""
    yhat = function.tangent(points.tau, points.x)
    after = _after(function, points, yhat, points.alpha)
    now = function.value(points.tau)
    return _relative(after - now, _scale(function, points, after, points.alpha * yhat))


def bounds_regret(function: BurkholderFunction, points: Points) -> np.ndarray:
    """(T, V): linearised regret less A(w) is at most V, for every comparator the function admits."""
    regret, promise = function.linearised(points.w, points.tau), function.bound(points.w, points.tau)
    target = function.target(points.tau)
    size = np.where(np.isinf(promise), 0.0, promise)
    return _relative(regret - promise - target, regret, size, target, function.magnitude(points.tau))


def applicable(function: BurkholderFunction) -> dict[str, Callable[[BurkholderFunction, Points], np.ndarray]]:
    """The properties this function claims, by name."""
    checks: dict[str, Callable[[BurkholderFunction, Points], np.ndarray]] = {"1": starts_low, "2": dominates, "regret": bounds_regret}
    if SIGN_FLIP in function.structure:
        checks |= {"3'": falls_on_signs, "convex": is_convex, "sign-flip": keeps_sign_flip}
    elif CLOSED in function.structure:
        checks |= {"3'": falls_on_signs}
    else:
        checks |= {"3": falls_on_average}
    if TANGENT in function.structure:
        checks |= {"tangent": keeps_tangent}
    return checks
