"""river's rows (dicts of numbers, booleans and text) as the named numbers that learners take."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from burkholder.errors import BadInput
from burkholder.rounds.plain import plain

Name = str | int


def named(x: Mapping[Hashable, Any]) -> dict[Name, float]:
    """Numbers keep their name; text becomes the indicator `name=text`; a missing value becomes `name?`.

    >>> named({"size": 3, "city": "Rome", "open": True, "age": None})
    {'size': 3.0, 'city=Rome': 1.0, 'open': 1.0, 'age?': 1.0}
    """
    if type(x) is dict and plain(x):
        return x  # as most rows are: nothing to rename
    out: dict[Name, float] = {}
    for key, value in x.items():
        name: Name = key if isinstance(key, (str, int)) else str(key)
        if isinstance(value, str):
            out[f"{name}={value}"] = 1.0
            continue
        if value is None:
            out[f"{name}?"] = 1.0
            continue
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise BadInput(f"x[{key!r}]", value, "give numbers, booleans or text") from None
        if math.isnan(number):
            out[f"{name}?"] = 1.0
        else:
            out[name] = number
    return out


def table_rows(X: Any) -> Iterator[dict[Hashable, Any]]:
    """The rows of a pandas data frame, as dicts."""
    columns = list(X.columns)
    for values in X.itertuples(index=False, name=None):
        yield dict(zip(columns, values))
