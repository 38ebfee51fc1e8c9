"""Readers: files and pipes as batches for the engine, or as rows for Python.

for batch in batches("clicks.vw.gz"): ...
for x, y in read("prices.parquet", target="price"): ...
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from burkholder.errors import BadInput
from burkholder.learning.frames import is_frame
from burkholder.streams.readers import detect
from burkholder.streams.readers.arrow import ArrowReader, ParquetReader
from burkholder.streams.readers.batch import Batch
from burkholder.streams.readers.binary import BinaryReader
from burkholder.streams.readers.csv import CsvReader
from burkholder.streams.readers.hashing import feature_index
from burkholder.streams.readers.jsonl import JsonReader
from burkholder.streams.readers.libsvm import LibsvmReader
from burkholder.streams.readers.reader import MANY, Reader
from burkholder.streams.readers.source import Source
from burkholder.streams.readers.tabular import TableReader
from burkholder.streams.readers.vw import VWReader

# What each format can be told; everything is told only what it knows.
_COMMON = {"intercept", "skip_bad", "classes", "labels"}
_TABLE = {"target", "weight", "drop", "categorical", "positive", "bits", "named", "reading", "dates"}
_KNOWN = {
    "csv": (CsvReader, _COMMON | _TABLE | {"header", "delimiter", "decimal", "block", "gather"}),
    "parquet": (ParquetReader, _COMMON | _TABLE),
    "libsvm": (LibsvmReader, _COMMON | {"block", "gather"}),
    "vw": (VWReader, _COMMON | {"bits", "block", "gather"}),
    "npz": (BinaryReader, _COMMON),
    "jsonl": (JsonReader, _COMMON | _TABLE),
    "arrow": (ArrowReader, _COMMON | _TABLE),
}


def open_reader(path: Any, format: str | None = None, **options: Any) -> Any:
    """The reader for a file, a folder of arrays, '-' (standard input) or a data frame. Options left at None are not given.

    `target, weight, drop, categorical, positive, header, delimiter, decimal` say what the columns of a table are, or `reading`
    does, which is that of an earlier table;
    `bits` is the size of the hash table; `intercept` puts the constant 1 at index 0; `skip_bad` counts
    malformed lines instead of stopping at the first; `dates=False` reads dates as words. What labels are say `classes` and
    `labels`: see `Reader`; labels="ignored" reads files that have none.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "prices.csv"
    >>> _ = file.write_text("size,price\\n3,7\\n,5\\n")
    >>> with open_reader(file, target="price") as reader:
    ...     rows = sum(batch.rows for batch in reader)
    >>> reader.format, rows, reader.features
    ('csv', 2, 1)
    """
    if is_frame(path):
        return ArrowReader(path, **{key: option for key, option in options.items() if option is not None or key == "classes"})
    format = detect.by_name(path) if format is None else detect.check(format)
    source = None
    piped = os.fspath(path) == "-"
    if format not in ("parquet", "npz") or (format == "parquet" and (piped or detect.packed(path))):
        source = Source(path)
        if format in (None, "csv", "jsonl"):
            try:
                detect.refuse(source.start(), source.name)
            except BaseException:
                source.close()
                raise
        if format is None:
            format = detect.by_content(source.start())
    given = {key: option for key, option in options.items() if (option is not None and option != ()) or key == "classes"}
    kind, known = _KNOWN[format]
    whole = piped or (source is not None and (source.total is None or bool(source.compression)))
    if source is not None and (format == "npz" or (format in ("parquet", "arrow") and not whole)):
        source.close()  # a file of its own is read where it lies
        source = None
    if format == "npz" and whole:
        raise BadInput("path", os.fspath(path), "npz is not read from a pipe or through another compression; give the file itself")
    for key, option in given.items():
        if key not in known:
            if source is not None:
                source.close()
            if key == "reading":
                raise BadInput("path", os.fspath(path), f"the model learned from a table; this is a {format} file")
            raise BadInput(key, option, f"this says nothing about a {format} file; leave it out")
    try:
        return kind(path if source is None else source, **given)
    except BaseException:
        if source is not None:
            source.close()
        raise


def batches(path: Any, format: str | None = None, **options: Any) -> Iterator[Batch]:
    """The batches of a file, each valid until the next: what the compiled engine takes.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "prices.csv"
    >>> _ = file.write_text("size,price\\n3,7\\n2,5\\n")
    >>> [batch.y.tolist() for batch in batches(file, target="price")]
    [[7.0, 5.0]]
    """
    yield from open_reader(path, format, **options)


def read(path: Any, target: str | int | None = None, format: str | None = None, **options: Any) -> Iterator[tuple[Any, Any]]:
    """The rows (x, y) of a file or a data frame; y is a number, or the class as it is spelled where the target is text.

    Tables give x as a dict from feature name to number: `column` for numbers, `column=text` for categories,
    `column?` for missing values, and for dates what `learning.dates` says. Other formats give a sparse row, the pair (indices,
    values). Rows without a target are left out; labels="optional" gives them with y = NaN, labels="ignored" asks for no target.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "prices.csv"
    >>> _ = file.write_text("size,city,price\\n3,Rome,7\\n,Oslo,9\\n")
    >>> list(read(file, target="price"))
    [({'size': 3.0, 'city=Rome': 1.0}, 7.0), ({'size?': 1.0, 'city=Oslo': 1.0}, 9.0)]
    """
    if options.get("named") or options.get("intercept"):
        raise BadInput("options", options, "rows carry their names, and no constant, by themselves")
    if options.get("positive") is None:
        options.setdefault("classes", "words")
    for x, y, _ in rows_of(open_reader(path, format, target=target, **options)):
        yield x, y


def rows_of(reader: Any) -> Iterator[tuple[Any, Any, float]]:
    """What `read` gives, and each row's weight, of a reader that was opened."""
    named = isinstance(reader, (CsvReader, TableReader))
    if named:
        reader.named = True
    reader.all_classes = True
    for batch in reader:
        indptr, y, weight = batch.indptr.tolist(), batch.y.tolist(), batch.weight.tolist()
        if reader.classes == MANY:
            y = [None if place != place else reader.class_names[int(place)] for place in y]
        if named:
            names, values = list(reader.names(batch)), batch.values.tolist()
            for row, (start, stop) in enumerate(pairwise(indptr)):
                yield dict(zip(names[start:stop], values[start:stop])), y[row], weight[row]
        else:
            indices, kept = batch.indices.copy(), batch.values.copy()
            for row, (start, stop) in enumerate(pairwise(indptr)):
                yield (indices[start:stop], kept[start:stop]), y[row], weight[row]


__all__ = ["Batch", "Reader", "batches", "feature_index", "open_reader", "read"]
