"""Compression, standard input, Parquet, stored arrays, and finding out which is which."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys

import numpy as np
import pytest

from burkholder.errors import BadInput, BadLine, MissingExtra
from burkholder.streams.readers import batches, open_reader, read
from burkholder.streams.readers.binary import write

CSV = "a,b,target\n" + "".join(f"{i},{i % 7}.5,{i % 2}\n" for i in range(4000))
LIBSVM = "".join(f"{i % 3} 1:{i}.25 {i % 50 + 2}:1\n" for i in range(4000))
VW = "".join(f"{i % 3} |x f{i % 9}:{i}.25 g\n" for i in range(4000))
TEXTS = {"csv": CSV, "libsvm": LIBSVM, "vw": VW}


def pack_zstd(data):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": pack_zstd}


def whole(path, **options):
    """All rows of a file as one copied batch."""
    copies = [batch.copy() for batch in batches(path, **options)]
    lengths = np.concatenate([np.diff(batch.indptr) for batch in copies])
    return (lengths, *(np.concatenate([getattr(batch, name) for batch in copies]) for name in ("indices", "values", "y", "weight", "line")))


def same(one, other):
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("packing", PACKERS)
def test_compression_and_format_are_found_by_content(tmp_path, kind, packing):
    plain = tmp_path / f"plain.{kind}"
    plain.write_text(TEXTS[kind])
    packed = tmp_path / "no-hint"
    packed.write_bytes(PACKERS[packing](TEXTS[kind].encode()))
    reader = open_reader(packed)
    assert reader.format == kind and reader.source.compression is not None
    reader.close()
    same(whole(packed), whole(plain))
    # Two members one after another are one stream.
    half = TEXTS[kind].index("\n", len(TEXTS[kind]) // 2) + 1
    packed.write_bytes(b"".join(PACKERS[packing](part.encode()) for part in (TEXTS[kind][:half], TEXTS[kind][half:])))
    same(whole(packed), whole(plain))


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_cut_off_compression_is_an_error(tmp_path, packing, kept):
    data = PACKERS[packing](LIBSVM.encode())
    path = tmp_path / "cut.svm"
    path.write_bytes(data[: max(12, int(kept * len(data)))])
    with pytest.raises(BadLine, match="end early or are damaged"):
        whole(path, format="libsvm")
    with pytest.raises(BadLine):  # not one of the malformed lines to be skipped
        whole(path, format="libsvm", skip_bad=True)


def test_damaged_compression_is_an_error(tmp_path):
    data = bytearray(gzip.compress(LIBSVM.encode()))
    data[len(data) // 2] ^= 0xFF
    path = tmp_path / "damaged.svm.gz"
    path.write_bytes(bytes(data))
    with pytest.raises(BadLine):
        whole(path)


class Trickle(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data):
        self.left = data

    def readable(self):
        return True

    def readinto(self, room):
        taken = min(len(room), 97, len(self.left))
        room[:taken], self.left = self.left[:taken], self.left[taken:]
        return taken


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(tmp_path, monkeypatch, kind, pack):
    path = tmp_path / f"plain.{kind}"
    path.write_text(TEXTS[kind])
    stdin = type("Stdin", (), {"buffer": io.BufferedReader(Trickle(pack(TEXTS[kind].encode())))})
    monkeypatch.setattr(sys, "stdin", stdin)
    same(whole("-"), whole(path))


def test_parquet_is_csv(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(3)
    rows = 1000
    columns = {
        "a": [None if i % 10 == 0 else float(v) for i, v in enumerate(rng.standard_normal(rows))],
        "n": rng.integers(-5, 5, rows).tolist(),
        "city": [f"c{v}" for v in rng.integers(0, 9, rows)],
        "w": rng.random(rows).tolist(),
        "target": rng.standard_normal(rows).tolist(),
    }
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    lines = [",".join("" if columns[c][i] is None else (str if c == "city" else repr)(columns[c][i]) for c in columns) for i in range(rows)]
    (tmp_path / "t.csv").write_text(",".join(columns) + "\n" + "\n".join(lines) + "\n")
    for intercept in (False, True):
        mine, theirs = (whole(tmp_path / f"t.{kind}", weight="w", intercept=intercept) for kind in ("parquet", "csv"))
        same(mine[:-1], theirs[:-1])  # rows are counted from 1, lines behind the header from 2
    assert list(read(tmp_path / "t.parquet", weight="w")) == list(read(tmp_path / "t.csv", weight="w"))


def test_parquet_values_that_cannot_be_used(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"flag": [True, False, None], "x": [1.0, float("inf"), 3.0], "y": [1.0, 2.0, None]}), path)
    with pytest.raises(BadLine, match=r"line 2: .*'x'"):
        whole(path)
    reader = open_reader(path, skip_bad=True)
    assert [batch.y.tolist() for batch in reader] == [[1.0]] and (reader.bad_lines, reader.unlabelled) == (1, 1)
    assert list(read(path, skip_bad=True)) == [({"flag": 1.0, "x": 1.0}, 1.0)]
    parquet.write_table(pa.table({"x": [1.0, 2.0], "y": ["up", "down"]}), path)
    with pytest.raises(BadInput, match="positive"):
        whole(path)
    assert [y for _, y in read(path, positive="up")] == [1.0, -1.0]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        whole(path)


def test_parquet_needs_its_library(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"burkholder\[io\]"):
        open_reader(tmp_path / "t.parquet")


@pytest.fixture
def stored(tmp_path):
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, 6, 300)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    indices = rng.integers(0, 1000, indptr[-1]).astype(np.int32)
    return {"indptr": indptr, "indices": indices, "values": rng.standard_normal(indptr[-1]), "y": rng.standard_normal(300)}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("chunk", [7, 1 << 16])
def test_npz(tmp_path, stored, save, chunk):
    path = tmp_path / "rows.npz"
    save(path, **stored)
    from burkholder.streams.readers.binary import BinaryReader

    for intercept in (False, True):
        got = [batch.copy() for batch in BinaryReader(path, chunk=chunk, intercept=intercept)]
        y = np.concatenate([batch.y for batch in got])
        values = np.concatenate([batch.values for batch in got])
        indices = np.concatenate([batch.indices for batch in got])
        if intercept:
            starts = np.concatenate(
                [batch.indptr[:-1] + before for batch, before in zip(got, np.cumsum([0] + [len(batch.values) for batch in got]))]
            )
            assert (values[starts] == 1.0).all() and (indices[starts] == 0).all()
            values, indices = np.delete(values, starts), np.delete(indices, starts) - 1
        assert np.array_equal(y, stored["y"]) and np.array_equal(values, stored["values"])
        assert np.array_equal(indices, stored["indices"])


def test_npz_as_scipy_writes_it_and_dense(tmp_path):
    x = np.arange(12.0).reshape(4, 3)
    np.savez(tmp_path / "d.npz", X=x, y=np.ones(4))
    assert [(i.tolist(), v.tolist()) for (i, v), _ in read(tmp_path / "d.npz")] == [([0, 1, 2], row.tolist()) for row in x]
    from scipy import sparse

    matrix = sparse.csr_matrix(x)
    np.savez(
        tmp_path / "s.npz",
        indptr=matrix.indptr,
        indices=matrix.indices,
        data=matrix.data.astype(np.float32),
        shape=matrix.shape,
        y=np.array([0, 1, 0, 1]),
        weight=np.array([1, 2, 3, 4]),
    )
    _, _, values, y, weight, _ = whole(tmp_path / "s.npz", classes=True)
    assert np.array_equal(values, x.ravel()[1:]) and y.tolist() == [-1, 1, -1, 1] and weight.tolist() == [1, 2, 3, 4]


def test_a_folder_of_arrays_is_read_in_place(tmp_path):
    text = tmp_path / "a.svm"
    text.write_text(LIBSVM)
    assert write(tmp_path / "stored", batches(text)) == 4000
    same(whole(tmp_path / "stored"), whole(text))
    first = next(iter(batches(tmp_path / "stored")))
    assert not first.values.flags.owndata and not first.indices.flags.owndata  # the file's own pages
    with pytest.raises(BadInput, match="exists already"):
        write(tmp_path / "stored", batches(text))


def test_a_folder_with_the_constant_inside(tmp_path):
    text = tmp_path / "a.svm"
    text.write_text(LIBSVM)
    write(tmp_path / "stored", batches(text, intercept=True), constant=True)
    same(whole(tmp_path / "stored", intercept=True), whole(text, intercept=True))
    reader = open_reader(tmp_path / "stored", intercept=True)
    assert not next(iter(reader)).values.flags.owndata and reader.features == 52
    same(whole(tmp_path / "stored"), whole(text))  # for a learner that keeps the constant itself
    np.save(tmp_path / "stored" / "indices.npy", np.load(tmp_path / "stored" / "indices.npy") + 1)
    with pytest.raises(BadInput, match="lacks the constant"):
        whole(tmp_path / "stored")


def test_a_half_written_folder_is_not_left_behind(tmp_path):
    text = tmp_path / "a.svm"
    text.write_text(LIBSVM + "wrong\n")
    with pytest.raises(BadLine):
        write(tmp_path / "stored", batches(text, block=1 << 12))
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.svm"]


BROKEN = {
    "no array 'y'": {"y": None},
    "has no array 'values'|no array 'data'": {"values": None},
    "needs? 301|entries": {"indptr": np.arange(5)},
    "points past": {"values": np.ones(3)},
    "decreases": {"indptr": np.concatenate([[0, 5, 3], np.full(298, 5)])},
    "outside": {"indices": np.full(2000, -1)},
    "one row of numbers": {"y": np.array(["a"] * 300)},
    "not finite": {"values": np.full(2000, np.nan)},
}


@pytest.mark.parametrize(("words", "change"), BROKEN.items())
def test_stored_arrays_that_do_not_fit(tmp_path, stored, words, change):
    path = tmp_path / "broken.npz"
    np.savez(path, **{key: array for key, array in {**stored, **change}.items() if array is not None})
    with pytest.raises((BadInput, BadLine), match=words):
        whole(path)


def test_not_an_archive(tmp_path):
    path = tmp_path / "x.npz"
    path.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(BadInput, match="cannot be read as arrays"):
        whole(path)


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("missing.csv", {}, "no such file"),
        (".", {"format": "csv"}, "folder"),
        ("data.csv", {"format": "libsv"}, "did you mean 'libsvm'"),
        ("data.svm", {"target": "y"}, "says nothing about a libsvm file"),
        ("data.csv", {"block": 3, "target": "y"}, "block"),
        ("-", {"format": "npz"}, "not read from a pipe"),
        ("dat.csv", {}, r"Did you mean '.*data\.csv'"),
    ],
)
def test_what_cannot_be_opened(tmp_path, path, options, words):
    (tmp_path / "data.csv").write_text("a,y\n1,2\n")
    (tmp_path / "data.svm").write_text("1 1:1\n")
    with pytest.raises(BadInput, match=words):
        open_reader(path if path == "-" else tmp_path / path, **options)
