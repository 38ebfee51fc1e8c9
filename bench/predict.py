"""Speed of `burkholder predict` beside `burkholder learn` on the same file, in one process that has everything at hand.

    python bench/predict.py [--copies 4]

The shipped stream, some copies of it, as CSV: processor seconds from the file to the last line written, the best of three.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import tempfile
import time
from pathlib import Path

import peers

peers.one_core()

from burkholder.cli.app import app
from burkholder.cli.session import shipped


def spent(*arguments: str) -> float:
    """Processor seconds of one command."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        app(list(arguments), standalone_mode=False)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--copies", type=int, default=4)
    given = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        data, model, out = (str(Path(folder) / name) for name in ("data.csv", "model.bk", "out.txt"))
        with gzip.open(shipped(), "rt") as lines:
            head, *body = list(csv.reader(lines))
        Path(data).write_text("\n".join([",".join(head), *(",".join(row) for row in body * given.copies)]) + "\n")
        count = len(body) * given.copies
        for learner in ("auto", "adagrad"):
            learning = ("learn", data, "--target", "target", "--learner", learner, "--quiet", "--predictions", out, "--save", model)
            app(list(learning), standalone_mode=False)  # compile
            learn = spent(*learning)
            for words, more in (("classes", ()), ("--proba", ("--proba",)), ("--json", ("--json",))):
                predict = spent("predict", model, data, "--output", out, *more)
                rows.append(
                    {
                        "learner": learner,
                        "answers": words,
                        "learn rows/s": count / learn,
                        "predict rows/s": count / predict,
                        "ratio": learn / predict,
                    }
                )
    print(peers.table(rows))


if __name__ == "__main__":
    main()
