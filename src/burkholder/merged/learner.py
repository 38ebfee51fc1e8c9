"""Merged: learners that ran on shards of the data go on as lanes of one aggregation."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts.models import copied
from burkholder.learning.kinds import KINDS, kind_of, parts_in, parts_out
from burkholder.learning.protocol import OnlineLearner, Stretch, checked_weight
from burkholder.learning.schema import all_of, check_header, check_plays, limit, number, one_of, text, whole
from burkholder.learning.tickets import MAX_PENDING, Played, Ticket
from burkholder.merged import schema
from burkholder.merged.certificate import MergedCertificate, certify
from burkholder.merged.mixing import Mixer, alike, answers_with_a_number, labels_of

VERSION = 1
MOST = 1024  # lanes
SLOT = np.zeros(1, np.int64)
_HEADER = {
    "version": one_of(VERSION),
    "max_pending": limit,
    "lanes": lambda value: whole(value) and 2 <= value <= MOST,
    "tickets": whole,
    "pending": lambda value: type(value) is list,
    "parts": lambda value: type(value) is dict and all(map(text, value)),
}
INSIDE = tuple(kind for kind in KINDS if kind not in ("Keyed", "Confidence", "Audit"))


class Tables(NamedTuple):
    """Many rows, as each lane reads them."""

    each: tuple[Any, ...]

    @property
    def rows(self) -> int:
        return self.each[0].rows

    def part(self, start: int, stop: int) -> Tables:
        return Tables(tuple(table.part(start, stop) for table in self.each))


class Targets:
    """Labels as each lane reads them."""

    def __init__(self, each: tuple[Any, ...]) -> None:
        self.each = each

    def __getitem__(self, part: slice) -> Targets:
        return Targets(tuple(labels[part] for labels in self.each))


class Merged(OnlineLearner):
    """Several learners of one kind and one loss, each with what its own shard taught it, as lanes of an aggregation.

    From now on every lane sees every row, and what is played is never far behind the best of them. Made by `merge`. `lanes` go
    on learning; `before` is each of them as it was when they were merged, for the certificate.

    >>> from burkholder import Auto, merge
    >>> shards = [Auto("squared", effort="light") for _ in range(2)]
    >>> for t in range(80):
    ...     shards[t % 2].update({"a": t % 5}, 2.0 * (t % 5))
    >>> whole = merge(*shards)
    >>> whole.rounds, round(whole.predict({"a": 3}), 1)
    (80, 6.0)
    >>> whole.update({"a": 4}, 8.0)
    >>> whole.rounds, len(whole.lanes)
    (81, 2)
    """

    def __init__(self, learners: Any, *, max_pending: int = MAX_PENDING) -> None:
        super().__init__(max_pending)
        learners = list(learners)
        if not 2 <= len(learners) <= MOST:
            raise BadInput("learners", len(learners), f"give two learners or more, at most {MOST}")
        for one in learners:
            kind_of(one)
            if not answers_with_a_number(one):
                raise BadInput("learners", type(one).__name__, "only learners that answer with one number under a loss become lanes")
            if not alike(one, learners[0]):
                raise BadInput("learners", type(one).__name__, "all must be of one kind, with the same loss")
            if one.pending:
                raise BadInput("learners", f"{one.pending} pending", "reveal the labels that are still to come first")
        self.lanes, self.before = copy.deepcopy(learners), copy.deepcopy(learners)
        self.mixer = Mixer(learners[0].loss, len(learners))
        self.mixer.grow(1)

    @property
    def loss(self) -> Any:
        """The loss of every lane."""
        return self.mixer.loss

    # --- one round -------------------------------------------------------------------------------------------
    def _read(self, x: Any) -> Any:
        for lane in self.lanes:
            lane._read(x)
        return copied(x)

    def _play(self, row: Any) -> tuple[float, Any]:
        said = np.array([[lane.predict(row) for lane in self.lanes]])
        return float(self.mixer.mix(SLOT, said)[0]), None

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """One round: every lane predicts, the aggregate plays, every lane learns."""
        with self._lock:
            importance = checked_weight(weight)
            try:
                self.learn_many([x], [y], None if importance == 1.0 else [importance])
            except BadInput as error:
                raise BadInput(error.argument.replace("[0]", "", 1), error.value, error.remedy) from None

    def _learn(self, row: Any, memo: Any, y: Any, weight: float, late: int) -> None:
        self.update(row, y, weight)

    def play(self, x: Any) -> Ticket:
        """A prediction whose label comes later; hand the ticket's id to `reveal`, or to `forget`."""
        with self._lock:
            self._tickets.check_room()
            row = self._read(x)
            for lane in self.lanes:
                lane._tickets.check_room()
            self._play(row)  # everything that can be wrong with the row is found here
            played = [lane.play(row) for lane in self.lanes]
            said = [float(one.prediction) for one in played]
            shown = float(self.mixer.mix(SLOT, np.array([said]))[0])
            return Ticket(self._tickets.issue(Played([one.id for one in played], (said, shown), self.rounds)), shown)

    def reveal(self, id: int, y: Any, weight: float = 1.0) -> None:
        """The label of an earlier play: every lane learns from exactly what it played then."""
        with self._lock:
            ids, (said, shown), _ = self._tickets.look(id)
            importance = checked_weight(weight)
            try:
                targets = self._targets([y], 1)
                for lane in self.lanes:
                    lane._weights([importance], 1) if importance != 1.0 else None
            except BadInput as error:
                raise BadInput(error.argument.replace("[0]", "", 1), error.value, error.remedy) from None
            undo = self._undo()
            waiting = [dict(lane._tickets.waiting) for lane in self.lanes]
            try:
                for lane, one in zip(self.lanes, ids):
                    lane.reveal(one, y, *(() if importance == 1.0 else (importance,)))
            except BaseException:
                undo()
                for lane, plays in zip(self.lanes, waiting):
                    lane._tickets.waiting = plays
                raise
            late = None if float(self.mixer.mix(SLOT, np.array([said]))[0]) == shown else np.array([shown])
            self.mixer.learn(SLOT, np.array([said]), labels_of(targets.each[0]), np.array([importance]), late)
            self._tickets.take(id)

    def forget(self, id: int) -> None:
        """The label of that play will never come."""
        with self._lock:
            for lane, one in zip(self.lanes, self._tickets.look(id).row):
                lane.forget(one)
            self._tickets.take(id)

    # --- many rows -------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> Tables:
        return Tables(tuple(lane._table(X) for lane in self.lanes))

    def _targets(self, y: Any, rows: int) -> Targets:
        each = tuple(lane._targets(y, rows) for lane in self.lanes)
        self.mixer.check_labels(labels_of(each[0]))
        return Targets(each)

    def _weights(self, weight: Any, rows: int) -> np.ndarray | None:
        found = [lane._weights(weight, rows) for lane in self.lanes]
        return found[0]

    def _run(self, table: Tables, targets: Targets, weights: np.ndarray | None) -> Stretch:
        if not table.rows:
            return Stretch(np.zeros(0), np.zeros(0))
        said = [lane._run(rows, y, weights).predictions for lane, rows, y in zip(self.lanes, table.each, targets.each)]
        labels = labels_of(targets.each[0])
        slots = np.zeros(table.rows, np.int64)
        weight = np.ones(table.rows) if weights is None else weights
        return Stretch(*self.mixer.learn_checked(slots, np.column_stack(said), labels, weight))

    def _predict_many(self, table: Tables) -> np.ndarray:
        if not table.rows:
            return np.zeros(0)
        said = np.column_stack([lane._predict_many(rows) for lane, rows in zip(self.lanes, table.each)])
        return self.mixer.mix(np.zeros(table.rows, np.int64), said)

    def _undo(self) -> Callable[[], None]:
        lanes, mixed = [lane._undo() for lane in self.lanes], self.mixer.kept(SLOT)

        def back() -> None:
            for lane in lanes:
                lane()
            self.mixer.put(SLOT, mixed)

        return back

    # --- what it knows of itself -----------------------------------------------------------------------------
    @property
    def rounds(self) -> int:
        """How many labels were learned, on all shards and since."""
        return sum(one.rounds for one in self.before) + self.mixer.rounds_of(0)

    @property
    def cumulative_loss(self) -> float:
        """The progressive loss of all shards, and since."""
        return math.fsum([*(one.cumulative_loss for one in self.before), self.mixer.loss_of(0)])

    def certificate(self) -> MergedCertificate:
        """What holds now over the data of all shards and all that came since."""
        with self._lock:
            return certify(self)

    # --- saved -----------------------------------------------------------------------------------------------
    def state_dict(self) -> Any:
        """(header, arrays): plain data, and numpy arrays. `from_state` resumes bit for bit."""
        with self._lock:
            parts = {f"lane{k}": lane for k, lane in enumerate(self.lanes)} | {f"before{k}": one for k, one in enumerate(self.before)}
            words, arrays = parts_out(parts)
            header = {
                "version": VERSION,
                "max_pending": self.max_pending,
                "lanes": len(self.lanes),
                "tickets": self._tickets.issued,
                "pending": [[id, play.round, play.row, *play.memo] for id, play in self._tickets.waiting.items()],
                "parts": words,
            }
            return header, arrays | schema.out(self.mixer)

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Merged:
        """The learner that `state_dict` described; everything is checked before it is handed out."""
        check_header(header, _HEADER)
        count = header["lanes"]
        parts = parts_in(header["parts"], {name: array for name, array in arrays.items() if "/" in name}, INSIDE)
        if sorted(parts) != sorted([*(f"lane{k}" for k in range(count)), *(f"before{k}" for k in range(count))]):
            raise BadInput("header 'parts'", sorted(parts)[:4], f"{count} lanes stand there, now and as they were")
        learner = cls([parts[f"before{k}"] for k in range(count)], max_pending=header["max_pending"])
        lanes = [parts[f"lane{k}"] for k in range(count)]
        since = {lane.rounds - one.rounds for lane, one in zip(lanes, learner.before)}
        same = all(alike(lane, learner.before[0]) for lane in lanes)
        if not same or len(since) != 1 or min(since) < 0:
            raise BadInput("header 'parts'", sorted(since), "lanes are of one kind and went on for as many rounds each")
        learner.lanes = lanes
        schema.fill(learner.mixer, {name: array for name, array in arrays.items() if "/" not in name}, 1, list(since))
        learner._take_plays(header)
        return learner

    def _take_plays(self, header: dict[str, Any]) -> None:
        many = len(self.lanes)
        ids = lambda value: all_of(whole)(value) and len(value) == many  # noqa: E731
        said = lambda value: all_of(number)(value) and len(value) == many  # noqa: E731
        check_plays(header["pending"], header["tickets"], self.max_pending, self.rounds, (ids, said, number))
        for k, lane in enumerate(self.lanes):
            mine = [play[2][k] for play in header["pending"]]
            if sorted(mine) != sorted(lane._tickets.waiting):
                raise BadInput("header 'pending'", mine, "other plays wait with the lanes")
        self._tickets.issued = header["tickets"]
        for id, when, one, *memo in header["pending"]:
            self._tickets.waiting[id] = Played(one, tuple(memo), when)
