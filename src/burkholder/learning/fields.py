"""What a field of a named row is as features: one rule for dicts and data frames.

A number is the feature of its own name, and so is a span of time, in seconds; text is the indicator `name=text`, a time of day too; a
missing value is `name?`; a date is its trend, hour, weekday and month.
"""

from __future__ import annotations

from datetime import time, timedelta
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning import dates
from burkholder.learning.naming import indicator, is_missing, missing

LARGEST = 1e150  # beyond this, squares leave the range of doubles
SECOND = np.timedelta64(1, "s")


def features(name: Any, value: Any, argument: str) -> list[tuple[Any, float]]:
    """(feature, number) of one field; `argument` is what an error calls the row.

    >>> features("size", 3, "x"), features("city", "Rome", "x"), features("size", None, "x"), features("wait", timedelta(minutes=2), "x")
    ([('size', 3.0)], [('city=Rome', 1.0)], [('size?', 1.0)], [('wait', 120.0)])
    """
    if isinstance(value, str):
        return [(indicator(name, value), 1.0)]
    if is_missing(value):
        return [(missing(name), 1.0)]
    if isinstance(value, (timedelta, np.timedelta64)):
        return [(name, seconds(value))]
    if isinstance(value, time):
        return [(indicator(name, str(value)), 1.0)]
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        if not dates.is_moment(value):
            raise BadInput(f"{argument}[{name!r}]", value, "give a number, text, a date, or None where there is no value") from None
        return dates.named(name, value)
    if not abs(number) <= LARGEST:
        raise BadInput(f"{argument}[{name!r}]", value, "give finite numbers of size at most 1e150")
    return [(name, number)]


def seconds(span: timedelta | np.timedelta64) -> float:
    """How long a span of time is."""
    return span.total_seconds() if isinstance(span, timedelta) else float(span / SECOND)
