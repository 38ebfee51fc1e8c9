"""Parsing speed of every reader, beside what others read the same file with.

    python bench/readers.py [--rows 100000] [--repeat 3]

libsvm is compared with scikit-learn's load_svmlight_file on 100 features a row, values with 6 and with 17
digits. Times are processor seconds, the best of several runs. Prints a table and writes out/readers.json.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import peers

peers.one_core()

import numpy as np

import synthetic
from burkholder.streams.readers import batches
from burkholder.streams.readers.binary import write


def drain(stream: Iterable) -> int:
    return sum(batch.rows for batch in stream)


def fastest(work: Callable[[], object], repeat: int) -> float:
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def long_digits(folder: Path, count: int) -> Path:
    path = folder / f"long-{count}.svm"
    if not path.exists():
        indices, values, labels = synthetic.rows(0, count)
        with open(path, "w") as file:
            for row in range(count):
                body = " ".join(f"{k}:{v!r}" for k, v in zip(indices[row].tolist(), values[row].tolist()))
                file.write(f"{labels[row]} {body}\n")
    return path


def dense_csv(folder: Path, count: int) -> Path:
    path = folder / f"dense-{count}.csv"
    if not path.exists():
        rng = np.random.default_rng(2)
        with open(path, "w") as file:
            file.write(",".join(f"x{i}" for i in range(20)) + ",city,target\n")
            for row in rng.random((count, 20)).tolist():
                file.write(",".join(f"{v:.6g}" for v in row) + f",town{int(row[0] * 50)},{int(row[1] > 0.5)}\n")
    return path


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "burkholder-bench")
    given = options.parse_args()
    files = synthetic.write(given.folder, given.rows)
    long, table = long_digits(given.folder, given.rows // 4), dense_csv(given.folder, given.rows)
    packed = given.folder / f"packed-{given.rows}.svm.gz"
    if not packed.exists():
        packed.write_bytes(gzip.compress(files["libsvm"].read_bytes()[:40_000_000].rpartition(b"\n")[0], 6))
    folder = given.folder / f"arrays-{given.rows}"
    if not folder.exists():
        write(folder, batches(files["libsvm"]))
    drain(batches(files["libsvm"]))  # compile, or load from the cache, before the clock starts

    from sklearn.datasets import load_svmlight_file

    rows = []

    def add(what: str, path: Path, size: float, work: Callable[[], object], against: float | None = None) -> float:
        rate = size / 1e6 / fastest(work, given.repeat)
        ratio = "" if against is None else rate / against
        rows.append({"reader": what, "MB": size / 1e6, "MB/s": rate, "ratio": ratio})
        return rate

    for name, path in (("6 digits", files["libsvm"]), ("17 digits", long)):
        size = path.stat().st_size
        theirs = add(f"load_svmlight_file, {name}", path, size, lambda path=path: load_svmlight_file(str(path)))
        add(f"libsvm, {name}", path, size, lambda path=path: drain(batches(path)), theirs)
    add("libsvm, gzip (MB of text)", packed, 40_000_000, lambda: drain(batches(packed)))
    add("vw", files["vw"], files["vw"].stat().st_size, lambda: drain(batches(files["vw"])))
    drain(batches(table))
    csv_size = table.stat().st_size
    import pandas

    theirs = add("pandas.read_csv", table, csv_size, lambda: pandas.read_csv(table))
    add("csv, hashed words", table, csv_size, lambda: drain(batches(table)), theirs)
    stored = sum(item.stat().st_size for item in folder.iterdir())
    add("arrays", folder, stored, lambda: drain(batches(folder)))
    print(peers.table(rows))
    peers.OUT.mkdir(exist_ok=True)
    (peers.OUT / "readers.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
