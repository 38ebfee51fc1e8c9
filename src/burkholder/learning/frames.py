"""Data frames as named features: pandas, polars, pyarrow and whatever speaks Arrow's stream protocol, through narwhals.

A frame means what the list of its rows as dicts means, feature by feature, only faster: columns of numbers are taken whole. Its
categories are words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput, MissingExtra
from burkholder.learning import dates
from burkholder.learning.fields import LARGEST, features
from burkholder.learning.naming import indicator, is_missing, missing


class Columns(NamedTuple):
    """The features of a frame, and entry by entry (in pieces): row, which feature, value."""

    rows: int
    features: list[str]
    row: list[np.ndarray]
    which: list[np.ndarray]
    value: list[np.ndarray]


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns, of whatever library."""
    if isinstance(X, (np.ndarray, list, tuple, dict)) or hasattr(X, "tocsr"):
        return False
    return hasattr(type(X), "columns") or (hasattr(X, "__arrow_c_stream__") and not hasattr(X, "to_numpy"))


def opened(X: Any, argument: str = "X") -> Any:
    """The frame as narwhals knows it."""
    try:
        import narwhals as nw
    except ImportError:
        raise MissingExtra("narwhals", "io") from None
    try:
        frame = nw.from_native(X, pass_through=True)
        if frame is X or not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
            import pyarrow

            frame = nw.from_native(pyarrow.table(X), eager_only=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except (TypeError, ValueError, ImportError) as error:
        raise BadInput(argument, type(X).__name__, f"it cannot be read as a data frame ({error})") from None
    if len(set(map(str, frame.columns))) < len(frame.columns):
        raise BadInput(argument, list(frame.columns), "give every column a name of its own")
    return frame


def _named(frame: Any) -> list[tuple[str, Any]]:
    """Columns by their names as text; not looked up by them, for pandas may call a column 0."""
    return [(str(name), column) for name, column in zip(frame.columns, frame.iter_columns())]


def dicts(X: Any) -> list[dict[str, Any]]:
    """The rows, column → value; categories are words."""
    frame = opened(X)
    found = [{str(name): value for name, value in row.items()} for row in frame.iter_rows(named=True)]
    for name in (str(name) for name in frame.columns if _categorical(frame[name].dtype)):
        for row in found:
            row[name] = category(row[name])
    return found


def plain(X: Any) -> bool:
    """Whether every column holds numbers."""
    frame = opened(X)
    return all(_numeric(column.dtype) for _, column in _named(frame))


def numbers(X: Any, argument: str = "X") -> tuple[tuple[str, ...], np.ndarray]:
    """(names, values) of a frame of numbers, NaN where it has none."""
    frame = opened(X, argument)
    found = []
    for name, column in _named(frame):
        if not _numeric(column.dtype):
            raise BadInput(f"{argument}[{name!r}]", str(column.dtype), "give columns of numbers; drop the others")
        found.append(_floats(column))
    return tuple(name for name, _ in _named(frame)), np.column_stack(found) if found else np.zeros((len(frame), 0))


def columns(X: Any, argument: str = "X") -> Columns:
    """Every feature of every row, checked.

    >>> import pandas as pd
    >>> found = columns(pd.DataFrame({"size": [3.0, None], "city": ["Rome", "Oslo"]}))
    >>> found.features, [row.tolist() for row in found.row], [value.tolist() for value in found.value]
    (['size', 'size?', 'city=Rome', 'city=Oslo'], [[0], [1], [0], [1]], [[3.0], [1.0], [1.0], [1.0]])
    """
    frame = opened(X, argument)
    out = Columns(len(frame), [], [], [], [])
    every = np.arange(len(frame))
    for name, column in _named(frame):
        if _numeric(column.dtype):
            values = _floats(column)
            absent = np.isnan(values)
            wrong = np.abs(np.where(absent, 0.0, values)) > LARGEST
            if wrong.any():
                place = int(np.argmax(wrong))
                raise BadInput(f"{argument}[{place}][{name!r}]", float(values[place]), "give finite numbers of size at most 1e150")
            _put(out, name, every[~absent], values[~absent])
            _put(out, missing(name), every[absent], np.ones(int(absent.sum())))
        elif _temporal(column.dtype):
            _moments(out, name, column, every)
        else:
            values = column.to_list()
            _fields(out, name, list(map(category, values)) if _categorical(column.dtype) else values, argument)
    return out


def _put(out: Columns, feature: str, rows: np.ndarray, values: np.ndarray) -> None:
    if not len(rows):
        return
    out.features.append(feature)
    out.row.append(rows)
    out.which.append(np.full(len(rows), len(out.features) - 1))
    out.value.append(values)


def _moments(out: Columns, name: str, column: Any, every: np.ndarray) -> None:
    """Trend, hour, weekday and month, as `dates` has them."""
    timed = str(column.dtype) != "Date"
    moments = np.array([None if is_missing(value) else _naive(value) for value in column.to_list()], dtype="datetime64[us]")
    trend, words = dates.many(moments, timed)
    here = ~np.isnan(trend)
    _put(out, name, every[here], trend[here])
    _put(out, missing(name), every[~here], np.ones(int((~here).sum())))
    for places in words:
        for place in np.unique(places[here]):
            rows = every[here & (places == place)]
            _put(out, indicator(name, dates.WORDS[place]), rows, np.ones(len(rows)))


def _naive(value: Any) -> Any:
    """The time as it is written, without its zone."""
    return value.replace(tzinfo=None) if getattr(value, "tzinfo", None) is not None else value


def _fields(out: Columns, name: str, values: list[Any], argument: str) -> None:
    """Text, and columns that hold a bit of everything: value by value."""
    met: dict[str, tuple[list[int], list[float]]] = {}
    for row, value in enumerate(values):
        for feature, number in features(name, value, f"{argument}[{row}]"):
            rows, numbers = met.setdefault(feature, ([], []))
            rows.append(row)
            numbers.append(number)
    for feature, (rows, numbers) in met.items():
        _put(out, feature, np.array(rows), np.array(numbers))


def category(value: Any) -> str | None:
    """Categories are words, also where they look like numbers."""
    return None if is_missing(value) else str(value)


def _numeric(dtype: Any) -> bool:
    return dtype.is_numeric() or str(dtype) == "Boolean"


def _categorical(dtype: Any) -> bool:
    return str(dtype).split("(")[0] in ("Categorical", "Enum")


def _temporal(dtype: Any) -> bool:
    return str(dtype).split("(")[0] in ("Date", "Datetime")


def _floats(column: Any) -> np.ndarray:
    """A column as float64, NaN where it has no value."""
    import narwhals as nw

    if str(column.dtype) == "Boolean":
        column = column.cast(nw.Int8)
    return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=float)
