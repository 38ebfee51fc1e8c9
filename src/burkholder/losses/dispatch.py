"""A loss is a record of its parameters, in a file of its own; `value` and `derivative` choose the formula by the record's type.

In Python the choice is a look-up; inside a compiled loop it is made at compile time, from the same formula. What else
the library needs to know of a loss are traits of its class, given to `formulas` or defined as methods:

    name         what it is called on the command line and in files
    classes      labels are the two classes ±1
    minimiser    ℓ(·, y) is least at a finite point: only then may predictions be clipped for free
    degree       labels and predictions k times as large make the loss k^degree times as large
    homogeneous  that holds of this very record, so that the loss has the units of the labels
    beyond       what it asks for may lie beyond every forecast: Experts then adds some out there
    smoothness   the largest second derivative, anywhere; infinite where there is a kink. Auto needs this or `lipschitz`
    odds         ŷ is the log-odds of y = 1, so that there are probabilities
    log          ℓ is −ln of the probability of y at the log-odds ŷ: mixtures of probabilities are then as good as their parts
    margin       classes: whether ℓ(·, y) is least from ŷ = y onwards, so that nothing is gained beyond ±1
    quantile     the quantile it asks for; None for a mean
    compiled     the formulas are plain scalar code that numba compiles
    slope_error  how far the computed derivative (and, for Auto, the value) may be from the true one, relative, in units of 2⁻⁵³
    lipschitz(B), curvature(B)   on [-B, B]; check()   refuse parameters that make no convex loss
    scaled(unit) the loss for labels and predictions divided by unit
    pieces(y)    (low, high, target, slope) of each piece, over arrays, if ℓ = Σ max of a·(target − slope·ŷ) over low ≤ a ≤ high; or None
    kinks(y)     where ℓ(·, y) is piecewise linear: its corners; None for losses that are not
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from burkholder.machine.compiling import overload, register_jitable, types
from burkholder.records import record

Piece = tuple[float, float, np.ndarray, np.ndarray]
K = TypeVar("K", bound=type)
_VALUES: dict[type, Callable[..., float]] = {}
_DERIVATIVES: dict[type, Callable[..., float]] = {}
LOSSES: dict[str, type] = {}  # every named loss, in the order of their definition

TRAITS: dict[str, Any] = {
    "classes": False,
    "minimiser": True,
    "degree": 1,
    "homogeneous": False,
    "beyond": False,
    "smoothness": math.inf,
    "odds": False,
    "log": False,
    "margin": False,
    "quantile": None,
    "compiled": True,
    "slope_error": 8.0,
    "check": lambda loss: None,
    "scaled": lambda loss, unit: loss,
    "pieces": lambda loss, y: None,
    "kinks": lambda loss, y: None,
    "curvature": lambda loss, bound: 0.0,
}


def formulas(value: Callable[..., float], derivative: Callable[..., float], name: str, **traits: Any) -> Callable[[K], K]:
    """Attach its two scalar formulas, its name and its traits to a loss record, and list it by its name."""

    def attach(kind: K) -> K:
        for trait, usual in {**TRAITS, **traits, "name": name}.items():
            if trait in traits or not hasattr(kind, trait):
                setattr(kind, trait, usual)
        compiled = traits.get("compiled", True)
        _VALUES[kind] = register_jitable(value) if compiled else value
        _DERIVATIVES[kind] = register_jitable(derivative) if compiled else derivative
        made = record(kind)
        if compiled:
            LOSSES[name] = made
        return made

    return attach


def is_loss(loss: Any) -> bool:
    """Whether this is a loss record.

    >>> from burkholder.losses import Absolute
    >>> is_loss(Absolute()), is_loss("absolute")
    (True, False)
    """
    return type(loss) in _VALUES


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
def _compiled_value(loss, yhat, y):
    if isinstance(loss, types.BaseNamedTuple):
        return _VALUES[loss.instance_class]  # type: ignore[attr-defined]
    return None


@overload(derivative)
def _compiled_derivative(loss, yhat, y):
    if isinstance(loss, types.BaseNamedTuple):
        return _DERIVATIVES[loss.instance_class]  # type: ignore[attr-defined]
    return None
