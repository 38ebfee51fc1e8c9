"""Several learners as lanes of one aggregation: each plays and learns the row as it takes it, late or at once."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.protocol import OnlineLearner
from burkholder.learning.schema import all_of, answer, check_plays, whole
from burkholder.learning.tickets import Played, Ticket
from burkholder.learning.weights import checked_weight
from burkholder.merged.mixing import Mixer

SLOT = np.zeros(1, np.int64)


class Lanes(OnlineLearner):
    """What is played is never far behind the best of `lanes`; `mixer` aggregates what they say, and they learn every row."""

    def __init__(self, lanes: list[Any], loss: Any, max_pending: int, prior: tuple[float, ...] | None = None) -> None:
        super().__init__(max_pending)
        self.lanes = lanes
        self.mixer = Mixer(loss, len(lanes), prior)
        self.mixer.grow(1)

    @property
    def loss(self) -> Any:
        """The loss of every lane."""
        return self.mixer.loss

    # --- what a kind fills in ----------------------------------------------------------------------------------
    @abstractmethod
    def _for_lanes(self, row: Any) -> list[Any]:
        """The row as each lane takes it, as things stand now."""

    def _told(self, y: Any) -> list[Any]:
        """The label as each lane takes it."""
        return [y] * len(self.lanes)

    def _safely(self) -> Callable[[], None]:
        """What puts the lanes back where one refuses after others have learned; what refuses is itself as it was."""
        return self._undo()

    # --- one round ---------------------------------------------------------------------------------------------
    def _mixed(self, said: list[float]) -> float:
        return float(self.mixer.mix(SLOT, np.array([said]))[0])

    def _play(self, row: Any) -> tuple[float, Any]:
        said = [float(lane.predict(one)) for lane, one in zip(self.lanes, self._for_lanes(row))]
        return self._mixed(said), said

    def play(self, x: Any) -> Ticket:
        """A prediction whose label comes later; hand the ticket's id to `reveal`, or to `forget`."""
        with self._lock:
            self._tickets.check_room()
            row = self._read(x)
            for lane in self.lanes:
                lane._tickets.check_room()
            self._play(row)  # everything that can be wrong with the row is found here
            played = [lane.play(one) for lane, one in zip(self.lanes, self._for_lanes(row))]
            said = [float(one.prediction) for one in played]
            shown = self._mixed(said)
            return Ticket(self._tickets.issue(Played([one.id for one in played], (said, shown), self.rounds)), shown)

    def reveal(self, id: int | Ticket, y: Any, weight: float = 1.0) -> None:
        """The label of an earlier play: every lane learns from exactly what it played then."""
        with self._lock:
            ids, (said, shown), _ = self._tickets.look(id)
            importance, labels = self._checked(y, weight)
            back = self._safely()
            waiting = [dict(lane._tickets.waiting) for lane in self.lanes]
            try:
                for lane, one, label in zip(self.lanes, ids, self._told(y)):
                    lane.reveal(one, label, *(() if importance == 1.0 else (importance,)))
            except BaseException:
                back()
                for lane, plays in zip(self.lanes, waiting):
                    lane._tickets.waiting = plays
                raise
            late = None if self._mixed(said) == shown else np.array([shown])
            self.mixer.learn(SLOT, np.array([said]), labels, np.array([importance]), late)
            self._tickets.take(id)

    def forget(self, id: int | Ticket) -> None:
        """The label of that play will never come."""
        with self._lock:
            for lane, one in zip(self.lanes, self._tickets.look(id).row):
                lane.forget(one)
            self._tickets.take(id)

    def _checked(self, y: Any, weight: Any) -> tuple[float, np.ndarray]:
        """The weight and the label of one round, or the refusal that any lane would give."""
        importance = checked_weight(weight)
        try:
            labels = self._targets([y], 1).labels
            self._weights([importance], 1) if importance != 1.0 else None
        except BadInput as error:
            raise BadInput(error.argument.replace("[0]", "", 1), error.value, error.remedy) from None
        return importance, labels

    # --- what it knows of itself -------------------------------------------------------------------------------
    def _weights(self, weight: Any, rows: int) -> np.ndarray | None:
        found = [lane._weights(weight, rows) for lane in self.lanes]
        return found[0]

    def _undo(self) -> Callable[[], None]:
        lanes, mixed = [lane._undo() for lane in self.lanes], self.mixer.kept(SLOT)

        def back() -> None:
            for lane in lanes:
                lane()
            self.mixer.put(SLOT, mixed)

        return back

    # --- saved -------------------------------------------------------------------------------------------------
    def _plays(self) -> list[list[Any]]:
        """The plays that wait, as a header has them."""
        return [[id, play.round, *copy.deepcopy((play.row, *play.memo))] for id, play in self._tickets.waiting.items()]

    def _take_plays(self, header: dict[str, Any]) -> None:
        many = len(self.lanes)
        ids = lambda value: all_of(whole)(value) and len(value) == many  # noqa: E731
        said = lambda value: all_of(answer)(value) and len(value) == many  # noqa: E731
        check_plays(header["pending"], header["tickets"], self.max_pending, self.rounds, (ids, said, answer))
        for k, lane in enumerate(self.lanes):
            mine = [play[2][k] for play in header["pending"]]
            if sorted(mine) != sorted(lane._tickets.waiting):
                raise BadInput("header 'pending'", mine, "other plays wait with the lanes")
        self._tickets.issued = header["tickets"]
        for id, when, one, *memo in copy.deepcopy(header["pending"]):
            self._tickets.waiting[id] = Played(one, tuple(memo), when)
