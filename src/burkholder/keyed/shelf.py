"""Where the learners stand, one a key: here each is an object of its own, whatever its kind."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.keyed.rows import Block, taken
from burkholder.learning.grouping import grouped
from burkholder.merged.mixing import given


class Shelf:
    """A learner a slot; a slot that is free holds None. All of a block is learned, or nothing of it."""

    atomic = False  # whether `run` itself puts back what it did before a bad row

    def __init__(self, prototype: Any) -> None:
        self.prototype = prototype
        self.learners: list[Any] = []

    def grow(self, count: int) -> None:
        """Have so many slots, new ones with fresh learners."""
        while len(self.learners) < count:
            self.learners.append(copy.deepcopy(self.prototype))

    def shrink(self, count: int) -> None:
        """Forget the last slots."""
        del self.learners[count:]

    def reset(self, slot: int) -> None:
        """Let a slot begin anew."""
        self.learners[slot] = copy.deepcopy(self.prototype)

    def learner(self, slot: int) -> Any:
        """The plain learner of a slot: changes to it are kept by `put`."""
        return self.learners[slot]

    def put(self, slot: int, learner: Any) -> None:
        """Let this be the learner of a slot."""
        self.learners[slot] = learner

    def drop(self, slot: int) -> None:
        """Let go of what a slot holds."""
        self.learners[slot] = None

    def held(self, slot: int) -> Any:
        """The learner of a slot as an object that may be played and revealed to, until `settle`."""
        return self.learners[slot]

    def settle(self, slot: int) -> None:
        """What `held` gave is done with."""

    def predict_one(self, slot: int, row: Any) -> Any:
        """The prediction for one row."""
        return self.learners[slot].predict(row)

    def rounds(self, slot: int) -> int:
        return self.learners[slot].rounds

    def cumulative_loss(self, slot: int) -> float:
        return self.learners[slot].cumulative_loss

    # --- blocks --------------------------------------------------------------------------------------------------
    def keep(self, slots: np.ndarray) -> Callable[[], None]:
        """Remember these slots; the result puts them back."""
        undos = [self.learners[slot]._undo() for slot in np.unique(slots).tolist()]

        def back() -> None:
            for undo in undos:
                undo()

        return back

    def run(self, slots: np.ndarray, block: Block, targets: Any, weights: np.ndarray | None) -> tuple[Any, np.ndarray]:
        """(predictions, losses), each predicted before it is learned; may stop half way, which `keep` undoes."""

        def one(learner: Any, X: Any, places: np.ndarray) -> tuple[Any, Any]:
            table = learner._table(X)
            y = learner._targets(taken_labels(targets, places), len(places))
            done = learner._run(table, y, learner._weights(None if weights is None else weights[places], len(places)))
            return done.predictions, done.losses

        return self._each(slots, block, one)

    def predict(self, slots: np.ndarray, block: Block) -> Any:
        """Predictions; a slot of −1 is a key nobody has met, whom a fresh learner answers."""

        def one(learner: Any, X: Any, places: np.ndarray) -> tuple[Any, Any]:
            return learner._predict_many(learner._table(X)), np.zeros(len(places))

        return self._each(slots, block, one)[0]

    def _each(self, slots: np.ndarray, block: Block, one: Callable[..., Any]) -> tuple[Any, np.ndarray]:
        """Every key's rows in one call, put back where they were."""
        answers: Any = None
        lost = np.empty(len(slots))
        which, starts, order = grouped(slots)
        for slot, start, stop in zip(which.tolist(), starts[:-1].tolist(), starts[1:].tolist()):
            places = order[start:stop]
            learner = self.prototype if slot < 0 else self.learners[slot]
            try:
                said, lost[places] = one(learner, taken(block.X, places), places)
            except BadInput as error:
                raise error.placed(places.tolist().__getitem__) from None
            if answers is None:
                answers = [None] * len(slots) if isinstance(said, list) else np.empty((len(slots), *np.shape(said)[1:]))
            if isinstance(answers, list):
                for place, answer in zip(places.tolist(), said):
                    answers[place] = answer
            else:
                answers[places] = said
        return np.zeros(0) if answers is None else answers, lost


def taken_labels(targets: Any, places: np.ndarray) -> Any:
    """Some of the labels, as they were given: a key's own learner reads them again."""
    return given(targets)[places] if isinstance(targets, np.ndarray) else [targets[place] for place in places.tolist()]
