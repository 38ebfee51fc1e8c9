"""JSON lines: one object a line, whose keys are the columns of a table; a key that is not there is a missing value.

Objects in objects are columns of their own: `{"user": {"age": 3}}` is the column `user.age`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.naming import flat, is_missing
from burkholder.streams.readers.batch import Batch
from burkholder.streams.readers.columns import NO_NUMBER
from burkholder.streams.readers.dates import spelled
from burkholder.streams.readers.packed import Damaged
from burkholder.streams.readers.reading import FEATURE_ROLES
from burkholder.streams.readers.source import Source
from burkholder.streams.readers.tabular import TableReader
from burkholder.streams.readers.text import PATIENCE

ROWS = 4096  # of a batch, and of the sample that decides what columns are
BLOCK = 1 << 20


class JsonReader(TableReader):
    """Batches of JSON lines. The first batch decides what the columns are: text, numbers or dates."""

    format = "jsonl"

    def __init__(self, source: Source, skip_bad: bool = False, classes: Any = False, labels: str = "needed", **columns: Any) -> None:
        super().__init__(source.name, skip_bad, classes, labels)
        self.source = source
        self._line = 0
        self._chunks = self._grouped()
        self._first = next(self._chunks, [])
        rows = [row for _, row in self._first]
        reading = columns.get("reading")
        names = list(dict.fromkeys([*(reading.columns if reading else ()), *(key for row in rows for key in row)]))
        if not names:
            raise BadInput("path", self.name, self._nothing())
        if reading is not None and rows:
            self._refuse_strangers(reading, {key for row in rows for key in row})
        seen = {name: [value for row in rows if not _absent(value := row.get(name))] for name in names}
        words = {name for name, values in seen.items() if _mostly_words(values)}
        moments = {name for name in words if all(isinstance(v, str) and spelled(v) is not None for v in seen[name])}
        truths = [name for name, values in seen.items() if values and all(isinstance(value, bool) for value in values)]
        self._known = None if reading is not None else set(names)  # a model looks at its own columns alone
        texts = [name for name in names if name in words - moments]
        self._settle(names, texts, [name for name in names if name in moments], truths=truths, **columns)

    def _refuse_strangers(self, reading: Any, keys: set[str]) -> None:
        """Objects of which a model knows no column: every prediction would be that of a row without values."""
        known = [name for name, role in zip(reading.columns, reading.roles) if role in FEATURE_ROLES]
        if not keys & set(known):
            told = f"none of its keys ({', '.join(sorted(keys))}) is a column of the model's table: {', '.join(known)}"
            raise BadInput("path", self.name, told)

    def _lines(self) -> Iterator[bytes | None]:
        """Whole lines; None where a pipe pauses."""
        rest, room = b"", memoryview(bytearray(BLOCK))
        while True:
            if rest and self.source.total is None and not self.source.ready(PATIENCE):
                yield None
            try:
                got = self.source.readinto(room)
            except Damaged as error:
                raise BadInput("path", self.name, f"behind line {self._line}: {error}") from None
            if got == 0:
                break
            *lines, rest = (rest + bytes(room[:got])).split(b"\n")
            yield from lines
            if self.source.total is None and not self.source.ready(PATIENCE):
                yield None
        if rest.strip():
            yield rest

    def _grouped(self) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        """(line, object), some thousand at a time, or what a pipe gave before it paused."""
        group: list[tuple[int, dict[str, Any]]] = []
        for line in self._lines():
            if line is not None:
                self._line += 1
                row = self._object(line)
                if row is not None:
                    group.append((self._line, row))
            if len(group) >= ROWS or (line is None and group):
                yield group
                group = []
        if group:
            yield group

    def _object(self, line: bytes) -> dict[str, Any] | None:
        if not line.strip():
            return None
        try:
            row = json.loads(line)
            row = flat(row) if isinstance(row, dict) else [row]
            lists = [key for key, value in row.items() if isinstance(value, list)] if isinstance(row, dict) else []
            if isinstance(row, dict) and not lists:
                return row
            where = f"{lists[0]!r} holds a list: give its values keys of their own, or leave it out" if lists else "it holds no key"
            reason = f"this is not one JSON object of words, numbers, true, false and null ({where})"
        except (ValueError, RecursionError) as error:
            told = f"{error.msg}, behind {error.pos} characters" if isinstance(error, json.JSONDecodeError) else str(error)
            reason = f"this is not JSON ({told})"
        self.note(self._line, reason)
        return None

    def _batches(self) -> Iterator[Batch]:
        group = self._first
        while group:
            if self._known is not None:
                group = [pair for pair in group if self._familiar(*pair, self._known)]
            fields = {name: [row.get(name) for _, row in group] for name in self.plan.names}
            yield self._converted(fields, np.array([line for line, _ in group], dtype=np.int64))
            group = next(self._chunks, [])

    def _familiar(self, line: int, row: dict[str, Any], known: set[str]) -> bool:
        strange = next((key for key in row if key not in known), None)
        if strange is not None:
            self.note(
                line,
                f"the key {strange!r} was in none of the first rows, which say what the columns are: put null there, or skip bad lines",
            )
        return strange is None

    # --- columns -----------------------------------------------------------------------------------------------
    def _numbers(self, field: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        numbers, bad = np.full(len(field), np.nan), np.zeros(len(field), dtype=bool)
        for row, value in enumerate(field):
            if _absent(value):
                continue
            try:
                numbers[row] = float(value)
            except (ValueError, OverflowError):
                bad[row] = True
        return numbers, np.isnan(numbers) & ~bad, bad | np.isinf(numbers)

    def _sampled(self, column: str) -> list[str]:
        return [_word(row.get(column)) for _, row in self._first]

    def _coded(self, field: list[Any]) -> tuple[np.ndarray, list[str]]:
        known: dict[str, int] = {}
        return np.array([known.setdefault(_word(value), len(known)) for value in field], dtype=np.int64), list(known)

    def _moments(self, field: list[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = [spelled(value) if isinstance(value, str) else None for value in field]
        bad = [moment is None and not _absent(value) for moment, value in zip(found, field)]
        timed = [moment is not None and np.datetime_data(moment)[0] != "D" for moment in found]
        moments = np.array([np.datetime64("NaT") if moment is None else moment for moment in found], dtype="datetime64[us]")
        return moments, np.array(timed, dtype=bool), np.array(bad, dtype=bool)

    def progress(self) -> float | None:
        return None if self.source.total is None else (self.source.position() or 0) / max(self.source.total, 1)

    def close(self) -> None:
        self.source.close()


def _absent(value: Any) -> bool:
    """Whether there is no value, where a number or a date should stand."""
    return value.strip().lower() in NO_NUMBER if isinstance(value, str) else is_missing(value)


def _mostly_words(values: list[Any]) -> bool:
    words = sum(isinstance(value, str) for value in values)
    return words > 0 and 2 * words >= len(values)


def _word(value: Any) -> str:
    """A value as a table would spell it."""
    if is_missing(value):
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip(" \t\r") if not isinstance(value, bool) else str(value).lower()
