"""Ids of rows and columns, and the numbers of their nodes in one graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput
from burkholder.matrix.inputs import LARGEST

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
    """Ids are strings or integers; 7 and "7" do not go together: see `refuse_twin`."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise BadInput(argument, value, "give a string or an integer as id")
    return int(value)


def twin_of(value: Id) -> Id:
    """The id that looks the same and is another: 7 for "7", "7" for 7; others are their own.

    >>> twin_of("7"), twin_of(7), twin_of("07"), twin_of("ann")
    (7, '7', '07', 'ann')
    """
    if isinstance(value, str):
        return int(value) if value.isascii() and value.lstrip("-").isdigit() and str(int(value)) == value else value
    return str(value)


def refuse_twin(argument: str, value: Id, known: Mapping[Id, int]) -> None:
    """An id never seen whose twin was: most often the same thing was meant, and nobody should have to find out by bad predictions."""
    if value not in known and (twin := twin_of(value)) != value and twin in known:
        raise BadInput(argument, value, f"the ratings so far have {twin!r}; ids {value!r} and {twin!r} are different, keep to one kind")


def refuse_twins(argument: str, values: Sequence[Id], known: Mapping[Id, int]) -> None:
    """The same of many ids: none may be the twin of one that is known, or of another among them."""
    new = {value for value in values if value not in known}
    for value in new:
        if (twin := twin_of(value)) != value and (twin in known or twin in new):
            remedy = f"there is {twin!r} too; ids {value!r} and {twin!r} would be different, keep to one kind"
            raise BadInput(f"{argument}s[{list(values).index(value)}]", value, remedy)


def spelled(value: Id, known: Mapping[Id, int]) -> Id:
    """The id as those known have it: its twin, where only that is known.

    >>> spelled("7", {7: 0}), spelled("7", {"7": 0}), spelled("8", {7: 0})
    (7, '7', '8')
    """
    return twin if value not in known and (twin := twin_of(value)) in known else value


def checked_pair(x: Any) -> tuple[Id, Id]:
    """(row, column) from a pair; ids are never pairs themselves, so two ids and one pair cannot be confused."""
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise BadInput("x", x, "give a row and a column, or the pair (row, column)")
    return checked_id("row", x[0]), checked_id("column", x[1])


def checked_entries(W: Any) -> list[tuple[tuple[Id, Id], float]]:
    """The entries of a comparator {(row, column): number}."""
    if not isinstance(W, Mapping):
        raise BadInput("w", W, "give the matrix as {(row, column): number}; other entries are 0")
    entries = []
    for pair, value in W.items():
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not abs(number) <= LARGEST:
            raise BadInput("w", value, f"its entries must be numbers of size at most {LARGEST:g}")
        entries.append((checked_pair(pair), number))
    return entries


class Pairs(NamedTuple):
    """Many (row, column), checked; `progress` is told of every stretch that was learned."""

    row: list[Id]
    column: list[Id]
    progress: Callable[[int, str], None] | None = None

    @property
    def rows(self) -> int:
        return len(self.row)

    def part(self, start: int, stop: int) -> Pairs:
        return self._replace(row=self.row[start:stop], column=self.column[start:stop])

    def nodes(self, known_rows: dict[Id, int], known_columns: dict[Id, int]) -> tuple[Nodes, Nodes]:
        """The numbers of their nodes, −1 where an id was never seen; nothing is added."""
        return (
            np.array([known_rows.get(row, -1) for row in self.row], np.int64),
            np.array([known_columns.get(column, -1) for column in self.column], np.int64),
        )


def is_pairs(X: Any) -> bool:
    """Whether X holds pairs, or both columns, rather than the ids of rows alone (ids are never tuples)."""
    if isinstance(X, (Pairs, tuple)):
        return True
    if np.ndim(X) == 2 if isinstance(X, np.ndarray) else hasattr(X, "itertuples"):
        return True
    return isinstance(X, list) and bool(X) and isinstance(X[0], (tuple, list))


def checked_pairs(X: Any) -> Pairs:
    """Pairs from a sequence of pairs (a list, or an array of two columns), or from two columns in a tuple: (rows, columns).

    >>> checked_pairs([("ann", "alien"), ("bob", 7)])[:2] == checked_pairs((["ann", "bob"], ["alien", 7]))[:2]
    True
    """
    if isinstance(X, Pairs):
        return X
    if isinstance(X, tuple) and len(X) == 2 and not any(isinstance(part, tuple) for part in X):
        if any(not hasattr(part, "__len__") or isinstance(part, str) for part in X):
            raise BadInput("X", X, "give many pairs, or (rows, columns); one pair is for `predict`")
        rows, columns = (list(items(part)) for part in X)
        if len(rows) != len(columns):
            raise BadInput("rows, columns", (len(rows), len(columns)), "give sequences of the same length")
    else:
        listed = [tuple(pair) for pair in X.itertuples(index=False)] if hasattr(X, "itertuples") else list(items(X))
        for t, pair in enumerate(listed):
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise BadInput(f"X[{t}]", pair, "give a pair (row, column)")
        rows, columns = [pair[0] for pair in listed], [pair[1] for pair in listed]
    for argument, ids in (("row", rows), ("column", columns)):
        if not {*map(type, ids)} - {str, int}:
            continue  # as they should be
        for t, value in enumerate(ids):
            try:
                ids[t] = checked_id(argument, value)
            except BadInput as error:
                raise BadInput(f"{argument}s[{t}]", error.value, error.remedy) from None
    return Pairs(rows, columns)
