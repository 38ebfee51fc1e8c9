"""river's tables as rows. Single rows need nothing: text and missing values are read as every learner reads them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

from burkholder.learning import frames


def table_rows(X: Any) -> Iterator[dict[Hashable, Any]]:
    """The rows of a data frame (pandas, polars or another), as dicts."""
    if hasattr(X, "itertuples"):  # pandas: names of columns need not be text
        columns = list(X.columns)
        for values in X.itertuples(index=False, name=None):
            yield dict(zip(columns, values))
        return
    yield from frames.opened(X).iter_rows(named=True)
