"""Forecasts and targets as users hand them in, checked before anything learns from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput

# Squares of differences of larger numbers leave the floats.
LIMIT = 1e150


def _number(argument: str, number: Any) -> float:
    if number is None:
        return math.nan
    try:
        result = float(number)
    except (TypeError, ValueError):
        raise BadInput(argument, number, "give a number; leave it out (or NaN) when the expert is asleep") from None
    if abs(result) > LIMIT:
        raise BadInput(argument, number, f"forecasts must be finite and at most {LIMIT:g} in size")
    return result


def row(x: Any, names: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """One round of forecasts over `names`, followed by names not met before; NaN where asleep."""
    if isinstance(x, Mapping):
        fresh = tuple(str(key) for key in x if str(key) not in names)
        given = {str(key): _number(f"x[{key!r}]", item) for key, item in x.items()}
        return np.array([given.get(name, math.nan) for name in (*names, *fresh)]), fresh
    if isinstance(x, str):
        raise BadInput("x", x, "give a mapping from expert to forecast, or an array of forecasts")
    try:
        values = np.array([_number(f"x[{j}]", item) for j, item in enumerate(x)])
    except TypeError:
        raise BadInput("x", x, "give a mapping from expert to forecast, or an array of forecasts") from None
    fresh = () if names else tuple(str(j) for j in range(values.size))
    if values.size != len(names) + len(fresh):
        raise BadInput("x", x, f"give {len(names)} forecasts, for {', '.join(names)}; name them to add more")
    return values, fresh


def table(forecasts: Any, y: Any, loss: Any, bound: float, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Whole arrays: forecasts (rounds × experts), targets, and names not met before."""
    if isinstance(forecasts, Mapping):
        labels: tuple[str, ...] | None = tuple(str(key) for key in forecasts)
        forecasts = np.column_stack([np.asarray(column, dtype=float) for column in forecasts.values()])
    else:
        columns = getattr(forecasts, "columns", None)
        labels = None if columns is None else tuple(str(column) for column in columns)
    try:
        x = np.array(forecasts, dtype=float, order="C")
    except (TypeError, ValueError):
        raise BadInput("F", forecasts, "give numbers, rounds × experts, NaN where asleep") from None
    if x.ndim != 2:
        raise BadInput("F", x.shape, "give a table with one row a round and one column an expert")
    targets = labels_of(loss, y, bound)
    if targets.size != x.shape[0]:
        raise BadInput("y", targets.shape, f"give one target for each of the {x.shape[0]} rows of F")
    bad = np.argwhere(np.abs(x) > LIMIT)
    if bad.size:
        t, j = (int(i) for i in bad[0])
        raise BadInput(f"F[{t}, {j}]", float(x[t, j]), f"forecasts must be finite and at most {LIMIT:g} in size (NaN = asleep)")
    if labels is None:
        labels = tuple(names) if names else tuple(str(j) for j in range(x.shape[1]))
        if len(labels) != x.shape[1]:
            raise BadInput("F", x.shape, f"give {len(names)} columns, for {', '.join(names)}")
    fresh = tuple(label for label in labels if label not in names)
    if len(set(labels)) != len(labels):
        raise BadInput("F", labels, "give every expert a name of its own")
    full = np.full((x.shape[0], len(names) + len(fresh)), math.nan)
    everyone = (*names, *fresh)
    for j, label in enumerate(labels):
        full[:, everyone.index(label)] = x[:, j]
    return full, targets, fresh


def labels_of(loss: Any, y: Any, bound: float) -> np.ndarray:
    """Targets as the loss takes them, every one checked."""
    try:
        targets = np.array(y, dtype=float).ravel()
    except (TypeError, ValueError):
        raise BadInput("y", y, "give one number a round") from None
    if losses.is_classification(loss):
        wrong = ~np.isin(targets, (-1.0, 0.0, 1.0))
    else:
        wrong = ~(np.abs(targets) <= (min(bound, LIMIT) if losses.has_minimiser(loss) else LIMIT))
    if wrong.any():
        target(loss, float(targets[int(np.argmax(wrong))]), bound)
    return np.where(targets == 1.0, 1.0, -1.0) if losses.is_classification(loss) else targets


def target(loss: Any, y: Any, bound: float) -> float:
    """One target, checked."""
    number = losses.label(loss, y, bound)
    if abs(number) > LIMIT:
        raise BadInput("y", y, f"targets must be at most {LIMIT:g} in size")
    return number
