"""What every reader is: an iterator of batches that counts rows, malformed lines and features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers.batch import Batch

KEPT_EXAMPLES = 5
LARGEST_LABEL = 1e140


class Reader:
    """Batches of one file or pipe. Use it once: `for batch in reader`.

    With `classes` labels become ±1 (0 and 1 are taken too) and any other label is a malformed line. None
    leaves it to the first batch: when its labels are two classes, so must all others be.
    """

    format = ""

    def __init__(self, name: str, skip_bad: bool = False, classes: bool | None = False) -> None:
        self.name = name
        self.skip_bad = skip_bad
        self.classes = classes
        self.rows = 0
        self.bad_lines = 0
        self.bad_examples: list[str] = []
        self.all_classes = False  # whether a positive class that never occurs is an error
        self._positives = 0

    def __iter__(self) -> Iterator[Batch]:
        try:
            for whole in self._batches():
                if self.classes is None and whole.rows:
                    self.classes = bool(np.isin(whole.y, (-1.0, 1.0)).all() or np.isin(whole.y, (0.0, 1.0)).all())
                batch = self._labelled(whole) if self.classes else self._moderate(whole)
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

    def _labelled(self, batch: Batch) -> Batch:
        """Labels as ±1. The first other label is refused, or its row dropped and counted."""
        y = np.where(batch.y == 0.0, -1.0, batch.y)
        wrong = np.abs(y) != 1.0
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
        return "it holds no row"

    @property
    def features(self) -> int:
        """How many features the rows so far can have, the constant not counted."""
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
