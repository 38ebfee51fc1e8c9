"""Peak memory of `burkholder learn` as the stream gets longer: it must not grow.

    python bench/memory.py [--rows 100000 1000000 10000000] [--learner adagrad]

Rows of 8 features (of 2^16) are piped in. Prints a table and writes out/memory.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import numpy as np

import peers

CHUNK = 20_000
CHILD = """
import resource, sys
from burkholder.cli.app import app
try:
    app(sys.argv[1:], standalone_mode=False)
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def text() -> bytes:
    """Some rows, repeated as often as needed: what they say does not matter here."""
    rng = np.random.default_rng(0)
    features, labels = rng.integers(1, 1 << 16, (CHUNK, 8)), rng.choice([-1, 1], CHUNK)
    rows = (f"{label} " + " ".join(f"{k}:0.5" for k in row) for row, label in zip(features.tolist(), labels.tolist()))
    return ("\n".join(rows) + "\n").encode()


def peak(rows: int, learner: str, chunk: bytes) -> dict[str, object]:
    line = [
        sys.executable,
        "-c",
        CHILD,
        "learn",
        "-",
        "--format",
        "libsvm",
        "--loss",
        "logistic",
        "--learner",
        learner,
        "--json",
        "--quiet",
    ]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        for _ in range(rows // CHUNK):
            child.stdin.write(chunk)
        child.stdin.close()
        *_, result, kilobytes = child.stdout.read().decode().splitlines()
    told = json.loads(result)
    return {"rounds": told["rounds"], "peak MB": int(kilobytes) / 1024, "seconds": told["seconds"], "mean loss": told["mean_loss"]}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    options.add_argument("--learner", default="adagrad")
    given = options.parse_args()
    chunk = text()
    rows = [peak(count, given.learner, chunk) for count in given.rows]
    print(peers.table(rows))
    peers.OUT.mkdir(exist_ok=True)
    (peers.OUT / "memory.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
