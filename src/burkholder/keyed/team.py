"""The keys and what they learn with: a learner a key, one for all where they help each other, and how the two are aggregated."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.keyed.certificate import OWN
from burkholder.keyed.idle import Idle
from burkholder.keyed.rows import Block, Key, appearing, checked, looked_up, taken
from burkholder.keyed.shelves import shelf_for
from burkholder.learning.protocol import OnlineLearner
from burkholder.learning.tickets import MAX_PENDING
from burkholder.merged.mixing import Mixer, answers_with_a_number, given, labels_of


class Team(OnlineLearner):
    """Every key's learner, behind one door for blocks of rows."""

    def __init__(
        self,
        learner: Any,
        key: str = "key",
        pooled: bool = True,
        idle: int | None = None,
        store: Any = None,
        *,
        max_pending: int = MAX_PENDING,
    ) -> None:
        super().__init__(max_pending)
        if not isinstance(learner, OnlineLearner) or isinstance(learner, Team):
            raise BadInput("learner", type(learner).__name__, "give a learner such as Auto or Learner, which every key gets a copy of")
        if learner.rounds or learner.pending:
            raise BadInput("learner", f"{learner.rounds} rounds", "give a fresh learner: every key begins with a copy of it")
        if not isinstance(pooled, bool):
            raise BadInput("pooled", pooled, "give True or False")
        if not isinstance(key, (str, int)) or isinstance(key, bool):
            raise BadInput("key", key, "give the name of the column of keys")
        self.prototype, self.key = copy.deepcopy(learner), key
        self.help: OnlineLearner | None = copy.deepcopy(learner) if pooled else None
        self.mixer: Mixer | None = None
        if pooled:
            if not answers_with_a_number(learner):
                raise BadInput(
                    "pooled", True, f"{type(learner).__name__} does not answer with one number under one loss: give pooled=False"
                )
            self.mixer = Mixer(learner.loss, 2, quiet=OWN)  # type: ignore[attr-defined]
        self.shelf: Any = shelf_for(self.prototype)
        self.idle = Idle(idle, store)
        self._slots: dict[Key, int] = {}
        self._rounds = 0

    # --- keys ------------------------------------------------------------------------------------------------------
    @property
    def keys(self) -> list[Key]:
        """Every key met, in order of appearance."""
        return list(self._slots)

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, key: Any) -> bool:
        return key in self._slots

    def learner(self, key: Any) -> Any:
        """A copy of the key's own learner, as it is now."""
        with self._lock:
            return copy.deepcopy(self.shelf.learner(self._known(key)))

    def _known(self, key: Any) -> int:
        slot = self._slots.get(checked(key))
        if slot is None:
            raise BadInput("key", key, "no row had this key")
        self.idle.back(self, [slot])
        return slot

    def _admitted(self, keys: list[Key] | np.ndarray, found: np.ndarray | None = None) -> np.ndarray:
        """The slot of each key; new keys get one. `found`: what `_met` says of them."""
        slots = self._slots
        found = self._met(keys) if found is None else found.copy()
        new = np.flatnonzero(found < 0)
        if len(new):
            come = keys if len(new) == len(keys) else taken(keys, new)
            first = appearing(come)
            slots.update(zip(first, range(len(slots), len(slots) + len(first))))
            found[new] = looked_up(slots, come)
            self.shelf.grow(len(slots))
            if self.mixer is not None:
                self.mixer.grow(len(slots))
            self.idle.grow(len(slots), self._rounds)
        return found

    def _forget_last(self, count: int) -> None:
        """Only the first `count` keys were ever met."""
        for _ in range(len(self._slots) - count):
            self._slots.popitem()
        self.shelf.shrink(count)
        if self.mixer is not None:
            self.mixer.reset(np.arange(count, self.mixer.count))
            self.mixer.count = count
        self.idle.shrink(count)

    def _met(self, keys: list[Key] | np.ndarray) -> np.ndarray:
        """The slot of each key, −1 where it was never met."""
        found = looked_up(self._slots, keys)
        if self.idle.away:
            self.idle.back(self, found[found >= 0])
        return found

    def _mixed(self, slots: np.ndarray, forecasts: np.ndarray) -> np.ndarray:
        """What is played; keys never met play the prior's mean."""
        assert self.mixer is not None
        new = slots < 0
        if not new.any():
            return self.mixer.mix(slots, forecasts)
        fresh = Mixer(self.mixer.loss, 2, quiet=OWN)
        fresh.grow(1)
        out = np.empty(len(slots))
        out[new] = fresh.mix(np.zeros(int(new.sum()), np.int64), forecasts[new])
        out[~new] = self.mixer.mix(slots[~new], forecasts[~new])
        return out

    # --- blocks ------------------------------------------------------------------------------------------------------
    def learn_block(self, rows: Block, targets: Any, weights: np.ndarray | None) -> tuple[Any, np.ndarray]:
        """(predictions, losses) of rows in any order of keys, each predicted before it is learned; all of them, or nothing."""
        found = self._met(rows.keys)
        self.idle.sweep(self, found)
        undo = self._kept(found, self.mixer is not None or not self.shelf.atomic)
        try:
            slots = self._admitted(rows.keys, found)
            said, paid = self.shelf.run(slots, rows, targets, weights)
            if self.help is not None and self.mixer is not None:
                labels = self.help._targets(given(targets), rows.rows)  # its own unit of labels may be another
                told = self.help._run(self.help._table(rows.X), labels, weights).predictions
                forecasts = np.column_stack([said, told])
                weight = np.ones(len(slots)) if weights is None else weights
                said, paid = self.mixer.learn_checked(slots, forecasts, labels_of(targets, self.mixer.loss), weight)
            self._rounds += rows.rows
        except BaseException:
            undo()
            raise
        self.idle.seen(self, slots)
        return said, paid

    def _kept(self, found: np.ndarray, shelf_too: bool = True) -> Callable[[], None]:
        """Remember what rows of these slots, −1 for keys never met, may change."""
        count, done = len(self._slots), self._rounds
        met = np.zeros(count + 1, bool)
        met[found] = True
        old = np.flatnonzero(met[:count])
        shelf = self.shelf.keep(old) if shelf_too else None
        help_ = None if self.help is None else self.help._undo()
        mixed = None if self.mixer is None else self.mixer.kept(old)

        def back() -> None:
            self._forget_last(count)
            if shelf is not None:
                shelf()
            if help_ is not None:
                help_()
            if self.mixer is not None and mixed is not None:
                self.mixer.put(old, mixed)
            self._rounds = done

        return back
