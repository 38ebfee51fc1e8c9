"""river's tables as rows. Single rows need nothing: text and missing values are read as every learner reads them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any


def table_rows(X: Any) -> Iterator[dict[Hashable, Any]]:
    """The rows of a pandas data frame, as dicts."""
    columns = list(X.columns)
    for values in X.itertuples(index=False, name=None):
        yield dict(zip(columns, values))
