"""Whole pipelines on one core, from text and from binary, beside Vowpal Wabbit, each with its loss.

    python bench/speed_text.py [--rows 1000000] [--repeat 3]

The stream is synthetic: 100 nonzeros a row, 2^18 features, labels by a noisy linear rule. From text: libsvm for us, VW
text for VW. From binary: a folder of .npy arrays for us, a cache file for VW. Everything runs on one core. Times are
processor seconds of all threads, which other programs on the machine disturb less than wall-clock time (shown too; on a
quiet machine they agree). Ours leave out starting Python and loading compiled code, VW's its start-up; "whole
command" includes it.

Speed without prediction does not count, so each row has its loss. Learners with a radius are shown with their default, which
nobody tuned, and with one fixed radius that suits this stream (its name says which; VW's learning rate has a default that
suits it); `auto` has nothing to tune. Under them: where our time goes, reading alone and learning alone from memory.
Prints a table and writes out/speed_text.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import peers

peers.one_core()

import synthetic
from burkholder.learning.factory import named_learner
from burkholder.streams.readers import Batch, batches
from burkholder.streams.readers.binary import write

LEARNERS = ["adagrad", "adagrad-norm", "square-function"]
RADIUS = {"adagrad": 0.1, "adagrad-norm": 40.0, "square-function": 100.0}  # beside the defaults


def ours(name: str, stream: Iterable[Batch], radius: float | None = None) -> peers.Timed:
    """One pass: read, predict, learn."""
    learner = named_learner(name, "logistic", {} if radius is None else {"radius": radius})
    start, processor = time.perf_counter(), time.process_time()
    for batch in stream:
        learner.run_batch(batch.indptr, batch.indices, batch.values, batch.y, batch.weight)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    return peers.Timed(seconds, processor, learner.cumulative_loss / learner.rounds)


def opened(path: Path) -> Iterable[Batch]:
    return batches(path, intercept=True, classes=True)


def reading(path: Path) -> peers.Timed:
    """The same without learning."""
    start, processor = time.perf_counter(), time.process_time()
    for _ in opened(path):
        pass
    return peers.Timed(time.perf_counter() - start, time.process_time() - processor, None)


def command(path: Path, name: str) -> peers.Timed | None:
    """The same as a user types it, start-up and all; None when the command fails."""
    line = [
        sys.executable,
        "-c",
        "from burkholder.cli import main; main()",
        "learn",
        str(path),
        "--learner",
        name,
        "--loss",
        "logistic",
        "--json",
        "--quiet",
    ]
    start, before = time.perf_counter(), peers.children()
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    seconds, processor = time.perf_counter() - start, peers.children() - before
    if done.returncode != 0:
        print(f"burkholder learn {path} failed: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return peers.Timed(seconds, processor, json.loads(done.stdout.splitlines()[-1])["mean_loss"])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=1_000_000)
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--learners", nargs="+", default=LEARNERS)
    options.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "burkholder-bench")
    given = options.parse_args()
    files = synthetic.write(given.folder, given.rows)
    small = synthetic.write(given.folder, 1000)
    stored = given.folder / f"stored-{given.rows}"  # with the constant inside, as in VW's cache
    if not stored.exists():
        write(stored, batches(files["libsvm"], intercept=True), constant=True)
    for name in [*given.learners, "auto"]:  # compile, or load from the cache, before any clock starts
        ours(name, opened(small["libsvm"]))
    rows: list[dict[str, object]] = []

    def add(work: str, program: str, run: peers.Timed, against: float | None) -> None:
        rows.append(
            {
                "work": work,
                "program": program,
                "seconds": run.seconds,
                "processor s": run.processor,
                "rows/s": given.rows / run.processor,
                "ratio": "" if against is None else against / run.processor,
                "mean loss": run.loss if run.loss is not None else float("nan"),
            }
        )
        print(f"{work}, {program}: {run.processor:.3g} s", flush=True)

    python = peers.vw_python()
    text_time = cache_time = None
    if python is None:
        print("vowpalwabbit was not found: its rows are left out (see bench/peers.py)")
    else:
        common = ["--loss_function", "logistic", "-b", "18"]
        idle = peers.best([peers.vw(python, "-d", str(small["vw"]), *common) for _ in range(3)])
        rows.append(
            {
                "work": "start-up",
                "program": "VW",
                "seconds": idle.seconds,
                "processor s": idle.processor,
                "rows/s": "",
                "ratio": "",
                "mean loss": "",
            }
        )

        def timed(*arguments: str) -> peers.Timed:
            run = peers.best([peers.vw(python, *common, *arguments) for _ in range(given.repeat)])
            return run._replace(seconds=run.seconds - idle.seconds, processor=run.processor - idle.processor)

        run = timed("-d", str(files["vw"]))
        text_time = run.processor
        add("text", "VW default", run, None)
        cache = given.folder / f"sparse-{given.rows}.cache"
        if not cache.exists():
            peers.vw(python, *common, "-d", str(files["vw"]), "--cache_file", str(cache))
        modes = {"default": [], "--sgd": ["--sgd"], "--adaptive": ["--adaptive"]}
        modal = {mode: timed("-d", str(files["vw"]), "--cache_file", str(cache), *more) for mode, more in modes.items()}
        for mode, run in modal.items():
            add("binary", f"VW cache, {mode}", run, None)
        cache_time = min(run.processor for run in modal.values())
    kinds = [(name, radius) for name in given.learners for radius in (None, RADIUS.get(name)) if radius is None or name in RADIUS]
    for name, radius in [*kinds, ("auto", None)]:
        label = name if radius is None else f"{name}, radius {radius:g}"
        runs = [ours(name, opened(files["libsvm"]), radius=radius) for _ in range(given.repeat)]
        add("text", label, peers.best(runs), text_time)
    for name, radius in kinds:
        label = name if radius is None else f"{name}, radius {radius:g}"
        runs = [ours(name, opened(stored), radius) for _ in range(given.repeat)]
        add("binary", label, peers.best(runs), cache_time)
    for path, work, against in ((files["libsvm"], "text", text_time), (stored, "binary", cache_time)):
        add(work, "reading alone", peers.best([reading(path) for _ in range(given.repeat)]), against)
    part = [batch.copy() for batch, _ in zip(opened(stored), range(1 << 3))]
    count = sum(batch.rows for batch in part)
    for name in given.learners:
        run = peers.best([ours(name, part) for _ in range(given.repeat)])
        scale = given.rows / count  # a part of the rows, from memory, over and over
        run = run._replace(seconds=run.seconds * scale, processor=run.processor * scale)
        add("memory", f"{name}, learning alone (first {count:,} rows)", run, None)
    for path, work, against in ((files["libsvm"], "text", text_time), (stored, "binary", cache_time)):
        runs_of_command = [run for _ in range(given.repeat) if (run := command(path, "adagrad")) is not None]
        if runs_of_command:
            add(work, "adagrad, whole command", peers.best(runs_of_command), against)
    print(peers.table(rows))
    peers.OUT.mkdir(exist_ok=True)
    (peers.OUT / "speed_text.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
