"""What the settings of rules may be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from burkholder.errors import BadInput
from burkholder.experts.dispatch import Option, Rule


def positive(name: str, value: Any) -> float:
    """A positive finite number."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0.0 < number < math.inf:
        raise BadInput(name, value, "give a positive finite number")
    return number


def count(name: str, value: Any) -> int:
    """A whole number from 1 to 1000."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
        raise BadInput(name, value, "give a whole number from 1 to 1000")
    return value


def truth(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise BadInput(name, value, "give True or False")
    return value


def shares(name: str, value: Any) -> tuple[float, ...]:
    """0, then numbers in (0, 1)."""
    try:
        numbers = tuple(float(alpha) for alpha in value)
    except (TypeError, ValueError, OverflowError):
        numbers = ()
    if not numbers or numbers[0] != 0.0 or not all(0.0 < alpha < 1.0 for alpha in numbers[1:]):
        raise BadInput(name, value, "start with 0, then give numbers in (0, 1)")
    return numbers


LINEAR = Option(truth, True)


def settings(rule: Rule, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting of a rule, checked; one that is None was not given."""
    for name, value in given.items():
        if name not in rule.options and value is not None:
            raise BadInput(
                name, value, f"neither the loss nor method {rule.name!r} takes it; the method takes {', '.join(rule.options) or 'none'}"
            )
    found = {}
    for name, option in rule.options.items():
        value = given.get(name)
        if value is None and option.default is None:
            raise BadInput(name, None, f"method {rule.name!r} needs it")
        found[name] = option.check(name, option.default if value is None else value)
    return found
