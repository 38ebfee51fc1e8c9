"""The store: one SQLite file in WAL mode, every commit synced. The log, the last snapshot, and rounds that are over.

    log       seq, body          groups of events since the last snapshot; the truth
    snapshot  seq, part, body    what applying everything up to `seq` gave
    closed    model, id, seq, …  rounds that are over, so that their ids are known for good

`closed` and `snapshot` can be had again from the log: they are written when there is time, in a transaction of some group.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from burkholder.errors import BurkholderError

FILE = "store.sqlite"
SCHEMA = 1
TABLES = (
    "CREATE TABLE IF NOT EXISTS log (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS snapshot (part INTEGER PRIMARY KEY, seq INTEGER NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE IF NOT EXISTS closed (model INTEGER, id TEXT, seq INTEGER NOT NULL, body BLOB NOT NULL, "
    "PRIMARY KEY (model, id)) WITHOUT ROWID",
)
CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
MOVE = 8 << 20  # bytes in the write-ahead file before they are moved
ASKED = 500  # ids of one query: every SQLite takes so many
TOGETHER = 128  # rows of one statement: while it runs, the interpreter is free for others
CLOSE = "INSERT OR REPLACE INTO closed (model, id, seq, body) VALUES "
APPEND = "INSERT INTO log (seq, body) VALUES (?, ?)"


class StoreFailed(BurkholderError):
    """The disk refused: nothing of what was asked was written."""


class Closed(NamedTuple):
    """A round that is over, as a row of the table."""

    model: int
    id: str
    seq: int
    body: bytes


class Snapshot(NamedTuple):
    """What the events up to `seq` made, in parts."""

    seq: int
    parts: list[bytes]


def connection(path: str) -> Any:
    """SQLite, without transactions of Python's own, to be used from any one thread at a time."""
    return sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.0)


class Store:
    """The folder of one service, and of this one process alone. `connect` is the way to the disk.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> store = Store(folder)
    >>> store.append(1, b"first"); store.append(2, b"second"); store.close()
    >>> list(Store(folder).log())
    [(1, b'first'), (2, b'second')]
    """

    def __init__(self, folder: str | os.PathLike[str], connect: Callable[[str], Any] = connection) -> None:
        self.folder = Path(folder)
        path = self.folder / FILE
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists() and any(entry.name != "lost+found" for entry in self.folder.iterdir()):
                raise StoreFailed(f"{folder} holds other things: give the service a folder of its own")
            os.chmod(self.folder, 0o700)
            self._lock = _alone(self.folder)
        except OSError as error:
            raise StoreFailed(f"{folder} cannot be used: {error.strerror}") from None
        beside = self.folder / f"{FILE}-wal"
        self._unwritten = beside.stat().st_size if beside.exists() else 0  # what lives before this one left there
        self._mover: threading.Thread | None = None
        before = os.umask(0o077)  # the file and those beside it are the user's alone
        try:
            self._writing = connect(str(path))
            self._prepare()
            self._reading = connect(str(path))
            self._moving = connect(str(path))
        except BaseException as error:
            os.close(self._lock)
            raise StoreFailed(f"{path}: {error}") from None
        finally:
            os.umask(before)

    def _prepare(self) -> None:
        writing = self._writing
        writing.execute("PRAGMA journal_mode = WAL")
        writing.execute("PRAGMA synchronous = FULL")  # a commit returns when it would survive the power going off
        writing.execute("PRAGMA wal_autocheckpoint = 0")  # see `_move`
        ((version,),) = writing.execute("PRAGMA user_version").fetchall()
        if version > SCHEMA:
            raise StoreFailed(f"it was written by a later version (schema {version}): upgrade burkholder")
        for table in TABLES:
            writing.execute(table)
        if version < SCHEMA:  # what is there is not written again: a full disk can be opened, and read
            writing.execute(f"PRAGMA user_version = {SCHEMA}")

    # --- writing -------------------------------------------------------------------------------------------------
    def append(self, seq: int, body: bytes, closed: Sequence[Closed] = (), snapshot: Snapshot | None = None) -> None:
        """Put a group at the end of the log; when this returns it is on disk. With it, what else there is to write.

        One statement is one transaction: most groups cost a single call, which leaves the interpreter to others meanwhile.
        """
        try:
            if not closed and snapshot is None:
                self._writing.execute(APPEND, (seq, body))
            else:
                self._together(seq, body, closed, snapshot)
        except Exception as error:
            raise StoreFailed(str(error)) from None
        self._unwritten += len(body) + sum(len(row.body) for row in closed)
        try:
            self._move()
        except Exception:  # the group is on disk all the same; what was not moved now is moved another time
            pass

    def _together(self, seq: int, body: bytes, closed: Sequence[Closed], snapshot: Snapshot | None) -> None:
        writing = self._writing
        writing.execute("BEGIN IMMEDIATE")
        try:
            if body:
                writing.execute(APPEND, (seq, body))
            rows = sorted(closed)  # neighbours in the table are written together
            for start in range(0, len(rows), TOGETHER):
                some = rows[start : start + TOGETHER]
                writing.execute(CLOSE + ",".join(["(?, ?, ?, ?)"] * len(some)), [value for row in some for value in row])
            if snapshot is not None:
                writing.execute("DELETE FROM snapshot")
                parts = [(part, snapshot.seq, data) for part, data in enumerate(snapshot.parts)]
                writing.executemany("INSERT INTO snapshot (part, seq, body) VALUES (?, ?, ?)", parts)
                writing.execute("DELETE FROM log WHERE seq <= ?", (snapshot.seq,))
            writing.execute("COMMIT")
        except BaseException:
            try:
                writing.execute("ROLLBACK")
            except Exception:  # the failure rolled it back already
                pass
            raise

    def write(self, closed: Sequence[Closed], snapshot: Snapshot | None) -> None:
        """What there is to write without a group."""
        if closed or snapshot is not None:
            self.append(0, b"", closed, snapshot)

    # --- from the write-ahead file to the store's own --------------------------------------------------------------
    def _move(self) -> None:
        """Have the write-ahead file emptied now and then, without waiting: most by a thread of its own, the rest here.

        Only what is moved completely can be begun anew, and only between two writes it can be complete.
        """
        if self._mover is None:
            if self._unwritten >= MOVE:
                self._unwritten = 0
                self._mover = threading.Thread(target=self._beside, name="checkpoint", daemon=True)
                self._mover.start()
        elif not self._mover.is_alive():
            self._mover = None
            self._writing.execute(CHECKPOINT)

    def _beside(self) -> None:
        try:
            self._moving.execute(CHECKPOINT)
        except Exception:  # the disk refused: the write-ahead file has it all
            pass

    # --- reading -------------------------------------------------------------------------------------------------
    def find(self, model: int, ids: Sequence[str], position: int) -> dict[str, bytes]:
        """Those of these rounds that were over after the events up to `position`; what was written later is not there yet."""
        found: dict[str, bytes] = {}
        for start in range(0, len(ids), ASKED):
            some = ids[start : start + ASKED]
            places = ",".join("?" * len(some))
            query = f"SELECT id, body FROM closed WHERE model = ? AND seq <= ? AND id IN ({places})"
            try:
                found.update(self._reading.execute(query, (model, position, *some)).fetchall())
            except Exception as error:
                raise StoreFailed(f"rounds that are over cannot be read: {error}") from None
        return found

    def snapshot(self) -> Snapshot:
        """The last one; before the first: nothing, at 0."""
        rows = self._reading.execute("SELECT seq, body FROM snapshot ORDER BY part").fetchall()
        return Snapshot(rows[0][0], [body for _, body in rows]) if rows else Snapshot(0, [])

    def log(self, after: int = 0) -> Iterator[tuple[int, bytes]]:
        """The groups after a place, in order."""
        while rows := self._reading.execute("SELECT seq, body FROM log WHERE seq > ? ORDER BY seq LIMIT 64", (after,)).fetchall():
            yield from rows
            after = rows[-1][0]

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.folder.glob(f"{FILE}*"))

    def close(self) -> None:
        """Let go of the files."""
        if self._mover is not None:
            self._mover.join()
        for way in (self._reading, self._moving, self._writing):
            way.close()
        os.close(self._lock)


def _alone(folder: Path) -> int:
    """Hold the folder for this process, until it ends however it ends."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not on this system
        pass
    except OSError:
        os.close(handle)
        raise StoreFailed(f"{folder} is in use by another service: stop it first, or give this one a folder of its own") from None
    return handle
