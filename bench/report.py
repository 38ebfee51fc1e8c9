"""What the report of a run costs: processor time of the command `learn` with and without `--report`, on the shipped stream and on a
longer one made of copies of it; as a process of its own, and again in one process that has everything at hand."""

from __future__ import annotations

import csv
import gzip
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from burkholder.cli.session import shipped

RUN = [sys.executable, "-c", "from burkholder.cli import main; main()", "learn"]


def spent(*arguments: str) -> float:
    """Processor seconds of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*RUN, *arguments, "--target", "target", "--quiet"], check=True, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def inside(*arguments: str) -> float:
    """Processor seconds of the same command without a process's start."""
    from burkholder.cli.app import app

    before = time.process_time()
    app(["learn", *arguments, "--target", "target", "--quiet"], standalone_mode=False)
    return time.process_time() - before


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        long, page = Path(folder) / "long.csv", str(Path(folder) / "page.html")
        with gzip.open(shipped(), "rt") as lines:
            head, *rows = list(csv.reader(lines))
        long.write_text("\n".join([",".join(head), *(",".join(row) for row in rows * 20)]) + "\n")
        print(f"{'rows':>9} {'learner':<10}{'clock':<10}{'run':>10}{'with report':>14}{'ratio':>8}")
        for data, count in ((shipped(), len(rows)), (str(long), 20 * len(rows))):
            for learner in ("auto", "adagrad"):
                arguments = (data, "--learner", learner)
                for words, clock in (("process", spent), ("inside", inside)):
                    clock(*arguments, "--report", page)  # compile
                    plain, watched = (min(clock(*arguments, *more) for _ in range(3)) for more in ((), ("--report", page)))
                    print(f"{count:>9,} {learner:<10}{words:<10}{plain:>8.3f} s{watched:>12.3f} s{watched / plain:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
