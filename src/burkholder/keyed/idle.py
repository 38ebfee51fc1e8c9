"""Keys unseen for long: put away into a folder, one model file a key, and back when they are met again, bit for bit."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.schema import Array, Schema


class Idle:
    """When each slot was last seen, and which are put away.

    Files lie in a folder of this learner's own inside `store`; a copy of the learner makes its own.
    """

    def __init__(self, idle: int | None, store: Any) -> None:
        if (idle is None) != (store is None):
            raise BadInput("idle, store", (idle, store), "give both: after how many rounds, and the folder to put keys away into")
        if idle is not None and (isinstance(idle, bool) or not isinstance(idle, (int, np.integer)) or idle < 1):
            raise BadInput("idle", idle, "give a whole number of rounds ≥ 1")
        self.after = None if idle is None else int(idle)
        self.store = None if store is None else Path(os.fspath(store))
        self.last = np.zeros(0, np.int64)  # the round at which each slot was last seen
        self.away: dict[int, Any] = {}  # slots whose files lie in the folder, and their keys
        self._swept = 0
        self._name = secrets.token_hex(8)

    def grow(self, count: int, now: int) -> None:
        """Have so many slots."""
        if self.after is not None and count > len(self.last):
            self.last = np.concatenate([self.last, np.full(count - len(self.last), now)])

    def shrink(self, count: int) -> None:
        """Forget the last slots."""
        self.last = self.last[:count].copy()

    def seen(self, keyed: Any, slots: np.ndarray) -> None:
        """These slots were met."""
        if self.after is not None:
            self.last[slots] = keyed.rounds

    def sweep(self, keyed: Any, met: np.ndarray) -> None:
        """Now and then put away the keys that were not met for long, but for those that are about to be. To be called before anything
        is learned: a folder that cannot be written stops a round that has not begun.
        """
        from burkholder.storage import BadFile, save

        now = keyed.rounds
        if self.after is None or now - self._swept < max(1, self.after // 2):
            return
        long = now - self.last >= self.after
        long[met[met >= 0]] = False
        idle = [slot for slot in np.flatnonzero(long).tolist() if slot not in self.away]
        keys = keyed.keys if idle else []
        for slot in idle:
            learner = keyed.shelf.learner(slot)
            if learner.pending:
                continue
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                save(learner, self._path(slot), {"key": keys[slot]})
            except OSError as error:
                raise BadFile(str(self.folder), f"idle keys cannot be put away there: {error.strerror or error}") from None
            keyed.shelf.drop(slot)
            self.away[slot] = keys[slot]
        self._swept = now

    def back(self, keyed: Any, slots: Iterable[int]) -> None:
        """Fetch those of the slots that are put away."""
        for slot in (set(map(int, slots)) & self.away.keys()) if self.away else ():
            keyed.shelf.put(slot, self.learner(keyed, slot))
            del self.away[slot]
            self._path(slot).unlink()
            self.last[slot] = keyed.rounds

    def learner(self, keyed: Any, slot: int) -> Any:
        """The learner of a slot to look at, wherever it is; one that is put away stays there."""
        if slot not in self.away:
            return keyed.shelf.learner(slot)
        from burkholder.storage import BadFile, load_with_extra

        learner, extra = load_with_extra(self._path(slot))
        if extra.get("key") != self.away[slot] or type(learner) is not type(keyed.prototype):
            raise BadFile(str(self._path(slot)), f"it is not the learner of the key {self.away[slot]!r}")
        return learner

    def take(self, arrays: dict[str, Any], count: int, rounds: int) -> None:
        """When each slot was last seen, as it was saved."""
        if ("last" in arrays) != (self.after is not None):
            raise BadInput("array 'last'", "last" in arrays, "it is there where keys are put away, and only there")
        if "last" in arrays:
            Schema({"last": Array((count,), "<i8", low=0, high=rounds)}).check({"last": arrays["last"]})
            self.last = np.array(arrays["last"], np.int64)

    @property
    def folder(self) -> Path:
        """Where the files of this very learner lie."""
        assert self.store is not None
        return self.store / self._name

    def _path(self, slot: int) -> Path:
        return self.folder / f"{slot}.bk"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "away": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._name = secrets.token_hex(8)
