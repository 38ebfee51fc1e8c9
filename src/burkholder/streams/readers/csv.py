"""CSV and its relatives: header, delimiter and column kinds are found from the first 256 KB, or given.

A slow pipe is not waited for: what it gives before its first pause, at least two lines, has to do.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.dates import WORDS
from burkholder.learning.rows import INTERCEPT
from burkholder.streams.readers.batch import LINE, Batch
from burkholder.streams.readers.columns import DATE, NUMERIC, TARGET, WEIGHTS, WORD
from burkholder.streams.readers.dates import NO_DATE, moment
from burkholder.streams.readers.digits import PADDING
from burkholder.streams.readers.problems import BAD_COUNT, describe
from burkholder.streams.readers.reader import SETTLING, settled
from burkholder.streams.readers.reading import Reading
from burkholder.streams.readers.source import Source
from burkholder.streams.readers.table import PLACES, parse, survey, survey_dates
from burkholder.streams.readers.text import PATIENCE, TextReader

SAMPLE = 1 << 18
ENOUGH = 2  # rows that must agree before the first line is said to be wrong
ANNOUNCED = re.compile(rb" *sep=([^\w\s\"]|\t)(?=\r?\n)")
RUNS = re.compile(r'("(?:[^"]|"")*")|[ \r]*(\n)[ \r]*|[ ]+')  # a quoted field, a line end with the blanks around it, a run of spaces


class CsvReader(TextReader):
    """Batches of a delimited text. See `columns` for how columns become features."""

    format = "csv"
    longest = 1 << 24  # a quote that is never closed should be noticed before the whole file was taken in

    def __init__(
        self,
        source: Source,
        header: bool | None = None,
        delimiter: str | None = None,
        named: bool = False,
        decimal: str | None = None,
        reading: Reading | None = None,
        **options: Any,
    ) -> None:
        columns = {key: options.pop(key) for key in SETTLING if key in options}
        super().__init__(source, **options)
        if reading is not None:
            header = reading.header
        if decimal not in (".", ",", None):
            raise BadInput("decimal", decimal, "give '.' or ','")
        announced, sample = self._sample()
        self.delimiter = announced or _delimiter(sample) if delimiter is None else delimiter
        if len(self.delimiter.encode()) != 1 or self.delimiter in '"\n':
            raise BadInput("delimiter", delimiter, "give one ASCII character, no quote and no line end")
        self.decimal = decimal or _decimal(sample, self.delimiter, "." if reading is None else reading.decimal)
        records = _records(sample, self.delimiter)
        trimmed = ([field.strip(" \t\r") for field in record] for record in records)
        try:
            first = next((record for record in trimmed if any(record)), [])
        except csv.Error as error:
            raise BadInput("path", self.name, f"its first line cannot be read as delimited text ({error})") from None
        if not first:
            raise self.damage or BadInput("path", self.name, "it holds no row")
        self._refuse_misfits(first, trimmed)
        self._starts, self._stops = (np.zeros(len(first), dtype=np.int64) for _ in range(2))
        seen = self._survey(sample, first)
        head, body = seen[:, 0, 2] > 0, _mostly(seen[:, 1], 2)
        months = (seen[:, 0, 4] > 0) & ~_mostly(seen[:, 1], 4) & ~body
        if header is None:
            # Words or dates over a column of numbers, or nothing but words, are names.
            self.header = bool((head & ~body).any() or months.any() or head.all())
        else:
            self.header = header
        places = [str(place + 1) for place in range(len(first))]
        names = [name or place for name, place in zip(first, places)] if self.header else places
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise BadInput("path", self.name, f"two columns are called {twice!r}; rename one, or read without header")
        whole = seen[:, 1] if self.header else seen.sum(axis=1)
        truths = [name for name, kinds in zip(names, whole) if kinds[5] and not kinds[1:5].any()]
        whole[:, 2] += whole[:, 5]
        texts, commas, moments = ([name for name, most in zip(names, _mostly(whole[:, :5], what)) if most] for what in (2, 3, 4))
        self.plan = settled(
            self, names, texts, moments, lambda column: self._sampled(sample, names, column), reading, truths=truths, **columns
        )
        if reading is None:
            self._refuse_commas(commas)
        self.named = named
        self._cut = bool((self.plan.kind == WORD).any())
        self._calendar = self.plan.calendar if (self.plan.kind == DATE).any() else None
        self._origin = np.empty((0, 3), dtype=np.int64)
        self._positive, self._negative = (
            np.frombuffer(word.encode() + b" ", dtype=np.uint8)[:-1] for word in (self.plan.positive or "", self.plan.negative)
        )
        self._mask = np.uint64((1 << self.plan.bits) - 1)
        if self.header:
            self._skip_header()

    def _sample(self) -> tuple[str | None, str]:
        """(the delimiter if it is announced, the first whole lines, left in the block for parsing: SAMPLE bytes, or what a pipe gave
        before it paused)."""
        enough = False
        while not self.ended and (self._stop - PADDING < SAMPLE or self.raw.find(b"\n", PADDING, self._stop) < 0):
            self._read()
            if self.source.total is None:
                enough = enough or self._records() == 2
                if enough and not self.source.ready(PATIENCE):
                    break
        if self.raw.startswith(b"\xef\xbb\xbf", PADDING):  # a byte-order mark
            self.raw[PADDING : PADDING + 3] = b"   "
        announced = self._announced()
        end = self.raw.rfind(b"\n", PADDING, self._stop) + 1
        return announced, bytes(self.view[PADDING : max(end, PADDING)]).decode("utf-8", "replace")

    def _announced(self) -> str | None:
        """The delimiter of a first line `sep=;`, as Excel writes it: no row."""
        found = ANNOUNCED.match(self.raw, PADDING, self._stop)
        if found is None:
            return None
        delimiter = found[1].decode()
        self.raw[found.start() : found.end()] = b" " * (found.end() - found.start())
        return delimiter

    def _records(self) -> int:
        """How many whole records there are, up to two: names (perhaps) and a row."""
        count, quoted = 0, False
        for line in bytes(self.view[PADDING : self._stop]).split(b"\n")[:-1]:
            quoted ^= bool(line.count(b'"') & 1)
            count += not quoted and bool(line.strip())
            if count == 2:
                break
        return count

    def _sampled(self, sample: str, names: Sequence[str], column: str) -> Iterator[str]:
        """The fields of a column in the sample."""
        place = list(names).index(column)
        records = _records(sample, self.delimiter)
        if self.header:
            next(records, None)
        while True:
            try:
                record = next(records, None)
            except csv.Error:  # a line that is damaged, and refused where it is read
                continue
            if record is None:
                return
            if len(record) == len(names):
                yield record[place].strip(" \t\r")

    def _survey(self, sample: str, first: Sequence[str]) -> np.ndarray:
        """For each column, in the first record and in later ones: fields missing, numbers, text, numbers with a comma, dates, truths."""
        text = bytes(PADDING) + sample.encode() + bytes(PADDING)
        copy = np.frombuffer(bytearray(text), dtype=np.uint8)
        seen = np.zeros((len(self._starts), 2, 6), dtype=np.int64)
        comma = self.decimal == ","
        survey(copy, PADDING, len(copy) - PADDING, ord(self.delimiter), comma, self._starts, self._stops, seen)
        for column in np.flatnonzero(seen[:, 0, 2]).tolist():
            word = np.frombuffer(first[column].encode(), dtype=np.uint8)
            if moment(word, 0, word.size)[0] != NO_DATE:
                seen[column, 0, [2, 4]] = 0, 1
        if seen[:, 1, 2].any():
            copy = np.frombuffer(bytearray(text), dtype=np.uint8)
            survey_dates(copy, PADDING, len(copy) - PADDING, ord(self.delimiter), self._starts, self._stops, seen)
        return seen

    def _refuse_misfits(self, first: Sequence[str], records: Iterator[list[str]]) -> None:
        """A title or a remark in front of the names: every row would be refused, and none of them is wrong."""
        with contextlib.suppress(csv.Error):  # a line that is damaged, and refused where it is read
            told = _misfit(first, list(islice((record for record in records if any(record)), ENOUGH)))
            if told:
                raise BadInput("path", self.name, told)

    def _refuse_commas(self, columns: Sequence[str]) -> None:
        """A number with a comma is one thing here and another there: it must be said which."""
        for name in columns:
            if self.plan.kind[self.plan.names.index(name)] in (NUMERIC, TARGET, WEIGHTS):
                remedy = f"the numbers in column {name!r} have commas: say decimal = ',' if they are decimal commas, else categorical"
                raise BadInput("path", self.name, remedy)

    def _skip_header(self) -> None:
        """Blank the header out: it is the first line that is not blank, and may span several with quotes."""
        at, quoted, seen = PADDING, False, False
        while at < self._stop:
            c = self.raw[at]
            if c == 34:
                quoted = not quoted
            seen = seen or c > 32
            if c == 10:
                self.space.state[LINE] += 1
                if seen and not quoted:
                    break
            at += 1
        at += 1
        left = self._stop - at
        self.raw[PADDING : PADDING + left] = self.raw[at : self._stop]
        self._stop = PADDING + left

    def _parse(self, start: int, stop: int) -> None:
        space, plan = self.space, self.plan
        if self.named and len(self._origin) < len(space.values):
            self._origin = np.empty((len(space.values), 3), dtype=np.int64)
        parse(
            self.text,
            start,
            stop,
            ord(self.delimiter),
            self.decimal == ",",
            plan.kind,
            plan.slot,
            plan.seed,
            plan.count,
            self._positive,
            self._negative,
            plan.offset,
            self._mask,
            self._calendar,
            self.labels != "needed",
            self.skip_bad,
            self.named,
            self._origin,
            self._starts,
            self._stops,
            space.indptr,
            space.indices,
            space.values,
            space.y,
            space.weight,
            space.line,
            space.doubtful,
            space.bad,
            space.state,
        )

    def _explain(self, reason: int, token: str) -> str:
        where, reason = divmod(reason, 256)
        if reason == BAD_COUNT:
            return describe(reason, token, fields=where, columns=len(self.plan.names))
        return describe(reason, token, column=self.plan.names[where])

    def names(self, batch: Batch) -> Iterator[str]:
        """The name of every feature of a batch read with `named`, in order."""
        whole = self.space.batch()
        origin = self._origin[: len(whole.indices)]
        if batch.rows < whole.rows:  # rows were dropped after parsing
            origin = origin[np.repeat(np.isin(whole.line, batch.line), np.diff(whole.indptr))]
        for (column, start, stop), index in zip(origin.tolist(), batch.indices.tolist(), strict=True):
            if index < self.plan.offset:
                yield INTERCEPT
                continue
            text = WORDS[-1 - start] if start < 0 else bytes(self.view[start:stop]).decode("utf-8", "replace")
            yield self.plan.name_of(column, index, text)

    def _due(self) -> bool:
        return self._cut or super()._due()

    def _words(self, batch: Batch) -> list[str] | None:
        if not self._cut:
            return None
        spelled: list[str] = []
        known: dict[bytes, str] = {}
        for label in batch.y.tolist():
            start, length = divmod(label, PLACES) if label == label else (0.0, 0.0)
            field = bytes(self.view[int(start) : int(start) + int(length)])
            word = known.get(field)
            if word is None:
                word = known[field] = field.decode("utf-8", "replace")
            spelled.append(word)
        return spelled

    @property
    def features(self) -> int:
        return self.plan.count


def _records(sample: str, delimiter: str) -> Iterator[list[str]]:
    """The records of a text as Python reads them; spaces that delimit may stand in runs.

    >>> list(_records('a  b\\n 1 "2  3" \\n', " "))
    [['a', 'b'], ['1', '2  3']]
    """
    if delimiter == " ":
        sample = RUNS.sub(lambda found: found[1] or found[2] or " ", sample.strip(" "))
    return csv.reader(io.StringIO(sample), delimiter=delimiter)


def _misfit(first: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """What is wrong with a first line that has not as many fields as the rows behind it, all of which agree; "" where nothing is.

    >>> _misfit(["Sales 2024"], [["day", "store", "sold"], ["1", "3", "7"]])
    "its first line ('Sales 2024') has 1 field, the next ones have 3: leave out what stands before the names (tail -n +2 FILE)"
    """
    widths = {len(row) for row in rows}
    if len(rows) < ENOUGH or len(widths) > 1 or widths == {len(first)}:
        return ""
    many = widths.pop()
    shown = " ".join(field for field in first if field)
    shown = repr(shown if len(shown) <= 40 else shown[:37] + "...")
    told = f"its first line ({shown}) has {len(first)} field{'s' * (len(first) != 1)}, the next ones have {many}: "
    if many == len(first) + 1:
        if not any(row[-1] for row in rows):
            return told + "they end with a delimiter; put one at the end of the first line too"
        return told + "put a name before the first one, or leave out what stands before the names (tail -n +2 FILE)"
    return told + "leave out what stands before the names (tail -n +2 FILE)"


def _mostly(seen: np.ndarray, what: int) -> np.ndarray:
    """The columns with more fields of that kind than of any other, missing ones not counted."""
    others = np.delete(seen, [0, what], axis=1)
    return (seen[:, what] > 0) & (seen[:, what] >= others.max(axis=1))


def _decimal(sample: str, delimiter: str, usual: str = ".") -> str:
    """A comma where it can be nothing else: no delimiter, never beside a decimal point, and not before three digits only. Where nothing
    tells, the usual one.

    >>> _decimal("a;b\\n1,5;2\\n", ";"), _decimal("a;b\\n1,500;2\\n", ";"), _decimal("a;b\\n1,5;2.5\\n", ";")
    (',', '.', '.')
    """
    if delimiter == ",":
        return "."
    mark = re.escape(delimiter)
    start, end = rf"(?:^|[{mark}\n])[ \t]*[+-]?", rf"(?=[ \t\r]*(?:[{mark}\n]|$))"
    commas = re.findall(rf"{start}(\d+),(\d+){end}", sample)
    points = re.search(rf"{start}\d+\.\d+{end}", sample)
    surely = any(len(after) != 3 or len(before) > 3 or before == "0" for before, after in commas)
    if commas and points:
        return "."
    return "," if surely else "." if points else usual


def _delimiter(sample: str) -> str:
    """The usual delimiter that is most frequent in the first line, quoted fields left out; commas inside numbers are none.

    >>> _delimiter("1,5;2,3;3,1\\n"), _delimiter('"a, b, c";d\\n'), _delimiter("a,b;c,d\\n")
    (';', ';', ',')
    """
    line = re.sub(r'"[^"]*"', "", next((line for line in sample.splitlines() if line.strip()), "")).strip(" ")
    for mark in "\t;|":
        fields = line.split(mark)
        if len(fields) > 1 and all("," not in field or re.fullmatch(r"\s*[+-]?\d+,\d+\s*", field) for field in fields):
            return mark
    counts = {mark: line.count(mark) for mark in ",\t;|"}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else (" " if " " in line.strip() else ",")
