"""Long lives: memory over ten million rounds with one label in a hundred never coming, and recovery of a million logged rounds."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import burkholder as bk
from burkholder.serve.events import BYTES, JSON, Event, Group, sealed
from burkholder.serve.journal import FRESH, recovered
from burkholder.serve.store import Store
from burkholder.storage import pack

FEATURES = 50


def learners() -> dict[str, bytes]:
    l2 = bk.Learner("square-function", loss="logistic", geometry="l2", intercept=True)
    return {"l2": pack(l2), "auto": pack(bk.Auto(loss="logistic"))}


def recovery(rounds: int, name: str, together: int) -> None:
    """Write a log of so many rounds, then time what a start does with it."""
    folder = tempfile.mkdtemp()
    store = Store(folder)
    X = np.random.default_rng(0).normal(size=(1000, FEATURES)).round(5)
    store.append(1, sealed(Group(0.0, [Event("create", "default", BYTES, learners()[name], "")])))
    for group in range(rounds // 1000):
        events = []
        for k, x in enumerate(X):
            id = f"{group}-{k}"
            if together == 1:
                events.append(Event("predict", "default", JSON, json.dumps({"id": id, "x": x.tolist()}).encode()))
                events.append(Event("label", "default", JSON, json.dumps({"id": id, "y": int(x[0] > 0)}).encode()))
            elif k % together == 0:
                rows = [{"x": row.tolist(), "y": int(row[0] > 0)} for row in X[k : k + together]]
                events.append(Event("learn", "default", JSON, json.dumps(rows).encode(), id))
        store.append(group + 2, sealed(Group(float(group), events)))
    store.close()
    store = Store(folder)
    wall, processor = time.perf_counter(), time.process_time()
    service = recovered(store)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    how = "pairs of requests" if together == 1 else f"batches of {together}"
    print(
        f"recovery, {name}, {service.models['default'].learner.rounds:,} rounds in {how}: {wall:.1f} s, processor {processor:.1f} s",
        flush=True,
    )
    store.close()


def memory(rounds: int, batch: int = 1000) -> None:
    """Predict in batches, label 99 of 100, forget the rest: resident memory at ten moments."""
    store = Store(tempfile.mkdtemp())
    service = recovered(store)
    X = np.random.default_rng(0).normal(size=(batch, 3)).round(4)
    service.apply(Group(0.0, [Event("create", "default", BYTES, learners()["l2"], "")]))
    seen, page = [], resource.getpagesize()
    for turn in range(rounds // batch):
        rows = [{"id": f"{turn}-{k}", "x": x.tolist()} for k, x in enumerate(X)]
        labels = [{"id": f"{turn}-{k}", "y": int(x[0] > 0)} for k, x in enumerate(X) if k % 100]
        bodies = [("predict", rows), ("label", labels), ("forget", float(turn - 5))]
        events = [Event(verb, "default", JSON, json.dumps(body).encode()) for verb, body in bodies]
        group = Group(float(turn), events)
        store.append(service.position, sealed(group))
        service.apply(group)
        if len(service.fresh) >= FRESH:
            done = service.finished()
            store.write(done, service.snapshot() if turn % 100 == 99 else None)
            service.stored(done)
        if (turn + 1) % max(1, rounds // batch // 10) == 0:
            seen.append(int(Path("/proc/self/statm").read_text().split()[1]) * page >> 20)
            print(
                f"memory after {(turn + 1) * batch:,} rounds: {seen[-1]} MiB, {len(service.models['default'].waiting)} waiting", flush=True
            )
    store.close()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for name in ("l2", "auto"):
        for together in (100, 1):
            recovery(count, name, together)
    memory(10 * count)
