"""Two studies of saving: runs killed at random moments and taken up again, and damaged model files.

    python bench/storage.py [--kills 200] [--mutants 10000]

Kills: a checkpointed `burkholder learn` runs in a process of its own and gets SIGKILL at a random moment; the
same command with --load takes the run up (and may be killed again); in the end predictions and model must equal
the bytes of a run that was never killed. Mutants: flipped bits, cuts, splices within and between files must be
refused or load to an equal learner. Afterwards the same with mended checksums: whatever is refused must be refused
by an error of this library, and no load may import, compile, execute or open anything.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import burkholder as bk
from burkholder import storage
from burkholder.experts import Experts
from burkholder.matrix.completion import MatrixCompletion

OUT = Path(__file__).resolve().parent.parent / "out"
ROWS, EVERY = 12_000, 300
LEARNERS = {"adagrad": ["--option", "radius=3"], "adaptive-coordinates": [], "square-function": ["--loss", "absolute"]}


def written(folder: Path) -> Path:
    """A stream with numbers and words."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, 5))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0, 0.2] + rng.standard_normal(ROWS) > 0, 1, -1)
    path = folder / "stream.csv"
    lines = [",".join([*(f"{v:.6g}" for v in x), rng.choice(["red", "green", "blue"]), str(t)]) for x, t in zip(X, y)]
    path.write_text("\n".join(["a,b,c,d,e,colour,target", *lines]) + "\n")
    return path


def started(arguments: list[str]) -> int:
    """The command in a process of its own (forked, so that importing is not what gets killed); returns its id."""
    child = os.fork()
    if child:
        return child
    os.setsid()
    try:
        from burkholder.cli import main

        sys.argv = ["burkholder", *arguments]
        sys.stderr = sys.stdout = open(os.devnull, "w")
        try:
            main()
        except SystemExit as stop:
            os._exit(int(stop.code or 0))
        os._exit(0)
    except BaseException:
        os._exit(70)
    return 0  # never


def warm(arguments: list[str]) -> None:
    """The command in this process: what it compiles is there for every process forked from it."""
    from burkholder.cli import main

    sys.argv = ["burkholder", *arguments]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, f"{arguments} failed"


def finished(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_runs(kills: int, folder: Path, learners: dict[str, list[str]]) -> dict[str, Any]:
    data, chance = written(folder), random.Random(1)
    same = different = done = failed = at_end = 0
    for learner, options in learners.items():
        place = folder / learner
        place.mkdir()
        model, predictions = place / "model.bk", place / "predictions.txt"
        command = [
            "learn",
            str(data),
            "--learner",
            learner,
            *options,
            "--quiet",
            "--save",
            str(model),
            "--checkpoint-every",
            str(EVERY),
            "--predictions",
            str(predictions),
        ]
        warm(command)
        begin = time.perf_counter()
        assert finished(started(command)) == 0
        length = time.perf_counter() - begin
        truth = model.read_bytes(), predictions.read_bytes()
        share = kills // len(learners) + (learner == next(iter(learners))) * (kills % len(learners))
        while share > 0:
            for left in (model, predictions, Path(f"{predictions}.partial")):
                left.unlink(missing_ok=True)
            again: list[str] = []
            for _ in range(min(share, chance.randint(1, 3))):  # some runs are killed more than once
                child = started(command + again)
                time.sleep(chance.uniform(0.0, length))
                os.kill(child, signal.SIGKILL)
                hit = finished(child) == -signal.SIGKILL
                again = ["--load", str(model)]
                share, done, at_end = share - hit, done + hit, at_end + (not hit)
                if not hit:
                    break  # it had ended before the kill: not counted
            failed += finished(started(command + again)) != 0
            equal = (model.read_bytes(), predictions.read_bytes()) == truth
            same, different = same + equal, different + (not equal)
    return {
        "kills": done,
        "too late (not counted)": at_end,
        "resumed": same + different,
        "identical": same,
        "different": different,
        "failed": failed,
        "rows": ROWS,
        "checkpoint_every": EVERY,
        "learners": list(learners),
    }


def models() -> list[bytes]:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 4))
    named = bk.Learner("mixture", loss="logistic", intercept=True)
    for x in X:
        named.update({"a": x[0], "b": x[1]}, int(x[2] > 0))
    named.play({"a": 1.0, "new": 2.0})
    curved = bk.Learner("strongly-convex", loss="squared", bound=5.0)
    curved.run(X, np.clip(X[:, 0], -5, 5))
    experts, movies = Experts(loss="squared"), MatrixCompletion(low=1, high=5)
    for x in X:
        experts.update({"one": x[0], "two": x[1]}, x[2])
        movies.update(int(abs(x[0]) * 3), f"film {int(abs(x[1]) * 3)}", float(np.clip(round(3 + x[2]), 1, 5)))
    learners: list[Any] = [named, curved, experts, movies]
    try:
        from burkholder.auto import Auto

        auto = Auto(loss="logistic")
        for x in X:
            auto.update({"a": x[0], "b": x[1]}, int(x[2] > 0))
        learners.append(auto)
    except (ImportError, AttributeError):
        print("auto: not there, left out")
    return [storage.pack(learner) for learner in learners]


def mutant(files: list[bytes], chance: random.Random) -> bytes:
    data, other = chance.choice(files), chance.choice(files)
    a, b = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
    match chance.randrange(6):
        case 0:
            out = bytearray(data)
            for _ in range(chance.randint(1, 8)):
                out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
            return bytes(out)
        case 1:
            return data[:a]
        case 2:
            return data[:a] + data[b:]
        case 3:
            return data[:b] + data[a:]
        case 4:
            return data[:a] + other[min(a, len(other)) :]
        case _:
            return data[:a] + chance.randbytes(b - a) + data[b:]


def mutated(count: int) -> dict[str, Any]:
    files, chance = models(), random.Random(3)
    whole = set(files)
    told = {"mutants": count, "refused": 0, "equal": 0, "wrong": 0, "other errors": 0}
    mended = {"mended": count, "refused": 0, "loaded": 0, "other errors": 0, "forbidden events": 0}
    watching, events = [False], []

    def watch(event: str, arguments: Any) -> None:
        if watching[0] and event.split(".")[0] in ("import", "exec", "compile", "open", "os", "subprocess", "pickle", "ctypes"):
            events.append((event, str(arguments)[:80]))

    for data in files:
        storage.unpack(data)  # whatever is imported lazily is imported now
    sys.addaudithook(watch)
    for _ in range(count):
        while (data := mutant(files, chance)) in whole:
            pass  # nothing was changed
        try:
            learner = storage.unpack(data)
            told["equal" if storage.pack(learner) in whole else "wrong"] += 1
        except bk.BurkholderError:
            told["refused"] += 1
        except Exception as error:
            told["other errors"] += 1
            print("other:", repr(error)[:200])
    for _ in range(count):
        body = mutant(files, chance)[:-32]
        if len(body) >= 36 and chance.random() < 0.8:  # mend the length too
            body = body[:20] + (len(body) + 32).to_bytes(8, "little") + body[28:]
        data = body + hashlib.sha256(body).digest()
        watching[0] = True
        try:
            storage.unpack(data)
            mended["loaded"] += 1
        except bk.BurkholderError:
            mended["refused"] += 1
        except Exception as error:
            mended["other errors"] += 1
            watching[0] = False
            print("other:", repr(error)[:200])
        finally:
            watching[0] = False
    mended["forbidden events"] = len(events)
    for event in sorted(set(events))[:5]:
        print("event:", event)
    return {**told, "with mended checksum": mended}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--learners", default=",".join(LEARNERS))
    given = parser.parse_args()
    chosen = {name: LEARNERS.get(name, []) for name in given.learners.split(",")}
    results: dict[str, Any] = {}
    if given.mutants:
        results["mutations"] = mutated(given.mutants)
        print(json.dumps(results["mutations"], indent=1))
    if given.kills:
        with tempfile.TemporaryDirectory() as folder:
            results["kills"] = killed_runs(given.kills, Path(folder), chosen)
        print(json.dumps(results["kills"], indent=1))
    OUT.mkdir(exist_ok=True)
    (OUT / "storage.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
