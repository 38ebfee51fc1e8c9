"""The same benches for two trees of this repository, in turns: what a change costs or brings, row by row.

    python bench/before.py ../old                              # engine, dicts and speed_text
    python bench/before.py ../old --turns 4 --only dicts

Each tree runs its own bench/*.py on its own sources, since the benches reach inside. The least processor time of all turns is
kept for every row that both trees have; a ratio below 1 means that this tree is the faster one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
BENCHES = {
    "engine": ["--only", "streams", "--rows", "200000", "--passes", "3"],
    "dicts": ["--rounds", "5000", "--passes", "3"],
    "speed_text": ["--rows", "100000", "--repeat", "2"],
}
TIMES = ("ns_per_entry", "microseconds_per_round", "processor s")


def measured(tree: Path, bench: str, more: list[str], folder: Path) -> dict[str, float]:
    """The time of every row of one run of a tree's own bench, in its own unit."""
    found = tree / "out" / f"{bench}.json"
    into = ["--folder", str(folder)] if bench == "speed_text" else ["--out", str(found := folder / f"{bench}.json")]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    line = [sys.executable, f"bench/{bench}.py", *BENCHES[bench], *more, *into]
    done = subprocess.run(line, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{tree}/bench/{bench}.py failed:\n{done.stderr}")
    rows = json.loads(found.read_text())
    named = [(f"{row['work']}, {row['program']}" if "program" in row else row["work"], row) for row in rows]
    times = [(name.removesuffix(", float64"), [row[unit] for unit in TIMES if unit in row]) for name, row in named]
    return {name: float(numbers[0]) for name, numbers in times if numbers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="another tree of this repository")
    parser.add_argument("--only", choices=BENCHES, nargs="+", default=list(BENCHES))
    parser.add_argument("--turns", type=int, default=2)
    options, more = parser.parse_known_args()
    trees = [HERE, options.before.resolve()]
    with tempfile.TemporaryDirectory() as folder:
        for bench in options.only:
            best: list[dict[str, float]] = [{}, {}]
            for _ in range(options.turns):
                for tree, least in zip(trees, best):
                    for name, time in measured(tree, bench, more, Path(folder)).items():
                        least[name] = min(time, least.get(name, time))
            print(bench)
            for name in best[0]:
                if name in best[1]:
                    now, then = best[0][name], best[1][name]
                    print(f"  {name:60s} {now:9.3f} before {then:9.3f}  ÷ {now / then:.3f}", flush=True)


if __name__ == "__main__":
    main()
