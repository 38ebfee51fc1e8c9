"""Ids of rows and columns, and the numbers of their nodes in one graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput

Id = str | int
Nodes = NDArray[np.int64]


def nodes(known_rows: dict[Id, int], known_columns: dict[Id, int], rows: Sequence[Id], columns: Sequence[Id]) -> tuple[Nodes, Nodes]:
    """Node numbers, new ids numbered in order of arrival (and added to those known).

    >>> nodes({}, {}, ["ann", "bob"], ["alien", "alien"])
    (array([0, 2]), array([1, 1]))
    """
    total = len(known_rows) + len(known_columns)
    i, j = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    for t, (row, column) in enumerate(zip(rows, columns)):
        node = known_rows.get(row)
        if node is None:
            node = known_rows[row] = total
            total += 1
        i[t] = node
        node = known_columns.get(column)
        if node is None:
            node = known_columns[column] = total
            total += 1
        j[t] = node
    return i, j


def items(values: Any) -> Any:
    """A sequence of plain Python values, from a list, an array or a column of a data frame."""
    for name in ("tolist", "to_list"):
        if hasattr(values, name):
            return getattr(values, name)()
    return values


def checked_id(argument: str, value: Any) -> Id:
    """Ids are strings or integers, kept apart: 7 and "7" are different."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise BadInput(argument, value, "give a string or an integer as id")
    return int(value)
