"""Bytes from a file, a pipe or standard input, decompressed by what they are, not by how they are called."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import select
import sys
import zlib
from pathlib import Path
from typing import Any

from burkholder.errors import BadInput, BurkholderError, MissingExtra

_MAGIC = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "xz": b"\xfd7zXZ\x00", "zstd": b"\x28\xb5\x2f\xfd"}
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


class Damaged(BurkholderError):
    """A compressed stream that ends early or is corrupt."""


class Source:
    """An open stream of bytes; `compression` names what was found at its start, or is None."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = "standard input" if os.fspath(path) == "-" else os.fspath(path)
        self.total: int | None = None
        self._waiting = memoryview(b"")
        self._file = self._open(path)
        self._raw: Any = self._file
        if isinstance(self._file, io.RawIOBase):
            self._raw = io.BufferedReader(self._file, 1 << 18)
        start = self._raw.peek(8)[:8]
        self.compression = next((kind for kind, magic in _MAGIC.items() if start.startswith(magic)), None)
        self._stream = self._decompressed()

    def _open(self, path: str | os.PathLike[str]) -> Any:
        if os.fspath(path) == "-":
            return sys.stdin.buffer
        place = Path(path)
        try:
            file = open(place, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        except FileNotFoundError:
            raise BadInput("path", os.fspath(path), _nearby(place)) from None
        except IsADirectoryError:
            raise BadInput("path", os.fspath(path), "this is a folder; give a file, or '-' for standard input"
                           ) from None
        except OSError as error:
            raise BadInput("path", os.fspath(path), error.strerror or "it cannot be opened") from None
        if place.is_file():
            self.total = place.stat().st_size
        return file

    def _decompressed(self) -> Any:
        if self.compression == "gzip":
            return gzip.GzipFile(fileobj=self._raw)
        if self.compression == "bzip2":
            return bz2.BZ2File(self._raw)
        if self.compression == "xz":
            return lzma.LZMAFile(self._raw)
        if self.compression == "zstd":
            return _Zstd(self._raw)
        return self._raw

    def start(self, size: int = 1 << 16) -> bytes:
        """The first bytes, decompressed; they stay to be read."""
        room = bytearray(size)
        got = 0
        while got < size and b"\n" not in room[:got]:
            more = self.readinto(memoryview(room)[got:])
            if more == 0:
                break
            got += more
        self._waiting = memoryview(bytes(room[:got]))
        return bytes(self._waiting)

    def readinto(self, room: memoryview) -> int:
        """Fill as much of `room` as the stream has ready; 0 at its end."""
        if self._waiting:
            taken = min(len(room), len(self._waiting))
            room[:taken] = self._waiting[:taken]
            self._waiting = self._waiting[taken:]
            return taken
        try:
            if self.compression is None and self.total is None:
                # From a pipe, what has arrived is handed on at once. (readinto1 may wait for a second read.)
                arrived = self._stream.read1(len(room))
                room[: len(arrived)] = arrived
                return len(arrived)
            # Through decompression a pipe cannot say what has arrived: ask for little at a time.
            return self._stream.readinto(room if self.total is not None else room[: 1 << 18])
        except _DAMAGED as error:
            raise Damaged(f"the {self.compression} data end early or are damaged ({error})") from None
        except OSError as error:
            if self.compression:  # bz2 reports damage this way
                raise Damaged(f"the {self.compression} data are damaged ({error})") from None
            raise

    def ready(self, seconds: float) -> bool:
        """Whether a pipe has more to give within that time; False where it cannot be known."""
        if self.compression is not None or self.total is not None:
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
            self._stream.close()
            self._raw.close()


class _Zstd:
    """Frames of zstd one after another. (The library's own file object takes a cut-off frame for whole.)"""

    def __init__(self, raw: Any) -> None:
        try:
            import zstandard
        except ImportError:
            raise MissingExtra("zstandard", "io") from None
        self._raw, self._library = raw, zstandard
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readinto(self, room: memoryview) -> int:
        while not self._ready:
            packed = b""
            if self._frame is not None and self._frame.eof:
                packed, self._frame = self._frame.unused_data, None
            packed = packed or self._raw.read(1 << 16)
            if not packed:
                if self._frame is not None:
                    raise EOFError("the last frame is not complete")
                return 0
            if self._frame is None:
                self._frame = self._library.ZstdDecompressor().decompressobj()
            try:
                self._ready = memoryview(self._frame.decompress(packed))
            except self._library.ZstdError as error:
                raise EOFError(str(error)) from None
        taken = min(len(room), len(self._ready))
        room[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def close(self) -> None:
        self._ready = memoryview(b"")


def _nearby(place: Path) -> str:
    import difflib

    folder = place.parent
    names = [item.name for item in folder.iterdir()] if folder.is_dir() else []
    near = difflib.get_close_matches(place.name, names, 1)
    return f"there is no such file. Did you mean '{folder / near[0]}'?" if near else "there is no such file"
