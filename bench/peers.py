"""The other programs the benchmarks run: found, timed, and their loss read from what they print.

Vowpal Wabbit lives in an environment of its own: `python -m venv .bench-venv`, then install `vowpalwabbit` there; or
point BURKHOLDER_VW_PYTHON at a Python that has it.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
SINGLE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


class Timed(NamedTuple):
    """Wall-clock seconds, processor seconds (all threads), and the mean progressive loss."""

    seconds: float
    processor: float
    loss: float | None


def one_core() -> None:
    """Keep this process and its children on one core: peers that read in a second thread must share it too."""
    os.environ.update(SINGLE)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def vw_python() -> str | None:
    """A Python that can run VW, or None."""
    own = str(ROOT / ".bench-venv" / "bin" / "python")
    for candidate in (os.environ.get("BURKHOLDER_VW_PYTHON"), os.environ.get("BURKHOLDER_BENCH_PYTHON"), own, sys.executable):
        if candidate and Path(candidate).exists():
            probe = subprocess.run([candidate, "-c", "import vowpalwabbit"], capture_output=True, check=False)
            if probe.returncode == 0:
                return candidate
    return None


def children() -> float:
    """Processor seconds of all finished children so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def vw(python: str, *arguments: str) -> Timed:
    """One run of VW's own command line. Its start-up (about 0.06 s) is part of the time."""
    start, before = time.perf_counter(), children()
    done = subprocess.run([python, "-m", "vowpalwabbit", *arguments], capture_output=True, text=True, check=True)
    seconds, processor = time.perf_counter() - start, children() - before
    found = re.search(r"average loss = ([0-9.eE+-]+)", done.stdout + done.stderr)
    return Timed(seconds, processor, float(found.group(1)) if found else None)


def best(runs: list[Timed]) -> Timed:
    """The fastest of several runs: the least disturbed by others on the machine."""
    return min(runs, key=lambda run: run.processor)


def table(rows: list[dict[str, object]]) -> str:
    """Rows as aligned text."""
    heads = list(rows[0])
    cells = [[f"{row[h]:.4g}" if isinstance(row[h], float) else str(row[h]) for h in heads] for row in rows]
    widths = [max(len(h), *(len(line[i]) for line in cells)) for i, h in enumerate(heads)]
    lines = ["  ".join(text.ljust(width) for text, width in zip(line, widths)) for line in [heads, *cells]]
    return "\n".join(line.rstrip() for line in lines)
