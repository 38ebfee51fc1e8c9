"""What is claimed of a Burkholder function, as residuals: positive where the claim is false.

Each claim is written once. A search evaluates it through a `Guard` on floats; a witness is evaluated again through
`Plain` on balls, with the same lines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.functions.base import CLOSED, SIGN_FLIP, TANGENT, BurkholderFunction, Tau
from burkholder.lab.guard import Guard
from burkholder.lab.places import Places

ENDS = (0.1, 1.0, 10.0)  # the bounds B at which a closed form is tried


class Plain:
    """A function as it is, for arguments that are not floats."""

    def __init__(self, function: BurkholderFunction) -> None:
        self.function, self.after = function, function.expected
        self.value, self.target = function.value, function.target

    def rule(self, name: str, tau: Tau, x: np.ndarray, *extra: Any) -> np.ndarray:
        return getattr(self.function, name)(tau, x, *extra)


View = Guard | Plain


@dataclass(frozen=True)
class Claim:
    """One property: whether it is asked of a function, and its residual with the sizes it was computed from."""

    name: str
    statement: str
    applies: Callable[[BurkholderFunction], bool]
    residual: Callable[[View, Places], tuple[np.ndarray, list[np.ndarray]]]


def majorises(f: View, at: Places) -> tuple[np.ndarray, list[np.ndarray]]:
    """2°: V(τ) − U(τ)."""
    value, target = f.value(at.tau), f.target(at.tau)
    return target - value, [value, target]


def supermartingale(f: View, at: Places) -> tuple[np.ndarray, list[np.ndarray]]:
    """3°: E U(τ+T(z,α)) − U(τ) over a two-point law of mean zero; 3′ is the law of signs."""
    before, up, down = f.value(at.tau), _after(f, at, at.high), _after(f, at, -at.low)
    return (at.low * up + at.high * down) / (at.low + at.high) - before, [before, up, down]


def convex(f: View, at: Places) -> tuple[np.ndarray, list[np.ndarray]]:
    """α ↦ U(τ+T(z,α)) lies below its chord between −low and high."""
    up, down = _after(f, at, at.high), _after(f, at, -at.low)
    worst: Any = None
    for part in (0.25, 0.5, 0.75):
        middle = _after(f, at, part * at.high - (1.0 - part) * at.low)
        over = middle - (part * up + (1.0 - part) * down)
        worst = over if worst is None else np.maximum(worst, over)
    return worst, [up, down]


def tangent(f: View, at: Places) -> tuple[np.ndarray, list[np.ndarray]]:
    """S4: U(τ+T) − U(τ) − δ⟨∇,x⟩, at the function's own rule ŷ = −⟨∇,x⟩ (its δŷ left out)."""
    play = f.rule("tangent", at.tau, at.x)
    before, sizes = f.value(at.tau), []
    worst: Any = None
    for delta in (at.high, -at.low):
        after = _after(f, at, delta)
        over = after - before + f.function.lipschitz * delta * play
        worst = over if worst is None else np.maximum(worst, over)
        sizes += [after, f.function.lipschitz * delta * play]
    return worst, [before, *sizes]


def sign_flip(f: View, at: Places) -> tuple[np.ndarray, list[np.ndarray]]:
    """S3: with the function's own rule, U does not rise, whatever δ."""
    play = f.rule("sign_flip", at.tau, at.x)
    return _rise(f, at, play, f.value(at.tau), [np.ones_like(at.low)] * 2)


def closed(f: View, at: Places) -> tuple[np.ndarray, list[np.ndarray]]:
    """The function's own closed form: U does not rise, for δ that point outward at ±B."""
    before, sizes = f.value(at.tau), []
    worst: Any = None
    for end in ENDS:
        play = f.rule("closed_form", at.tau, at.x, end)
        allowed = [np.where(play > -end, 1.0, 0.0), np.where(play < end, 1.0, 0.0)]
        over, used = _rise(f, at, play, before, allowed)
        worst = over if worst is None else np.maximum(worst, over)
        sizes += used
    return worst, sizes


def _rise(f: View, at: Places, play: Any, before: Any, allowed: list[Any]) -> tuple[Any, list[Any]]:
    worst: Any = None
    sizes = [before]
    for delta, factor in ((at.high, allowed[0]), (-at.low, allowed[1])):
        step = f.function.lipschitz * delta * factor
        after = f.after(at.tau, at.x, play, step)
        worst = after - before if worst is None else np.maximum(worst, after - before)
        sizes += [after, step * play]
    return worst, sizes


def _after(f: View, at: Places, delta: np.ndarray) -> np.ndarray:
    return f.after(at.tau, at.x, at.yhat, f.function.lipschitz * delta)


def _declares(tag: str) -> Callable[[BurkholderFunction], bool]:
    return lambda function: tag in function.structure


def _always(function: BurkholderFunction) -> bool:
    return True


def _states_target(function: BurkholderFunction) -> bool:
    return type(function).target is not BurkholderFunction.target


CLAIMS = (
    Claim("2", "U(τ) ≥ V(τ)", _states_target, majorises),
    Claim("3", "E U(τ+T(z,α)) ≤ U(τ) for every mean-zero α on [−L,L]", _always, supermartingale),
    Claim("convex", "α ↦ U(τ+T(z,α)) is convex", _declares(SIGN_FLIP), convex),
    Claim("S3", "the sign-flip rule never lets U rise", _declares(SIGN_FLIP), sign_flip),
    Claim("S4", "U(τ+T) ≤ U(τ) + δŷ + δ⟨∇,x⟩ for every δ in [−L,L]", _declares(TANGENT), tangent),
    Claim("rule", "the closed form never lets U rise", _declares(CLOSED), closed),
)
