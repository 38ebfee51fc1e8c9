"""From a stream of bytes to batches: whole lines are cut into blocks, parsed, and handed on."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers.batch import BAD, DOUBTFUL, LARGEST, LEAST, LINE, NEXT, NNZ, ROWS, UNLABELLED, VALUE, Batch, Space
from burkholder.streams.readers.digits import PADDING
from burkholder.streams.readers.problems import describe
from burkholder.streams.readers.reader import Reader
from burkholder.streams.readers.source import Damaged, Source

BLOCK = 1 << 20  # bytes of text parsed at a time: they stay in the processor's cache
GATHER = 1 << 19  # rows or features that make a batch: learners have a cost per batch, the processor's cache an end
PATIENCE = 0.05  # seconds that lines from a pipe may wait for company


class TextReader(Reader):
    """Lines from a source, parsed block by block by `_parse`, which each format supplies."""

    longest = 1 << 26  # a line beyond this is taken for a file that is not text

    def __init__(
        self, source: Source, skip_bad: bool = False, classes: Any = False, block: int = BLOCK, gather: int = GATHER, labels: str = "needed"
    ) -> None:
        super().__init__(source.name, skip_bad, classes, labels)
        if block < 16:
            raise BadInput("block", block, "give at least 16 bytes")
        self.source = source
        start = source.start()
        # lines that end as on old machines: the first 64 KB have returns, and not one line feed
        self._returns = b"\r" in start and b"\n" not in start
        self.block, self.gather = block, gather
        self.raw = bytearray(block + 2 * PADDING)
        self.text = np.frombuffer(self.raw, dtype=np.uint8)
        self.view = memoryview(self.raw)
        self.space = Space(block, gather)
        self.space.state[LINE] = 1
        self.space.state[LARGEST] = -1
        self.space.state[LEAST] = np.iinfo(np.int64).max
        self.ended = False
        self.damage: BadLine | None = None  # to be raised when the whole lines before it were handed on
        self.named = False  # names and words are cut from the text: such batches end with their block
        self._dropped: list[int] = []  # rows gathered that turned out not to be finite
        self._stop = PADDING  # the text not parsed yet is [PADDING, _stop)
        self._tried = PADDING  # up to here it holds no whole record

    def _parse(self, start: int, stop: int) -> None:
        """Parse the whole lines text[start:stop] into `space`, behind the rows already there."""
        raise NotImplementedError

    def _grow(self) -> None:
        """Twice the room, for a line longer than the block."""
        if self.block >= self.longest:
            raise self._refused(f"the record is longer than {self.block >> 20} MB; is this {self.format} text, and is every quote closed?")
        old, space = self.raw, self.space
        self.block *= 2
        self.raw = bytearray(self.block + 2 * PADDING)
        self.raw[: self._stop] = old[: self._stop]
        self.text = np.frombuffer(self.raw, dtype=np.uint8)
        self.view = memoryview(self.raw)
        self.space = Space(self.block, self.gather)
        self.space.take_over(space)

    def _refused(self, reason: str) -> BadLine:
        return BadLine(self.name, int(self.space.state[LINE]), reason)

    def _read(self) -> None:
        """One read; at the end of the stream the last line gets its line end."""
        if self._stop == PADDING + self.block:
            self._grow()
        try:
            got = self.source.readinto(self.view[self._stop : PADDING + self.block])
        except Damaged as error:
            line = int(self.space.state[LINE]) + self.raw.count(b"\n", PADDING, self._stop)
            self.damage = BadLine(self.name, line, str(error))
            # What was whole comes first; the cut-off last line must not pass for it.
            self._stop = max(self.raw.rfind(b"\n", PADDING, self._stop) + 1, PADDING)
            self.ended = True
            return
        if self._returns and got:
            self.raw[self._stop : self._stop + got] = self.raw[self._stop : self._stop + got].replace(b"\r", b"\n")
        self._stop += got
        if got == 0:
            self.ended = True
            if self._stop > PADDING and self.raw[self._stop - 1] != 10:
                self.raw[self._stop] = 10
                self._stop += 1

    def _fill(self, least: int) -> int:
        """Read until the block holds a new whole line and `least` bytes, or a pipe pauses; returns the line's end."""
        deadline = math.inf
        while not self.ended:
            end = self.raw.rfind(b"\n", self._tried, self._stop)
            if end < 0:
                self._tried = self._stop
            elif self._stop - PADDING >= least:
                return end + 1
            elif self.source.total is None:
                deadline = min(deadline, time.monotonic() + PATIENCE)
                if not self.source.ready(deadline - time.monotonic()):
                    return end + 1
            self._read()
        return self._stop

    def _batches(self) -> Iterator[Batch]:
        while not (self.ended and self._stop == PADDING):
            try:
                stop = self._fill(self.block // 2)
            except BadLine:
                yield from self._gathered()  # what was whole comes first
                raise
            start = PADDING
            while start < stop:
                self._parse(start, stop)
                infinite = self._settle()
                if self._due() or (infinite and not self.skip_bad):
                    yield from self._gathered()
                for line, reason in infinite:
                    self.note(line, reason)
                self._account()
                if int(self.space.state[NEXT]) == start:
                    break  # an unfinished record: it needs more text
                start = int(self.space.state[NEXT])
            left = self._stop - start
            self.raw[PADDING : PADDING + left] = self.raw[start : self._stop]
            self._stop = self._tried = PADDING + left
            if self.ended and left:
                yield from self._gathered()
                raise self.damage or self._refused("the file ends inside this record: a quote was opened and not closed")
        yield from self._gathered()
        if self.damage is not None:
            raise self.damage

    def _due(self) -> bool:
        """Whether the rows gathered so far should be handed on."""
        state = self.space.state
        if max(int(state[ROWS]), int(state[NNZ])) >= self.gather or self.named:
            return True
        if int(state[BAD]) and not self.skip_bad:
            return True
        return self.source.total is None and not self.source.ready(0.0)

    def _gathered(self) -> Iterator[Batch]:
        """Hand on what was gathered, and start anew."""
        state = self.space.state
        if state[ROWS]:
            batch = self.space.batch()
            if self._dropped:
                wrong = np.zeros(batch.rows, dtype=bool)
                wrong[self._dropped] = True
                batch = batch.without(wrong)
            yield batch
        state[ROWS] = state[NNZ] = 0
        self._dropped.clear()

    def _settle(self) -> list[tuple[int, str]]:
        """Let Python read the numbers the parser left open; returns (line, reason) where one is infinite.

        Such rows will be left out; unless malformed lines are skipped, so are all behind the first of them.
        """
        state, batch = self.space.state, self.space.batch()
        found = []
        for which, slot, start, stop in self.space.doubtful[: int(state[DOUBTFUL])].tolist():
            spelled = bytes(self.view[start:stop])
            number = float(spelled)
            if which == VALUE:
                number *= float(batch.values[slot])  # the parser left the factor in its place
            (batch.values, batch.y, batch.weight)[which][slot] = number
            if not math.isfinite(number):
                row = int(np.searchsorted(batch.indptr, slot, "right")) - 1 if which == VALUE else slot
                if row not in self._dropped:
                    self._dropped.append(row)
                    found.append((int(batch.line[row]), f"the number {spelled.decode()[:40]!r} is not finite"))
        if found and not self.skip_bad:
            first = min(self._dropped)
            state[ROWS], state[NNZ] = first, batch.indptr[first]
            self._dropped.clear()
        return found

    def _account(self) -> None:
        """Take over the malformed lines and the rows without a label that the parser met."""
        self.unlabelled += int(self.space.state[UNLABELLED])
        self.space.state[UNLABELLED] = 0
        count = int(self.space.state[BAD])
        for line, reason, start, stop in self.space.bad[: min(count, len(self.space.bad))].tolist():
            token = bytes(self.view[start:stop]).decode("utf-8", "replace").strip()
            self.note(line, self._explain(reason, token))
        self.bad_lines += max(0, count - len(self.space.bad))

    def _explain(self, reason: int, token: str) -> str:
        return describe(reason, token)

    def progress(self) -> float | None:
        if self.source.total is None:
            return None
        return (self.source.position() or 0) / max(self.source.total, 1)

    def close(self) -> None:
        self.source.close()


class PairsReader(TextReader):
    """Lines of features that say their own number: `offset` is 1 where the constant stands in front of them."""

    def __init__(self, source: Source, intercept: bool = False, **options: Any) -> None:
        super().__init__(source, **options)
        self.offset = int(intercept)

    @property
    def features(self) -> int:
        """The largest feature number seen, counted from 0 or from 1 as the file does."""
        least, largest = int(self.space.state[LEAST]), int(self.space.state[LARGEST])
        return 0 if least > largest else largest + (least == 0)
