"""One file for a model: a JSON header, raw arrays, and a checksum over both. Nothing in it can be executed.

bytes   content
16      MAGIC
4       schema version      } little endian
8       length of the file  }
8       length of the header}
…       header: JSON in UTF-8, with a table of the arrays (name, dtype, shape, offset)
…       the arrays, C order, little endian, each starting at a multiple of 64
32      SHA-256 of everything before
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from burkholder.errors import BurkholderError
from burkholder.learning.schema import DTYPES

MAGIC = b"burkholder model"
SCHEMA = 1
_START = struct.Struct("<16sIQQ")
_SEAL = 32
_ALIGN = 64
_AXES = 8  # no array of ours has more

Arrays = dict[str, np.ndarray]


class BadFile(BurkholderError, ValueError):
    """A file that is not a whole, unaltered model this version can read.

    >>> unseal(b"something else", "model.bk")
    Traceback (most recent call last):
        ...
    burkholder.storage.container.BadFile: model.bk: this is not a burkholder model
    More: docs/saving.md
    """

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}", "saving")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.reason)


def seal(header: dict[str, Any], arrays: Arrays) -> bytes:
    """The whole file as bytes, the only copy of the arrays that is made. Equal content gives equal bytes."""
    parts: list[Any] = []
    table, offset = [], 0
    for name, array in arrays.items():
        plain = np.asarray(array)
        plain = np.ascontiguousarray(plain).reshape(plain.shape)  # ascontiguousarray makes scalars vectors
        plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
        if plain.dtype.str not in DTYPES:
            raise BadFile(name, f"arrays of {plain.dtype} are not stored")
        table.append([name, plain.dtype.str, list(plain.shape), offset])
        padding = -plain.nbytes % _ALIGN
        parts += [plain.reshape(-1).view(np.uint8), bytes(padding)]
        offset += plain.nbytes + padding
    text = json.dumps({**header, "arrays": table}, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    words = text.encode(errors="backslashreplace")  # half of a surrogate pair is no text: it is escaped as JSON has it
    words += b" " * (-(_START.size + len(words)) % _ALIGN)
    length = _START.size + len(words) + offset + _SEAL
    parts = [_START.pack(MAGIC, SCHEMA, length, len(words)), words, *parts]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return b"".join([*parts, digest.digest()])


def unseal(data: bytes, path: str = "model") -> tuple[dict[str, Any], Arrays]:
    """(header, arrays) of a file's bytes; BadFile unless every byte is as it was written."""
    if data[: len(MAGIC)] != MAGIC:
        raise BadFile(path, "this is not a burkholder model" if data else "the file is empty")
    if len(data) < _START.size + _SEAL:
        raise BadFile(path, f"the file is cut short after {len(data)} bytes")
    _, schema, length, words = _START.unpack_from(data)
    if schema > SCHEMA:
        raise BadFile(path, f"it was written in schema {schema}, this version reads up to {SCHEMA}: upgrade burkholder to load it")
    if length != len(data):
        what = "cut short" if len(data) < length else "followed by other data"
        raise BadFile(path, f"the file is {what}: {len(data)} bytes instead of {length}")
    if hashlib.sha256(memoryview(data)[:-_SEAL]).digest() != data[-_SEAL:]:
        raise BadFile(path, "its checksum does not match: the file was altered or damaged")
    try:
        header = json.loads(data[_START.size : _START.size + words].decode(), parse_constant=_no_number)
        return header, _arrays(data, header.pop("arrays"), _START.size + words)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise BadFile(path, f"its header cannot be understood ({error})") from None


def _arrays(data: bytes, table: Any, begin: int) -> Arrays:
    """The arrays one behind another, as `seal` puts them: none overlaps, none is larger than the file."""
    arrays: Arrays = {}
    end, at = len(data) - _SEAL, begin
    for name, dtype, shape, offset in table:
        if dtype not in DTYPES or not isinstance(name, str) or name in arrays:
            raise ValueError(f"array {name!r} of {dtype!r}")
        if len(shape) > _AXES or not all(type(size) is int and 0 <= size <= len(data) for size in shape):
            raise ValueError(f"array {name!r} of shape {shape!r}")
        count = math.prod(shape)
        size = count * np.dtype(dtype).itemsize
        if type(offset) is not int or begin + offset != at or at + size > end:
            raise ValueError(f"array {name!r} lies where it cannot be")
        arrays[name] = np.frombuffer(data, dtype, count, at).reshape(shape).copy() if count else np.empty(shape, dtype)
        at += size + -size % _ALIGN
    if at != end:
        raise ValueError("there is more in it than its arrays")
    return arrays


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a number of JSON")


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Put the bytes at that path so that at every moment the path holds the old file or the new one, whole."""
    target = Path(path)
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise BadFile(str(path), f"it cannot be written: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(aside, 0o666 & ~_umask())
        os.replace(aside, target)
    except OSError as error:
        Path(aside).unlink(missing_ok=True)
        raise BadFile(str(path), f"it cannot be written: {error.strerror}") from None
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def read(path: str | os.PathLike[str]) -> bytes:
    """The bytes at that path."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadFile(str(path), f"it cannot be read: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself last; folders cannot be opened everywhere, and there it is the system's business."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
