"""Keyed: one learner a key, all of them behind one door, and keys that help each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts.models import copied
from burkholder.keyed import saving
from burkholder.keyed.certificate import of_all, of_key
from burkholder.keyed.late import Late
from burkholder.keyed.rows import Block, Key, block, split
from burkholder.learning.protocol import Stretch
from burkholder.learning.runs import Run
from burkholder.learning.weights import checked_weight
from burkholder.merged.mixing import labels_of


class Keyed(Late):
    """One learner for each key, each with its own stream and its own guarantee.

    learner        what every key gets a copy of: Auto, Learner, Experts, completion, intervals, …
    key            the name of the column, or of the entry of a dict, that holds the key: text or a whole number
    pooled         whether keys help each other: one more learner sees the rows of all keys, and what a key plays is an
                   aggregate of its own learner and of that one, never far behind its own. For learners that answer with one number
    idle, store    keys unseen for so many rounds are put away into that folder, and come back when they are met again
    max_pending    how many plays may wait for their labels

    A row is a dict with the key inside, or (key, row); many rows are a list of such, a data frame with a column of keys, or
    anything the learner takes with `keys=` beside it. The rows of a block may come in any order of keys.

    >>> from burkholder import Auto
    >>> shops = Keyed(Auto("squared", effort="light", full_features=0), key="store")
    >>> for t in range(60):
    ...     for store, level in (("north", 1.0), ("south", 9.0)):
    ...         shops.update({"store": store, "warm": t % 2}, level + t % 2)
    >>> round(shops.predict({"store": "north", "warm": 1}), 1), round(shops.predict({"store": "south", "warm": 1}), 1)
    (2.0, 10.0)
    >>> shops.keys, shops.certificate("north").rounds, shops.certificate().rounds
    (['north', 'south'], 60, 120)
    """

    # --- one round ---------------------------------------------------------------------------------------------------
    def _read(self, x: Any) -> tuple[Key, Any]:
        key, row = split(x, self.key)
        return key, copied(row)

    def _play(self, row: tuple[Key, Any]) -> tuple[Any, Any]:
        return self._predict_many(Block([row[0]], [row[1]]))[0], None

    def predict(self, x: Any) -> Any:
        """The prediction for one row. Changes nothing."""
        with self._lock:
            key, row = split(x, self.key)
            slot = self._slots.get(key, -1)
            if slot >= 0:
                self.idle.back(self, [slot])
            own = self.prototype.predict(row) if slot < 0 else self.shelf.predict_one(slot, row)
            if self.help is None or self.mixer is None:
                return own
            return float(self._mixed(np.array([slot]), np.array([[own, self.help.predict(row)]]))[0])

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """One round of one key: predict, see y, learn."""
        with self._lock:
            self._learn(split(x, self.key), None, y, checked_weight(weight), 0)

    def _learn(self, row: tuple[Key, Any], memo: Any, y: Any, weight: float, late: int) -> None:
        one = Block([row[0]], [row[1]])
        try:
            self.learn_block(one, self._targets([y], 1), self._weights([weight], 1))
        except BadInput as error:
            raise BadInput(error.argument.replace("[0]", "", 1), error.value, error.remedy) from None

    # --- many rows -----------------------------------------------------------------------------------------------------
    def _table(self, X: Any, keys: Any = None) -> Block:
        return block(X, self.key, keys)

    def _targets(self, y: Any, rows: int) -> Any:
        targets = self.prototype._targets(y, rows)
        if self.mixer is not None:
            self.mixer.check_labels(labels_of(targets, self.mixer.loss))
        return targets

    def _weights(self, weight: Any, rows: int) -> np.ndarray | None:
        return self.prototype._weights(weight, rows)

    def _undo(self) -> Callable[[], None]:
        return lambda: None  # `learn_block` undoes itself; a run in several stretches goes by `_recorded`

    def _run(self, table: Block, targets: Any, weights: np.ndarray | None) -> Stretch:
        return Stretch(*self.learn_block(table, targets, weights))

    def _recorded(self, table: Block, targets: Any, weights: np.ndarray | None, trace: int) -> Run:
        undo = self._kept(self._met(table.keys)) if trace > 1 else None
        try:
            return super()._recorded(table, targets, weights, trace)
        except BaseException:
            if undo is not None:
                undo()
            raise

    def run(self, X: Any, y: Any, weight: Any = None, *, trace: int = 0, keys: Any = None) -> Run:
        """Every row in turn, as `predict` then `update` would; all of it, or nothing when an input is bad.

        `keys`: one for each row, where the rows do not say. The certificate at the end takes time for every key; `learn_many`
        does without.
        """
        with self._lock:
            table = self._table(X, keys)
            return self._recorded(table, self._targets(y, table.rows), self._weights(weight, table.rows), trace)

    def learn_many(self, X: Any, y: Any, weight: Any = None, *, keys: Any = None) -> Any:
        """Every row in turn, as `run`, all of it or nothing; only the progressive predictions are told."""
        with self._lock:
            table = self._table(X, keys)
            return self.learn_block(table, self._targets(y, table.rows), self._weights(weight, table.rows))[0]

    def predict_many(self, X: Any, *, keys: Any = None) -> Any:
        """The prediction for every row; nothing is learned."""
        with self._lock:
            return self._predict_many(self._table(X, keys))

    def _predict_many(self, table: Block) -> Any:
        slots = self._met(table.keys)
        own = self.shelf.predict(slots, table)
        if self.help is None or not table.rows:
            return own
        return self._mixed(slots, np.column_stack([own, self.help._predict_many(self.help._table(table.X))]))

    # --- what it knows of itself -----------------------------------------------------------------------------------------
    @property
    def loss(self) -> Any:
        """The loss of every key."""
        return getattr(self.prototype, "loss", None)

    @property
    def rounds(self) -> int:
        """How many labels were learned, all keys together."""
        return self._rounds

    @property
    def cumulative_loss(self) -> float:
        """The progressive loss of all keys."""
        return math.fsum(self.loss_of(slot) for slot in self._slots.values())

    def loss_of(self, slot: int) -> float:
        """The progressive loss of one key."""
        if self.mixer is not None:
            return self.mixer.loss_of(slot)
        return self.idle.learner(self, slot).cumulative_loss if slot in self.idle.away else self.shelf.cumulative_loss(slot)

    def certificate(self, key: Any = None) -> Any:
        """What holds now: for one key, or, without one, for all of them together, against one comparator a key."""
        with self._lock:
            return of_all(self) if key is None else of_key(self, self._known(key))

    # --- saved and copied ---------------------------------------------------------------------------------------------------
    def state_dict(self) -> Any:
        """(header, arrays): plain data, and numpy arrays. `from_state` resumes bit for bit."""
        with self._lock:
            return saving.out(self)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Keyed:
        """The learner that `state_dict` described; everything is checked before it is handed out."""
        return saving.back(cls, header, arrays)

    def __getstate__(self) -> dict[str, Any]:
        self.idle.back(self, list(self._slots.values()))  # a copy has no part in this one's folder
        return super().__getstate__()
