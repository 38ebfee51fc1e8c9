"""The plan of a table: which column is the target, which are numbers, which are words, and their indices.

With F feature columns (target, weight and dropped ones left out), counted from 0 behind the constant:

    numeric column j      index j; so is one of nothing but true and false, which are 1 and 0
    its missing value     index F + j, the feature `column?` with value 1
    category c of a text  index 2F + feature_index(c, namespace=column), the feature `column=c` with value 1
    a moment              index j for its trend, and one index as a category has it for its hour, weekday and month
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.dates import WORDS
from burkholder.learning.naming import indicator, missing
from burkholder.streams.readers.hashing import BITS, check_bits, code
from burkholder.suggestions import did_you_mean

DROPPED, NUMERIC, CATEGORICAL, TARGET, CLASS, WEIGHTS, DATE, WORD = range(8)
FEATURES = (NUMERIC, CATEGORICAL, DATE)
ROLES = ("dropped", "number", "category", "target", "class", "weight", "date", "classes")  # in words, by their numbers above
MISSING = ("", "?", "na", "nan", "n/a", "null", "none", "#n/a", "<na>", "\\n")  # fields that say there is no value, in any case of letters
DASHES = ("-", "--", ".", "–", "—")  # these too, where a number or a date should stand; a class may well be called "-"
NO_NUMBER = (*MISSING, *DASHES)
TRUTHS = ("false", "true")  # 0 and 1, in any case of letters, in a column that holds nothing else
USUAL_TARGETS = ("target", "label", "y", "class")
LABELS = ("needed", "optional", "ignored")  # rows without a label: left out, kept with y = NaN; or no target is looked for


class Plan:
    """What each column is for. `text_columns` hold text rather than numbers; `truths` of them hold nothing but true and false."""

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
        dates: Iterable[str] = (),
        labels: str = "needed",
        words: bool = False,
        truths: Iterable[str] = (),
    ) -> None:
        self.file, self.names = file, list(names)
        self.positive, self.negative = positive, ""  # the words of classes 1 and −1; "": every other word
        self.offset = int(intercept)
        self.bits = check_bits(bits)
        if labels == "ignored":
            self.target = -1 if target is None or (isinstance(target, str) and target not in names) else self.find("target", target)
        else:
            self.target = self.find("target", self._usual() if target is None else target)
        dropped = {self.find("drop", name) for name in drop}
        chosen = {self.find("categorical", name) for name in categorical}
        weights = -1 if weight is None else self.find("weight", weight)
        texts, moments, self.truths = ({self.names.index(name) for name in columns} for columns in (text_columns, dates, truths))
        self.kind = np.full(len(self.names), NUMERIC, dtype=np.int64)
        for column in range(len(self.names)):
            if column == self.target:
                self.kind[column] = DROPPED if labels == "ignored" else WORD if words else TARGET if positive is None else CLASS
            elif column == weights:
                self.kind[column] = WEIGHTS
            elif column in dropped:
                self.kind[column] = DROPPED
            elif column in chosen or column in texts - self.truths:
                self.kind[column] = CATEGORICAL
            elif column in moments:
                self.kind[column] = DATE
        self._lay_out()

    @classmethod
    def again(cls, file: str, names: Sequence[str], kind: Sequence[int], positive: str | None, bits: int, intercept: bool) -> Plan:
        """The plan whose columns are known to be of these kinds."""
        plan = cls.__new__(cls)
        plan.file, plan.names, plan.offset, plan.bits = file, list(names), int(intercept), check_bits(bits)
        plan.truths = set()
        plan.positive, plan.negative = positive, ""
        plan.kind = np.array(kind, dtype=np.int64)
        plan.target = next((column for column, what in enumerate(kind) if what in (TARGET, CLASS, WORD)), -1)
        plan._lay_out()
        return plan

    def _lay_out(self) -> None:
        """Give every feature column its place."""
        features = np.flatnonzero(np.isin(self.kind, FEATURES))
        if len(features) == 0:
            raise BadInput("path", self.file, "beside the target it has no column to learn from")
        self.count = len(features)  # F
        self.slot = np.zeros(len(self.names), dtype=np.int64)
        self.slot[features] = np.arange(self.count)
        self.seed = np.array([code(name) & (2**64 - 1) for name in self.names], dtype=np.uint64)
        self.calendar = np.zeros((len(self.names), len(WORDS)), dtype=np.int64)  # a date column's index for each word
        for column in np.flatnonzero(self.kind == DATE).tolist():
            self.calendar[column] = [self.word(column, word) for word in WORDS]

    def word(self, column: int, text: str) -> int:
        """The index of a word in that column, the constant not counted."""
        return 2 * self.count + (code(text, int(self.seed[column])) & ((1 << self.bits) - 1))

    def _usual(self) -> str:
        for name in USUAL_TARGETS:
            if name in self.names:
                return name
        raise BadInput("target", None, f"say which column of {self.file} to predict; -1 is the last. Columns: {self._listed()}")

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
