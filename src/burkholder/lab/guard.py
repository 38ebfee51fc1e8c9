"""A Burkholder function under examination: every answer is checked, and a bad one is reported with its point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput, BurkholderError
from burkholder.functions.base import BurkholderFunction, Tau

HUGE = 1e250  # beyond this a number is as good as infinite: formulas that are held below 1e300 are held from here


class Guard:
    """Calls a function's mathematics on batches; NaN, a wrong shape or an exception names the point.

    A huge or infinite U is not an error (exponentials overflow far out): such points are left out and counted.
    """

    def __init__(self, function: BurkholderFunction) -> None:
        self.function = function
        self.overflows = 0

    def value(self, tau: Tau) -> np.ndarray:
        return self._numbers("value", self.function.value, (tau,), tau, None)

    def target(self, tau: Tau) -> np.ndarray:
        return self._numbers("target", self.function.target, (tau,), tau, None)

    def after(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> np.ndarray:
        """U one round later, averaged over the learner's own coins."""
        return self._numbers("value", self.function.expected, (tau, x, yhat, delta), tau, x, delta)

    def advance(self, tau: Tau, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray) -> Tau:
        return self._call("advance", self.function.advance, (tau, x, yhat, delta), tau, x, delta)

    def rule(self, name: str, tau: Tau, x: np.ndarray, *extra: Any) -> np.ndarray:
        """A strategy of the function's own: `sign_flip`, `tangent` or `closed_form`."""
        return self._numbers(name, getattr(self.function, name), (tau, x, *extra), tau, x)

    def bound(self, w: np.ndarray, tau: Tau) -> np.ndarray:
        return self._numbers("bound", self.function.bound, (w, tau), tau, w)

    def _call(self, name: str, formula: Callable[..., Any], arguments: tuple[Any, ...], tau: Tau,
              x: np.ndarray | None, delta: np.ndarray | None = None) -> Any:
        try:
            with np.errstate(all="ignore"):
                return formula(*arguments)
        except (BurkholderError, NotImplementedError):
            raise
        except Exception as trouble:
            place = self._first_raising(formula, arguments)
            raise BadInput(
                f"{name} of {self.function.name}", trouble,
                f"it raised at {describe(tau, x, delta, place)}; it is called with batches: tau a tuple of arrays and "
                f"x of shape (batch, dim)",
            ) from trouble

    def _numbers(self, name: str, formula: Callable[..., Any], arguments: tuple[Any, ...], tau: Tau,
                 x: np.ndarray | None, delta: np.ndarray | None = None) -> np.ndarray:
        count = len(x) if x is not None else len(tau[0])
        raw = self._call(name, formula, arguments, tau, x, delta)
        try:
            answer = np.asarray(raw, float)
        except (TypeError, ValueError) as trouble:
            raise BadInput(f"{name} of {self.function.name}", raw, "it must return an array of numbers") from trouble
        if answer.shape != (count,):
            raise BadInput(
                f"{name} of {self.function.name}", Text(f"an array of shape {answer.shape}"),
                f"for {count} points, the first {describe(tau, x, delta, 0)}, return shape ({count},): one number each",
            )
        bad = np.isnan(answer)
        if bad.any():
            raise BadInput(
                f"{name} of {self.function.name}", float("nan"),
                f"return a number at {describe(tau, x, delta, int(np.argmax(bad)))}, "
                f"and at {int(bad.sum()) - 1} others of {count} points tried",
            )
        huge = np.abs(answer) > HUGE
        self.overflows += int(huge.sum()) if name in ("value", "target") else 0
        return np.where(huge, np.copysign(np.inf, answer), answer)

    @staticmethod
    def _first_raising(formula: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
        """The first point of a batch at which the formula raises on its own; 0 if only the batch does."""
        def pick(argument: Any, k: int) -> Any:
            if isinstance(argument, tuple):
                return tuple(pick(part, k) for part in argument)
            return argument[k : k + 1] if np.ndim(argument) else argument

        count = next(len(argument) for argument in arguments[-1:0:-1] or arguments[0] if np.ndim(argument))
        for k in range(min(count, 4096)):
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
    parts = [f"tau[{j}] = {_short(part[k])}" for j, part in enumerate(tau) if np.ndim(part)]
    if x is not None:
        parts.append(f"x = {_short(x[k])}")
    if delta is not None:
        parts.append(f"delta = {_short(delta[k])}")
    return ", ".join(parts)


def _short(value: Any) -> str:
    return np.array2string(np.asarray(value), precision=4, threshold=6, separator=",").replace("\n", "")
