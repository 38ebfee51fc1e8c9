"""Labels that come later: a play waits with its key's own learner, and with the one that helps."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.keyed.team import Team
from burkholder.learning.tickets import Played, Ticket
from burkholder.learning.weights import checked_weight
from burkholder.merged.mixing import labels_of


class Late(Team):
    """Plays of one key at a time, each under a ticket."""

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

    def reveal(self, id: int | Ticket, y: Any, weight: float = 1.0) -> None:
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
                        part._targets([y], 1)
                        part._weights([importance], 1)
            except BadInput as error:
                raise BadInput(error.argument.replace("[0]", "", 1), error.value, error.remedy) from None
            self.idle.sweep(self, np.array([slot]))
            plays, undo = dict(learner._tickets.waiting), None if self.help is None else learner._undo()
            learner.reveal(own, y, weight)
            if self.help is not None and self.mixer is not None:
                try:
                    self.help.reveal(help_, y, weight)
                except BaseException:  # the key has learned already
                    if undo is not None:
                        undo()
                    learner._tickets.waiting = plays
                    raise
                late = None if self._current(slot, forecasts, shown) else np.array([shown])
                self.mixer.learn(np.array([slot]), np.array([forecasts]), labels_of(targets, self.mixer.loss), np.array([importance]), late)
            self._tickets.take(id)
            self.shelf.settle(slot)
            self._rounds += 1
            self.idle.seen(self, np.array([slot]))

    def _current(self, slot: int, forecasts: list[float], shown: float) -> bool:
        """Whether the aggregation would show just that now."""
        assert self.mixer is not None
        return float(self.mixer.mix(np.array([slot]), np.array([forecasts]))[0]) == shown

    def forget(self, id: int | Ticket) -> None:
        """The label of that play will never come."""
        with self._lock:
            key, (own, help_, _, _), _ = self._tickets.look(id)
            slot = self._known(key)
            self.shelf.held(slot).forget(own)
            if self.help is not None:
                self.help.forget(help_)
            self._tickets.take(id)
            self.shelf.settle(slot)
