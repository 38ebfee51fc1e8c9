"""How the fields of a named row are called as features: one rule for tables, dicts and data frames.

A number is the feature of its own name; text is the indicator `name=text`; a missing value is the feature `name?`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def indicator(name: object, text: str) -> str:
    """The feature, of value 1, that a text stands for.

    >>> indicator("city", "Rome")
    'city=Rome'
    """
    return f"{name}={text}"


def missing(name: object) -> str:
    """The feature, of value 1, that a missing value stands for.

    >>> missing("size")
    'size?'
    """
    return f"{name}?"


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with objects in objects as columns of their own.

    >>> flat({"load": 2.5, "user": {"age": 3, "home": {"city": "Rome"}}})
    {'load': 2.5, 'user.age': 3, 'user.home.city': 'Rome'}
    """
    if not any(isinstance(value, dict) for value in row.values()):
        return dict(row)
    out: dict[str, Any] = {}
    for key, value in row.items():
        inner = {f"{key}.{name}": field for name, field in flat(value).items()} if isinstance(value, dict) else {key: value}
        out.update(inner)
    return out


def is_missing(value: Any) -> bool:
    """Whether a value says that there is none: None, NaN of any kind, pandas' NA and NaT.

    >>> is_missing(None), is_missing(float("nan")), is_missing(""), is_missing(0.0)
    (True, True, False, False)
    """
    if value is None:
        return True
    if isinstance(value, (str, bytes, bool, int)):
        return False
    if isinstance(value, float):
        return math.isnan(value)
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas need not be there
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, OverflowError):  # an array, or something that does not compare
        return False
