"""The scalar potentials on balls: the very formulas that the stream loop compiles, run with another `math`.

A potential's formula is a plain Python function of numbers that calls `math`. Rebinding that one name makes it run on
balls, so that a witness against a function of the catalogue is evaluated by its own code, not by a copy of it.
"""

from __future__ import annotations

import math
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.functions.linear import Linear
from burkholder.lab.exact.ball import Ball
from burkholder.lab.exact.subject import objection
from burkholder.potentials import dispatch


def _applied(name: str) -> Any:
    return lambda z: getattr(z, name)() if isinstance(z, Ball) else getattr(Ball(z), name)()


MATH = SimpleNamespace(**{name: _applied(name) for name in ("sqrt", "exp", "log", "log1p", "expm1", "sinh", "cosh", "tanh")}, pi=math.pi)


def rebound(formula: Any) -> Any:
    """The formula, and the formulas it calls, with balls for numbers.

    >>> def root(z):
    ...     return math.sqrt(z)
    >>> bool(rebound(root)(2.0) ** 2.0 > 1.99)
    True
    """
    scope = dict(formula.__globals__)
    for name in formula.__code__.co_names:
        item = scope.get(name)
        if item is math:
            scope[name] = MATH
        elif isinstance(item, FunctionType) and item.__module__.startswith("burkholder.potentials"):
            scope[name] = rebound(item)
    return FunctionType(formula.__code__, scope, formula.__name__, formula.__defaults__, formula.__closure__)


class BallLinear:
    """A `Linear` function whose state is made of balls. Its rules are played in floats, as the learner plays them."""

    def __init__(self, function: Linear) -> None:
        self.function = function
        self.lipschitz = function.lipschitz

    def value(self, tau: Tau) -> Any:
        return self._total(dispatch._VALUES, tau)

    def target(self, tau: Tau) -> Any:
        return self._total(dispatch._TARGETS, tau)

    def expected(self, tau: Tau, x: Any, yhat: Any, delta: Any) -> Any:
        step = self.function._tick(x, delta)
        return self.value((tau[0] + delta * yhat, tau[1] + delta[..., None] * x, tau[2] + step))

    def sign_flip(self, tau: Tau, x: Any) -> Any:
        return self.function.sign_flip(tuple(_floats(part) for part in tau), _floats(x))

    def tangent(self, tau: Tau, x: Any) -> Any:
        return self.function.tangent(tuple(_floats(part) for part in tau), _floats(x))

    def _total(self, table: dict[type, Any], tau: Tau) -> Any:
        formula = rebound(table[type(self.function.potential)])
        each = np.vectorize(lambda g, s: formula(self.function.potential, g, s, 0.0, 0.0), otypes=[object])
        out = each(self.function._reduced(tau[1]), tau[2])
        return tau[0] + (out.sum(axis=-1) if self.function.separable else out)


def view(function: BurkholderFunction) -> Any:
    """The function, or for a `Linear` one of the catalogue, as it was written, its formulas on balls.

    Not for those with a memory or a count of rounds: their formulas turn numbers into whole ones on the way. And not for
    a subclass or an object with methods of its own: what the potential says is then not what the function says.
    """
    if not isinstance(function, Linear) or function.remembers or function.clock == "count" or objection(function):
        return function
    return BallLinear(function)


def _floats(part: Any) -> np.ndarray:
    return np.vectorize(lambda z: float(z.arb) if isinstance(z, Ball) else float(z), otypes=[float])(part)
