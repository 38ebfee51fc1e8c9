"""The first run and the next: processor time of new processes, on an empty folder of compiled loops and then on a full one.

    python bench/start.py
    python bench/start.py --before ../old/src --repeat 3

With --before the same is done for another tree of sources (the folder that holds its `burkholder`), the two taking turns, and
the ratios are printed. User and system time of the whole process count: interpreter, imports, compiling, the work itself. The
least of the repetitions is kept.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent.parent / "src"
FORECASTS = "from burkholder import Experts; e = Experts(); x = {'a': 1.0, 'b': 2.0};"
COLUMNS = "import numpy as np; from burkholder import Experts; x = np.ones((9, 2)); c = {'a': x[:, 0], 'b': x[:, 1]};"
RATINGS = "from burkholder import MatrixCompletion; m = MatrixCompletion(1, 5);"
CASES = {
    "burkholder learn, the shipped stream": (
        "import sys; sys.argv = ['burkholder', 'learn', '--quiet']; from burkholder.cli import main; main()"
    ),
    "Auto, a dict": "from burkholder import Auto; a = Auto(); x = {'a': 1.0, 'b': 2.0}; a.predict(x); a.update(x, 1)",
    "Experts, a dict": f"{FORECASTS} e.predict(x); e.update(x, 1.5)",
    "Experts, a run": f"{COLUMNS} Experts().run(c, x[:, 0])",
    "completion, a rating": f"{RATINGS} m.predict('a', 'b'); m.update('a', 'b', 4)",
    "completion, a run": f"{RATINGS} m.run(['a', 'b', 'a'], ['x', 'x', 'y'], [4, 5, 1])",
}


def spent(source: Path, code: str, folder: str) -> float:
    """Processor seconds of a process that runs this code with these sources and this folder of compiled loops."""
    places = dict.fromkeys(("BURKHOLDER_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"), folder)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, **places, **threads, "PYTHONPATH": str(source)}
    quiet: Any = dict.fromkeys(("stdout", "stderr"), subprocess.DEVNULL)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, cwd=folder, **quiet)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(trees: list[Path], code: str, repeat: int) -> list[tuple[float, float]]:
    """(cold, warm) of every tree, the trees taking turns."""
    times: list[list[tuple[float, float]]] = [[] for _ in trees]
    for _ in range(repeat):
        for tree, found in zip(trees, times):
            with tempfile.TemporaryDirectory() as folder:
                cold = spent(tree, code, folder)
                found.append((cold, min(spent(tree, code, folder) for _ in range(3))))
    return [(min(cold for cold, _ in found), min(warm for _, warm in found)) for found in times]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="another tree of sources to compare with")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", help="cases whose name contains this")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    trees = [HERE.resolve()] + ([options.before.resolve()] if options.before else [])
    for tree in trees:
        compileall.compile_dir(tree, quiet=2)  # Python's own compiled files, as an installer writes them, whatever the environment says
    found = []
    beside = f" {'cold before':>12s} {'warm':>6s} {'cold ÷':>7s} {'warm ÷':>7s}" if options.before else ""
    print(f"{'processor seconds':40s} {'cold':>7s} {'warm':>6s}{beside}")
    for name, code in CASES.items():
        if options.only and options.only not in name:
            continue
        times = measured(trees, code, options.repeat)
        (cold, warm), others = times[0], times[1:]
        line = f"{name:40s} {cold:7.2f} {warm:6.2f}"
        for was_cold, was_warm in others:
            line += f" {was_cold:12.2f} {was_warm:6.2f} {cold / was_cold:7.3f} {warm / was_warm:7.3f}"
        print(line, flush=True)
        found.append({"case": name, "seconds": times})
    if options.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
