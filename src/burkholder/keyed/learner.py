"""Keyed: one learner a key, all of them behind one door, and keys that help each other."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts.models import copied
from burkholder.keyed import saving
from burkholder.keyed.certificate import HelpedCertificate, KeyedCertificate, total
from burkholder.keyed.idle import Idle
from burkholder.keyed.rows import Block, Key, block, checked, split
from burkholder.keyed.shelves import shelf_for
from burkholder.learning.certificate import Certificate, Comparators, Guarantee
from burkholder.learning.protocol import OnlineLearner, Stretch, checked_weight
from burkholder.learning.runs import Run
from burkholder.learning.tickets import MAX_PENDING, Played, Ticket
from burkholder.merged.mixing import Mixer, answers_with_a_number, labels_of

OWN, POOLED = 0, 1  # the lanes of a key that is helped
PRIOR = (0.1, 0.9)  # of these lanes: a new key begins with what all keys taught


class Keyed(OnlineLearner):
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
    (2.0, 9.9)
    >>> shops.keys, shops.certificate("north").rounds, shops.certificate().rounds
    (['north', 'south'], 60, 120)
    """

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
        if not isinstance(learner, OnlineLearner) or isinstance(learner, Keyed):
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
            self.mixer = Mixer(learner.loss, 2, PRIOR)  # type: ignore[attr-defined]
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

    def _admitted(self, keys: list[Key], found: np.ndarray | None = None) -> np.ndarray:
        """The slot of each key; new keys get one. `found`: what `_met` says of them."""
        slots = self._slots
        found = self._met(keys) if found is None else found.copy()
        new = np.flatnonzero(found < 0)
        if len(new):
            found[new] = [slots.setdefault(keys[place], len(slots)) for place in new.tolist()]
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

    def _met(self, keys: list[Key]) -> np.ndarray:
        """The slot of each key, −1 where it was never met."""
        found = np.fromiter(map(self._slots.get, keys, repeat(-1)), np.int64, len(keys))
        if self.idle.away:
            self.idle.back(self, found[found >= 0])
        return found

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

    def _mixed(self, slots: np.ndarray, forecasts: np.ndarray) -> np.ndarray:
        """What is played; keys never met play the prior's mean."""
        assert self.mixer is not None
        new = slots < 0
        if not new.any():
            return self.mixer.mix(slots, forecasts)
        fresh = Mixer(self.mixer.loss, 2, PRIOR)
        fresh.grow(1)
        out = np.empty(len(slots))
        out[new] = fresh.mix(np.zeros(int(new.sum()), np.int64), forecasts[new])
        out[~new] = self.mixer.mix(slots[~new], forecasts[~new])
        return out

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

    def play(self, x: Any) -> Ticket:
        """A prediction whose label comes later; hand the ticket's id to `reveal`, or to `forget`."""
        with self._lock:
            self._tickets.check_room()
            key, row = self._read(x)
            self.predict((key, row))  # everything that can be wrong with the row is found here
            for part in (self.prototype, self.help):
                if part is not None:
                    part._tickets.check_room()
            slot = int(self._admitted([key])[0])
            learner = self.shelf.held(slot)
            own, help_ = learner.play(row), None if self.help is None else self.help.play(row)
            forecasts = [own.prediction] if help_ is None else [own.prediction, help_.prediction]
            shown = own.prediction if self.mixer is None else float(self.mixer.mix(np.array([slot]), np.array([forecasts]))[0])
            memo = (own.id, None if help_ is None else help_.id, forecasts, shown)
            return Ticket(self._tickets.issue(Played(key, memo, self._rounds)), shown)

    def reveal(self, id: int, y: Any, weight: float = 1.0) -> None:
        """The label of an earlier play: the key learns from exactly what was played then."""
        with self._lock:
            key, (own, help_, forecasts, shown), _ = self._tickets.look(id)
            importance = checked_weight(weight)
            slot = self._known(key)
            learner = self.shelf.held(slot)
            try:
                targets = self._targets([y], 1)
                for part in (learner, self.help):
                    if part is not None:
                        part._targets(targets, 1)
                        part._weights([importance], 1)
            except BadInput as error:
                raise BadInput(error.argument.replace("[0]", "", 1), error.value, error.remedy) from None
            learner.reveal(own, y, weight)
            if self.help is not None and self.mixer is not None:
                self.help.reveal(help_, y, weight)
                late = None if self._current(slot, forecasts, shown) else np.array([shown])
                self.mixer.learn(np.array([slot]), np.array([forecasts]), labels_of(targets), np.array([importance]), late)
            self._tickets.take(id)
            self.shelf.settle(slot)
            self._rounds += 1
            self.idle.seen(self, np.array([slot]))

    def _current(self, slot: int, forecasts: list[float], shown: float) -> bool:
        """Whether the aggregation would show just that now."""
        assert self.mixer is not None
        return float(self.mixer.mix(np.array([slot]), np.array([forecasts]))[0]) == shown

    def forget(self, id: int) -> None:
        """The label of that play will never come."""
        with self._lock:
            key, (own, help_, _, _), _ = self._tickets.look(id)
            slot = self._known(key)
            self.shelf.held(slot).forget(own)
            if self.help is not None:
                self.help.forget(help_)
            self._tickets.take(id)
            self.shelf.settle(slot)

    # --- many rows -----------------------------------------------------------------------------------------------------
    def _table(self, X: Any, keys: Any = None) -> Block:
        return block(X, self.key, keys)

    def _targets(self, y: Any, rows: int) -> Any:
        targets = self.prototype._targets(y, rows)
        if self.mixer is not None:
            self.mixer.check_labels(labels_of(targets))
        return targets

    def _weights(self, weight: Any, rows: int) -> np.ndarray | None:
        return self.prototype._weights(weight, rows)

    def _undo(self) -> Callable[[], None]:
        return lambda: None  # `learn_block` undoes itself; a run in several stretches goes by `_recorded`

    def learn_block(self, rows: Block, targets: Any, weights: np.ndarray | None) -> tuple[Any, np.ndarray]:
        """(predictions, losses) of rows in any order of keys, each predicted before it is learned; all of them, or nothing."""
        found = self._met(rows.keys)
        undo = self._kept(found, self.mixer is not None or not self.shelf.atomic)
        try:
            slots = self._admitted(rows.keys, found)
            said, paid = self.shelf.run(slots, rows, targets, weights)
            if self.help is not None and self.mixer is not None:
                told = self.help._run(self.help._table(rows.X), targets, weights).predictions
                forecasts = np.column_stack([said, told])
                weight = np.ones(len(slots)) if weights is None else weights
                said, paid = self.mixer.learn_checked(slots, forecasts, labels_of(targets), weight)
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
        self.idle.back(self, list(self._slots.values()))
        return math.fsum(self.loss_of(slot) for slot in self._slots.values())

    def loss_of(self, slot: int) -> float:
        """The progressive loss of one key."""
        return self.shelf.cumulative_loss(slot) if self.mixer is None else self.mixer.loss_of(slot)

    def certificate(self, key: Any = None) -> Any:
        """What holds now: for one key, or, without one, for all of them together, against one comparator a key."""
        with self._lock:
            return self._whole() if key is None else self._of(self._known(key))

    def _of(self, slot: int) -> Certificate:
        own = self.shelf.learner(slot).certificate()
        if self.mixer is None:
            return own
        lanes = self.mixer.behind(slot)
        mine = lanes[OWN]
        whom = [Comparators("the key's own learner"), Comparators("the learner of all keys")]
        others = [
            Guarantee(name, statement, number, True, whom[k])
            for k, lane in enumerate(lanes)
            for name, statement, number in (
                ("cost of aggregating", "known in advance", lane.cost),
                ("lost to it", "on this very stream", lane.ahead),
            )
        ]
        return HelpedCertificate(
            learner=f"{own.learner}, helped by all keys",
            loss=own.loss,
            rounds=own.rounds,
            cumulative_loss=self.mixer.loss_of(slot),
            weight=own.weight,
            comparators=own.comparators,
            assumptions=own.assumptions,
            notes=own.notes,
            others=tuple(others),
            own=own,
            ahead=mine.ahead,
            cost=mine.cost,
        )

    def _whole(self) -> KeyedCertificate:
        self.idle.back(self, list(self._slots.values()))
        fresh = self.prototype.certificate()
        notes = [f"{len(self._slots)} keys: the sum over keys, each with its own comparator"]
        if self.pending:
            notes.append(f"{self.pending} predictions still wait for their labels and are not counted")
        parts = {key: self._of(slot) for key, slot in self._slots.items()}
        return total(parts, f"keyed {fresh.learner}", fresh.loss, fresh.comparators, tuple(notes))

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
