"""Arrow's columns: Parquet, Feather and Arrow files, Arrow streams (a pipe too), and data frames of any library."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from burkholder.errors import BadInput, MissingExtra
from burkholder.learning import frames
from burkholder.learning.fields import SECOND
from burkholder.streams.readers.batch import Batch
from burkholder.streams.readers.source import Source
from burkholder.streams.readers.tabular import TableReader

ROWS = 8192  # of a batch


def _library() -> Any:
    try:
        import pyarrow
        import pyarrow.ipc
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("pyarrow", "io") from None
    return pyarrow


class ArrowReader(TableReader):
    """Batches of record batches; "lines" in messages are rows, counted from 1."""

    format = "arrow"

    def __init__(
        self, path: Any, rows: int = ROWS, skip_bad: bool = False, classes: Any = False, labels: str = "needed", **columns: Any
    ) -> None:
        framed = frames.is_frame(path)
        super().__init__(
            "the data frame" if framed else path.name if isinstance(path, Source) else os.fspath(path), skip_bad, classes, labels
        )
        self._arrow = _library()
        self._chunk, self._total, self._read = rows, None, 0
        self._file: Any = path
        self._tables: Iterator[Any] = iter(())
        try:
            schema = self._opened(path, framed)
        except BadInput:
            raise
        except (OSError, ValueError, self._arrow.ArrowException) as error:
            raise BadInput("path", self.name, f"it cannot be read as {self.format.capitalize()} ({error})") from None
        texts = [field.name for field in schema if self._kind(field.type) == "text"]
        odd = next((field for field in schema if self._kind(field.type) == "odd" and field.name not in columns.get("drop", ())), None)
        if odd is not None:
            held = f"column {odd.name!r} holds {odd.type}: give its values columns of their own, or leave it out (--drop {odd.name})"
            raise BadInput("path", self.name, held)
        moments = [field.name for field in schema if self._kind(field.type) == "moment"]
        if len(set(schema.names)) < len(schema.names):
            raise BadInput("path", self.name, "two columns have the same name; rename one")
        truths = [field.name for field in schema if self._arrow.types.is_boolean(field.type)]
        self._settle(schema.names, texts, moments, truths=truths, **columns)

    def _opened(self, path: Any, framed: bool) -> Any:
        """The columns; `self._tables` gives their record batches."""
        if framed:
            try:
                table = frames.opened(path, "path").to_arrow()
            except BadInput:
                raise
            except (TypeError, ValueError, OSError, self._arrow.ArrowException) as error:
                remedy = f"it cannot be read as Arrow ({error}): give every column one kind of values, and sparse ones in full"
                raise BadInput("path", self.name, remedy) from None
            self._total, self.format = table.num_rows, "frame"
            self._tables = iter(table.to_batches(max_chunksize=self._chunk))
            return table.schema
        if isinstance(path, Source) and path.start().startswith(b"ARROW1"):
            return self._indexed(self._spooled(path))
        if isinstance(path, Source):  # a stream, from a file or a pipe
            stream = self._arrow.ipc.open_stream(self._arrow.PythonFile(_Bytes(path), mode="r"))
            self._tables = iter(stream)
            return stream.schema
        file = self._arrow.OSFile(os.fspath(path))
        self._file = file
        if file.read(6) == b"ARROW1":
            return self._indexed(file)
        file.seek(0)
        stream = self._arrow.ipc.open_stream(file)
        self._tables = iter(stream)
        return stream.schema

    def _indexed(self, file: Any) -> Any:
        """A file with its index at the end."""
        whole = self._arrow.ipc.open_file(file)
        self._tables = (whole.get_batch(k) for k in range(whole.num_record_batches))
        return whole.schema

    def _spooled(self, source: Source) -> Any:
        """All that a pipe gives, for what cannot be read from its beginning."""
        return self._arrow.BufferReader(b"".join(iter(partial(_Bytes(source).read, 1 << 20), b"")))

    def _kind(self, type: Any) -> str:
        types = self._arrow.types
        if types.is_timestamp(type) or types.is_date(type):
            return "moment"
        if types.is_dictionary(type):
            return "text"  # categories are words
        if types.is_nested(type) or isinstance(type, self._arrow.BaseExtensionType):
            return "odd"
        plain = types.is_integer(type) or types.is_floating(type) or types.is_boolean(type) or types.is_decimal(type)
        return "number" if plain or types.is_null(type) or types.is_duration(type) else "text"

    def _batches(self) -> Iterator[Batch]:
        try:
            for table in self._tables:
                for start in range(0, table.num_rows, self._chunk):
                    part = table.slice(start, self._chunk)
                    first, self._read = self._read, self._read + part.num_rows
                    fields = dict(zip(part.schema.names, part.columns))
                    yield self._converted(fields, np.arange(first + 1, self._read + 1))
        except (OSError, self._arrow.ArrowException) as error:
            raise BadInput("path", self.name, f"after row {self._read} it cannot be read ({error})") from None

    # --- columns -----------------------------------------------------------------------------------------------
    def _numbers(self, field: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if self._arrow.types.is_boolean(field.type):
            field = field.cast(self._arrow.int8())
        elif self._arrow.types.is_duration(field.type):
            spans = field.cast(self._arrow.duration("ns")).to_numpy(zero_copy_only=False)
            field = self._arrow.array(spans / SECOND, from_pandas=True)
        elif self._arrow.types.is_decimal(field.type):  # by way of its digits: Arrow's own way misses the nearest float
            field = field.cast(self._arrow.string())
        try:
            number = field.cast(self._arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        except self._arrow.ArrowException as error:
            raise BadInput(
                "target",
                self.plan.names[self.plan.target],
                f"it holds {field.type}, not numbers; for classes given as words name the positive one ({error})",
            ) from None
        return number, np.isnan(number), np.isinf(number)

    def _sampled(self, column: str) -> list[str]:
        first = next(self._tables, None)
        if first is None:
            return []
        self._tables = chain([first], self._tables)
        return self._coded(first.column(first.schema.names.index(column)))[1]

    def _coded(self, field: Any) -> tuple[np.ndarray, list[str]]:
        if self._arrow.types.is_floating(field.type):  # whole numbers are the words of their digits
            field = self._arrow.array([None if v is None or v != v else f"{v:.17g}" for v in field.to_pylist()], self._arrow.string())
        try:
            text = field.cast(self._arrow.string())
        except self._arrow.ArrowException:
            text = self._arrow.array([None if v is None else str(v) for v in field.to_pylist()], self._arrow.string())
        encoded = text.fill_null("").dictionary_encode()
        return encoded.indices.to_numpy(zero_copy_only=False), encoded.dictionary.to_pylist()

    def _moments(self, field: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        timed = self._arrow.types.is_timestamp(field.type)
        if timed and field.type.tz is not None:
            field = self._arrow.compute.local_timestamp(field)  # the time as it is written
        naive = field.cast(self._arrow.timestamp("us"), safe=False)
        moments = naive.to_numpy(zero_copy_only=False).astype("datetime64[us]")
        return moments, np.full(len(moments), timed), np.zeros(len(moments), dtype=bool)

    def _shown(self, field: Any, row: int) -> Any:
        return field[row].as_py()

    def progress(self) -> float | None:
        return None if self._total is None else self._read / max(self._total, 1)

    def close(self) -> None:
        if hasattr(self._file, "close"):
            self._file.close()


class ParquetReader(ArrowReader):
    """Batches of a Parquet file."""

    format = "parquet"

    def _opened(self, path: Any, framed: bool) -> Any:
        self._file = self._arrow.parquet.ParquetFile(self._spooled(path) if isinstance(path, Source) else path)
        self._total = self._file.metadata.num_rows
        self._tables = self._file.iter_batches(batch_size=self._chunk)
        return self._file.schema_arrow


class _Bytes:
    """A source as a file that Arrow reads from."""

    closed = False

    def __init__(self, source: Source) -> None:
        self._source = source

    def read(self, size: int = -1) -> bytes:
        room, got = bytearray(size if size >= 0 else 1 << 26), 0
        while got < len(room):
            more = self._source.readinto(memoryview(room)[got:])
            if more == 0:
                break
            got += more
        return bytes(room[:got])

    def close(self) -> None:
        """The source is closed by whoever opened it."""
