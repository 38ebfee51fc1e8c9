"""From a stream of bytes to batches: whole lines are cut into blocks, parsed, and handed on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers.batch import (
    BAD,
    DOUBTFUL,
    LARGEST,
    LEAST,
    LINE,
    NEXT,
    VALUE,
    Batch,
    Space,
)
from burkholder.streams.readers.problems import describe
from burkholder.streams.readers.reader import Reader
from burkholder.streams.readers.source import Damaged, Source
from burkholder.streams.readers.words import PADDING

BLOCK = 1 << 20


class TextReader(Reader):
    """Lines from a source, parsed block by block by `_parse`, which each format supplies."""

    longest = 1 << 26  # a line beyond this is taken for a file that is not text

    def __init__(self, source: Source, skip_bad: bool = False, classes: bool | None = False,
                 block: int = BLOCK) -> None:
        super().__init__(source.name, skip_bad, classes)
        if block < 16:
            raise BadInput("block", block, "give at least 16 bytes")
        self.source = source
        self.block = block
        self.raw = bytearray(block + 2 * PADDING)
        self.text = np.frombuffer(self.raw, dtype=np.uint8)
        self.view = memoryview(self.raw)
        self.space = Space(block)
        self.space.state[LINE] = 1
        self.space.state[LARGEST] = -1
        self.space.state[LEAST] = np.iinfo(np.int64).max
        self.ended = False
        self._stop = PADDING  # the text not parsed yet is [PADDING, _stop)

    def _parse(self, start: int, stop: int) -> None:
        """Parse the whole lines text[start:stop] into `space`."""
        raise NotImplementedError

    def _grow(self) -> None:
        """Twice the room, for a line longer than the block."""
        if self.block >= self.longest:
            raise self._refused(f"the record is longer than {self.block >> 20} MB; is this {self.format} "
                                "text, and is every quote closed?")
        old, state = self.raw, self.space.state
        self.block *= 2
        self.raw = bytearray(self.block + 2 * PADDING)
        self.raw[: self._stop] = old[: self._stop]
        self.text = np.frombuffer(self.raw, dtype=np.uint8)
        self.view = memoryview(self.raw)
        self.space = Space(self.block)
        self.space.state[:] = state

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
            # The cut-off last line must not pass for a whole one.
            raise BadLine(self.name, line, str(error)) from None
        self._stop += got
        if got == 0:
            self.ended = True
            if self._stop > PADDING and self.raw[self._stop - 1] != 10:
                self.raw[self._stop] = 10
                self._stop += 1

    def _fill(self, least: int) -> int:
        """Read until the block holds a whole line (from files: and `least` bytes); returns where it ends."""
        unseen = self._stop
        while True:
            if not self.ended:
                self._read()
            if self.ended:
                return self._stop
            if self.source.total is not None and self._stop - PADDING < least:
                continue
            end = self.raw.rfind(b"\n", unseen, self._stop)
            if end >= 0:
                return end + 1
            unseen = self._stop

    def _batches(self) -> Iterator[Batch]:
        while not (self.ended and self._stop == PADDING):
            stop = self._fill(self.block // 2)
            start = PADDING
            while start < stop:
                self._parse(start, stop)
                yield self._settled(self.space.batch())
                self._account()
                if int(self.space.state[NEXT]) == start:
                    break  # an unfinished record: it needs more text
                start = int(self.space.state[NEXT])
            left = self._stop - start
            self.raw[PADDING : PADDING + left] = self.raw[start : self._stop]
            self._stop = PADDING + left
            if self.ended and left:
                raise self._refused("the file ends inside this record: a quote was opened and not closed")

    def _settled(self, batch: Batch) -> Batch:
        """Let Python read the numbers the parser left open; drop or refuse rows where one is infinite."""
        count = int(self.space.state[DOUBTFUL])
        if count == 0:
            return batch
        wrong = np.zeros(batch.rows, dtype=bool)
        for which, slot, start, stop in self.space.doubtful[:count].tolist():
            number = float(bytes(self.view[start:stop]))
            if which == VALUE:
                number *= batch.values[slot]  # the parser left the factor in its place
            (batch.values, batch.y, batch.weight)[which][slot] = number
            if abs(number) == float("inf"):
                row = int(np.searchsorted(batch.indptr, slot, "right")) - 1 if which == VALUE else slot
                wrong[row] = True
                self.note(int(batch.line[row]),
                          f"the number {bytes(self.view[start:stop]).decode()[:40]!r} is not finite")
        return batch.without(wrong) if wrong.any() else batch

    def _account(self) -> None:
        """Take over the malformed lines the parser met."""
        count = int(self.space.state[BAD])
        for line, reason, start, stop in self.space.bad[: min(count, len(self.space.bad))].tolist():
            token = bytes(self.view[start:stop]).decode("utf-8", "replace").strip()
            self.note(line, self._explain(reason, token))
        self.bad_lines += max(0, count - len(self.space.bad))

    def _explain(self, reason: int, token: str) -> str:
        return describe(reason, token)

    @property
    def features(self) -> int:
        """The largest feature number seen, counted from 0 or from 1 as the file does."""
        least, largest = int(self.space.state[LEAST]), int(self.space.state[LARGEST])
        return 0 if least > largest else largest + (least == 0)

    def progress(self) -> float | None:
        if self.source.total is None:
            return None
        return (self.source.position() or 0) / max(self.source.total, 1)

    def close(self) -> None:
        self.source.close()
