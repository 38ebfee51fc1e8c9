"""Spark on this machine: rows a second beside a plain loop, growth with keys, and kills in the middle of a stream.

python bench/spark.py [--keys 1000 10000 100000] [--rows 50000 …] [--kills 50 --batches 60] [--only speed|kills]
Every driver is a process of its own (bench/spark_job.py); only it, its JVM and its workers are killed, by their ids.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

JOB = Path(__file__).with_name("spark_job.py")
ROWS, STORES = 300, 60  # of the stream that is killed


def job(*words: object, check: bool = True) -> dict:
    done = subprocess.run([sys.executable, str(JOB), *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.strip().splitlines()[-1])


# --- speed ------------------------------------------------------------------------------------------------------
def speed(keys: list[int], rows: list[int]) -> None:
    print("| keys | rows | plain Python | table local[1] | table local[2] | nothing learned local[2] | stream local[1] | stream local[2] |")
    print("|---|---|---|---|---|---|---|---|")
    for k, n in zip(keys, rows):
        base = job("plain", "-", k, n)
        cells, plain = [], base["seconds"] / n
        told = {}
        for what in ("table", "stream"):
            for master in ("local[1]", "local[2]"):
                got = told[what, master] = job(what, master, k, n)
                agree = abs(got["sum"] - base["sum"]) < 1e-9 * base["sum"]  # Spark adds in another order
                each = got["seconds"] / got.get("rows", n)
                cells.append(f"{1 / each:,.0f} ({1e6 * (each - plain):+.0f} µs){'' if agree else ' OTHER PREDICTIONS'}")
        bare = told["table", "local[2]"]["bare"]
        cells.insert(2, f"{n / bare:,.0f}")
        print(f"| {k:,} | {n:,} | {1 / plain:,.0f} | {' | '.join(cells)} |", flush=True)
        last = told["stream", "local[2]"]
        print(
            f"  stream local[2]: {last['rows']:,} rows and {last['touched']:,} states in {last['seconds']:.1f} s "
            f"({1e6 * last['seconds'] / last['touched']:.0f} µs a state, {last['commit']:.1f} s to commit); "
            f"first batch {last['first']:.1f} s; checkpoint {last['checkpoint'] / 1e6:.1f} MB, "
            f"{last['checkpoint'] / (last['touched'] / (len(range(3)) / 4)):.0f} bytes a state written",
            flush=True,
        )


# --- kills ------------------------------------------------------------------------------------------------------
def late_rows(folder: Path, batches: int) -> None:
    """Micro-batches in which a third of the labels come one to three batches later."""
    rng = np.random.default_rng(1)
    owed: dict[int, list[tuple]] = {}
    t = 0
    (folder / "in").mkdir(parents=True)
    for number in range(batches):
        rows = []
        for store, _, name, y in owed.pop(number, []):
            rows.append((store, t, name, np.nan, np.nan, np.nan, y))
            t += 1
        for _ in range(ROWS):
            store, x = int(rng.integers(STORES)), rng.normal(size=3)
            y = float(np.clip(x[0] - 0.5 * x[1], -1, 1))
            late = rng.random() < 1 / 3
            rows.append((store, t, f"r{t}", *x, np.nan if late else y))
            if late:
                owed.setdefault(number + int(rng.integers(1, 4)), []).append((store, t, f"r{t}", y))
            t += 1
        path = folder / "in" / f"{number:03d}.parquet"
        frame = pd.DataFrame(rows, columns=["store", "t", "id", "a", "b", "c", "y"]).sample(frac=1, random_state=number)
        frame.to_parquet(path)
        os.utime(path, (number, number))


def family(pid: int) -> dict[int, str]:
    """The processes below this one, with their command lines."""
    parents, words = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                words[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
    found, layer = {}, [pid]
    while layer:
        layer = [child for child, parent in parents.items() if parent in layer]
        found |= {child: words.get(child, "") for child in layer}
    return found


def spent(pid: int) -> int:
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return int(parts[11]) + int(parts[12])
    except OSError:
        return -1


def end(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


def kill_driver(driver: subprocess.Popen) -> None:
    below = family(driver.pid)
    for pid in [pid for pid, line in below.items() if "java" in line.split(" ")[0]] + [driver.pid] + list(below):
        end(pid)
    driver.wait()


def kill_worker(driver: subprocess.Popen) -> bool:
    """A Python worker that is at work, if one can be caught."""
    for _ in range(40):
        daemons = [pid for pid, line in family(driver.pid).items() if "pyspark.daemon" in line]
        workers = [pid for pid in daemons if any(pid in family(other) for other in daemons if other != pid)]
        before = {pid: spent(pid) for pid in workers}
        time.sleep(0.05)
        busy = [pid for pid in workers if spent(pid) > before[pid] >= 0]
        if busy:
            return end(random.choice(busy))
        if driver.poll() is not None:
            return False
    return False


def commits(folder: Path) -> int:
    return sum(path.name.isdigit() for path in (folder / "checkpoint" / "commits").glob("*"))


def killed(folder: Path, kills: int, every: int, batches: int) -> dict[str, int]:
    """The stream to its end, killed so often: every so manieth time the whole driver, otherwise a worker at its work."""
    done = {"driver": 0, "worker": 0, "starts": 0}
    driver, left = None, kills
    while True:
        if driver is None:
            driver = subprocess.Popen([sys.executable, str(JOB), "play", "local[2,1000]", str(folder)], stderr=subprocess.DEVNULL)
            done["starts"] += 1
            reached = commits(folder)
            while driver.poll() is None and commits(folder) <= reached:
                time.sleep(0.05)  # not killed before it has made some progress
        if driver.poll() is not None:
            if driver.returncode:
                print("the driver ended by itself with", driver.returncode)
                driver = None
                continue
            return done
        if left:
            # spread over the batches that are left
            gap = max(0, batches - 2 - commits(folder)) / (left + 1)
            wanted, began = commits(folder) + gap, time.monotonic()
            while driver.poll() is None and commits(folder) < int(wanted) and time.monotonic() < began + 60:
                time.sleep(0.02)
            time.sleep(random.random() * 0.5)
            if left % every == 0:
                if driver.poll() is None:
                    kill_driver(driver)
                    done["driver"], left, driver = done["driver"] + 1, left - 1, None
            elif kill_worker(driver):
                done["worker"], left = done["worker"] + 1, left - 1
        else:
            driver.wait()


def kills(count: int, every: int, batches: int) -> None:
    random.seed(0)
    root = Path(tempfile.mkdtemp())
    still, shaken = root / "still", root / "shaken"
    late_rows(still, batches)
    shutil.copytree(still, shaken)
    began = time.monotonic()
    subprocess.run([sys.executable, str(JOB), "play", "local[2]", str(still)], check=True, stderr=subprocess.DEVNULL)
    print(f"undisturbed: {time.monotonic() - began:.0f} s", flush=True)
    began = time.monotonic()
    done = killed(shaken, count, every, batches)
    print(
        f"killed: {done['driver']} times the driver, {done['worker']} times a worker at work; {time.monotonic() - began:.0f} s", flush=True
    )
    one, other = job("tell", "local[2]", still), job("tell", "local[2]", shaken)
    same = {name: one[name] == other[name] for name in one}
    print(f"{one['rows']:,} rows, {one['keys']} keys, {one['events']}")
    print(f"outputs identical: {same['outputs']}; states identical: {same['states']}; after {sum(done.values()) - done['starts']} kills")
    shutil.rmtree(root)
    if not all(same.values()):
        sys.exit(f"{one}\n{other}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 100_000, 200_000])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--batches", type=int, default=60, help="micro-batches of the stream that is killed")
    parser.add_argument("--driver-every", type=int, default=5)
    parser.add_argument("--only", choices=["speed", "kills"])
    given = parser.parse_args()
    if given.only != "kills":
        speed(given.keys, given.rows)
    if given.only != "speed":
        kills(given.kills, given.driver_every, given.batches)
