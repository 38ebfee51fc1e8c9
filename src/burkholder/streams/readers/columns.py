"""The plan of a table: which column is the target, which are numbers, which are words, and their indices.

With F feature columns (target, weight and dropped ones left out), counted from 0 behind the constant:

    numeric column j      index j
    its missing value     index F + j, the feature `column?` with value 1
    category c of a text  index 2F + feature_index(c, namespace=column), the feature `column=c` with value 1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.naming import indicator, missing
from burkholder.streams.readers.hashing import BITS, check_bits, code
from burkholder.suggestions import did_you_mean

DROPPED, NUMERIC, CATEGORICAL, TARGET, CLASS, WEIGHTS = range(6)
ROLES = ("dropped", "number", "category", "target", "class", "weight")  # in words, by their numbers above
MISSING = ("", "?", "na", "nan", "n/a", "null", "none")  # fields that say there is no value, in any case of letters
USUAL_TARGETS = ("target", "label", "y", "class")


class Plan:
    """What each column is for. `text_columns` are those that hold text rather than numbers."""

    def __init__(
        self,
        file: str,
        names: Sequence[str],
        text_columns: Iterable[str],
        target: str | int | None,
        weight: str | None = None,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        positive: str | None = None,
        bits: int = BITS,
        intercept: bool = False,
    ) -> None:
        self.file, self.names = file, list(names)
        self.positive = positive
        self.offset = int(intercept)
        self.bits = check_bits(bits)
        self.target = self.find("target", self._usual() if target is None else target)
        dropped = {self.find("drop", name) for name in drop}
        chosen = {self.find("categorical", name) for name in categorical}
        weights = -1 if weight is None else self.find("weight", weight)
        texts = {self.names.index(name) for name in text_columns}
        self.kind = np.full(len(self.names), NUMERIC, dtype=np.int64)
        for column in range(len(self.names)):
            if column == self.target:
                self.kind[column] = TARGET if positive is None else CLASS
            elif column == weights:
                self.kind[column] = WEIGHTS
            elif column in dropped:
                self.kind[column] = DROPPED
            elif column in chosen or column in texts:
                self.kind[column] = CATEGORICAL
        self._lay_out()

    @classmethod
    def again(cls, file: str, names: Sequence[str], kind: Sequence[int], positive: str | None, bits: int, intercept: bool) -> Plan:
        """The plan whose columns are known to be of these kinds."""
        plan = cls.__new__(cls)
        plan.file, plan.names, plan.positive, plan.offset, plan.bits = file, list(names), positive, int(intercept), check_bits(bits)
        plan.kind = np.array(kind, dtype=np.int64)
        plan.target = next((column for column, what in enumerate(kind) if what in (TARGET, CLASS)), -1)
        plan._lay_out()
        return plan

    def _lay_out(self) -> None:
        """Give every feature column its place."""
        features = np.flatnonzero((self.kind == NUMERIC) | (self.kind == CATEGORICAL))
        if len(features) == 0:
            raise BadInput("path", self.file, "beside the target it has no column to learn from")
        self.count = len(features)  # F
        self.slot = np.zeros(len(self.names), dtype=np.int64)
        self.slot[features] = np.arange(self.count)
        self.seed = np.array([code(name) & (2**64 - 1) for name in self.names], dtype=np.uint64)

    def _usual(self) -> str:
        for name in USUAL_TARGETS:
            if name in self.names:
                return name
        raise BadInput("target", None, f"say which column of {self.file} to predict. Columns: {self._listed()}")

    def _listed(self) -> str:
        shown = ", ".join(self.names[:40])
        return shown + (", …" if len(self.names) > 40 else "")

    def find(self, role: str, name: str | int) -> int:
        """The column of that name, or of that place counted from the end (-1 is the last)."""
        if isinstance(name, str) and name in self.names:
            return self.names.index(name)
        try:
            place = int(name)
        except ValueError:
            place = 0
        if -len(self.names) <= place < 0:
            return len(self.names) + place
        hint = did_you_mean(name, self.names).strip().replace("did", "Did", 1)
        raise BadInput(role, name, f"no column {str(name)!r} in {self.file}. Columns: {self._listed()}. {hint}".rstrip())

    def name_of(self, column: int, index: int, text: str) -> str:
        """The name of the feature a column's field gave: `column`, `column?` or `column=text`."""
        place = index - self.offset
        if place < self.count:
            return self.names[column]
        return missing(self.names[column]) if place < 2 * self.count else indicator(self.names[column], text)

    def features(self, largest: int) -> int:
        """How many features there can be when `largest` is the largest index seen."""
        if CATEGORICAL in self.kind:
            return 2 * self.count + (1 << self.bits)
        return self.count if largest < self.count else 2 * self.count
