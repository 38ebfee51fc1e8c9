"""Columns as scikit-learn's users have them: numbers, missing values, and categories of data frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from burkholder.errors import BadInput

WORDS = ("category", "object", "str", "string", "Categorical", "Enum", "String", "Utf8")  # types of columns that hold no numbers


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
        if key not in self.places and learning:
            self.places[key] = self.features + len(self.places)
        return self.places.get(key)

    def rows(self, checked: Any, words: dict[int, np.ndarray], learning: bool) -> sparse.csr_matrix:
        """Checked numbers (NaN: missing) and columns of words, as sparse rows."""
        rows = sparse.csr_matrix(checked)
        missing = np.isnan(rows.data)
        if not missing.any() and not words:
            return rows
        count, extra = rows.shape[0], []
        where = np.repeat(np.arange(count), np.diff(rows.indptr))[missing]
        for row, column in zip(where.tolist(), rows.indices[missing].tolist()):
            if column not in words:
                extra.append((row, self.place(column, None, learning)))
        for column, labels in words.items():
            for row, label in enumerate(labels.tolist()):
                extra.append((row, self.place(column, None if _absent(label) else label, learning)))
        rows.data[missing] = 0.0
        found = [(row, place) for row, place in extra if place is not None]
        at = np.array(found, np.int64).reshape(-1, 2)
        width = self.features + len(self.places)
        marks = sparse.csr_matrix((np.ones(len(at)), (at[:, 0], at[:, 1])), shape=(count, width))
        rows.resize(count, width)
        rows = sparse.csr_matrix(rows + marks)
        rows.eliminate_zeros()
        return rows


def _absent(label: Any) -> bool:
    return label is None or label != label


def words_of(X: Any, how: Any) -> tuple[Any, dict[int, np.ndarray]]:
    """(X with zeros in place of its columns of words, those columns by their place); how: "from_dtype", or None to take none."""
    if how is None or not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return X, {}
    if how != "from_dtype":
        raise BadInput("categorical_features", how, "give 'from_dtype' or None")
    names = list(X.columns)
    words = {k: np.asarray(X[name], dtype=object) for k, name in enumerate(names) if str(X[name].dtype).partition("(")[0] in WORDS}
    if not words:
        return X, {}
    import pandas as pd

    kept = {name: np.zeros(len(X)) if k in words else np.asarray(X[name], dtype=float) for k, name in enumerate(names)}
    return pd.DataFrame(kept), words
