"""Parquet, a few thousand rows at a time through pyarrow. Columns become features as in CSV."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from burkholder.errors import BadInput, MissingExtra
from burkholder.streams.readers.batch import Batch
from burkholder.streams.readers.columns import CATEGORICAL, CLASS, DROPPED, NUMERIC, WEIGHTS, Plan
from burkholder.streams.readers.hashing import BITS, codes
from burkholder.streams.readers.problems import BAD_NUMBER, BAD_TARGET, BAD_WEIGHT, NO_TARGET, describe
from burkholder.streams.readers.reader import Reader
from burkholder.streams.readers.reading import Reading


def _library() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "io") from None
    return pyarrow


class ParquetReader(Reader):
    """Batches of a Parquet file; "lines" in messages are its rows, counted from 1."""

    format = "parquet"

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: str | int | None = None,
        weight: str | None = None,
        drop: Sequence[str] = (),
        categorical: Sequence[str] = (),
        positive: str | None = None,
        bits: int = BITS,
        intercept: bool = False,
        rows: int = 8192,
        named: bool = False,
        reading: Reading | None = None,
        **options: Any,
    ) -> None:
        super().__init__(os.fspath(path), **options)
        self._arrow = _library()
        try:
            self._file = self._arrow.parquet.ParquetFile(path)
        except (OSError, ValueError, self._arrow.ArrowException) as error:
            raise BadInput("path", self.name, f"it cannot be read as Parquet ({error})") from None
        schema = self._file.schema_arrow
        texts = [field.name for field in schema if not self._numeric(field.type)]
        if reading is not None:
            self.plan = reading.plan(self.name, schema.names)
        else:
            self.plan = Plan(self.name, schema.names, texts, target, weight, drop, categorical, positive, bits, intercept)
        self._chunk = rows
        self._largest = -1
        self._first = self._read = 0  # rows before this chunk, and with it
        self.named = named
        self._names: list[np.ndarray] = []

    def _numeric(self, kind: Any) -> bool:
        types = self._arrow.types
        return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind) or types.is_null(kind)

    def _batches(self) -> Iterator[Batch]:
        wanted = [name for name, kind in zip(self.plan.names, self.plan.kind) if kind != DROPPED]
        try:
            for table in self._file.iter_batches(batch_size=self._chunk, columns=wanted):
                yield self._converted(table)
        except (OSError, self._arrow.ArrowException) as error:
            raise BadInput("path", self.name, f"after row {self._read} it cannot be read ({error})") from None

    def _converted(self, table: Any) -> Batch:
        plan, rows = self.plan, table.num_rows
        first = self._first = self._read
        self._read += rows
        width = plan.count + plan.offset
        indices = np.zeros((rows, width), dtype=np.int32)
        values = np.ones((rows, width))
        y, weight, wrong = np.zeros(rows), np.ones(rows), np.zeros(rows, dtype=bool)
        self._names = [np.empty(0)] * plan.count
        for column, kind in enumerate(plan.kind.tolist()):
            if kind == DROPPED:
                continue
            name = plan.names[column]
            field = table.column(name)
            if kind == CLASS:
                words = np.array([str(word) for word in field.to_pylist()])
                y = np.where(words == plan.positive, 1.0, -1.0)
                self._refuse(wrong, field.is_null(nan_is_null=True).to_numpy(zero_copy_only=False), NO_TARGET, name, y, first)
                continue
            if kind == CATEGORICAL:
                slot = int(plan.slot[column]) + plan.offset
                indices[:, slot] = self._hashed(field, column) + plan.offset
                continue
            number, absent = self._numbers(field)
            if kind == NUMERIC:
                slot = int(plan.slot[column])
                self._refuse(wrong, np.isinf(number), BAD_NUMBER, name, number, first)
                indices[:, slot + plan.offset] = slot + plan.offset + np.where(absent, plan.count, 0)
                values[:, slot + plan.offset] = np.where(absent, 1.0, number)
                self._largest = max(self._largest, slot + (plan.count if absent.any() else 0))
            elif kind == WEIGHTS:
                weight = number
                self._refuse(wrong, ~((number >= 0.0) & np.isfinite(number)), BAD_WEIGHT, name, number, first)
            else:
                y = number
                self._refuse(wrong, absent, NO_TARGET, name, number, first)
                self._refuse(wrong, np.isinf(number), BAD_TARGET, name, number, first)
        batch = Batch(
            np.arange(rows + 1, dtype=np.int64) * width, indices.ravel(), values.ravel(), y, weight, np.arange(first + 1, first + rows + 1)
        )
        return batch.without(wrong) if wrong.any() else batch

    def _refuse(self, wrong: np.ndarray, now: np.ndarray, reason: int, column: str, shown: np.ndarray, first: int) -> None:
        for row in np.flatnonzero(now & ~wrong):
            self.note(first + int(row) + 1, describe(reason, str(shown[row]), column=column))
        wrong |= now

    def _numbers(self, field: Any) -> tuple[np.ndarray, np.ndarray]:
        """A column as float64, and where it has no value (null or NaN)."""
        if self._arrow.types.is_boolean(field.type):
            field = field.cast(self._arrow.int8())
        try:
            number = field.cast(self._arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        except self._arrow.ArrowException as error:
            raise BadInput(
                "target",
                self.plan.names[self.plan.target],
                f"it holds {field.type}, not numbers; for classes given as words name the positive one ({error})",
            ) from None
        return number, np.isnan(number)

    def _hashed(self, field: Any, column: int) -> np.ndarray:
        """The index of each row's category; null is the empty one."""
        encoded = field.cast(self._arrow.string()).fill_null("").dictionary_encode()
        words = [word.encode() for word in encoded.dictionary.to_pylist()]
        text = np.frombuffer(b"".join(words) + b" ", dtype=np.uint8)
        cuts = np.concatenate([[0], np.cumsum([len(word) for word in words])]).astype(np.int64)
        out = np.empty(len(words), dtype=np.uint64)
        codes(text, cuts, self.plan.seed[column], out)
        index = 2 * self.plan.count + (out & np.uint64((1 << self.plan.bits) - 1)).astype(np.int64)
        which = encoded.indices.to_numpy(zero_copy_only=False)
        if self.named:
            known = np.array([word.decode() for word in words], dtype=object)
            self._names[self.plan.slot[column]] = known[which]
        return index[which]

    def names(self, batch: Batch) -> Iterator[str]:
        """The name of every feature of a batch read with `named`, in order."""
        columns = [column for column, kind in enumerate(self.plan.kind) if kind in (NUMERIC, CATEGORICAL)]
        for at, index in enumerate(batch.indices.tolist()):
            row, slot = divmod(at, len(columns))
            words = self._names[slot]
            text = str(words[int(batch.line[row]) - 1 - self._first]) if len(words) else ""
            yield self.plan.name_of(columns[slot], index, text)

    @property
    def features(self) -> int:
        return self.plan.features(self._largest)

    def progress(self) -> float | None:
        return self._read / max(self._file.metadata.num_rows, 1)

    def close(self) -> None:
        self._file.close()
