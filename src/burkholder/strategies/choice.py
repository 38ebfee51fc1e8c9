"""Which strategy to play: the cheapest that the declared (or detected) structure allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import CLOSED, CONVEX, SIGN_FLIP, TANGENT, BurkholderFunction
from burkholder.functions.properties import Points, is_convex
from burkholder.strategies.deterministic import Closed, Convex, SignFlip, Tangent
from burkholder.strategies.general import General

STRATEGIES: dict[str, Any] = {"tangent": Tangent, "sign-flip": SignFlip, "closed-form": Closed, "convex": Convex, "general": General}
_NEEDS = {"tangent": TANGENT, "sign-flip": SIGN_FLIP, "closed-form": CLOSED, "convex": CONVEX}


def detect(function: BurkholderFunction, dim: int = 2, count: int = 4000, seed: int = 0) -> frozenset[str]:
    """Structure that sampling does not refute: U(τ+T) = δŷ + F(τ, x, δ), with F convex in δ.

    A sampled finding is not a proof; a learner that relies on it says so in its certificate.
    """
    rng = np.random.default_rng(seed)
    tau, x = function.points(rng, count, dim)
    delta = function.lipschitz * rng.uniform(-1, 1, count)
    yhat = rng.standard_normal(count)
    played, silent = function.expected(tau, x, yhat, delta), function.expected(tau, x, np.zeros(count), delta)
    size = np.maximum(np.abs(played), np.abs(silent)) + np.abs(yhat * delta) + 1e-300
    if np.max(np.abs(played - silent - delta * yhat) / size) > 1e-9:
        return frozenset()
    points = Points(tau, x, np.zeros(count), delta, x)
    return frozenset({SIGN_FLIP}) if np.max(is_convex(function, points)) <= 1e-9 else frozenset()


def choose(function: BurkholderFunction, loss: Any, bound: float, name: str | None = None, **options: Any) -> tuple[Any, bool]:
    """The strategy, and whether it rests on structure that was detected rather than declared."""
    if name is not None and name not in STRATEGIES:
        raise BadInput("strategy", name, f"choose one of {', '.join(STRATEGIES)}")
    structure, detected = function.structure, False
    if not structure and name in (None, "sign-flip"):
        structure = detect(function)
        detected = bool(structure)
    if name is None:
        name = next((key for key, tag in _NEEDS.items() if tag in structure), "general")
    elif name in _NEEDS and _NEEDS[name] not in structure:
        raise BadInput("strategy", name, f"{function.name} does not have the structure this strategy needs")
    if function.in_expectation and name == "general":
        raise BadInput("strategy", name, f"{function.name} draws its own signs; play its tangent strategy")
    return STRATEGIES[name](function, loss, bound, **options), detected
