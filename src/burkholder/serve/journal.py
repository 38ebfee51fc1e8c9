"""Group commit: events are gathered, written together by one thread, and only then applied and answered.

While one group is on its way to the disk the next one gathers. A group that cannot be written is not applied: whoever sent
something in it is told so, and the models are as if it had never come.
"""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from burkholder.serve.answers import Answer, Refused, refusal
from burkholder.serve.events import Event, Group, sealed, unsealed
from burkholder.serve.service import Service
from burkholder.serve.store import Closed, Snapshot, Store, StoreFailed

FRESH = 512  # rounds that are over, kept in memory before they go to the store
MANY = 16 * FRESH  # the same while a log is replayed: nobody waits for an answer meanwhile
FADING = 9  # tenths of what was on its way at once that are still reckoned with when there is less
SHARES = 2  # of what is on its way: one is written and applied while the other comes
Report = Callable[..., None]
Done = Callable[[Answer], None]
Stop = Callable[[Exception], None]


class Entry(NamedTuple):
    """An event that waits to be written, and who waits for it."""

    event: Event
    request: Any
    done: Done


class Duty(NamedTuple):
    """What else is to be written with the next group."""

    rows: list[Closed]
    snapshot: Snapshot | None


class Rhythm(NamedTuple):
    """How often what is done."""

    commit: float = 0.005  # seconds from the start of a write to that of the next, unless half of what is on its way is there before
    events: int = 100_000  # between two snapshots
    bytes: int = 64 << 20  # of log between two snapshots


class Clock:
    """Seconds that never go back, whatever is done to the system's clock: a restart goes on from the last moment written."""

    def __init__(self, last: float) -> None:
        self._start, self._since = max(time.time(), last), time.monotonic()

    def now(self) -> float:
        return self._start + (time.monotonic() - self._since)


def recovered(store: Store, progress: Callable[[int], None] = lambda events: None) -> Service:
    """The service as the store has it: the last snapshot, and every group written since. `progress` hears of each."""
    service = Service(store.find)
    events = 0
    gc.disable()  # what a replay makes stays, or goes at once: nothing in it waits to be found
    try:
        service.restore(store.snapshot())
        for seq, body in store.log(service.position):
            if seq != service.position + 1:
                raise StoreFailed(f"the log goes from {service.position} to {seq}: a part of it is missing")
            group = unsealed(body)
            service.replay(group)
            events += len(group.events)
            progress(events)
            if len(service.ended.fresh) >= MANY:
                rows = service.ended.rows()
                store.write(rows, None)
                service.ended.stored(rows)
    except (msgspec.MsgspecError, sqlite3.Error, TypeError, ValueError, LookupError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise StoreFailed(f"the store is damaged after group {service.position} ({reason}): put back a copy of its folder") from None
    finally:
        gc.enable()
    return service


class Journal:
    """The one writer. `submit` belongs to the loop's thread, as applying does; writing has a thread of its own."""

    def __init__(self, store: Store, service: Service, rhythm: Rhythm, report: Report, stop: Stop) -> None:
        self.store, self.service, self.rhythm, self.report, self.stop = store, service, rhythm, report, stop
        self.clock = Clock(service.moment)
        self.waiting = self.bytes = 0  # events not answered yet, and the size of their bodies
        self.failed: str | None = None  # why the last write failed
        self.broken = False  # a group is applied in part, or not at all: only a restart can tell what the log makes
        self._open: list[Entry] = []
        self._duty: Duty | None = None  # for the writer to take along
        self._busy = False  # it has been handed a duty, and not yet come back
        self._seq = service.position
        self._flight = self._enough = 1  # events that were on their way at once lately; with how many open a group begins
        self._loop = asyncio.get_running_loop()
        self._some = threading.Condition()
        self._stopping = False
        self._drained = asyncio.Event()
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    # --- in the loop's thread ------------------------------------------------------------------------------------
    def submit(self, event: Event, request: Any = None) -> asyncio.Future[Answer]:
        """Have an event written; the answer comes when it is on disk and applied."""
        answer: asyncio.Future[Answer] = self._loop.create_future()
        self.enter(event, request, lambda found: None if answer.done() else answer.set_result(found))
        return answer

    def enter(self, event: Event, request: Any, done: Done) -> None:
        """`submit` for whoever is called back."""
        self.waiting += 1
        self.bytes += len(event.body)
        with self._some:
            self._open.append(Entry(event, request, done))
            if len(self._open) in (1, self._enough):
                self._some.notify()

    def _written(self, group: Group, entries: list[Entry], duty: Duty | None) -> None:
        """A group is on disk: apply and answer."""
        self.failed = None
        for entry, answer in zip(entries, self._applied(group, entries)):
            entry.done(answer)
        self._release(entries)
        if self.broken:
            return
        if duty is not None:
            self._busy = False
            self.service.ended.stored(duty.rows)
            if duty.snapshot is not None:
                self.service.since = [0, 0]
        while self.service.faults:
            self.report("fault", what=self.service.faults.pop())
        self._tidy()

    def _applied(self, group: Group, entries: list[Entry]) -> list[Answer]:
        """The answers to a group; where the disk cannot be read, it stays in the log until the next start applies it."""
        if not self.broken:
            try:
                return self.service.apply(group, [entry.request for entry in entries])
            except StoreFailed as error:
                self.broken = True
                self.report("store failed", reason=str(error))
                self.stop(error)
        answer = refusal(Refused(503, "store", "cannot be read", "it is in the log, and done when the service starts again: ask then"))
        return [answer] * len(entries)

    def _lost(self, entries: list[Entry], reason: str, duty: Duty | None) -> None:
        """A group could not be written: nothing of it is applied."""
        if duty is not None:
            self._busy = False  # it is due again after the next group
        if self.failed is None:
            self.report("store failed", reason=reason)
        self.failed = reason
        answer = refusal(Refused(503, "store", reason, "nothing was done: make room on the disk and send it again"))
        for entry in entries:
            entry.done(answer)
        self._release(entries)

    def _release(self, entries: list[Entry]) -> None:
        self.waiting -= len(entries)
        self.bytes -= sum(len(entry.event.body) for entry in entries)

    def _tidy(self) -> None:
        """Hand to the writer what should not grow in memory, or in the log, any further."""
        if self._busy:
            return
        events, size = self.service.since
        due = events >= self.rhythm.events or size >= self.rhythm.bytes
        if not due and len(self.service.ended.fresh) < FRESH:
            return
        start = time.perf_counter()
        duty = Duty(self.service.ended.rows(), self.service.snapshot() if due else None)
        self._busy = True
        with self._some:
            self._duty = duty
        if due:
            self.report("snapshot", position=self.service.position, seconds=round(time.perf_counter() - start, 4))

    async def close(self) -> None:
        """Write, apply and answer what was accepted; then a snapshot, so that the next start has nothing to replay."""
        with self._some:
            self._stopping = True
            self._some.notify()
        await self._drained.wait()
        self._thread.join()
        if self.broken:
            return  # what is in memory is not what the log makes
        try:
            self.store.write(self.service.ended.rows(), self.service.snapshot())
        except StoreFailed as error:
            self.report("store failed", reason=str(error))  # nothing is lost: the log has it all

    # --- in the writer's thread ----------------------------------------------------------------------------------
    def _write(self) -> None:
        began = 0.0
        while True:
            with self._some:
                while not self._open and not self._stopping:
                    self._some.wait()
                if not self._open:
                    break
                early = began + self.rhythm.commit - time.monotonic()
                if early > 0.0:
                    self._some.wait_for(lambda: self._stopping or len(self._open) >= self._enough, early)
                entries, self._open = self._open, []
                began, self._flight = time.monotonic(), max(self.waiting, FADING * self._flight // 10)
                self._enough = -(-self._flight // SHARES)
                duty, self._duty = self._duty, None
            group = Group(self.clock.now(), [entry.event for entry in entries])
            try:
                self.store.append(self._seq + 1, sealed(group), *(duty or ((), None)))
            except Exception as error:  # the disk refused, or there was no memory to seal it: whoever waits is told so
                self._loop.call_soon_threadsafe(self._lost, entries, str(error) or type(error).__name__, duty)
            else:
                self._seq += 1
                self._loop.call_soon_threadsafe(self._written, group, entries, duty)
        self._loop.call_soon_threadsafe(self._drained.set)
