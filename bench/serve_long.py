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
from burkholder.serve.journal import FRESH, Rhythm, recovered
from burkholder.serve.service import Service
from burkholder.serve.store import Store
from burkholder.storage import pack

FEATURES = 50


def learners() -> dict[str, bytes]:
    l2 = bk.Learner("square-function", loss="logistic", geometry="l2", intercept=True)
    return {"l2": pack(l2), "auto": pack(bk.Auto(loss="logistic"))}


def recovery(rounds: int, name: str, together: int, rhythm: Rhythm | None = None) -> None:
    """Write a log of so many rounds, then time what a start does with it.

    Without a rhythm nothing was ever cut from the log. With one the service that wrote it made its snapshots, and was killed just
    before the next one: as long a log as it leaves to anybody.
    """
    store = Store(tempfile.mkdtemp())
    service = recovered(store)
    _done(store, service, Group(0.0, [Event("create", "default", BYTES, learners()[name], "")]), rhythm)
    X = np.random.default_rng(0).normal(size=(1000, FEATURES)).round(5)
    rows, labels = [json.dumps(x.tolist()) for x in X], [int(x[0] > 0) for x in X]
    for group in range(rounds // 1000):
        events = []
        for k in range(1000):
            if together == 1:
                events.append(Event("predict", "default", JSON, f'{{"id": "{group}-{k}", "x": {rows[k]}}}'.encode()))
                events.append(Event("label", "default", JSON, f'{{"id": "{group}-{k}", "y": {labels[k]}}}'.encode()))
            elif k % together == 0:
                some = ", ".join(f'{{"x": {rows[j]}, "y": {labels[j]}}}' for j in range(k, k + together))
                events.append(Event("learn", "default", JSON, f"[{some}]".encode(), f"{group}-{k}"))
        _done(store, service, Group(float(group), events), rhythm)
    store.close()
    store = Store(store.folder)
    wall, processor = time.perf_counter(), time.process_time()
    service = recovered(store)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    how = "pairs of requests" if together == 1 else f"batches of {together}"
    left = "no snapshot" if rhythm is None else "killed before the next snapshot"
    played = f"{service.models['default'].learner.rounds:,} rounds in {how}"
    print(f"recovery, {name}, {played}, {left}: {wall:.1f} s, processor {processor:.1f} s", flush=True)
    store.close()


def _done(store: Store, service: Service, group: Group, rhythm: Rhythm | None) -> None:
    """Write a group; apply it, and make a snapshot in time, where there is a rhythm."""
    if rhythm is None:
        service.position += 1
        store.append(service.position, sealed(group))
        return
    events, size = service.since
    due = events >= rhythm.events or size >= rhythm.bytes
    done = service.ended.rows() if due or len(service.ended.fresh) >= FRESH else []
    store.append(service.position + 1, sealed(group), done, service.snapshot() if due else None)
    service.ended.stored(done)
    if due:
        service.since = [0, 0]
    service.apply(group)


def memory(rounds: int, batch: int = 1000) -> None:
    """Predict in batches, label 99 of 100, forget the rest: resident memory at ten moments."""
    store = Store(tempfile.mkdtemp())
    service = recovered(store)
    X = np.random.default_rng(0).normal(size=(batch, 3)).round(4)
    rows, labels, rhythm = [json.dumps(x.tolist()) for x in X], [int(x[0] > 0) for x in X], Rhythm()
    _done(store, service, Group(0.0, [Event("create", "default", BYTES, learners()["l2"], "")]), rhythm)
    seen, page = [], resource.getpagesize()
    for turn in range(rounds // batch):
        asked = ", ".join(f'{{"id": "{turn}-{k}", "x": {rows[k]}}}' for k in range(batch))
        told = ", ".join(f'{{"id": "{turn}-{k}", "y": {labels[k]}}}' for k in range(batch) if k % 100)
        bodies = [("predict", f"[{asked}]"), ("label", f"[{told}]"), ("forget", str(float(turn - 5)))]
        _done(store, service, Group(float(turn), [Event(verb, "default", JSON, body.encode()) for verb, body in bodies]), rhythm)
        if (turn + 1) % max(1, rounds // batch // 10) == 0:
            seen.append(int(Path("/proc/self/statm").read_text().split()[1]) * page >> 20)
            model = service.models["default"]
            print(
                f"memory after {(turn + 1) * batch:,} rounds: {seen[-1]} MiB, {len(model.waiting)} waiting, "
                f"{model.tally.forgotten:,} never labelled, store {store.size() >> 20} MiB",
                flush=True,
            )
    store.close()


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    parts = sys.argv[2:] or ["recovery", "memory"]
    for name in ("l2", "auto") if "recovery" in parts else ():
        for rhythm in (Rhythm(), None):
            recovery(count, name, 1, rhythm)
        recovery(count, name, 100)
    if "memory" in parts:
        memory(10 * count)
