"""Delimited text as programs and people really write it: spaces in runs, a delimiter announced, titles, names that are missing, and pages
of the web in place of files."""

from __future__ import annotations

import gzip
import os
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.errors import BadInput
from burkholder.streams.readers import open_reader, read
from burkholder.streams.readers.reading import Reading


def rows_of(folder: Path, text: str, name: str = "t.csv", **options) -> list:
    path = folder / name
    path.write_bytes(text.encode())
    return [(x, y) for x, y in read(path, target="y", **options)]


def plain(delimiter: str = ",") -> str:
    return "a,b,y\n".replace(",", delimiter) + "".join(f"{t}{delimiter}{t / 8}{delimiter}{t * 2}\n" for t in range(6))


EXPECTED = [({"a": float(t), "b": t / 8}, t * 2.0) for t in range(6)]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 5), min_size=4, max_size=4), st.sampled_from(["\n", "\r\n"]), st.integers(0, 3), st.booleans())
def test_spaces_may_stand_in_runs(tmp_path_factory, gaps, end, more, quoted) -> None:
    lead, first, second, trail = ((gap + more) * " " for gap in gaps)
    word = '"two  words"' if quoted else "word"
    text = f"{lead}a{first}w{second}y{trail}{end}" + "".join(f"{lead}{t}{first}{word}{second}{t * 2}{trail}{end}" for t in range(3))
    found = rows_of(tmp_path_factory.mktemp("spaces"), text, "t.txt")
    assert found == [({"a": float(t), f"w={word.strip(chr(34))}": 1.0}, t * 2.0) for t in range(3)]


@pytest.mark.parametrize("mark", [";", "|", "\t", ","])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_delimiter_may_be_announced(tmp_path, mark, end) -> None:
    assert rows_of(tmp_path, (f"sep={mark}\n" + plain(mark)).replace("\n", end)) == EXPECTED
    assert rows_of(tmp_path, ("﻿" + f"sep={mark}\n" + plain(mark)).replace("\n", end)) == EXPECTED
    reader = open_reader(tmp_path / "t.csv", target="y")
    assert next(iter(reader)).line.tolist() == [3, 4, 5, 6, 7, 8]  # lines are those of the file


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Sales of 2024\n" + plain(), "'Sales of 2024'.*, the next ones have 1: leave out what stands before the names.*tail"),
        ("# from the plant, 2024\n" + plain(), "has 2 fields, the next ones have 3"),
        (plain().replace("a,b,y\n", "b,y\n"), "put a name before the first one"),
        (plain().replace("\n", ",\n").replace("y,", "y"), "end with a delimiter; put one at the end of the first line"),
        ("<!DOCTYPE html>\n<html><body>a,b</body></html>\n", "web page"),
        ('<?xml version="1.0"?>\n<rows><row a="1"/></rows>\n', "web page or XML"),
    ],
)
def test_what_stands_before_the_names_is_named(tmp_path, text, says) -> None:
    with pytest.raises(BadInput, match=says):
        rows_of(tmp_path, text)


def test_columns_without_names_are_called_by_their_place(tmp_path) -> None:
    text = ",a,y,,\n" + "".join(f"{t},{t},{t * 2},,\n" for t in range(6))
    assert rows_of(tmp_path, text)[1] == ({"1": 1.0, "a": 1.0, "4?": 1.0, "5?": 1.0}, 2.0)


@pytest.mark.parametrize("shape", ["{} kg", "−{}", "({})", "1\N{NO-BREAK SPACE}{:03d}", "{} °C", "-${}.50"])
def test_numbers_in_other_dress_are_remarked_on(tmp_path, shape) -> None:
    (tmp_path / "t.csv").write_text("a;y\n" + "".join(f"{shape.format(t)};{t}\n" for t in range(40)))
    assert "amounts" in open_reader(tmp_path / "t.csv", target="y").remarks[0]


@pytest.mark.parametrize("form", ["parquet", "feather", "arrows"])
@pytest.mark.parametrize("way", ["piped", "redirected", "packed", "packed pipe"])
def test_columns_come_through_pipes_and_compressed(tmp_path, monkeypatch, form, way) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import feather, ipc, parquet

    table, path = (
        pa.table({"a": [float(t) for t in range(6)], "b": [t / 8 for t in range(6)], "y": [t * 2.0 for t in range(6)]}),
        tmp_path / f"t.{form}",
    )
    if form == "parquet":
        parquet.write_table(table, path)
    elif form == "feather":
        feather.write_feather(table, path)
    else:
        with ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    if "packed" in way:
        path.with_suffix(f".{form}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path = path.with_suffix(f".{form}.gz")
    if way == "packed":
        assert list(read(path, target="y")) == EXPECTED
        return
    if way == "redirected":
        given = path.open("rb")
    else:
        ends = os.pipe()
        threading.Thread(target=poured, args=(ends[1], path.read_bytes())).start()
        given = os.fdopen(ends[0], "rb")
    with given:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": given}))
        assert list(read("-", target="y")) == EXPECTED


def poured(end: int, data: bytes) -> None:
    with os.fdopen(end, "wb") as pipe:
        pipe.write(data)


def test_a_model_refuses_objects_that_have_none_of_its_columns(tmp_path) -> None:
    (tmp_path / "t.csv").write_text(plain())
    (tmp_path / "n.jsonl").write_text('{"c": 1}\n{"d": 2}\n')
    reading = Reading.of(open_reader(tmp_path / "t.csv", target="y"))
    with pytest.raises(BadInput, match=r"none of its keys \(c, d\) is a column of the model's table: a, b"):
        open_reader(tmp_path / "n.jsonl", reading=reading, labels="ignored")


def test_words_among_a_numeric_target_are_named(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{t},{t if t < 50 else 'closed'}\n" for t in range(100)))
    with pytest.raises(BadInput, match=r"words such as 'closed'.*--multiclass"):
        open_reader(tmp_path / "t.csv", target="y", classes="any")
