"""Bytes from a file, a pipe or standard input, decompressed by what they are, not by how they are called.

What a pipe has is handed on at once: nothing here waits for a buffer to fill.
"""

from __future__ import annotations

import io
import os
import select
import sys
from pathlib import Path
from typing import Any

from burkholder.errors import BadInput
from burkholder.streams.readers.packed import MAGIC, Damaged, Unpacker
from burkholder.suggestions import did_you_mean


class Source:
    """An open stream of bytes; `compression` names what was found at its start, or is None."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = "standard input" if os.fspath(path) == "-" else os.fspath(path)
        self.total: int | None = None
        self._file = self._open(path)
        # Standard input is read past its buffer: that would wait until it is full, and copy everything once more.
        self._raw: Any = getattr(self._file, "raw", self._file)
        start = self._start()
        self.compression = next((kind for kind, magic in MAGIC.items() if start.startswith(magic)), None)
        self._unpacker = None if self.compression is None else Unpacker(self.compression, start, self._raw)
        self._waiting = memoryview(b"" if self._unpacker else start)

    def _open(self, path: str | os.PathLike[str]) -> Any:
        if os.fspath(path) == "-":
            return sys.stdin.buffer
        place = Path(path)
        try:
            file = open(place, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        except FileNotFoundError:
            raise BadInput("path", os.fspath(path), _nearby(place)) from None
        except IsADirectoryError:
            raise BadInput("path", os.fspath(path), "this is a folder; give a file, or '-' for standard input") from None
        except OSError as error:
            raise BadInput("path", os.fspath(path), error.strerror or "it cannot be opened") from None
        if place.is_file():
            self.total = place.stat().st_size
        return file

    def _start(self) -> bytes:
        """The first bytes: enough to tell whether they are packed."""
        start = b""
        while any(len(start) < len(magic) and magic.startswith(start) for magic in MAGIC.values()):
            more = self._raw.read(1 << 12) if isinstance(self._raw, io.RawIOBase) else self._raw.read1(1 << 12)
            if not more:
                break
            start += more
        return start

    def start(self, size: int = 1 << 16) -> bytes:
        """The first bytes, decompressed; they stay to be read."""
        room = bytearray(size)
        got = 0
        while got < size and b"\n" not in room[:got]:
            try:
                more = self.readinto(memoryview(room)[got:])
            except Damaged:
                break  # what is whole comes first; the next read meets the damage again
            if more == 0:
                break
            got += more
        self._waiting = memoryview(bytes(room[:got]) + bytes(self._waiting))
        return bytes(room[:got])

    def readinto(self, room: memoryview) -> int:
        """Fill as much of `room` as the stream has ready; 0 at its end."""
        if self._waiting:
            taken = min(len(room), len(self._waiting))
            room[:taken] = self._waiting[:taken]
            self._waiting = self._waiting[taken:]
            return taken
        return self._unpacker.readinto(room) if self._unpacker else self._raw.readinto(room) or 0

    def ready(self, seconds: float) -> bool:
        """Whether a pipe has more to give within that time; False where it cannot be known."""
        if self._waiting or (self._unpacker and self._unpacker.waiting):
            return True
        if self.total is not None:
            return False
        try:
            return bool(select.select([self._raw], [], [], max(seconds, 0.0))[0])
        except (OSError, ValueError, TypeError):
            return False

    def position(self) -> int | None:
        """How far into the file we are, in its own (perhaps compressed) bytes; None for a pipe."""
        if self.total is None:
            return None
        return self.total if self._raw.closed else self._raw.tell()

    def close(self) -> None:
        if self._file is not sys.stdin.buffer:
            self._file.close()


def _nearby(place: Path) -> str:
    folder = place.parent
    names = [item.name for item in folder.iterdir()] if folder.is_dir() else []
    hint = did_you_mean(place.name, names)
    return f"there is no such file. {hint.strip().replace('did', 'Did', 1)}" if hint else "there is no such file"


__all__ = ["Damaged", "Source"]
