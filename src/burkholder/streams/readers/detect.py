"""Which format a file is in: by its name, else by its first bytes."""

from __future__ import annotations

import os
import re
from pathlib import Path

from burkholder.errors import BadInput
from burkholder.suggestions import did_you_mean

FORMATS = ("csv", "parquet", "libsvm", "vw", "npz", "jsonl", "arrow")
_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
    ".vw": "vw",
    ".npz": "npz",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_PACKED = {".gz", ".bz2", ".zst", ".zstd", ".xz"}
_LIBSVM = re.compile(rb"[+-]?[0-9.eE+-]+(\s+(qid:\d+|\d+:[0-9.eE+-]+))+\s*(#.*)?")
_VW = re.compile(rb"[^|,]*\|")
_DOCUMENT = re.compile(rb"(\xef\xbb\xbf)?\s*(\[\s*\{|[\[{]\s*$)")


_BINARY = {  # files of other kinds, by how they begin
    b"PK\x03\x04": ("a zip archive", "unpack it (unzip -p FILE | burkholder learn -), or save a workbook as CSV"),
    b"\xd0\xcf\x11\xe0": ("an Excel workbook", "save it as CSV"),
    b"SQLite format 3": ("a database of SQLite", "write the table as CSV (sqlite3 -csv -header FILE 'select * from TABLE')"),
    b"\x89HDF": ("an HDF5 file", "write the table as Parquet (pandas' to_parquet)"),
    b"\x80\x04": ("a pickle", "write the table as Parquet (pandas' to_parquet)"),
    b"\x80\x05": ("a pickle", "write the table as Parquet (pandas' to_parquet)"),
    b"ORC": ("an ORC file", "write the table as Parquet"),
    b"Obj\x01": ("an Avro file", "write the table as Parquet"),
}


def check(format: str) -> str:
    """The format, or an error that names the known ones."""
    if format not in FORMATS:
        raise BadInput("format", format, f"{did_you_mean(format, FORMATS)}Formats: {', '.join(FORMATS)}")
    return format


def by_name(path: str | os.PathLike[str]) -> str | None:
    """The format a file's name announces, the ending of a compressed file set aside.

    >>> by_name("clicks.vw.gz"), by_name("a9a.t.bz2")
    ('vw', None)
    """
    place = Path(path)
    if place.is_dir():
        if not any(place.glob("*.npy")):
            raise BadInput("path", os.fspath(path), "this is a folder, and no arrays (.npy) are in it: give a file")
        return "npz"
    if packed(path):
        place = place.with_suffix("")
    return _ENDINGS.get(place.suffix.lower())


def packed(path: str | os.PathLike[str]) -> bool:
    """Whether a file's name says that it is compressed."""
    return Path(path).suffix.lower() in _PACKED


def refuse(start: bytes, name: str) -> None:
    """Text that begins like this is a table only after it was written anew: say how."""
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput("path", name, "its text is UTF-16: write it as UTF-8 (iconv -f utf-16 -t utf-8 FILE)")
    zipped = b".npy" in start[:120] or name.lower().endswith(".npz")  # arrays of numpy are zipped too
    for magic, (what, remedy) in _BINARY.items():
        if start.startswith(magic) and not (zipped and what == "a zip archive"):
            raise BadInput("path", name, f"it is {what}: {remedy}")
    if start.lstrip()[:15].lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise BadInput("path", name, "it is a web page or XML, perhaps an answer in place of the file: fetch it again, or export CSV")
    if _DOCUMENT.match(start.splitlines()[0] if start.strip() else b""):
        raise BadInput(
            "path", name, "it is one JSON document: write one object a line (jq -c '.[]' FILE, or pandas' to_json with lines=True)"
        )


def by_content(start: bytes) -> str:
    """The format of text that begins like this.

    >>> by_content(b"1 3:1 11:0.5\\n-1 2:1\\n"), by_content(b"1 |f a b:2\\n"), by_content(b"a,b\\n1,2\\n"), by_content(b'{"a": 1}\\n')
    ('libsvm', 'vw', 'csv', 'jsonl')
    """
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"PK\x03\x04"):
        return "npz"
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    for line in start.splitlines():
        line = line.strip()
        if not line or line.startswith(b"#"):
            continue
        if line.startswith(b"{") and line.endswith(b"}"):
            return "jsonl"
        if _LIBSVM.fullmatch(line):
            return "libsvm"
        return "vw" if _VW.match(line) and line.count(b"|") <= line.count(b" ") + 1 else "csv"
    return "csv"
