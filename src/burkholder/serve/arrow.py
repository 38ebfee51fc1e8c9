"""Arrow IPC streams in and out. What comes in is checked before it is believed: counts, types, offsets, no compression.

Columns of a request: `x` (lists of numbers, all of one length) or one column a feature; `id`, `y` and `weight` as in JSON.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from burkholder.errors import BadInput, MissingExtra
from burkholder.serve.wire import Malformed, Request

try:
    import pyarrow as pa
except ImportError:  # pragma: no cover
    raise MissingExtra("pyarrow", "io") from None

MOST = 1_000_000  # rows of a body; a column of nothing has any number of rows in no bytes
COLUMNS = {"predict": {"id"}, "label": {"id", "y", "weight"}, "learn": {"y", "weight"}}


def read(verb: str, body: bytes) -> Request:
    """The rows of a stream."""
    try:
        return _request(verb, _table(body))
    except BadInput:
        raise
    except (pa.ArrowException, ValueError, TypeError, OSError, OverflowError, MemoryError) as error:
        raise Malformed("body", f"{len(body)} bytes", f"this is no Arrow IPC stream that can be read: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _table(body: bytes) -> Any:
    for message in pa.ipc.MessageReader.open_stream(body):
        if message.type == "record batch" and _compressed(message.metadata.to_pybytes()):
            raise Malformed("body", "compressed", "send uncompressed buffers: how large they would become cannot be known")
    batches, rows = [], 0
    with pa.ipc.open_stream(body) as stream:
        for field in stream.schema:
            if not _plain(field.type):
                raise Malformed(field.name[:40], str(field.type), "columns hold numbers, truth values, text, or lists of numbers")
        for batch in stream:
            rows += batch.num_rows
            if rows > MOST:
                raise Malformed("body", f"{rows} rows", f"send at most {MOST} rows at once")
            batch.validate(full=True)
            batches.append(batch)
        return pa.Table.from_batches(batches, stream.schema).combine_chunks()


def _compressed(metadata: bytes) -> bool:
    """Whether a record batch has its field `compression`: a look into the flatbuffer of its header."""
    (root,) = struct.unpack_from("<I", metadata)
    header = _field(metadata, root, 2)  # Message: version, header_type, header, bodyLength
    if header == 0:
        return True  # a message without a header is none of ours
    (away,) = struct.unpack_from("<I", metadata, header)
    return _field(metadata, header + away, 3) != 0  # RecordBatch: length, nodes, buffers, compression


def _field(data: bytes, table: int, number: int) -> int:
    """Where a field of a flatbuffer's table lies; 0: it has none."""
    (back,) = struct.unpack_from("<i", data, table)
    (size,) = struct.unpack_from("<H", data, table - back)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", data, table - back + 4 + 2 * number)
    return table + offset if offset else 0


def _plain(kind: Any) -> bool:
    types = pa.types
    if types.is_list(kind) or types.is_fixed_size_list(kind) or types.is_large_list(kind):
        return types.is_floating(kind.value_type) or types.is_integer(kind.value_type)
    tests = (types.is_floating, types.is_integer, types.is_boolean, types.is_string, types.is_large_string, types.is_null)
    return any(test(kind) for test in tests)


def _request(verb: str, table: Any) -> Request:
    names = table.column_names
    if len(set(names)) != len(names):
        raise Malformed("body", names[:5], "every column needs a name of its own")
    missing = [name for name in ("id", "y") if name in COLUMNS[verb] and verb != "predict" and name not in names]
    if missing:
        raise Malformed("body", names[:5], f"there is no column {missing[0]!r}")
    count = table.num_rows
    given = table["id"].to_pylist() if "id" in COLUMNS[verb] & set(names) else [None] * count
    ids = [None if id is None else str(id) for id in given]
    if verb == "label" and None in ids:
        raise Malformed("id", None, "a label needs the id of its prediction")
    labels = _values(table["y"]) if verb != "predict" else ()
    weights = () if verb == "predict" else _values(table["weight"]) if "weight" in names else [1.0] * count
    if verb == "label":
        return Request(False, ids, (), labels, weights)
    return Request(False, ids, _rows(table, [name for name in names if name not in COLUMNS[verb]]), labels, weights)


def _values(column: Any) -> Any:
    """The values of a column, numbers as doubles; where there is none: NaN, which no label or weight may be."""
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        return column.cast("float64", safe=False).to_numpy().tolist()
    return column.to_pylist()


def _rows(table: Any, names: list[str]) -> Any:
    if names != ["x"] or not hasattr(table.schema.field("x").type, "value_type"):
        return table.select(names).to_pylist()
    column = table["x"]
    if column.null_count:
        raise Malformed("x", None, "every row needs its features")
    flat = column.combine_chunks().flatten() if table.num_rows else pa.array([], pa.float64())
    if flat.null_count:
        raise Malformed("x", None, "lists of numbers have no missing values; use a column a feature")
    lengths = np.unique(pa.compute.list_value_length(column).to_numpy()) if table.num_rows else np.zeros(1, int)
    if len(lengths) != 1:
        raise Malformed("x", lengths[:5].tolist(), "all rows need the same number of features")
    return flat.cast("float64", safe=False).to_numpy(zero_copy_only=False).reshape(table.num_rows, -1)


def written(columns: dict[str, Any]) -> bytes:
    """Columns as a stream."""
    batch = pa.RecordBatch.from_pydict({name: _column(values) for name, values in columns.items()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _column(values: Any) -> Any:
    """As Arrow has it: of plain lists it would ask each value what it is, and look for libraries of dates first."""
    kinds = set(map(type, values)) if type(values) is list else set()
    if kinds == {str}:
        return pa.array(values, pa.string())
    return np.array(values) if kinds in ({float}, {int}) else values
