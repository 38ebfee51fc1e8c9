"""Spoiled files, by the hundred thousand: nothing crashes, nothing hangs, nothing asks for memory the file does not have.

    python bench/robust.py [--models 100000] [--lines 1000000] [--seed 0] [--start 0] [--few]

Each case is made from its number alone and runs in a child process under a limit of memory: what it had plus twice the
file plus a fixed allowance. A case that ends the child, or takes more than five seconds of the processor, is listed by its
number, and a new child goes on behind it. What an accepted model must then do is in `robust_use`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LIMIT = 5.0  # seconds of the processor a case may take: on a busy machine the clock on the wall says little
PATIENCE = 120.0  # seconds on the wall
TICK = 0.5
START = 3600.0  # seconds until everything is compiled
ALLOWANCE = 256 << 20
LINES = 200  # a text file
SHIFT = 5_000  # cases a child sees before it is relieved


# --- the worker -------------------------------------------------------------------------------------------------------
Case = Callable[[int], tuple[str, str]]


def _limited(size: int) -> None:
    """At most what is in use now, the allowance and twice the file."""
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (in_use + ALLOWANCE + 2 * size, resource.RLIM_INFINITY))


def _free() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _say(*words: Any) -> None:
    print(json.dumps(words), flush=True)


def model(number: int, seed: int, made: dict[str, Any]) -> tuple[str, bytes]:
    """Case `number`: (which model, file)."""
    from robust_spoil import spoil

    rng = random.Random(f"model {seed} {number}")
    kind = rng.choice(list(dict.fromkeys(name.partition(",")[0] for name in made)))  # each kind as often as any other
    name = rng.choice([name for name in made if name.partition(",")[0] == kind])
    return name, spoil(rng, made[name][0])


def _models(seed: int, few: bool) -> Case:
    from burkholder import storage
    from burkholder.errors import BurkholderError
    from robust_models import seeds

    made = seeds(few)
    for data, use in made.values():
        assert use(storage.unpack(data))  # everything compiled before the clock runs
        _limited(len(data))
        assert use(storage.unpack(data))  # what is whole stays within the limit
        _free()

    def case(number: int) -> tuple[str, str]:
        kind, data = model(number, seed, made)
        verdict, detail = "refused", ""
        _limited(len(data))
        try:
            learner = storage.unpack(data)
            verdict = "accepted"
            if not made[kind][1](learner):
                verdict = "accepted, then refused a round"
        except BurkholderError as error:
            if "MemoryError" in str(error):
                verdict, detail = "MEMORY", f"{kind}: {error}"
            elif verdict != "refused":
                verdict, detail = "WRONG", f"{kind}: it cannot be saved: {error}"
        except MemoryError as error:
            verdict, detail = "MEMORY", f"{kind}: {error}"
        except Exception as error:
            verdict, detail = "WRONG", f"{kind}: {type(error).__name__}: {error} after {verdict}"
        _free()
        return verdict, detail

    return case


def _lines(seed: int, folder: str) -> Case:
    from burkholder.errors import BurkholderError
    from robust_lines import FORMATS, read, spoil

    place = Path(folder) / "data"
    for format, (make, head, options) in FORMATS.items():
        place.write_bytes(head + b"\n".join(make(random.Random(k)) for k in range(9)))
        read(place, format, {**options, "classes": None})

    def case(number: int) -> tuple[str, str]:
        format, text, options = spoil(random.Random(f"lines {seed} {number}"), LINES)
        place.write_bytes(text)
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
        return verdict, detail

    return case


def _work(what: str, seed: int, few: bool) -> None:
    """Make and compile everything once; then a child for every stretch of cases that is asked for, so that a new one costs nothing."""
    with tempfile.TemporaryDirectory() as folder:
        case = _models(seed, few) if what == "models" else _lines(seed, folder)
        _say("ready")
        for asked in sys.stdin:
            child = os.fork()
            if child:
                _say("gone", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                continue
            _say("child", os.getpid())
            for number in range(*map(int, asked.split())):
                _say("begin", number)
                _say("end", number, *case(number))
            os._exit(0)


# --- the parent -------------------------------------------------------------------------------------------------------
class Worker:
    """A process that goes through cases in children; `answer` is its next word, or None when it is silent for too long."""

    def __init__(self, what: str, seed: int, few: bool) -> None:
        command = [sys.executable, __file__, "--worker", what, str(seed), str(int(few))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        self.pipe, self.rest, self.child = self.process.stdout.fileno(), b"", self.process.pid
        if self.answer(START) != ["ready"]:
            self.end()
            raise RuntimeError(f"the worker for {what} did not start")

    def answer(self, seconds: float) -> list[Any] | None:
        waited, spent = 0.0, self._spent() + seconds
        while b"\n" not in self.rest:
            if not select.select([self.pipe], [], [], TICK)[0]:
                waited += TICK  # counted, not read off a clock: a machine that is put to sleep has not waited
                if waited > max(seconds, PATIENCE) or self._spent() > spent:
                    return None
                continue
            more = os.read(self.pipe, 1 << 16)
            if not more:
                return None
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return json.loads(line)

    def _spent(self) -> float:
        """Seconds of the processor the child has used."""
        try:
            fields = Path(f"/proc/{self.child}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def go(self, start: int, stop: int) -> Iterator[tuple[int, str, str]]:
        """(number, verdict, what is wrong) for each case, up to the first that ends the child or is ended."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{start} {stop}\n".encode())
        self.process.stdin.flush()
        word = self.answer(PATIENCE)
        assert word is not None and word[0] == "child", word
        self.child, at = word[1], start
        while at < stop:
            word = self.answer(LIMIT)
            if word is None:
                os.kill(self.child, signal.SIGKILL)
                self.answer(PATIENCE)
                yield at, "HANG", ""
                return
            if word[0] == "gone":
                yield at, "CRASH", f"it ended with {word[1]}"
                return
            if word[0] == "end":
                yield word[1], word[2], word[3]
                at = word[1] + 1
        self.answer(PATIENCE)  # it is gone

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def survey(what: str, cases: int, seed: int = 0, few: bool = False, start: int = 0) -> tuple[Counter[str], list[tuple[int, str, str]]]:
    """(how often each verdict, the cases that must not be) over so many cases."""
    counts: Counter[str] = Counter()
    found: list[tuple[int, str, str]] = []
    at, stop = start, start + cases
    worker = Worker(what, seed, few)
    try:
        while at < stop:
            print(f"{what}: {at - start:,} of {cases:,} cases, {len(found)} found", file=sys.stderr, flush=True)
            for number, verdict, detail in worker.go(at, min(at + SHIFT, stop)):
                at = number + 1
                counts[verdict] += 1
                if verdict.isupper():
                    found.append((number, verdict, detail))
                    print(f"  case {number}: {verdict} {detail}", file=sys.stderr, flush=True)
    finally:
        worker.end()
    return counts, found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--models", type=int, default=100_000)
    options.add_argument("--lines", type=int, default=1_000_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--start", type=int, default=0, help="the number of the first case, to go through them in parts")
    options.add_argument("--few", action="store_true", help="fewer kinds of learner, for a quick look")
    given = options.parse_args()
    bad = 0
    for what, cases in (("lines", -(-given.lines // LINES)), ("models", given.models)):
        began = time.monotonic()
        counts, found = survey(what, cases, given.seed, given.few, given.start)
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
        _work(sys.argv[2], int(sys.argv[3]), sys.argv[4] == "1")
    else:
        main()
