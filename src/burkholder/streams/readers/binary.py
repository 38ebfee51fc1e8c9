"""Arrays as they are: .npz files and folders of .npy files, mapped into memory rather than read.

Sparse rows: `indptr, indices, values` (or `data`, as scipy.sparse.save_npz writes it), `y` and, if wanted,
`weight`. Dense rows: `X` and `y`. A folder of .npy files needs no copying at all and is what `write` makes of any file.
"""

from __future__ import annotations

import os
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np

from burkholder.errors import BadInput
from burkholder.machine.compiling import compiled
from burkholder.streams.readers.batch import Batch, with_intercept
from burkholder.streams.readers.problems import MOST_FEATURES
from burkholder.streams.readers.reader import Reader

CHUNK = 1 << 19  # features in a batch: few enough that what was checked is still in the processor's cache when learned from
_EXPONENT = np.uint64(0x7FF0000000000000)  # all set in a float64 that is not finite


@compiled
def extremes(numbers):
    """(least, largest) in one go."""
    least = largest = numbers[0]
    for k in range(numbers.size):
        number = numbers[k]
        least = number if number < least else least  # min() would widen the numbers, and the loop be scalar
        largest = number if number > largest else largest
    return least, largest


@compiled
def finite(bits):
    """Whether float64 numbers, given as 64-bit words, are all finite."""
    most = np.uint64(0)
    for k in range(bits.size):
        exponent = bits[k] & _EXPONENT
        most = exponent if exponent > most else most
    return most < _EXPONENT


def arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of a folder or an .npz file, mapped where they are stored plainly.

    Copy on write, though nothing is written: read-only arrays would need machine code of their own.
    """
    place = Path(path)
    try:
        if place.is_dir():
            return {item.stem: np.load(item, mmap_mode="c") for item in sorted(place.glob("*.npy"))}
        with zipfile.ZipFile(place) as archive:
            return {
                info.filename.removesuffix(".npy"): _member(place, archive, info)
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise BadInput("path", os.fspath(path), f"it cannot be read as arrays ({error})") from None


def _member(place: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    if info.compress_type != zipfile.ZIP_STORED:
        with archive.open(info) as member:
            return np.lib.format.read_array(member, allow_pickle=False)
    with open(place, "rb") as file:
        file.seek(info.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))  # the local header's own lengths
        file.seek(info.header_offset + 30 + name + extra)
        version = np.lib.format.read_magic(file)
        formats = np.lib.format
        read = formats.read_array_header_1_0 if version == (1, 0) else formats.read_array_header_2_0
        shape, fortran, dtype = read(file)
        if dtype.hasobject:
            raise ValueError("it holds Python objects")
        if 0 in shape:
            return np.empty(shape, dtype=dtype)
        order: Literal["F", "C"] = "F" if fortran else "C"
        return np.memmap(place, dtype=dtype, mode="c", offset=file.tell(), shape=shape, order=order)


class BinaryReader(Reader):
    """Batches of stored arrays. Without the constant, int32 and float64 arrays are passed on uncopied."""

    format = "npz"

    def __init__(self, path: str | os.PathLike[str], intercept: bool = False, chunk: int = CHUNK, **options: Any) -> None:
        super().__init__(os.fspath(path), **options)
        stored = arrays(path)
        self._intercept, self._chunk = intercept, chunk
        if self.labels == "ignored" and "y" not in stored:
            stored["y"] = np.full(len(stored["X"]) if "X" in stored else len(self._one(stored, "indptr")) - 1, np.nan)
        self._y = self._one(stored, "y")
        self._weight = self._one(stored, "weight") if "weight" in stored else None
        self._dense = stored.get("X")
        rows = len(self._y)
        if self._dense is not None:
            if self._dense.ndim != 2 or len(self._dense) != rows:
                raise BadInput("path", self.name, f"X has shape {self._dense.shape} where y has {rows} rows")
            self._features = self._dense.shape[1]
        else:
            self._indptr, self._indices = self._one(stored, "indptr"), self._one(stored, "indices")
            self._values = self._one(stored, "values" if "values" in stored else "data")
            if len(self._indptr) != rows + 1:
                raise BadInput("path", self.name, f"indptr has {len(self._indptr)} entries; {rows} rows need {rows + 1}")
            if rows and not int(self._indptr[-1]) <= min(len(self._indices), len(self._values)):
                raise BadInput("path", self.name, "indptr points past the end of indices and values")
            self._features = int(stored["shape"][1]) if "shape" in stored else 0
        if self._weight is not None and len(self._weight) != rows:
            raise BadInput("path", self.name, f"weight has {len(self._weight)} entries where y has {rows}")
        self._constant = "constant" in stored  # the rows were stored with the constant in front
        self._at, self._total = 0, rows
        self._room = np.empty(0, dtype=np.int32), np.empty(0)

    def _one(self, stored: Mapping[str, np.ndarray], name: str) -> np.ndarray:
        if name not in stored:
            raise BadInput(
                "path",
                self.name,
                f"it has no array {name!r}; it needs indptr, indices, values and y, or X and y. It has: {', '.join(stored) or 'none'}",
            )
        array = stored[name]
        if array.ndim != 1 or array.dtype.kind not in "fiub":
            raise BadInput("path", self.name, f"{name} must be one row of numbers, not {array.ndim}-dimensional {array.dtype}")
        return array

    def _batches(self) -> Iterator[Batch]:
        while self._at < self._total:
            start, self._at = self._at, min(self._total, self._at + self._step())
            yield self._checked(self._slice(start, self._at))

    def _step(self) -> int:
        width = self._features if self._dense is not None else int(self._indptr[-1]) / self._total
        return max(1, int(self._chunk / max(width, 1.0)))

    def _slice(self, start: int, stop: int) -> Batch:
        rows = stop - start
        if self._dense is not None:
            values = np.ascontiguousarray(self._dense[start:stop], dtype=np.float64).ravel()
            indptr = np.arange(rows + 1, dtype=np.int64) * self._features
            indices = np.tile(np.arange(self._features, dtype=np.int32), rows)
        else:
            bounds = np.asarray(self._indptr[start : stop + 1], dtype=np.int64)
            if (np.diff(bounds) < 0).any() or bounds[0] < 0:
                raise BadInput("path", self.name, f"indptr decreases between rows {start + 1} and {stop}")
            indptr = bounds - bounds[0]
            raw = np.asarray(self._indices[bounds[0] : bounds[-1]])
            least, largest = extremes(raw) if len(raw) else (0, -1)
            if least < 0 or largest > MOST_FEATURES:
                raise BadInput("path", self.name, f"an index between rows {start + 1} and {stop} is outside 0..{MOST_FEATURES}")
            self._features = max(self._features, int(largest) + 1)
            indices = np.require(raw, dtype=np.int32, requirements=["C", "A"])
            stored = np.asarray(self._values[bounds[0] : bounds[-1]])
            values = np.require(stored, dtype=np.float64, requirements=["C", "A"])
        if self._intercept and not self._constant:
            size = len(values) + rows
            if len(self._room[0]) < size:
                self._room = np.empty(size, dtype=np.int32), np.empty(size)
            bounds = np.empty(rows + 1, dtype=np.int64)
            with_intercept(indptr, indices, values, bounds, *self._room)
            indptr, indices, values = bounds, self._room[0][:size], self._room[1][:size]
        if self._constant and not self._intercept:
            indptr, indices, values = self._without_constant(indptr, indices, values, start)
        weight = np.ones(rows) if self._weight is None else np.array(self._weight[start:stop], dtype=float)
        return Batch(indptr, indices, values, np.array(self._y[start:stop], dtype=float), weight, np.arange(start + 1, stop + 1))

    def _without_constant(self, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, start: int) -> tuple[np.ndarray, ...]:
        """The same rows less the constant that each was stored with, every other index one lower."""
        first = indptr[:-1]
        if (np.diff(indptr) < 1).any() or indices[first].any() or (values[first] != 1.0).any():
            raise BadInput("path", self.name, f"behind row {start} a row lacks the constant it was stored with")
        kept = np.ones(len(indices), dtype=bool)
        kept[first] = False
        return indptr - np.arange(len(indptr)), indices[kept] - 1, values[kept]

    def _checked(self, batch: Batch) -> Batch:
        """Refuse or drop rows with numbers that are not finite."""
        labelled = np.isfinite(batch.y) | np.isnan(batch.y)  # a row without a label is another matter
        fine = finite(batch.values.view(np.uint64)) and labelled.all()
        if fine and np.isfinite(batch.weight).all() and not (batch.weight < 0.0).any():
            return batch
        wrong = ~labelled | ~np.isfinite(batch.weight) | (batch.weight < 0.0)
        row_of = np.repeat(np.arange(batch.rows), np.diff(batch.indptr))
        wrong[row_of[~np.isfinite(batch.values)]] = True
        for row in np.flatnonzero(wrong):
            self.note(int(batch.line[row]), "the row holds a number that is not finite, or a negative weight")
        return batch.without(wrong) if wrong.any() else batch

    @property
    def features(self) -> int:
        return self._features - self._constant

    def progress(self) -> float | None:
        return self._at / max(self._total, 1)


def write(folder: str | os.PathLike[str], batches: Iterable[Batch], constant: bool = False) -> int:
    """Store batches as a folder of .npy files, in constant memory; returns the number of rows.

    Say `constant` when the batches were read with `intercept`: reading such a folder copies nothing. The folder
    appears under its name only when it is complete.
    """
    place = Path(folder)
    if place.exists():
        raise BadInput("folder", os.fspath(folder), "it exists already; remove it or choose another name")
    place.parent.mkdir(parents=True, exist_ok=True)
    kinds = {"indptr": "<i8", "indices": "<i4", "values": "<f8", "y": "<f8", "weight": "<f8"}
    partial = Path(tempfile.mkdtemp(prefix=place.name + ".", dir=place.parent))
    rows, nnz = 0, 0
    try:
        files = {name: open(partial / f"{name}.npy", "wb") for name in kinds}  # noqa: SIM115
        sizes = dict.fromkeys(kinds, 0)
        for name, file in files.items():
            file.write(_header(kinds[name], 0))

        def put(name: str, array: np.ndarray) -> None:
            files[name].write(np.ascontiguousarray(array, dtype=kinds[name]).data)
            sizes[name] += len(array)

        put("indptr", np.zeros(1))
        for batch in batches:
            put("indptr", batch.indptr[1:] + nnz)
            for name in ("indices", "values", "y", "weight"):
                put(name, getattr(batch, name))
            rows, nnz = rows + batch.rows, nnz + int(batch.indptr[-1])
        for name, file in files.items():
            file.seek(0)
            file.write(_header(kinds[name], sizes[name]))
            file.close()
        if constant:
            np.save(partial / "constant.npy", np.ones(1))
        partial.rename(place)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return rows


def _header(kind: str, size: int) -> bytes:
    """An .npy header of 128 bytes, so that it can be rewritten once the size is known."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({size},), }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.ljust(117) + b"\n"
