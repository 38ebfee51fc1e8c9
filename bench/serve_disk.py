"""Power cut at random moments, on a disk that loses what was not synced: the store must come back with all that was acknowledged.

The disk is a file system in memory that SQLite writes to (a VFS of apsw's). Writes go to a cache; a sync makes a file's writes
last. When the power goes, of the writes not synced each is kept, lost, or kept for some of its sectors, as chance has it. The
cut comes at any read, write or sync, so also inside a commit, a checkpoint or a recovery.
"""

from __future__ import annotations

import random
import sys
import tempfile
from typing import Any

import apsw
import numpy as np

import burkholder as bk
from burkholder.serve.events import BYTES, JSON, Event, Group, sealed
from burkholder.serve.journal import recovered
from burkholder.serve.service import Service
from burkholder.serve.store import CHECKPOINT, Store, StoreFailed
from burkholder.storage import pack

SECTOR = 512


class PowerCut(Exception):
    """The machine is off."""


class Platter:
    """One file: what lasts, and what was written since the last sync."""

    def __init__(self) -> None:
        self.lasting, self.now = bytearray(), bytearray()
        self.writes: list[tuple[int, bytes]] = []  # place and content; a place of −1: cut to so many bytes


class Disk:
    """Files by name, and a fuse that burns after so many operations."""

    def __init__(self, rng: random.Random) -> None:
        self.files: dict[str, Platter] = {}
        self.rng, self.fuse = rng, -1

    def touch(self) -> None:
        if self.fuse == 0:
            raise PowerCut
        self.fuse -= self.fuse > 0

    def cut(self) -> None:
        """Whatever was not synced is kept, lost or torn."""
        for platter in self.files.values():
            for place, content in platter.writes:
                chance = self.rng.random()
                if chance < 0.4:
                    continue
                if place < 0:
                    del platter.lasting[int.from_bytes(content, "little") :]
                    continue
                pieces = range(0, len(content), SECTOR)
                for start in pieces if chance < 0.7 else [s for s in pieces if self.rng.random() < 0.5]:
                    _put(platter.lasting, place + start, content[start : start + SECTOR])
            platter.writes, platter.now = [], bytearray(platter.lasting)
        self.fuse = -1


def _put(data: bytearray, place: int, content: bytes) -> None:
    if len(data) < place:
        data.extend(bytes(place - len(data)))
    data[place : place + len(content)] = content


class File:
    """A platter as SQLite uses one."""

    def __init__(self, disk: Disk, name: str) -> None:
        self.disk, self.platter = disk, disk.files.setdefault(name, Platter())

    def xRead(self, amount: int, offset: int) -> bytes:
        self.disk.touch()
        return bytes(self.platter.now[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:
        self.disk.touch()
        _put(self.platter.now, offset, data)
        self.platter.writes.append((offset, bytes(data)))

    def xTruncate(self, size: int) -> None:
        self.disk.touch()
        del self.platter.now[size:]
        self.platter.writes.append((-1, size.to_bytes(8, "little")))

    def xSync(self, flags: int) -> None:
        self.disk.touch()
        self.platter.lasting, self.platter.writes = bytearray(self.platter.now), []

    def xFileSize(self) -> int:
        return len(self.platter.now)

    def xLock(self, level: int) -> None: ...
    def xUnlock(self, level: int) -> None: ...
    def xClose(self) -> None: ...

    def xCheckReservedLock(self) -> bool:
        return False

    def xSectorSize(self) -> int:
        return SECTOR

    def xDeviceCharacteristics(self) -> int:
        return 0

    def xFileControl(self, op: int, pointer: int) -> bool:
        return False


class FileSystem(apsw.VFS):
    """SQLite's way to the disk."""

    def __init__(self, disk: Disk) -> None:
        self.disk, self.title = disk, f"disk{id(disk)}"
        super().__init__(self.title, base="")

    def xOpen(self, name: Any, flags: list[int]) -> File:
        flags[1] = flags[0]
        return File(self.disk, name.filename() if hasattr(name, "filename") else str(name))

    def xDelete(self, name: str, sync: bool) -> None:
        self.disk.touch()
        self.disk.files.pop(name, None)

    def xAccess(self, name: str, flags: int) -> bool:
        return name in self.disk.files

    def xFullPathname(self, name: str) -> str:
        return name

    def xRandomness(self, amount: int) -> bytes:
        return self.disk.rng.randbytes(amount)

    def xSleep(self, microseconds: int) -> int:
        return microseconds

    def xCurrentTime(self) -> float:
        return 2460000.5

    def xGetLastError(self) -> tuple[int, str]:
        return 0, ""


class Single(Store):
    """A store with one connection, as a disk without shared memory allows; it is emptied in turn, not beside."""

    def _move(self) -> None:
        if self._unwritten > 6000:
            self._unwritten = 0
            self._writing.execute(CHECKPOINT)

    def close(self) -> None:
        try:
            super().close()
        except Exception:  # the machine is off
            pass


def power_cuts(count: int, seed: int = 0, synced: bool = True) -> dict[str, int]:
    """So many cuts; what was counted. A store that never syncs must be caught losing: it is the control of this study."""
    rng = random.Random(seed)
    disk = Disk(rng)
    system = FileSystem(disk)
    folder = tempfile.mkdtemp()
    counted = {"cuts": 0, "groups acknowledged": 0, "groups in doubt that were kept": 0, "lost": 0, "damaged": 0, "bits that differ": 0}
    reference = Service(lambda model, ids, position: {})
    first = Group(0.0, [Event("create", "default", BYTES, pack(bk.Learner("square-function", loss="logistic", geometry="l2")), "")])
    written: list[Group] = []  # the truth: what was acknowledged, or found to have been written
    serial, pending = 0, None

    def connect(path: str) -> Any:
        if shared:
            return shared[0]
        shared.append(apsw.Connection(path, vfs=system.title))
        shared[0].execute("PRAGMA locking_mode = EXCLUSIVE")
        return shared[0]

    while counted["cuts"] < count:
        shared: list[Any] = []
        doubt: Group | None = None
        disk.fuse = rng.randrange(1, 400)
        store = None
        try:
            store = Single(folder, connect)
            if not synced:
                store._writing.execute("PRAGMA synchronous = OFF")
            service = recovered(store)
            if service.position == len(written) + 1 and pending is not None:
                written.append(pending)
                reference.apply(pending)
                counted["groups in doubt that were kept"] += 1
            pending = None
            if service.position < len(written):
                counted["lost"] += len(written) - service.position
                return counted
            counted["bits that differ"] += service.snapshot().parts != reference.snapshot().parts
            while True:
                group = first if not written else Group(float(len(written)), list(_events(rng, serial)))
                serial += 1
                rows, snapshot = (service.ended.rows(), service.snapshot()) if rng.random() < 0.15 else ([], None)
                doubt = group
                store.append(service.position + 1, sealed(group), rows, snapshot)
                doubt = None
                written.append(group)
                expected = reference.apply(group)  # first: where the power goes off while the other looks something up, the log has it
                answers = service.apply(group)
                service.ended.stored(rows)
                counted["bits that differ"] += answers != expected
                counted["groups acknowledged"] += 1
        except (StoreFailed, apsw.Error, PowerCut):
            if disk.fuse != 0:  # the power is still on: what is there cannot be used
                counted["damaged"] += 1
                return counted
            pending = doubt or pending
            counted["cuts"] += 1
            disk.fuse = -1
            if store is not None:
                store.close()
            for way in shared:
                try:
                    way.close(True)
                except Exception:
                    pass
            disk.cut()
    return counted


def _events(rng: random.Random, serial: int) -> Any:
    for k in range(rng.randrange(1, 6)):
        name = f"{serial}-{k}"
        x = np.round([rng.gauss(0, 1) for _ in range(3)], 3).tolist()
        yield Event("predict", "default", JSON, f'{{"id": "{name}", "x": {x}}}'.encode())
        if rng.random() < 0.8:
            before = f"{rng.randrange(max(1, serial - 3), serial + 1)}-{rng.randrange(5)}"
            yield Event("label", "default", JSON, f'{{"id": "{before}", "y": {rng.randrange(2)}}}'.encode())


if __name__ == "__main__":
    print("power cut:", power_cuts(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
    print("the same without syncing, which must be caught:", power_cuts(200, synced=False))
