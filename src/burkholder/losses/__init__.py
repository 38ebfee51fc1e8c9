"""Losses: value, derivative, Lipschitz constant and curvature on [-B, B].

>>> from burkholder import losses
>>> pinball = losses.get("pinball", quantile=0.9)
>>> losses.value(pinball, 1.0, 2.0)
0.9
"""

from __future__ import annotations

import inspect
import math
from typing import Any

from burkholder.errors import BadInput
from burkholder.losses.absolute import Absolute
from burkholder.losses.custom import Custom
from burkholder.losses.dispatch import LOSSES, derivative, is_loss, value
from burkholder.losses.epsilon_insensitive import EpsilonInsensitive
from burkholder.losses.hinge import Hinge
from burkholder.losses.huber import Huber
from burkholder.losses.logistic import Logistic
from burkholder.losses.pinball import Pinball
from burkholder.losses.squared import Squared
from burkholder.suggestions import choose, did_you_mean


def get(loss: Any, **options: float) -> Any:
    """The loss of that name, or the record itself.

    >>> get("pinball", quantile=0.9)
    Pinball(quantile=0.9)
    >>> get("sqared")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: loss = 'sqared' cannot be used: did you mean 'squared'? Losses: absolute, \
epsilon-insensitive, hinge, huber, logistic, pinball, squared
    More: docs/learners.md
    """
    if isinstance(loss, str):
        kind = LOSSES[choose("loss", loss, LOSSES, "Losses")]
        known = inspect.signature(kind).parameters
        for key in options:
            if key not in known:
                raise BadInput(key, options[key], f"{did_you_mean(key, known)}the {loss} loss takes {', '.join(known) or 'no option'}")
        loss = kind(**{key: _number(key, number) for key, number in options.items()})
    elif not is_loss(loss):
        raise BadInput("loss", loss, "give a name or a loss record from burkholder.losses")
    elif options:
        key = next(iter(options))
        raise BadInput(key, options[key], "the loss was given as a record, which has its parameters already")
    loss.check()
    return loss


def _number(key: str, number: Any) -> float:
    try:
        return float(number)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(key, number, "give a number") from None


def parameters() -> frozenset[str]:
    """The names of every option that some loss takes.

    >>> sorted(parameters())
    ['epsilon', 'quantile', 'threshold']
    """
    return frozenset(key for kind in LOSSES.values() for key in inspect.signature(kind).parameters)


def name(loss: Any) -> str:
    """The loss's name as `get` takes it.

    >>> name(Pinball(quantile=0.9))
    'pinball'
    """
    return loss.name


def is_classification(loss: Any) -> bool:
    """Whether labels are the two classes ±1.

    >>> is_classification(Logistic()), is_classification(Absolute())
    (True, False)
    """
    return loss.classes


def has_minimiser(loss: Any) -> bool:
    """Whether ℓ(·, y) is least at a finite point; only then may predictions be clipped for free.

    >>> has_minimiser(Squared()), has_minimiser(Logistic())
    (True, False)
    """
    return loss.minimiser and not loss.classes


def label(loss: Any, y: Any, bound: float = math.inf) -> float:
    """The label as the loss takes it: ±1 for classes (0/1 and booleans accepted), a finite number else.

    >>> label(Logistic(), 0), label(Logistic(), True)
    (-1.0, 1.0)
    """
    try:
        number = float(y)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("y", y, "give a number") from None
    if is_classification(loss):
        if number == 1.0:
            return 1.0
        if number in (-1.0, 0.0):
            return -1.0
        raise BadInput("y", y, f"the {name(loss)} loss takes labels -1 and 1, or 0 and 1")
    if not math.isfinite(number):
        raise BadInput("y", y, "give a finite number; drop or fill missing targets first")
    if has_minimiser(loss) and abs(number) > bound:
        raise BadInput("y", y, f"targets must lie in [-{bound:g}, {bound:g}], the range given as bound")
    return number


def probability(loss: Any, yhat: float) -> float:
    """The probability of the label 1 at a prediction that is its log-odds.

    >>> probability(Logistic(), 0.0)
    0.5
    """
    if not loss.odds:
        raise BadInput("loss", name(loss), "probabilities need the logistic loss")
    e = math.exp(-abs(yhat))
    return 1.0 / (1.0 + e) if yhat > 0 else e / (1.0 + e)


__all__ = [
    "LOSSES",
    "Absolute",
    "Custom",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Pinball",
    "Squared",
    "derivative",
    "get",
    "has_minimiser",
    "is_classification",
    "is_loss",
    "label",
    "name",
    "parameters",
    "probability",
    "value",
]
