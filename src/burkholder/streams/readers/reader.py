"""What every reader is: an iterator of batches that counts rows, malformed lines and rows without a label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers.batch import Batch
from burkholder.streams.readers.columns import LABELS, MISSING, Plan

KEPT_EXAMPLES = 5
LARGEST_LABEL = 1e140
NUMBERS, TWO, MANY = False, True, "many"


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
            return batch._replace(y=np.where(absent, np.nan, [self._place(word) for word in words]))
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
        return f"none of its {self.unlabelled} rows has a target" if self.unlabelled else "it holds no row"

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
    sampled: Callable[[Plan], Iterable[str]],
    positive: str | None = None,
    dates: bool = True,
    target: str | int | None = None,
    **columns: Any,
) -> Plan:
    """What each column of a table is for, given those that hold text and moments, and the words of the target's first rows."""
    if not dates:
        texts, moments = [*texts, *moments], []
    make = partial(Plan, reader.name, names, texts, target, dates=moments, labels=reader.labels, **columns)
    plan = make(positive=positive)
    if positive is not None or plan.target < 0 or reader.classes is False:
        return plan  # where numbers are wanted the first word is refused, with its line
    words = names[plan.target] in texts
    return _classes(reader, set(sampled(plan)), make) if words or reader.classes == MANY else plan


def _classes(reader: Any, words: set[str], make: Callable[..., Plan]) -> Plan:
    """The plan of a table whose target is text: two classes where the first rows have two words, else as many as there are."""
    found = sorted(word for word in words if word.lower() not in MISSING)
    if reader.classes in (MANY, "words") or len(found) != 2:
        return make(words=True)
    plan = make(positive=found[1])
    plan.negative = found[0]
    return plan
