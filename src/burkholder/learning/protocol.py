"""The one door: what every learner does, and the order in which it does it.

A row is read once, checked once and copied (`_read`), played without changing anything (`_play`), and learned in one
place (`_learn`), whether its label comes at once (`update`), later (`play`, `reveal`) or in a whole stream (`run`). A
bad row, label or weight raises `BadInput` and leaves the learner as it was, bit for bit.

A learner may be used from several threads: each call is a round of its own, one at a time. Whatever takes more than one step
holds the learner's lock. A round that is a single compiled call does without: such a call keeps the interpreter's lock all
the way, runs nobody's Python code, and declines where the learner's lock is held (`rounds/dicts.py`).
"""

from __future__ import annotations

import copy
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.certificate import Certificate
from burkholder.learning.runs import Run, moment
from burkholder.learning.saved import State
from burkholder.learning.tickets import MAX_PENDING, Played, Ticket, Tickets
from burkholder.learning.weights import checked_weight, checked_weights


class Stretch(NamedTuple):
    """What some rounds of a run left behind; `details` are arrays with one entry a round."""

    predictions: Any
    losses: np.ndarray
    details: dict[str, Any] = {}  # noqa: RUF012


class Listed(NamedTuple):
    """Many rows, each checked by itself."""

    values: list[Any]

    @property
    def rows(self) -> int:
        return len(self.values)

    def part(self, start: int, stop: int) -> Listed:
        return Listed(self.values[start:stop])


class OnlineLearner(ABC):
    """What Learner, Auto, Experts and completion have in common; a new learner fills in the methods with one underscore.

    >>> import burkholder as bk
    >>> learner = bk.Auto("absolute")
    >>> isinstance(learner, OnlineLearner)
    True
    """

    def __init__(self, max_pending: int = MAX_PENDING) -> None:
        self._tickets: Tickets[Played] = Tickets(max_pending)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.rounds:,} rounds, cumulative loss {self.cumulative_loss:g}>"

    # --- what a learner fills in -----------------------------------------------------------------------------
    @abstractmethod
    def _read(self, x: Any) -> Any:
        """The row: checked, and a copy of its own. Nothing is stored."""

    @abstractmethod
    def _play(self, row: Any) -> tuple[Any, Any]:
        """(the prediction, what learning from it later will need). Nothing is stored."""

    @abstractmethod
    def _learn(self, row: Any, memo: Any, y: Any, weight: float, late: int) -> None:
        """Learn from what was played `late` rounds ago; raises before anything is changed."""

    @abstractmethod
    def _table(self, X: Any) -> Any:
        """Many rows, checked, as something with `rows` (how many) and `part(start, stop)`. Nothing is stored."""

    @abstractmethod
    def _targets(self, y: Any, rows: int) -> Any:
        """That many labels, checked; slices of it are handed to `_run`."""

    @abstractmethod
    def _run(self, table: Any, targets: Any, weights: np.ndarray | None) -> Stretch:
        """Every row in turn: predict, then learn. What it may leave half done, `_undo` puts back."""

    @abstractmethod
    def _predict_many(self, table: Any) -> Any:
        """The prediction for every row, as `_play` makes it. Nothing is stored."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """How many labels were learned.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> learner.update({"size": 3.0}, 7.0)
        >>> learner.rounds
        1
        """

    @property
    @abstractmethod
    def cumulative_loss(self) -> float:
        """The progressive loss so far, rounds weighted as given.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> learner.update({"size": 3.0}, 7.0)  # the first prediction was 0
        >>> learner.cumulative_loss
        7.0
        """

    @abstractmethod
    def certificate(self) -> Certificate:
        """What is guaranteed now, against whom, and under what.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> learner.update({"size": 3.0}, 7.0)
        >>> learner.certificate().rounds
        1
        """

    @abstractmethod
    def state_dict(self) -> State:
        """(header, arrays): plain data, and numpy arrays. `from_state` resumes bit for bit.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> header, arrays = learner.state_dict()
        >>> header["loss"]
        'absolute'
        """

    @classmethod
    @abstractmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
        """The learner that `state_dict` described; everything is checked before it is handed out.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> learner.update({"size": 3.0}, 7.0)
        >>> bk.Auto.from_state(*learner.state_dict()).rounds
        1
        """

    def _undo(self) -> Callable[[], None]:
        """Remember everything; the result puts it back."""
        kept = copy.deepcopy(self.__getstate__())

        def back() -> None:
            self.__dict__.update(kept)

        return back

    # --- one round -------------------------------------------------------------------------------------------
    def predict(self, x: Any) -> Any:
        """The prediction for one row. Predicting changes nothing.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> learner.update({"size": 3.0}, 7.0)
        >>> learner.predict({"size": 3.0}) == learner.predict({"size": 3.0})
        True
        """
        with self._lock:
            return self._play(self._read(x))[0]

    def update(self, x: Any, y: Any, weight: float = 1.0) -> None:
        """One round: predict, see y, learn.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> learner.update({"size": 3.0, "city": "Rome"}, 7.0)
        >>> learner.update({"size": None, "city": "Oslo"}, 9.0, weight=2.0)
        >>> learner.rounds
        2
        """
        with self._lock:
            row = self._read(x)
            self._learn(row, self._play(row)[1], y, checked_weight(weight), 0)

    def play(self, x: Any) -> Ticket:
        """A prediction whose label comes later; hand the ticket, or its id, to `reveal`, or to `forget`.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> ticket = learner.play({"size": 3.0})
        >>> ticket.prediction, learner.pending
        (0.0, 1)
        """
        with self._lock:
            self._tickets.check_room()
            row = self._read(x)
            answer, memo = self._play(row)
            return Ticket(self._tickets.issue(Played(row, memo, self.rounds)), answer)

    def reveal(self, id: int | Ticket, y: Any, weight: float = 1.0) -> None:
        """The label of an earlier play: learn from exactly what was played then.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> ticket = learner.play({"size": 3.0})
        >>> learner.reveal(ticket.id, 7.0)
        >>> learner.rounds, learner.pending
        (1, 0)
        """
        with self._lock:
            played = self._tickets.look(id)
            self._learn(played.row, played.memo, y, checked_weight(weight), self.rounds - played.round)
            self._tickets.take(id)

    def forget(self, id: int | Ticket) -> None:
        """The label of that play will never come.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> ticket = learner.play({"size": 3.0})
        >>> learner.forget(ticket.id)
        >>> learner.rounds, learner.pending
        (0, 0)
        """
        with self._lock:
            self._tickets.take(id)

    @property
    def pending(self) -> int:
        """Plays whose label has not come yet.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> ticket = learner.play({"size": 3.0})
        >>> learner.pending
        1
        """
        return len(self._tickets)

    @property
    def max_pending(self) -> int:
        """How many plays may wait for their labels.

        >>> import burkholder as bk
        >>> bk.Auto("absolute", max_pending=10).max_pending
        10
        """
        return self._tickets.limit

    # --- many rows -------------------------------------------------------------------------------------------
    def predict_many(self, X: Any) -> Any:
        """The prediction for every row of X, compiled where `predict` is; nothing is learned.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> learner.predict_many([[1.0], [2.0]]).tolist()
        [0.0, 0.0]
        """
        with self._lock:
            return self._predict_many(self._table(X))

    def run(self, X: Any, y: Any, weight: Any = None, *, trace: int = 100) -> Run:
        """Every row in turn, as `predict` then `update` would; all of it, or nothing when an input is bad.

        `trace` is the number of moments at which loss, potential and regret are noted down.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> run = learner.run([[1.0], [2.0]], [2.0, 4.0])
        >>> len(run.predictions), run.certificate.rounds
        (2, 2)
        """
        with self._lock:
            table = self._table(X)
            return self._recorded(table, self._targets(y, table.rows), self._weights(weight, table.rows), trace)

    def learn_many(self, X: Any, y: Any, weight: Any = None) -> Any:
        """Every row in turn, as `run`, all of it or nothing; only the progressive predictions are told.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> len(learner.learn_many([[1.0], [2.0]], [2.0, 4.0])), learner.rounds
        (2, 2)
        """
        with self._lock:
            table = self._table(X)
            targets, weights = self._targets(y, table.rows), self._weights(weight, table.rows)
            undo = self._undo()
            try:
                return self._run(table, targets, weights).predictions
            except BaseException:
                undo()
                raise

    def _weights(self, weight: Any, rows: int) -> np.ndarray | None:
        """The importance of every round, checked; None: all count once."""
        return checked_weights(weight, rows)

    def _recorded(self, table: Any, targets: Any, weights: np.ndarray | None, trace: int) -> Run:
        n = table.rows
        cuts = np.unique(np.linspace(0, n, max(1, min(trace, n)) + 1).astype(int)) if n else np.zeros(1, int)
        seams = getattr(table, "seams", None)  # the rows before which a stretch may end, where not everywhere
        if seams is not None:
            cuts = np.unique(np.append(seams, n)[np.searchsorted(seams, cuts)])
        undo = self._undo()  # a run in several stretches is undone as a whole
        parts, notes = [], []
        try:
            for start, stop in zip(cuts[:-1].tolist(), cuts[1:].tolist()):
                part = None if weights is None else weights[start:stop]
                try:
                    parts.append(self._run(table.part(start, stop), targets[start:stop], part))
                except BadInput as error:
                    raise error.placed(start.__add__) from None
                if trace:
                    notes.append(moment(self.certificate()))
            certificate = self.certificate()
        except BaseException:
            undo()
            raise
        details = {key: _joined([part.details[key] for part in parts]) for key in (parts[0].details if parts else ())}
        return Run(
            predictions=_joined([part.predictions for part in parts]),
            losses=_joined([part.losses for part in parts]),
            certificate=certificate,
            learner=self,
            weights=weights,
            trace={key: np.array([note[key] for note in notes]) for key in (notes[0] if notes else ())},
            details=details,
        )

    # --- pictures --------------------------------------------------------------------------------------------
    def plot_importances(self, count: int = 15, path: str | None = None) -> Any:
        """The features that matter most: how far each moves the prediction, or where that is not known, its weight.

        >>> import burkholder as bk
        >>> learner = bk.Auto("absolute")
        >>> learner.learn_many([{"size": 1.0}, {"size": 2.0}], [2.0, 4.0]).shape
        (2,)
        >>> figure = learner.plot_importances()
        """
        from burkholder.learning.runs import importance_figure

        ask = getattr(self, "importances", None) or getattr(self, "weights", None)
        if ask is None:
            raise BadInput("learner", type(self).__name__, "it tells neither importances nor weights")
        figure = importance_figure(ask(), count, "importance" if hasattr(self, "importances") else "weight")
        if path is not None:
            figure.savefig(path, dpi=130)
        return figure

    # --- copies ----------------------------------------------------------------------------------------------
    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()


def _joined(parts: list[Any]) -> Any:
    if not parts:
        return np.zeros(0)
    if isinstance(parts[0], list):
        return [item for part in parts for item in part]
    return np.concatenate(parts)
