"""The loss as a number and a parameter: one compiled loop then serves every loss, from the same formulas."""

from __future__ import annotations

from typing import Any, NamedTuple

from burkholder.losses import Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Pinball, Squared, derivative, value
from burkholder.machine.compiling import inlined

KINDS = (Logistic, Hinge, Squared, Absolute, Huber, Pinball, EpsilonInsensitive)


class Chosen(NamedTuple):
    """A place in KINDS, and the parameter of that loss if it has one."""

    kind: int
    parameter: float


def chosen(loss: Any) -> Chosen:
    """The record for a loss."""
    return Chosen(KINDS.index(type(loss)), float(loss[0]) if len(loss) else 0.0)


@inlined
def paid(loss, yhat, y):  # type: ignore[no-untyped-def]
    """ℓ(ŷ, y)."""
    if loss.kind == 0:
        return value(Logistic(), yhat, y)
    if loss.kind == 1:
        return value(Hinge(), yhat, y)
    if loss.kind == 2:
        return value(Squared(), yhat, y)
    if loss.kind == 3:
        return value(Absolute(), yhat, y)
    if loss.kind == 4:
        return value(Huber(loss.parameter), yhat, y)
    if loss.kind == 5:
        return value(Pinball(loss.parameter), yhat, y)
    return value(EpsilonInsensitive(loss.parameter), yhat, y)


@inlined
def slope(loss, yhat, y):  # type: ignore[no-untyped-def]
    """δ = ∂ℓ(ŷ, y)."""
    if loss.kind == 0:
        return derivative(Logistic(), yhat, y)
    if loss.kind == 1:
        return derivative(Hinge(), yhat, y)
    if loss.kind == 2:
        return derivative(Squared(), yhat, y)
    if loss.kind == 3:
        return derivative(Absolute(), yhat, y)
    if loss.kind == 4:
        return derivative(Huber(loss.parameter), yhat, y)
    if loss.kind == 5:
        return derivative(Pinball(loss.parameter), yhat, y)
    return derivative(EpsilonInsensitive(loss.parameter), yhat, y)
