"""Columns as scikit-learn's users have them: numbers, missing values, and the categories and dates of data frames."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from scipy import sparse

from burkholder.errors import BadInput
from burkholder.learning import dates
from burkholder.learning.fields import seconds
from burkholder.learning.naming import is_missing

Words = list[tuple[int, np.ndarray]]  # columns of words, by the place of the column they come from; a date gives several
NOTHING: Any = object()  # a word of a moment that is missing: what is missing is marked once, by its trend


class Columns:
    """Places of indicators: one for every category met, and one for what is missing in a column, after the columns themselves.

    A category that was never learned is left out when predicting, as any new feature is.
    """

    def __init__(self, features: int) -> None:
        self.features = features
        self.places: dict[tuple[int, Any], int] = {}

    def place(self, column: int, label: Any, learning: bool) -> int | None:
        """Where that indicator stands; None for one not met yet, which `learning` remembers."""
        key = (column, label)
        try:
            hash(label)
        except TypeError:
            raise BadInput(f"column {column}", label, "give numbers, text or dates; what cannot be hashed is no category") from None
        if key not in self.places and learning:
            self.places[key] = self.features + len(self.places)
        return self.places.get(key)

    def rows(self, checked: Any, words: Words, learning: bool) -> sparse.csr_matrix:
        """Checked numbers (NaN: missing) and columns of words, as sparse rows."""
        rows = sparse.csr_matrix(checked)
        missing = np.isnan(rows.data)
        if not missing.any() and not words:
            return rows
        count, extra = rows.shape[0], []
        where = np.repeat(np.arange(count), np.diff(rows.indptr))[missing]
        for row, column in zip(where.tolist(), rows.indices[missing].tolist()):
            extra.append((row, self.place(column, None, learning)))
        for column, labels in words:
            for row, label in enumerate(labels.tolist()):
                if label is not NOTHING:
                    extra.append((row, self.place(column, label, learning)))
        rows.data[missing] = 0.0
        found = [(row, place) for row, place in extra if place is not None]
        at = np.array(found, np.int64).reshape(-1, 2)
        width = self.features + len(self.places)
        marks = sparse.csr_matrix((np.ones(len(at)), (at[:, 0], at[:, 1])), shape=(count, width))
        rows.resize(count, width)
        rows = sparse.csr_matrix(rows + marks)
        rows.eliminate_zeros()
        return rows


def words_of(X: Any, how: Any) -> tuple[Any, Words]:
    """(X with zeros in place of its columns of words and trends in place of dates, the words); how: "from_dtype", or None to take none."""
    if how is None or not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return X, []
    if how != "from_dtype":
        raise BadInput("categorical_features", how, "give 'from_dtype' or None")
    words: Words = []
    kept: dict[int, np.ndarray] = {}
    columns = [X.iloc[:, k] if hasattr(X, "iloc") else X[name] for k, name in enumerate(X.columns)]  # two may have one name
    for k, column in enumerate(columns):
        if _numeric(column.dtype):
            continue
        labels = list(column)
        some = next((label for label in labels if not is_missing(label)), None)
        if dates.is_moment(some):
            kept[k] = _moments(k, labels, hasattr(some, "hour"), words)
        elif isinstance(some, (timedelta, np.timedelta64)):
            kept[k] = np.array([np.nan if is_missing(label) else seconds(label) for label in labels])
        elif isinstance(some, Decimal):
            kept[k] = np.array([np.nan if is_missing(label) else float(label) for label in labels])
        else:
            kept[k] = np.zeros(len(X))
            words.append((k, np.fromiter((None if is_missing(label) else label for label in labels), object, len(labels))))
    if not kept:
        return X, []
    import pandas as pd

    numbers = [kept[k] if k in kept else np.asarray(column, dtype=float) for k, column in enumerate(columns)]
    return pd.DataFrame(np.column_stack(numbers), columns=X.columns), words


def _numeric(dtype: Any) -> bool:
    """Whether a column of pandas' or polars' holds numbers, or true and false."""
    if hasattr(dtype, "is_numeric"):
        return dtype.is_numeric() or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "biufc"


def _moments(column: int, values: Any, timed: bool, words: Words) -> np.ndarray:
    """The trends of a column of dates; its hours, weekdays and months become words, as `learning.dates` has them."""
    there: list[Any] = [None if is_missing(value) else value for value in list(values)]
    naive = [value.replace(tzinfo=None) if getattr(value, "tzinfo", None) else value for value in there]
    trend, places = dates.many(np.array(naive, dtype="datetime64[us]"), timed)
    here = ~np.isnan(trend)
    names = np.array(dates.WORDS, dtype=object)
    words += [(column, np.where(here, names[part], NOTHING)) for part in places]
    return trend
