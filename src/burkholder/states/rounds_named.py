"""Dicts of named features into the row buffers of a state, at the speed of the interpreter's own C code.

Reading a dict twice, once to predict and once to learn, costs more than the two rounds. Names are therefore
looked up only when they differ from the ones just read; values are always read again.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import partial
from typing import Any

from burkholder.errors import BadInput
from burkholder.states.linear import LinearState

INTERCEPT = "(intercept)"


class NamedRow:
    """Writes x into the state's row buffers; new names count only once `keep` is called.

    >>> from burkholder.functions.linear import Linear
    >>> from burkholder.potentials import SquareRoot
    >>> state = LinearState(Linear("AdaGrad", SquareRoot(), "coordinates", "gradient"))
    >>> row = NamedRow(state, {})
    >>> state.play_row(row.load({"age": 3.0, "height": 1.8})), row.names
    (0.0, {})
    >>> row.keep(); row.names
    {'age': 0, 'height': 1}
    """

    def __init__(self, state: LinearState, names: dict[str, int], intercept: bool = False) -> None:
        self.state, self.names, self.intercept = state, names, intercept
        if intercept:
            names.setdefault(INTERCEPT, len(names))
        self._keys: list[str] | None = None
        self._new: dict[str, int] = {}
        self._prepare(0)

    def forget(self) -> None:
        """After the names or the buffers were changed by someone else."""
        self._keys, self._new = None, {}

    def load(self, x: Mapping[str, Any]) -> int:
        """The number of entries now in the buffers. Nothing is remembered of x but its names, until `keep`."""
        if len(x) != self._count or self.state.row_values is not self._values:
            self._prepare(len(x))
        try:
            self._pack(*x.values())
        except (struct.error, TypeError, ValueError, OverflowError):
            raise self._culprit(x) from None
        if [*x] != self._keys:
            self._look_up([*x])
        return self._total

    def _prepare(self, count: int) -> None:
        """For rows of another length, or after the state made room: where and how to write them."""
        self._keys, self._new = None, {}
        self._count, self._total = count, count + self.intercept
        indices, self._values = self.state.reserve(self._total)
        self._pack = partial(struct.Struct(f"{count}d").pack_into, self._values.data, 0)
        self._pack_indices = partial(struct.Struct(f"{count}Q").pack_into, indices.data, 0)
        if self.intercept:  # the last entry, written once
            indices[count], self._values[count] = self.names[INTERCEPT], 1.0

    def _look_up(self, keys: list[str]) -> None:
        self._keys, self._new = None, {}
        names = self.names
        try:
            self._pack_indices(*map(names.__getitem__, keys))
        except KeyError:
            for key in keys:
                if key not in names:
                    self._new[key] = len(names) + len(self._new)
            both = {**names, **self._new}
            self._pack_indices(*map(both.__getitem__, keys))
        self._keys = keys

    def keep(self) -> None:
        """The row was learned from: its new names stay."""
        if self._new:
            self.names.update(self._new)
            self._new = {}

    def _culprit(self, x: Mapping[str, Any]) -> BadInput:
        for name, value in x.items():
            try:
                float(value)
                struct.pack("d", value)
            except (struct.error, TypeError, ValueError, OverflowError):
                return BadInput(f"x[{name!r}]", value, "features must be numbers; encode text first")
        return BadInput("x", x, "features must be numbers; encode text first")
