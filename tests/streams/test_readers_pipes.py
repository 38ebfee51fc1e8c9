"""Lines from a pipe are handed on as they come in; packed bytes are unpacked as they come in."""

from __future__ import annotations

import gzip
import os
import sys
import threading
import time
import zlib

import numpy as np
import pytest

from burkholder.errors import BadLine
from burkholder.streams.readers import open_reader

FORMATS = {"csv": ("a,city,target\n", "{k}.5,Rome,1\n"), "libsvm": ("", "1 1:{k}.5 7:2\n"), "vw": ("", "1 | x:{k}.5 y\n")}


@pytest.fixture
def pipe(monkeypatch):
    """Standard input fed by us: a function that writes to it, and one that closes it."""
    end, start = os.pipe()
    with os.fdopen(end, "rb") as stream:
        monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": stream}))
        writer = os.fdopen(start, "wb", buffering=0)
        yield writer
        writer.close()


def within(seconds, work):
    """What `work` returns, or a failure when it takes longer: the test must not hang with it."""
    found = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "nothing came out of the pipe"
    return found[0]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", FORMATS)
def test_rows_come_out_before_the_next_go_in(pipe, kind, packed):
    head, line = FORMATS[kind]
    packer = zlib.compressobj(wbits=31)

    def send(text):
        data = text.encode()
        pipe.write(packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH) if packed else data)

    send(head + line.format(k=0) + line.format(k=1))
    reader = within(60, lambda: open_reader("-", kind, intercept=True))
    batches = iter(reader)
    first = within(60, lambda: next(batches).copy())  # compiling takes its time
    assert first.rows == 2 and first.values[1] == 0.5 and first.values[first.indptr[1] + 1] == 1.5
    for k in range(2, 6):
        send(line.format(k=k) + line.format(k=k)[:3])  # the beginning of the next line is no row yet
        batch = within(10, lambda: next(batches).copy())
        assert batch.rows == 1 and batch.values[1] == k + 0.5
        send(line.format(k=k)[3:])
        assert within(10, lambda: next(batches).rows) == 1
    pipe.write(packer.flush() if packed else b"")
    pipe.close()
    assert within(10, lambda: list(batches)) == []


def test_a_csv_pipe_needs_two_records_to_be_understood(pipe):
    pipe.write(b'\n"si\nze",target\n')
    opened = []
    thread = threading.Thread(target=lambda: opened.append(open_reader("-", "csv")), daemon=True)
    thread.start()
    time.sleep(0.2)
    assert not opened
    pipe.write(b"2.5,1\n")
    thread.join(60)
    assert opened[0].plan.names == ["si\nze", "target"]
    batch = within(60, lambda: next(iter(opened[0])).copy())
    assert batch.values.tolist() == [2.5] and batch.line.tolist() == [4]


def test_a_pipe_that_closes_inside_a_packed_stream(pipe):
    data = gzip.compress("".join(f"1 {k * k % 9973 + 1}:1\n" for k in range(5000)).encode())
    pipe.write(data[:-400])
    pipe.close()
    reader = open_reader("-", "libsvm")
    rows = 0
    with pytest.raises(BadLine, match="end early or are damaged"):
        for batch in reader:
            rows += batch.rows
    assert 4000 < rows < 5000  # what was whole came first


@pytest.mark.parametrize("tail", [b"\0" * 700, b""])
def test_padding_behind_a_frame_is_nothing(tmp_path, tail):
    path = tmp_path / "padded.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n") + tail + gzip.compress(b"-1 2:1\n") + tail)
    assert [int(y) for batch in open_reader(path) for y in batch.y] == [1, -1]


def test_something_else_behind_a_frame_is_damage(tmp_path):
    path = tmp_path / "tail.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n") + b"and more")
    with pytest.raises(BadLine, match="damaged"):
        list(open_reader(path))


def test_a_lone_first_byte_of_a_packed_stream(pipe):
    """The first byte of gzip decides nothing yet; the first byte of a number does."""
    data = gzip.compress(b"3 1:1\n")
    pipe.write(data[:1])
    opened = []
    thread = threading.Thread(target=lambda: opened.append(open_reader("-", "libsvm")), daemon=True)
    thread.start()
    time.sleep(0.1)
    pipe.write(data[1:])
    pipe.close()
    thread.join(10)
    assert np.array_equal(next(iter(opened[0])).y, [3.0])
