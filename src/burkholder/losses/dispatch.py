"""A loss is a record of its parameters; `value` and `derivative` choose the formula by the record's type.

In Python the choice is a look-up; inside a compiled loop it is made at compile time, from the same formula.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burkholder.machine.compiling import overload, register_jitable, types
from burkholder.records import record

_VALUES: dict[type, Callable[..., float]] = {}
_DERIVATIVES: dict[type, Callable[..., float]] = {}


def formulas(value: Callable[..., float], derivative: Callable[..., float]) -> Callable[[type], type]:
    """Attach the two scalar formulas to a loss record."""

    def attach(kind: type) -> type:
        _VALUES[kind] = register_jitable(value)
        _DERIVATIVES[kind] = register_jitable(derivative)
        return record(kind)

    return attach


def value(loss: Any, yhat: float, y: float) -> float:
    """ℓ(ŷ, y).

    >>> from burkholder.losses import Pinball
    >>> value(Pinball(quantile=0.9), 1.0, 2.0)
    0.9
    """
    return _VALUES[type(loss)](loss, yhat, y)


def derivative(loss: Any, yhat: float, y: float) -> float:
    """δ = ∂ℓ(ŷ, y) in ŷ; at a kink, the subgradient of least modulus.

    >>> from burkholder.losses import Absolute
    >>> derivative(Absolute(), 2.0, 2.0), derivative(Absolute(), 3.0, 2.0)
    (0.0, 1.0)
    """
    return _DERIVATIVES[type(loss)](loss, yhat, y)


@overload(value)
def _compiled_value(loss, yhat, y):  # type: ignore[no-untyped-def]
    if isinstance(loss, types.BaseNamedTuple):
        return _VALUES[loss.instance_class]  # type: ignore[attr-defined]
    return None


@overload(derivative)
def _compiled_derivative(loss, yhat, y):  # type: ignore[no-untyped-def]
    if isinstance(loss, types.BaseNamedTuple):
        return _DERIVATIVES[loss.instance_class]  # type: ignore[attr-defined]
    return None
