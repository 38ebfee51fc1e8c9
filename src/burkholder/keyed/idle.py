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
        """These slots were met; now and then, put away those that were not for long."""
        if self.after is None:
            return
        now = keyed.rounds
        self.last[slots] = now
        if now - self._swept >= max(1, self.after // 2):
            self._swept = now
            self._sweep(keyed, now, self.after)

    def _sweep(self, keyed: Any, now: int, after: int) -> None:
        from burkholder.storage import save

        idle = [slot for slot in np.flatnonzero(now - self.last >= after).tolist() if slot not in self.away]
        keys = keyed.keys if idle else []
        for slot in idle:
            learner = keyed.shelf.learner(slot)
            if learner.pending:
                continue
            self.folder.mkdir(parents=True, exist_ok=True)
            save(learner, self._path(slot), {"key": keys[slot]})
            keyed.shelf.drop(slot)
            self.away[slot] = keys[slot]

    def back(self, keyed: Any, slots: Iterable[int]) -> None:
        """Fetch those of the slots that are put away."""
        if not self.away:
            return
        from burkholder.storage import BadFile, load_with_extra

        for slot in set(map(int, slots)) & self.away.keys():
            learner, extra = load_with_extra(self._path(slot))
            if extra.get("key") != self.away[slot] or type(learner) is not type(keyed.prototype):
                raise BadFile(str(self._path(slot)), f"it is not the learner of the key {self.away[slot]!r}")
            keyed.shelf.put(slot, learner)
            del self.away[slot]
            self._path(slot).unlink()
            self.last[slot] = keyed.rounds

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
