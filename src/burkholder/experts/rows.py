"""Forecasts and targets as users hand them in, checked before anything learns from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning import frames

# Squares of differences of larger numbers leave the floats.
LIMIT = 1e150


def _number(argument: str, number: Any) -> float:
    if number is None:
        return math.nan
    try:
        result = float(number)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(argument, number, "give a number; leave it out (or NaN) when the expert is asleep") from None
    if abs(result) > LIMIT:
        raise BadInput(argument, number, f"forecasts must be finite and at most {LIMIT:g} in size")
    return result


class Row(NamedTuple):
    """One round of forecasts, NaN where asleep, over the experts that are known and those met here for the first time."""

    values: np.ndarray
    names: tuple[str, ...]


class Table(NamedTuple):
    """Many rounds (rounds × experts, or rounds × levels × experts), over one list of experts; `keep`: whether the weights of each round
    are wanted.

    `first`: where each row's block begins, rows of a block being predicted before any of them is learned; none: each alone.
    """

    values: np.ndarray
    names: tuple[str, ...]
    keep: bool = True
    first: np.ndarray = np.zeros(0, np.int64)

    @property
    def rows(self) -> int:
        return self.values.shape[0]

    def part(self, start: int, stop: int) -> Table:
        return self._replace(values=self.values[start:stop], first=self.first[start:stop] - start)

    @property
    def seams(self) -> np.ndarray | None:
        """The rows before which a stretch may end."""
        return np.unique(self.first) if self.first.size else None


def blocks(together: Any, rows: int) -> np.ndarray:
    """Where each row's block begins: blocks of so many rows, or of neighbours with one label; None: no blocks.

    >>> blocks(2, 5).tolist(), blocks(["mon", "mon", "tue"], 3).tolist()
    ([0, 0, 2, 2, 4], [0, 0, 2])
    """
    if together is None:
        return np.zeros(0, np.int64)
    places = np.arange(rows)
    if isinstance(together, (int, np.integer)) and not isinstance(together, bool):
        if together < 1:
            raise BadInput("together", together, "give a whole number ≥ 1, or one label a row")
        return places - places % int(together)
    try:
        labels = list(together)
    except TypeError:
        raise BadInput("together", together, "give a whole number ≥ 1, or one label a row") from None
    if len(labels) != rows:
        raise BadInput("together", f"{len(labels)} labels", f"there are {rows} rows: give one label for each")
    fresh = np.array([t == 0 or labels[t] != labels[t - 1] for t in range(rows)], dtype=bool)
    return np.maximum.accumulate(np.where(fresh, places, 0))


def _given(x: Mapping[Any, Any]) -> dict[str, float]:
    """The forecasts by name, every one checked."""
    if type(x) is dict and set(map(type, x)) == {str} and set(map(type, x.values())) == {float}:
        sizes = np.abs(np.fromiter(x.values(), float, len(x)))
        if not (sizes > LIMIT).any():
            return x
    given = {str(key): _number(f"x[{key!r}]", item) for key, item in x.items()}
    if len(given) != len(x):
        raise BadInput("x", list(x), "give every expert a name of its own")
    return given


def row(x: Any, names: tuple[str, ...]) -> Row:
    """One round of forecasts over `names`, followed by names not met before; NaN where asleep."""
    if isinstance(x, Mapping):
        given = _given(x)
        found = list(map(given.get, names))
        fresh: tuple[str, ...] = ()
        if len(names) - found.count(None) < len(given):
            known = set(names)
            fresh = tuple(key for key in given if key not in known)
        return Row(np.array([*found, *map(given.get, fresh)], dtype=float), (*names, *fresh))
    if isinstance(x, str):
        raise BadInput("x", x, "give a mapping from expert to forecast, or an array of forecasts")
    try:
        values = np.array([_number(f"x[{j}]", item) for j, item in enumerate(x)], dtype=float)
    except TypeError:
        raise BadInput("x", x, "give a mapping from expert to forecast, or an array of forecasts") from None
    everyone = names or tuple(str(j) for j in range(values.size))
    if values.size != len(everyone):
        raise BadInput("x", x, f"give {len(names)} forecasts, for {', '.join(names)}; name them to add more")
    return Row(values, everyone)


def table(forecasts: Any, names: tuple[str, ...]) -> Table:
    """Many rounds: an array, a mapping from expert to column, a data frame, or a list of rows."""
    labels: tuple[str, ...] | None = None
    if isinstance(forecasts, (list, tuple)) and (not forecasts or any(isinstance(x, Mapping) for x in forecasts)):
        return _listed(forecasts, names)
    if isinstance(forecasts, Mapping):
        labels = tuple(str(key) for key in forecasts)
        try:
            columns = [np.asarray(column, dtype=float).ravel() for column in forecasts.values()]
            forecasts = np.column_stack(columns) if columns else np.zeros((0, 0))
        except (TypeError, ValueError, OverflowError):
            raise BadInput("X", labels, "give columns of numbers of one length, NaN where asleep") from None
    elif frames.is_frame(forecasts):
        labels, forecasts = frames.numbers(forecasts)
    try:
        x = np.array(forecasts, dtype=float, order="C")
    except (TypeError, ValueError, OverflowError):
        raise BadInput("X", forecasts, "give numbers, rounds × experts, NaN where asleep") from None
    if x.ndim != 2:
        raise BadInput("X", x.shape, "give a table with one row a round and one column an expert")
    bad = np.argwhere(np.abs(x) > LIMIT)
    if bad.size:
        t, j = (int(i) for i in bad[0])
        raise BadInput(f"X[{t}][{j}]", float(x[t, j]), f"forecasts must be finite and at most {LIMIT:g} in size (NaN = asleep)")
    if labels is None:
        labels = names or tuple(str(j) for j in range(x.shape[1]))
        if len(labels) != x.shape[1]:
            raise BadInput("X", x.shape, f"give {len(names)} columns, for {', '.join(names)}")
    if len(set(labels)) != len(labels):
        raise BadInput("X", labels, "give every expert a name of its own")
    known = set(names)
    everyone = (*names, *(label for label in labels if label not in known))
    if labels == everyone:
        return Table(x, everyone)
    full, place = np.full((x.shape[0], len(everyone)), math.nan), {name: j for j, name in enumerate(everyone)}
    full[:, [place[label] for label in labels]] = x
    return Table(full, everyone)


def _listed(forecasts: Any, names: tuple[str, ...]) -> Table:
    """Rows one by one, each with the experts that speak in it."""
    found = []
    for t, x in enumerate(forecasts):
        try:
            one = row(x, names)
        except BadInput as error:
            raise BadInput(f"X[{t}]{error.argument[1:]}", error.value, error.remedy) from None
        names = one.names
        found.append(one.values)
    full = np.full((len(found), len(names)), math.nan)
    for t, values in enumerate(found):
        full[t, : values.size] = values
    return Table(full, names)


def placed(values: np.ndarray, names: tuple[str, ...], everyone: tuple[str, ...], outside: int) -> np.ndarray:
    """A widened row over `names` as one over everyone known by now; who was not known then was asleep."""
    if names == everyone:
        return values
    full, place = np.full(outside + len(everyone), math.nan), {name: j for j, name in enumerate(everyone)}
    full[:outside] = values[:outside]
    full[[outside + place[name] for name in names]] = values[outside:]
    return full


def targets(loss: Any, y: Any, bound: float, rows: int) -> np.ndarray:
    """Targets as the loss takes them, every one checked."""
    try:
        found = np.array(y, dtype=float).ravel()
    except (TypeError, ValueError, OverflowError):
        raise BadInput("y", y, "give one number a round") from None
    if found.size != rows:
        raise BadInput("y", found.shape, f"give one target for each of the {rows} rows")
    if losses.is_classification(loss):
        wrong = ~np.isin(found, (-1.0, 0.0, 1.0))
    else:
        wrong = ~(np.abs(found) <= (min(bound, LIMIT) if losses.has_minimiser(loss) else LIMIT))
    if wrong.any():
        place = int(np.argmax(wrong))
        try:
            target(loss, float(found[place]), bound)
        except BadInput as error:
            raise BadInput(f"y[{place}]", error.value, error.remedy) from None
    return np.where(found == 1.0, 1.0, -1.0) if losses.is_classification(loss) else found


def target(loss: Any, y: Any, bound: float) -> float:
    """One target, checked."""
    number = losses.label(loss, y, bound)
    if abs(number) > LIMIT:
        raise BadInput("y", y, f"targets must be at most {LIMIT:g} in size")
    return number
