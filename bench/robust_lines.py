"""Text files to spoil: lines of every format with bytes changed, and what a reader may make of them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from burkholder.streams.readers import open_reader

PIECES = (
    b"", b" ", b"\t", b"\r", b"\n", b"\r\n", b"\0", b"\x1b[2J", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b'""', b",", b";", b"|", b":", b"#",
    b"nan", b"inf", b"-inf", b"1e308", b"1e400", b"-1e-400", b"0x10", b"1,5", b"1_000", b"9" * 30, b"1" + b"0" * 400, b"." * 9, b"--1",
    b"2147483648", b"1500000000", b"4294967296", b"18446744073709551616", b"-1", b"NA", b"?", b"True", b"\xe2\x82\xac",
)  # fmt: skip


def _libsvm(rng: random.Random) -> bytes:
    pairs = " ".join(f"{k}:{rng.uniform(-9, 9):.{rng.randrange(9)}f}" for k in sorted(rng.sample(range(1, 99), rng.randrange(12))))
    return f"{rng.choice((-1, 1))} {pairs}".encode()


def _vw(rng: random.Random) -> bytes:
    words = " ".join(f"{rng.choice('abcdef')}{rng.randrange(50)}" + rng.choice(("", ":0.5", ":-2e3")) for _ in range(rng.randrange(9)))
    return f"{rng.choice((-1, 1))} {rng.choice(('', '2.0 '))}|{rng.choice(('', 'ns', 'ns:0.5'))} {words}".encode()


def _csv(rng: random.Random) -> bytes:
    text = rng.choice(("red", "blue", '"gr,ey"', '"a ""b"""', "", "NA"))
    return f"{rng.uniform(-9, 9):.4f},{text},{rng.choice((rng.randrange(100), ''))},{rng.choice((0, 1))}".encode()


FORMATS = {"libsvm": (_libsvm, b"", {}), "vw": (_vw, b"", {}), "csv": (_csv, b"x,colour,n,y\n", {"target": "y"})}


def _changed(rng: random.Random, line: bytes) -> bytes:
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        at = rng.randrange(len(line) + 1)
        how = rng.randrange(5)
        if how == 0:
            line = line[:at] + line[at + rng.randrange(1, 4) :]
        elif how == 1:
            line = line[:at] + bytes([rng.randrange(256)]) + line[at + 1 :]
        elif how == 2:
            line = line[:at] + rng.choice(PIECES) + line[at:]
        elif how == 3:
            line = line[:at] + rng.choice(PIECES) + line[at + rng.randrange(5) :]
        else:
            line = line[at:] + line[:at]
    return line


def spoil(rng: random.Random, lines: int) -> tuple[str, bytes, dict]:
    """(format, text, options) of a file of so many lines, most of them changed."""
    format = rng.choice(list(FORMATS))
    make, head, options = FORMATS[format]
    end = rng.choice((b"\n", b"\n", b"\r\n", b"\r"))
    text = head.replace(b"\n", end) + end.join(_changed(rng, make(rng)) for _ in range(lines)) + rng.choice((b"", end))
    chosen = {
        **options,
        "skip_bad": rng.random() < 0.8,
        "classes": rng.choice((None, False, True)),
        "block": rng.choice((64, 512, 1 << 16)),
    }
    return format, text, chosen | ({"intercept": True} if rng.random() < 0.5 else {})


def read(path: Path, format: str, options: dict) -> int:
    """Rows read; AssertionError when a batch is not what batches are."""
    rows = 0
    with open_reader(path, format, **options) as reader:
        for batch in reader:
            assert batch.rows == len(batch.indptr) - 1 == len(batch.weight) == len(batch.line) > 0
            assert (
                batch.indptr[0] == 0 and batch.indptr[-1] == len(batch.indices) == len(batch.values) and (np.diff(batch.indptr) >= 0).all()
            )
            assert np.isfinite(batch.values).all() and np.isfinite(batch.y).all() and np.isfinite(batch.weight).all()
            assert (batch.weight >= 0.0).all() and (batch.indices >= 0).all() and (np.diff(batch.line) >= 0).all()
            assert not reader.classes or (np.abs(batch.y) == 1.0).all()
            rows += batch.rows
    return rows
