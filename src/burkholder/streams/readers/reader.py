"""What every reader is: an iterator of batches that counts rows, malformed lines and rows without a label."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers.batch import Batch
from burkholder.streams.readers.columns import CATEGORICAL, LABELS, MISSING, Plan
from burkholder.streams.readers.reading import Reading

KEPT_EXAMPLES = 5
LARGEST_LABEL = 1e140
NUMBERS, TWO, MANY = False, True, "many"
SETTLING = ("target", "weight", "drop", "categorical", "positive", "bits", "intercept", "dates")  # what is said of a table's columns
DRESSED = re.compile(r"\D{0,4}\d[\d.,' ]*\D{0,4}")  # a number with a unit, or with its thousands set apart
PLAIN = re.compile(r"[+-]?\d*[.,]?\d+")  # a number, dressed in nothing
MOST_DRESSED = 20  # names of so many classes may well hold a number
LOOKED_AT, ENOUGH = 256, 8  # fields of a column of words; so many different ones are no accident
DIGITS = r"\d[\d.,'\s]*"
UNIT = r"(\s?[$€£¥%]|\s[a-zA-Z]{1,3}|\s?°[CF]?)"
GROUPED = r"\d{1,3}([.,'\s]\d{3})+([.,]\d+)?"
AMOUNT = rf"[-+(−]?([$€£¥]\s?{DIGITS}|{DIGITS}{UNIT}|{GROUPED})\)?|[(−]{DIGITS}\)?"  # 5 %, $3.50, 1'234, (12)
ODD = {  # words that were meant as something else: what they look like, and what to do
    "amounts": (re.compile(AMOUNT), "write plain numbers to have them read as numbers"),
    "dates": (re.compile(r"\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})([ ,T].*)?"), "write the year first to have them read as dates"),
    "time stamps": (re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ].*)?"), "store dates, or write 2024-03-05 13:30, to have them read as dates"),
    "numbers": (re.compile(r"[+-]?\d*\.?\d+([eE][+-]?\d+)?"), "store numbers (in JSON: without quotes) to have them read as numbers"),
}


class Reader:
    """Batches of one file or pipe. Use it once: `for batch in reader`.

    `classes` says what labels are: False, numbers; True, two classes, which become ±1 (0 and 1 are taken too) and any other
    label is a malformed line; "many", classes, each told by its place in `class_names`. None leaves it to the first batch: when
    its labels are −1 and 1, or 0 and 1, they are two classes, else numbers; "any": two classes or many;
    "words": words are classes, and numbers stay numbers.

    A row without a label is left out and counted in `unlabelled`, or kept with y = NaN where labels="optional".
    """

    format = ""

    def __init__(self, name: str, skip_bad: bool = False, classes: Any = False, labels: str = "needed") -> None:
        if labels not in LABELS:
            raise BadInput("labels", labels, f"give one of {', '.join(LABELS)}")
        self.name = name
        self.skip_bad = skip_bad
        self.classes = classes
        self.labels = labels
        self.rows = 0
        self.unlabelled = 0
        self.bad_lines = 0
        self.bad_examples: list[str] = []
        self.remarks: list[str] = []  # what about the columns may not be as it was meant
        self.all_classes = False  # whether a positive class that never occurs is an error
        self.class_names: list[str] = []  # of labels that are classes; for two, those of −1 and 1
        self._known_classes: dict[str, int] = {}
        self._positives = 0

    def __iter__(self) -> Iterator[Batch]:
        try:
            for whole in self._batches():
                batch = whole if self.labels == "ignored" else self._understood(whole)
                self.rows += batch.rows
                self._positives += int((batch.y > 0.0).sum())
                if batch.rows:
                    yield batch
            if self.rows == 0:
                raise BadInput("path", self.name, self._nothing())
            positive = getattr(getattr(self, "plan", None), "positive", None)
            if self.all_classes and positive is not None and not self._positives:
                raise BadInput("positive", positive, f"the target never has this value in the {self.rows} rows of {self.name}")
        finally:
            self.close()

    def _batches(self) -> Iterator[Batch]:
        raise NotImplementedError

    # --- labels ----------------------------------------------------------------------------------------------
    def _words(self, batch: Batch) -> list[str] | None:
        """The labels as they are spelled, where the target is read as words; None where labels are numbers."""
        return None

    def _understood(self, batch: Batch) -> Batch:
        """The batch with its labels as `classes` wants them."""
        absent = np.isnan(batch.y)
        if absent.any() and self.labels == "needed":
            self.unlabelled += int(absent.sum())
            batch, absent = batch.without(absent), np.zeros(int((~absent).sum()), dtype=bool)
        if getattr(getattr(self, "plan", None), "positive", None) is not None:
            self.classes = TWO
        words = self._words(batch)
        if words is not None:
            self.classes = MANY
            return batch._replace(y=np.array([np.nan if gone else self._place(word) for word, gone in zip(words, absent)]))
        if self.classes in (None, "any") and batch.rows and not absent.all():
            found = batch.y[~absent]
            two = bool(np.isin(found, (-1.0, 1.0)).all() or np.isin(found, (0.0, 1.0)).all())
            self.classes = TWO if two else MANY if self.classes == "any" else NUMBERS
        if self.classes == MANY:
            return batch._replace(
                y=np.array([number if number != number else self._place(f"{number:.12g}") for number in batch.y.tolist()])
            )
        return self._labelled(batch) if self.classes is True else self._moderate(batch)

    def _place(self, word: str) -> int:
        place = self._known_classes.get(word)
        if place is None:
            place = self._known_classes[word] = len(self._known_classes)
            self.class_names.append(word)
        return place

    def _labelled(self, batch: Batch) -> Batch:
        """Labels as ±1. The first other label is refused, or its row dropped and counted."""
        if not self.class_names and batch.rows:
            positive = getattr(getattr(self, "plan", None), "positive", None)
            negative = getattr(getattr(self, "plan", None), "negative", "") or f"not {positive}"
            self.class_names = [negative, positive] if positive is not None else ["0", "1"] if (batch.y == 0.0).any() else ["-1", "1"]
        y = np.where(batch.y == 0.0, -1.0, batch.y)
        wrong = np.abs(y) != 1.0
        wrong &= ~np.isnan(y)
        for row in np.flatnonzero(wrong):
            self.note(int(batch.line[row]), f"the label {batch.y[row]:g} is not a class; labels are -1 and 1, or 0 and 1")
        batch = batch._replace(y=y)
        return batch.without(wrong) if wrong.any() else batch

    def _moderate(self, batch: Batch) -> Batch:
        """Labels whose square is a number."""
        wrong = np.abs(batch.y) > LARGEST_LABEL
        for row in np.flatnonzero(wrong):
            self.note(int(batch.line[row]), f"the label {batch.y[row]:g} is too large: divide the target to below {LARGEST_LABEL:g}")
        return batch.without(wrong) if wrong.any() else batch

    # --- counting --------------------------------------------------------------------------------------------
    def note(self, line: int, reason: str) -> None:
        """Count a malformed line, or refuse it."""
        if not self.skip_bad:
            raise BadLine(self.name, line, reason)
        self.bad_lines += 1
        if len(self.bad_examples) < KEPT_EXAMPLES:
            self.bad_examples.append(f"line {line}: {reason}")

    def _nothing(self) -> str:
        if self.bad_examples:
            return f"none of its {self.bad_lines} lines can be used as {self.format}. The first, {self.bad_examples[0]}"
        plan = getattr(self, "plan", None)
        called = f" (column {plan.names[plan.target]!r})" if plan is not None and plan.target >= 0 else ""
        return f"none of its {self.unlabelled} rows has a target{called}" if self.unlabelled else "it holds no row"

    @property
    def features(self) -> int:
        """How many features the rows so far can have, the constant not counted; of a table, its columns."""
        raise NotImplementedError

    def progress(self) -> float | None:
        """The share of the file read so far, or None when its length is not known."""
        return None

    def close(self) -> None:
        """Let go of the file."""

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


def settled(
    reader: Any,
    names: Sequence[str],
    texts: list[str],
    moments: list[str],
    sampled: Callable[[str], Iterable[str]],
    reading: Reading | None = None,
    positive: str | None = None,
    dates: bool = True,
    **columns: Any,
) -> Plan:
    """What each column is for: as the model's table had it, or as is said and seen; `sampled` gives the first words of a column.

    A target of text is two classes where the first rows have two words, else as many as there are.
    """
    if reading is not None:
        return reading.plan(reader.name, names, reader.labels)
    words = set(texts)
    if not dates:
        texts, moments = [*texts, *moments], []
    columns.setdefault("target", None)
    make = partial(Plan, reader.name, names, texts, dates=moments, labels=reader.labels, **columns)
    plan = make(positive=positive)
    asked = {plan.names[plan.find("categorical", name)] for name in columns.get("categorical", ())}
    reader.remarks = _remarks(plan, words - asked, sampled)
    target = plan.names[plan.target] if plan.target >= 0 else None
    # where numbers are wanted, the first word is refused, with its line
    if positive is not None or target is None or reader.classes is False or not (reader.classes == MANY or target in texts):
        return plan
    found = sorted({word for word in sampled(target) if word.lower() not in MISSING})
    if reader.classes != MANY:
        _refuse_dressed(target, found)
    if reader.classes in (MANY, "words") or len(found) != 2:
        return make(words=True)
    plan = make(positive=found[1])
    plan.negative = found[0]
    return plan


def _remarks(plan: Plan, texts: set[str], sampled: Callable[[str], Iterable[str]]) -> list[str]:
    """Of each column that was taken for words without being asked, whether its fields look like amounts or dates."""
    found = []
    for column in np.flatnonzero(plan.kind == CATEGORICAL).tolist():
        if plan.names[column] in texts:
            words = {word for word in islice(sampled(plan.names[column]), LOOKED_AT) if word.lower() not in MISSING}
            for what, (pattern, remedy) in ODD.items():
                odd = sorted(word for word in words if pattern.fullmatch(word))
                if len(odd) >= ENOUGH and 2 * len(odd) > len(words):
                    found.append(f"column {plan.names[column]!r} is read as words, yet looks like {what}, such as {odd[0]!r}: {remedy}")
    return found


def _refuse_dressed(target: str, words: list[str]) -> None:
    """Dozens of words that are numbers with a unit or with thousands set apart are no classes."""
    dressed = [word for word in words if DRESSED.fullmatch(word)]
    if len(dressed) > MOST_DRESSED and 2 * len(dressed) > len(words):
        spelled = next((word for word in dressed if not PLAIN.fullmatch(word)), None)
        odd = next((word for word in words if word not in dressed), None)
        remedy = (
            f"its values look like numbers, but for words such as {odd!r}: leave those empty, where they mean that there is no value"
            if spelled is None
            else f"its values look like numbers that are written as {spelled!r}: write them as plain numbers"
        )
        raise BadInput("target", target, f"{remedy}; if they are classes, say --multiclass")
