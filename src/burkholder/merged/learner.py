"""Merged: learners that ran on shards of the data go on as lanes of one aggregation."""

from __future__ import annotations

import copy
import math
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts.models import copied
from burkholder.learning.kinds import KINDS, kind_of, parts_in, parts_out
from burkholder.learning.protocol import Stretch
from burkholder.learning.schema import check_header, limit, one_of, text, whole
from burkholder.learning.tickets import MAX_PENDING
from burkholder.learning.weights import checked_weight
from burkholder.merged import schema
from burkholder.merged.certificate import MergedCertificate, certify
from burkholder.merged.lanes import Lanes
from burkholder.merged.mixing import alike, answers_with_a_number, labels_of

VERSION = 1
MOST = 1024  # lanes
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

    def __init__(self, each: tuple[Any, ...], loss: Any) -> None:
        self.each, self.loss = each, loss

    @property
    def labels(self) -> np.ndarray:
        """As the aggregation takes them."""
        return labels_of(self.each[0], self.loss)

    def __getitem__(self, part: slice) -> Targets:
        return Targets(tuple(labels[part] for labels in self.each), self.loss)


class Merged(Lanes):
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
        super().__init__(copy.deepcopy(learners), learners[0].loss, max_pending)
        self.before = copy.deepcopy(learners)

    # --- one round -------------------------------------------------------------------------------------------
    def _read(self, x: Any) -> Any:
        for lane in self.lanes:
            lane._read(x)
        return copied(x)

    def _for_lanes(self, row: Any) -> list[Any]:
        return [row] * len(self.lanes)

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

    # --- many rows -------------------------------------------------------------------------------------------
    def _table(self, X: Any) -> Tables:
        return Tables(tuple(lane._table(X) for lane in self.lanes))

    def _targets(self, y: Any, rows: int) -> Targets:
        each = tuple(lane._targets(y, rows) for lane in self.lanes)
        targets = Targets(each, self.loss)
        self.mixer.check_labels(targets.labels)
        return targets

    def _run(self, table: Tables, targets: Targets, weights: np.ndarray | None) -> Stretch:
        if not table.rows:
            return Stretch(np.zeros(0), np.zeros(0))
        said = [lane._run(rows, y, weights).predictions for lane, rows, y in zip(self.lanes, table.each, targets.each)]
        labels = targets.labels
        slots = np.zeros(table.rows, np.int64)
        weight = np.ones(table.rows) if weights is None else weights
        return Stretch(*self.mixer.learn_checked(slots, np.column_stack(said), labels, weight))

    def _predict_many(self, table: Tables) -> np.ndarray:
        if not table.rows:
            return np.zeros(0)
        said = np.column_stack([lane._predict_many(rows) for lane, rows in zip(self.lanes, table.each)])
        return self.mixer.mix(np.zeros(table.rows, np.int64), said)

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
                "pending": self._plays(),
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
