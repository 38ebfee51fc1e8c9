"""Spoiled files, by the hundred thousand: nothing crashes, nothing hangs, nothing asks for memory the file does not have.

    python bench/robust.py [--models 100000] [--lines 1000000] [--seed 0] [--few]

Each case is made from its number alone and runs in a worker process under a limit of memory: what it had plus twice the
file plus a fixed allowance. A case that ends the worker, or takes more than five seconds of the processor, is listed by its
number, and a new worker goes on behind it. An accepted model must then predict, learn and certify with no other error than the
library's own.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

LIMIT = 5.0  # seconds of the processor a case may take: on a busy machine the clock on the wall says little
PATIENCE = 120.0  # seconds on the wall
START = 3600.0  # seconds until everything is compiled
ALLOWANCE = 256 << 20
LINES = 200  # a text file
SHIFT = 5_000  # cases a worker sees before it is relieved


# --- the worker -------------------------------------------------------------------------------------------------------
def _limited(size: int) -> None:
    """At most what is in use now, the allowance and twice the file."""
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + ALLOWANCE + 2 * size, resource.RLIM_INFINITY))


def _free() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _say(*words: Any) -> None:
    print(json.dumps(words), flush=True)


def model(number: int, seed: int, made: dict[str, Any]) -> tuple[str, bytes]:
    """Case `number`: (kind, file)."""
    from robust_models import spoil

    rng = random.Random(f"model {seed} {number}")
    kind = rng.choice(list(made))
    return kind, spoil(rng, made[kind][0])


def _models(seed: int, start: int, stop: int, few: bool) -> None:
    from burkholder import storage
    from burkholder.errors import BurkholderError
    from robust_models import seeds

    made = seeds(few)
    for data, use in made.values():
        use(storage.unpack(data))  # everything compiled before the clock runs
    _say("ready")
    for number in range(start, stop):
        kind, data = model(number, seed, made)
        _say("begin", number)
        verdict, detail = "refused", ""
        _limited(len(data))
        try:
            learner = storage.unpack(data)
            verdict = "accepted"
            try:
                made[kind][1](learner)
            except BurkholderError:
                verdict = "accepted, then refused a round"
        except BurkholderError as error:
            if "MemoryError" in str(error):
                verdict, detail = "MEMORY", f"{kind}: {error}"
        except MemoryError as error:
            verdict, detail = "MEMORY", f"{kind}: {error}"
        except Exception as error:
            verdict, detail = "WRONG", f"{kind}: {type(error).__name__}: {error} after {verdict}"
        _free()
        _say("end", number, verdict, detail)


def _lines(seed: int, start: int, stop: int) -> None:
    from burkholder.errors import BurkholderError
    from robust_lines import FORMATS, read, spoil

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "data"
        for format, (make, head, options) in FORMATS.items():
            place.write_bytes(head + b"\n".join(make(random.Random(k)) for k in range(9)))
            read(place, format, {**options, "classes": None})
        _say("ready")
        for number in range(start, stop):
            format, text, options = spoil(random.Random(f"lines {seed} {number}"), LINES)
            place.write_bytes(text)
            _say("begin", number)
            verdict, detail = "refused", ""
            _limited(len(text))
            try:
                read(place, format, options)
                verdict = "accepted"
            except BurkholderError as error:
                if not str(error).isprintable():
                    verdict, detail = "WRONG", f"{format}: control characters in {str(error)!r}"
            except MemoryError as error:
                verdict, detail = "MEMORY", f"{format}: {error}"
            except Exception as error:
                verdict, detail = "WRONG", f"{format}: {type(error).__name__}: {error}"
            _free()
            _say("end", number, verdict, detail)


# --- the parent -------------------------------------------------------------------------------------------------------
class Worker:
    """A process that goes through cases; `answer` is its next word, or None when it is silent for too long or gone."""

    def __init__(self, what: str, seed: int, start: int, stop: int, few: bool) -> None:
        command = [sys.executable, __file__, "--worker", what, str(seed), str(start), str(stop), str(int(few))]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        self.pipe, self.rest = self.process.stdout.fileno(), b""

    def answer(self, seconds: float) -> list[Any] | None:
        deadline, spent = time.monotonic() + max(seconds, PATIENCE), self._spent() + seconds
        while b"\n" not in self.rest:
            if not select.select([self.pipe], [], [], 0.5)[0]:
                if time.monotonic() > deadline or self._spent() > spent:
                    return None
                continue
            more = os.read(self.pipe, 1 << 16)
            if not more:
                return None
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def _spent(self) -> float:
        """Seconds of the processor it has used."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> str:
        """How it ended: it is ended if it has not."""
        ended = self.process.poll() is not None or self.rest != b"" or self._gone()
        self.process.kill()
        return f"CRASH {self.process.wait()}" if ended else "HANG"

    def _gone(self) -> bool:
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            return False
        return True


def survey(what: str, cases: int, seed: int = 0, few: bool = False, start: int = 0) -> tuple[Counter[str], list[tuple[int, str, str]]]:
    """(how often each verdict, the cases that must not be) over so many cases."""
    counts: Counter[str] = Counter()
    found: list[tuple[int, str, str]] = []
    at, stop = start, start + cases
    while at < stop:
        print(f"{what}: {at - start:,} of {cases:,} cases, {len(found)} found", file=sys.stderr, flush=True)
        worker = Worker(what, seed, at, min(at + SHIFT, stop), few)
        if worker.answer(START) != ["ready"]:
            raise RuntimeError(f"the worker for {what} did not start: {worker.end()}")
        end = min(at + SHIFT, stop)
        while at < end:
            began = worker.answer(LIMIT)
            done = worker.answer(LIMIT) if began else None
            if done is None:
                verdict = worker.end()
                counts[verdict] += 1
                found.append((at, verdict, ""))
                print(f"  case {at}: {verdict}", file=sys.stderr, flush=True)
                at += 1
                break
            _, number, verdict, detail = done
            counts[verdict] += 1
            if verdict.isupper():
                found.append((number, verdict, detail))
                print(f"  case {number}: {verdict} {detail}", file=sys.stderr, flush=True)
            at = number + 1
        worker.process.kill()
        worker.process.wait()
    return counts, found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--models", type=int, default=100_000)
    options.add_argument("--lines", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--few", action="store_true", help="fewer kinds of learner, for a quick look")
    given = options.parse_args()
    bad = 0
    for what, cases in (("lines", -(-given.lines // LINES)), ("models", given.models)):
        began = time.monotonic()
        counts, found = survey(what, cases, given.seed, given.few)
        shown = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.most_common())
        unit = f"{cases * LINES:,} lines in {cases:,} files" if what == "lines" else f"{cases:,} model files"
        print(f"{unit}: {shown}; {time.monotonic() - began:.0f} s", flush=True)
        for number, verdict, detail in found[:40]:
            print(f"  case {number}: {verdict} {detail}")
        bad += len(found)
    sys.exit(bool(bad))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        warnings.simplefilter("ignore")
        what, seed, start, stop, few = sys.argv[2], *map(int, sys.argv[3:])
        if what == "models":
            _models(seed, start, stop, bool(few))
        else:
            _lines(seed, start, stop)
    else:
        main()
