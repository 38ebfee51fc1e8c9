"""Decompression as the bytes come in: gzip, bzip2, xz and zstd, each a row of frames one after another.

The libraries' own file objects wait until a buffer is full, and some take a cut-off frame for a whole one.
"""

from __future__ import annotations

import io
from typing import Any

from burkholder.errors import BurkholderError, MissingExtra

MAGIC = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "xz": b"\xfd7zXZ\x00", "zstd": b"\x28\xb5\x2f\xfd"}
PIECE = 1 << 16  # packed bytes taken at a time


class Damaged(BurkholderError):
    """A compressed stream that ends early or is corrupt."""


def _opener(kind: str) -> tuple[Any, tuple[type[Exception], ...]]:
    """(what makes a decompressor of one frame, the errors it raises)."""
    if kind == "gzip":
        import zlib

        return (lambda: zlib.decompressobj(16 + zlib.MAX_WBITS)), (zlib.error,)
    if kind == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, (OSError, ValueError)
    if kind == "xz":
        import lzma

        return (lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)), (lzma.LZMAError,)
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstandard", "io") from None
    return (lambda: zstandard.ZstdDecompressor().decompressobj()), (zstandard.ZstdError,)


class Unpacker:
    """The unpacked bytes of a raw stream whose first bytes were already taken."""

    def __init__(self, kind: str, start: bytes, raw: Any) -> None:
        self.kind = kind
        self._make, self._errors = _opener(kind)
        self._packed, self._raw = start, raw
        self._frame: Any = None
        self._ready = memoryview(b"")

    @property
    def waiting(self) -> bool:
        """Whether there is something to give without asking the raw stream."""
        return bool(self._ready or self._packed)

    def readinto(self, room: memoryview) -> int:
        """Fill as much of `room` as one read of the raw stream gives; 0 at the end of the last frame."""
        while not self._ready:
            if not self._packed:
                self._packed = self._more()
                if not self._packed:
                    if self._frame is not None:
                        raise Damaged(f"the {self.kind} data end early or are damaged (the last frame is not complete)")
                    return 0
            self._ready = memoryview(self._unpacked())
        taken = min(len(room), len(self._ready))
        room[:taken] = self._ready[:taken]
        self._ready = self._ready[taken:]
        return taken

    def _more(self) -> bytes:
        return self._raw.read(PIECE) if isinstance(self._raw, io.RawIOBase) else self._raw.read1(PIECE)

    def _unpacked(self) -> bytes:
        if self._frame is None:
            self._packed = self._packed.lstrip(b"\0")  # frames may be padded
            if not self._packed:
                return b""
            self._frame = self._make()
        try:
            out = self._frame.decompress(self._packed)
        except self._errors as error:
            raise Damaged(f"the {self.kind} data end early or are damaged ({error})") from None
        self._packed = b""
        if self._frame.eof:
            self._packed, self._frame = self._frame.unused_data, None
        return out
