"""river's tables as rows. Single rows need nothing: text and missing values are read as every learner reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from burkholder.learning import frames


def table_rows(X: Any) -> Iterator[dict[Any, Any]]:
    """The rows of a data frame (pandas, polars or another), as dicts."""
    if hasattr(X, "itertuples"):  # pandas: names of columns need not be text
        columns, words = list(X.columns), [name for name, kind in X.dtypes.items() if str(kind) == "category"]
        for values in X.itertuples(index=False, name=None):
            row = dict(zip(columns, values))
            yield row | {name: frames.category(row[name]) for name in words} if words else row
        return
    yield from frames.dicts(X)
