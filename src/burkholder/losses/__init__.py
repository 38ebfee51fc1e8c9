"""Losses: value, derivative, Lipschitz constant and curvature on [-B, B]."""

from __future__ import annotations

import inspect
import math
from typing import Any

from burkholder.errors import BadInput
from burkholder.losses.classification import Hinge, Logistic
from burkholder.losses.custom import Custom
from burkholder.losses.dispatch import derivative, value
from burkholder.losses.regression import Absolute, EpsilonInsensitive, Huber, Pinball, Squared, check_parameters
from burkholder.suggestions import did_you_mean

LOSSES: dict[str, type] = {
    "absolute": Absolute,
    "squared": Squared,
    "huber": Huber,
    "pinball": Pinball,
    "epsilon-insensitive": EpsilonInsensitive,
    "logistic": Logistic,
    "hinge": Hinge,
}


def get(loss: Any, **options: float) -> Any:
    """The loss of that name, or the record itself.

    >>> get("pinball", quantile=0.9)
    Pinball(quantile=0.9)
    >>> get("sqared")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: loss = 'sqared' cannot be used: did you mean 'squared'? Losses: absolute, \
squared, huber, pinball, epsilon-insensitive, logistic, hinge
    """
    if isinstance(loss, str):
        if loss not in LOSSES:
            raise BadInput("loss", loss, f"{did_you_mean(loss, LOSSES)}Losses: {', '.join(LOSSES)}")
        known = inspect.signature(LOSSES[loss]).parameters
        for key in options:
            if key not in known:
                raise BadInput(key, options[key], f"{did_you_mean(key, known)}the {loss} loss takes {', '.join(known) or 'no option'}")
        loss = LOSSES[loss](**{key: float(number) for key, number in options.items()})
    elif not isinstance(loss, (*LOSSES.values(), Custom)):
        raise BadInput("loss", loss, "give a name or a loss record from burkholder.losses")
    check_parameters(loss)
    return loss


def name(loss: Any) -> str:
    """The loss's name as `get` takes it."""
    return next((key for key, kind in LOSSES.items() if isinstance(loss, kind)), "custom")


def is_classification(loss: Any) -> bool:
    """Whether labels are the two classes ±1."""
    return isinstance(loss, (Logistic, Hinge)) or (isinstance(loss, Custom) and loss.classes)


def has_minimiser(loss: Any) -> bool:
    """Whether ℓ(·, y) is least at a finite point; only then may predictions be clipped for free."""
    return not is_classification(loss) and not (isinstance(loss, Custom) and not loss.minimiser)


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
    "label",
    "name",
    "value",
]
