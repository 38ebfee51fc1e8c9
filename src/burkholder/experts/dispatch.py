"""An aggregator is a record of arrays; `predict`, `update`, `weights` choose the rule by the record's type.

In Python the choice is a look-up; inside a compiled loop it is made at compile time. A round hands a rule
everything it might learn from: the forecasts x (NaN = asleep), the ŷ played, its slope δ, the loss paid
by ŷ and the loss each expert would have paid, all of them times the weight of the round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.machine.compiling import overload, register_jitable, types


class Option(NamedTuple):
    """A setting of a rule: `check(name, value)` hands it back as it is used, or raises BadInput. None: it must be given."""

    check: Callable[[str, Any], Any]
    default: Any = None


def _nothing(state: Any, gain: np.ndarray) -> Any:
    from burkholder.experts.promises import Nothing

    return Nothing()


class Rule(NamedTuple):
    """One way to aggregate: all that learner, loops, certificate and saving need to know of it."""

    name: str
    record: type  # a NamedTuple of arrays, the state; the arrays change in place
    start: Callable[..., Any]  # start(columns, limit, **settings): a fresh state; limit: the slope's known bound, 0 if unknown
    predict: Callable[..., float]  # (state, x) → ŷ; NaN when every expert is asleep
    update: Callable[..., None]  # (state, x, ŷ, δ, own, paid), in place
    weights: Callable[..., np.ndarray]  # (state, x): on the experts awake in x, summing to 1
    per_expert: tuple[str, ...]  # the fields whose last axis is the experts; 0 there is an expert never met
    options: Mapping[str, Option] = {}
    promise: Callable[[Any, np.ndarray], Any] = _nothing  # (state, what each expert gained at most) → one of promises.py
    potential: Callable[[Any], float | None] = lambda state: None
    mixtures: Callable[[Any], bool] = lambda state: True  # whether it learns from slopes, and so competes with mixtures
    missing: str = "this method's is not computed"  # why there is no bound, where there is none
    # rows revealed together: (state, x, size) → ŷ, and update over the rows of a block; without them each row is learned late
    together: tuple[Callable[..., float], Callable[..., None]] | None = None


RULES: dict[type, Rule] = {}
PER_EXPERT: dict[type, tuple[str, ...]] = {}  # of every record that grows with the experts
PER_PAIR: dict[type, tuple[str, ...]] = {}  # the fields whose last two axes do


def attach(rule: Rule) -> Rule:
    """Make the rule known to `predict`, `update` and `weights`; its three functions may be plain ones that numba can compile."""
    known = RULES.get(rule.record)
    if known is not None:
        if known.name != rule.name:
            raise BadInput("method", rule.name, f"the record {rule.record.__name__} belongs to the rule {known.name!r}")
        return known
    for name in rule.per_expert:
        if name not in getattr(rule.record, "_fields", ()):
            raise BadInput("method", rule.name, f"its record has no field {name!r}")
    for piece in (rule.predict, rule.update, rule.weights, *(rule.together or ())):
        if not hasattr(piece, "py_func"):
            register_jitable(piece)  # the function stays as it is, and compiled code may call it
    RULES[rule.record], PER_EXPERT[rule.record] = rule, rule.per_expert
    return rule


def predict(state: Any, x: np.ndarray) -> float:
    """ŷ for forecasts x; NaN when every expert is asleep. Changes nothing."""
    return RULES[type(state)].predict(state, x)


def update(state: Any, x: np.ndarray, yhat: float, delta: float, own: float, paid: np.ndarray) -> None:
    """Learn, in place, from δ at ŷ, from ℓ(ŷ) = own and from ℓ(x_j) = paid_j."""
    RULES[type(state)].update(state, x, yhat, delta, own, paid)


def weights(state: Any, x: np.ndarray) -> np.ndarray:
    """The weights on the experts awake in x; they sum to 1."""
    return RULES[type(state)].weights(state, x)


def _plain(piece: Any) -> Any:
    """The function of Python behind a piece of a rule: compiled in place of what is called, not behind it."""
    return getattr(piece, "py_func", piece)


def _rule_of(state: Any) -> Rule | None:
    """The rule of a record in a compiled loop."""
    return RULES[state.instance_class] if isinstance(state, types.BaseNamedTuple) else None  # type: ignore[attr-defined]


@overload(predict, strict=False)
def _compiled_predict(state, x):
    rule = _rule_of(state)
    return rule and _plain(rule.predict)


@overload(update, strict=False)
def _compiled_update(state, x, yhat, delta, own, paid):
    rule = _rule_of(state)
    return rule and _plain(rule.update)


@overload(weights, strict=False)
def _compiled_weights(state, x):
    rule = _rule_of(state)
    return rule and _plain(rule.weights)


def predict_among(state: Any, x: np.ndarray, size: int) -> float:
    """ŷ for forecasts x, one of `size` rows revealed together. Changes nothing."""
    rule = RULES[type(state)]
    return rule.predict(state, x) if rule.together is None else rule.together[0](state, x, size)


def update_together(state: Any, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray, own: np.ndarray, paid: np.ndarray) -> bool:
    """`update` over the rows of a block; whether the rule counts them as one round."""
    rule = RULES[type(state)]
    if rule.together is None:
        return _one_by_one(state, x, yhat, delta, own, paid)
    rule.together[1](state, x, yhat, delta, own, paid)
    return True


@register_jitable
def _one_by_one(state: Any, x: np.ndarray, yhat: np.ndarray, delta: np.ndarray, own: np.ndarray, paid: np.ndarray) -> bool:
    for i in range(yhat.size):
        update(state, x[i], yhat[i], delta[i], own[i], paid[i])
    return yhat.size < 2


@overload(predict_among, strict=False)
def _compiled_predict_among(state, x, size):
    rule = _rule_of(state)
    if rule is None:
        return None
    alone = rule.predict
    return (lambda state, x, size: alone(state, x)) if rule.together is None else _plain(rule.together[0])


@overload(update_together, strict=False)
def _compiled_update_together(state, x, yhat, delta, own, paid):
    rule = _rule_of(state)
    if rule is None:
        return None
    if rule.together is None:
        return _one_by_one
    once = rule.together[1]

    def block(state, x, yhat, delta, own, paid):
        once(state, x, yhat, delta, own, paid)
        return True

    return block


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
    for fields, axes in ((PER_EXPERT, 1), (PER_PAIR, 2)):
        for field in fields.get(type(state), ()):
            array = getattr(state, field)
            pad = [(0, 0)] * (array.ndim - axes) + [(0, experts - array.shape[-1])] * axes
            changes[field] = np.pad(array, pad)
    return state._replace(**changes)


def turned(state: Any, first: int) -> Any:
    """The state with its first columns moved to the end, as certificates list them; its arrays are copies."""
    fields = PER_EXPERT[type(state)]
    return state._replace(
        **{
            name: np.roll(array, -first, axis=-1) if name in fields else array.copy()
            for name, array in state._asdict().items()
            if isinstance(array, np.ndarray)
        }
    )
