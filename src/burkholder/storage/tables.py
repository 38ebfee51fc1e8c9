"""The table a learner learned from, kept with it: see `streams.readers.reading`."""

from __future__ import annotations

from typing import Any

from burkholder.errors import BadInput
from burkholder.learning.rows import Rows


def _holder(learner: Any) -> Any:
    """The part of a learner that turns rows into features, None where there is none."""
    rows = getattr(learner, "rows", None)
    return rows if isinstance(rows, Rows) else None


def of(learner: Any) -> dict[str, Any] | None:
    """The reading as plain data."""
    table = getattr(_holder(learner), "source", None)
    return None if table is None else table.to_dict()


def give(learner: Any, words: Any) -> None:
    """Let the learner take its rows as that table had them."""
    from burkholder.streams.readers.reading import Reading

    if words is None:
        return
    holder = _holder(learner)
    if holder is None:
        raise BadInput("table", type(learner).__name__, "this kind of learner does not learn from tables")
    holder.source = words if isinstance(words, Reading) else Reading.from_dict(words)


def reading_of(learner: Any) -> Any:
    """The reading itself, None for a learner that did not learn from a table."""
    return getattr(_holder(learner), "source", None)
