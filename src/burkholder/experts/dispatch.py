"""An aggregator is a record of arrays; `predict`, `update`, `weights` choose the rule by the record's type.

In Python the choice is a look-up; inside a compiled loop it is made at compile time. A round hands a rule
everything it might learn from: the forecasts x (NaN = asleep), the ŷ played, its slope δ, the loss paid
by ŷ and the loss each expert would have paid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burkholder.machine.compiling import overload, register_jitable, types


class Rules(NamedTuple):
    """The three compiled functions of one aggregator."""

    predict: Callable[..., float]
    update: Callable[..., None]
    weights: Callable[..., np.ndarray]


PER_EXPERT: dict[type, tuple[str, ...]] = {}  # the fields of a record whose last axis is the experts
RULES: dict[type, Rules] = {}


def aggregator(record: type, per_expert: tuple[str, ...], predict: Any, update: Any, weights: Any) -> None:
    """Register a state record with its rules."""
    PER_EXPERT[record] = per_expert
    RULES[record] = Rules(predict, update, weights)


def predict(state: Any, x: np.ndarray) -> float:
    """ŷ for forecasts x; NaN when every expert is asleep. Changes nothing."""
    return RULES[type(state)].predict(state, x)


def update(state: Any, x: np.ndarray, yhat: float, delta: float, own: float, paid: np.ndarray) -> None:
    """Learn, in place, from δ at ŷ, from ℓ(ŷ) = own and from ℓ(x_j) = paid_j."""
    RULES[type(state)].update(state, x, yhat, delta, own, paid)


def weights(state: Any, x: np.ndarray) -> np.ndarray:
    """The weights on the experts awake in x; they sum to 1."""
    return RULES[type(state)].weights(state, x)


@overload(predict)
def _compiled_predict(state, x):  # type: ignore[no-untyped-def]
    if isinstance(state, types.BaseNamedTuple):
        rule = RULES[state.instance_class].predict  # type: ignore[attr-defined]
        return lambda state, x: rule(state, x)
    return None


@overload(update)
def _compiled_update(state, x, yhat, delta, own, paid):  # type: ignore[no-untyped-def]
    if isinstance(state, types.BaseNamedTuple):
        rule = RULES[state.instance_class].update  # type: ignore[attr-defined]
        return lambda state, x, yhat, delta, own, paid: rule(state, x, yhat, delta, own, paid)
    return None


@overload(weights)
def _compiled_weights(state, x):  # type: ignore[no-untyped-def]
    if isinstance(state, types.BaseNamedTuple):
        rule = RULES[state.instance_class].weights  # type: ignore[attr-defined]
        return lambda state, x: rule(state, x)
    return None


@register_jitable
def regrets(linear: bool, x: np.ndarray, yhat: float, delta: float, own: float, paid: np.ndarray) -> np.ndarray:
    """r_j of the round, 0 when asleep: ℓ(ŷ)−ℓ(x_j), or its upper bound δ(ŷ−x_j)."""
    r = np.zeros(x.size)
    for j in range(x.size):
        if not math.isnan(x[j]):
            r[j] = delta * (yhat - x[j]) if linear else own - paid[j]
    return r


@register_jitable
def mixture(p: np.ndarray, x: np.ndarray) -> float:
    """Σp_j x_j over the experts awake, kept inside their hull; NaN when none is awake."""
    yhat, weight, low, high = math.nan, 0.0, math.inf, -math.inf
    for j in range(x.size):
        if not math.isnan(x[j]):
            low, high = min(low, x[j]), max(high, x[j])
            if p[j] > 0.0:
                yhat = x[j] if weight == 0.0 else yhat + (x[j] - yhat) * (p[j] / (weight + p[j]))
                weight += p[j]
    return min(max(yhat, low), high) if weight > 0.0 else yhat


@register_jitable
def softmax(log_w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """e^{log W} over the experts awake, made to sum to 1 (all 0 when none is awake)."""
    p, top, total = np.zeros(x.size), -math.inf, 0.0
    for j in range(x.size):
        if not math.isnan(x[j]):
            top = max(top, log_w[j])
    for j in range(x.size):
        if not math.isnan(x[j]):
            p[j] = math.exp(log_w[j] - top) if top > -math.inf else 1.0
            total += p[j]
    return p / total if total > 0.0 else p


def grown(state: Any, experts: int) -> Any:
    """The same state with room for more experts, each as if it had been asleep so far."""
    changes = {}
    for field in PER_EXPERT[type(state)]:
        array = getattr(state, field)
        pad = [(0, 0)] * (array.ndim - 1) + [(0, experts - array.shape[-1])]
        changes[field] = np.pad(array, pad)
    return state._replace(**changes)
