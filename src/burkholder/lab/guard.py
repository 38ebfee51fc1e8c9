"""A Burkholder function under examination: every answer is checked, and a bad one is reported with its point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput, BurkholderError
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.lab.places import overrides

HUGE = 1e250  # beyond this a number is as good as infinite: formulas that are held below 1e300 are held from here


class Guard(BurkholderFunction):
    """Passes a function's mathematics through; NaN, a wrong shape or an exception names the point.

    A huge or infinite U is not an error (exponentials overflow far out): such points are left out and counted.
    """

    def __init__(self, function: BurkholderFunction, clocks: tuple[bool, ...] = (), floor: float = 0.0) -> None:
        self.inner, self.clocks, self.floor = function, clocks, floor
        self.overflows = 0
        self.name, self.lipschitz, self.structure = function.name, function.lipschitz, function.structure
        self.measured = overrides(function, "magnitude")

    def zero(self, dim: int = 1) -> Tau:
        return tuple(np.asarray(part, float) for part in self._call("zero", self.inner.zero, (dim,), (), None))

    def value(self, tau: Tau) -> np.ndarray:
        return self._numbers("value", self.inner.value, (tau,), tau, None)

    def target(self, tau: Tau) -> np.ndarray:
        return self._numbers("target", self.inner.target, (tau,), tau, None)

    def expected(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> np.ndarray:
        # an infinite prediction comes from an infinite U: the point is left out
        playable = np.isfinite(yhat)
        after = self._numbers("value", self.inner.expected, (tau, x, np.where(playable, yhat, 0.0), delta), tau, x, delta)
        return np.where(playable, after, np.inf)

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        playable = np.where(np.isfinite(yhat), yhat, 0.0)
        return self._call("advance", self.inner.advance, (tau, x, playable, delta), tau, x, delta)

    def sign_flip(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        formula = self.inner.sign_flip
        if not overrides(self.inner, "sign_flip"):  # the base's difference of two U, where both may be infinite
            return self._numbers("sign_flip", lambda *at: np.nan_to_num(formula(*at), nan=np.inf), (tau, x), tau, x)
        return self._numbers("sign_flip", formula, (tau, x), tau, x)

    def tangent(self, tau: Tau, x: np.ndarray) -> np.ndarray:
        return self._numbers("tangent", self.inner.tangent, (tau, x), tau, x)

    def closed_form(self, tau: Tau, x: np.ndarray, bound: float) -> np.ndarray:
        return self._numbers("closed_form", self.inner.closed_form, (tau, x, bound), tau, x)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return self._numbers("bound", self.inner.bound, (w, tau), tau, w)

    def linearised(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return self._numbers("linearised", self.inner.linearised, (w, tau), tau, w)

    def magnitude(self, tau: Tau) -> np.ndarray:
        """What rounding is relative to: the function's own word, or an estimate of the numbers inside U.

        |τ·∇U| along a direction of mixed signs is large where U is a small difference of large terms; the floor
        stands for terms that τ does not scale, such as the 1 of exp(g) − 1.
        """
        if self.measured:
            return self.inner.magnitude(tau)
        step = 1e-4
        moved = tuple(
            part if clock else part * (1.0 + (step if k % 2 else -step))
            for k, (part, clock) in enumerate(zip(tau, self.clocks, strict=True))
        )
        with np.errstate(all="ignore"):
            here = np.asarray(self.inner.value(tau), float)
            change = np.abs(np.asarray(self.inner.value(moved), float) - here) / step
        return np.abs(here) + np.where(np.isfinite(change), change, 0.0) + self.floor

    def points(self, rng: np.random.Generator, count: int, dim: int) -> tuple[Tau, np.ndarray]:
        if overrides(self.inner, "points"):
            return self._call("points", self.inner.points, (rng, count, dim), (), None)
        return super().points(rng, count, dim)

    def features(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        return self.inner.features(rng, count, dim)

    def comparators(self, rng: np.random.Generator, count: int, dim: int) -> np.ndarray:
        return self.inner.comparators(rng, count, dim)

    def plays(self, rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
        return self.inner.plays(rng, x)

    def sizes(self, x: np.ndarray) -> dict[str, tuple[np.ndarray, float]]:
        return self.inner.sizes(x)

    def refine(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return self.inner.refine(w, tau)

    def _call(
        self,
        name: str,
        formula: Callable[..., Any],
        arguments: tuple[Any, ...],
        tau: Tau,
        x: np.ndarray | None,
        delta: np.ndarray | None = None,
    ) -> Any:
        try:
            with np.errstate(all="ignore"):
                return formula(*arguments)
        except (BurkholderError, NotImplementedError):
            raise
        except Exception as trouble:
            place = _first_raising(formula, arguments)
            raise BadInput(
                f"{name} of {self.name}",
                trouble,
                f"it raised at {describe(tau, x, delta, place) or 'the start'}; it is called with batches: tau a tuple "
                f"of arrays and x of shape (batch, dim)",
            ) from trouble

    def _numbers(
        self,
        name: str,
        formula: Callable[..., Any],
        arguments: tuple[Any, ...],
        tau: Tau,
        x: np.ndarray | None,
        delta: np.ndarray | None = None,
    ) -> np.ndarray:
        batch = np.shape(x)[:-1] if x is not None else np.shape(tau[0])[: 1 if np.ndim(tau[0]) else 0]
        raw = self._call(name, formula, arguments, tau, x, delta)
        try:
            answer = np.asarray(raw, float)
        except (TypeError, ValueError, OverflowError) as trouble:
            raise BadInput(f"{name} of {self.name}", raw, "it must return an array of numbers") from trouble
        if batch and answer.shape != batch:
            raise BadInput(
                f"{name} of {self.name}",
                Text(f"an array of shape {answer.shape}"),
                f"for {batch[0]} points, the first {describe(tau, x, delta, 0)}, return shape {batch}: one number each",
            )
        bad = np.atleast_1d(np.isnan(answer))
        if bad.any():
            raise BadInput(
                f"{name} of {self.name}",
                float("nan"),
                f"return a number at {describe(tau, x, delta, int(np.argmax(bad)))}, "
                f"and at {int(bad.sum()) - 1} others of {bad.size} points tried",
            )
        huge = np.abs(answer) > HUGE
        self.overflows += int(huge.sum()) if name in ("value", "target") else 0
        return np.where(huge, np.copysign(np.inf, answer), answer)


def _first_raising(formula: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    """The first point of a batch at which the formula raises on its own; 0 if only the batch as a whole does."""

    def pick(argument: Any, k: int) -> Any:
        if isinstance(argument, tuple):
            return tuple(pick(part, k) for part in argument)
        return argument[k : k + 1] if np.ndim(argument) else argument

    flat = [part for argument in arguments for part in (argument if isinstance(argument, tuple) else (argument,))]
    for k in range(min([len(part) for part in flat if np.ndim(part)] or [0], default=0)):
        try:
            with np.errstate(all="ignore"):
                formula(*(pick(argument, k) for argument in arguments))
        except Exception:
            return k
    return 0


class Text(str):
    """Words in the place of a value: an error message shows them without quotes."""

    def __repr__(self) -> str:
        return str(self)


def describe(tau: Tau, x: np.ndarray | None, delta: np.ndarray | None, k: int) -> str:
    """One point of a batch in words."""
    parts = [f"tau[{j}] = {_short(part[k] if np.ndim(part) else part)}" for j, part in enumerate(tau)]
    if x is not None:
        parts.append(f"x = {_short(x[k])}")
    if delta is not None:
        parts.append(f"delta = {_short(delta[k])}")
    return ", ".join(parts)


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=4, threshold=6, separator=",").replace("\n", "")
