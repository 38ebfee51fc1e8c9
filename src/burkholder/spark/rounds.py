"""What happens to one row of a key: predicted and learned, or predicted and kept until its label comes.

There is no Spark in here: a plain loop over `Book.take` is what every engine must agree with, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.naming import is_missing
from burkholder.storage import pack, unpack_with_extra


class Outcome(NamedTuple):
    """What became of a row, and the prediction made for it before its label was looked at."""

    event: str  # learned, predicted, played, revealed, orphan, or "refused: why"
    prediction: Any


class Book:
    """One key's learner, and the plays that wait for their labels under the ids of their rows.

    >>> import burkholder as bk
    >>> book = Book(bk.Learner("adagrad", loss="absolute", radius=2.0))
    >>> book.take({"a": 1.0}, 1.0)
    Outcome(event='learned', prediction=0.0)
    >>> book.take({"a": 1.0}, None, id="r7")
    Outcome(event='played', prediction=2.0)
    >>> again = Book.read(book.bytes())  # another machine, another day
    >>> again.take({"a": None}, 0.5, id="r7")
    Outcome(event='revealed', prediction=2.0)
    >>> again.take({"a": None}, 0.5, id="r7")
    Outcome(event='orphan', prediction=None)
    """

    def __init__(self, learner: Any, waiting: dict[str, list[Any]] | None = None) -> None:
        self.learner = learner
        self.waiting = {} if waiting is None else waiting  # id of a row -> [ticket, prediction]

    @classmethod
    def read(cls, data: bytes) -> Book:
        """The book from its bytes, which are those of a model file."""
        learner, extra = unpack_with_extra(bytes(data), "state")
        return cls(learner, extra.get("waiting"))

    def bytes(self) -> bytes:
        """A model file; where nothing waits, the very bytes that saving the learner gives."""
        return pack(self.learner, {"waiting": self.waiting} if self.waiting else None)

    def take(self, x: dict[str, Any], y: Any, weight: Any = None, id: Any = None) -> Outcome:
        """One row: what its label, its id and the past say is to be done with it."""
        count = 1.0 if is_missing(weight) else weight
        unlabelled = is_missing(y)
        if is_missing(id):
            if unlabelled:
                return Outcome("predicted", _plain(self.learner.predict(x)))
            return self._learned(x, y, count)
        name = str(id)
        kept = self.waiting.get(name)
        if unlabelled:
            # a row that is delivered twice is answered as it was the first time, and waits once
            return Outcome("played", kept[1]) if kept is not None else self._played(x, name)
        if kept is not None:
            self.learner.reveal(kept[0], y, count)
            del self.waiting[name]
            return Outcome("revealed", kept[1])
        if all(is_missing(value) for value in x.values()):
            return Outcome("orphan", None)  # the label of a row that never came, or came and was learned
        return self._learned(x, y, count)

    def _learned(self, x: dict[str, Any], y: Any, weight: float) -> Outcome:
        prediction = _plain(self.learner.predict(x))
        self.learner.update(x, y, weight)
        return Outcome("learned", prediction)

    def _played(self, x: dict[str, Any], name: str) -> Outcome:
        ticket = self.learner.play(x)
        self.waiting[name] = [ticket.id, _plain(ticket.prediction)]
        return Outcome("played", self.waiting[name][1])

    def take_or_tell(self, x: dict[str, Any], y: Any, weight: Any = None, id: Any = None) -> Outcome:
        """As `take`; a row that cannot be learned changes nothing, and is told of instead of raised."""
        try:
            return self.take(x, y, weight, id)
        except BadInput as error:
            return Outcome(f"refused: {error}", None)


def _plain(prediction: Any) -> Any:
    """Numbers and lists of Python's own."""
    if isinstance(prediction, np.generic):
        return prediction.item()
    return [_plain(part) for part in prediction] if isinstance(prediction, (tuple, list, np.ndarray)) else prediction


def in_order(rows: Iterable[dict[str, Any]], order: str | None, id: str | None = None) -> list[dict[str, Any]]:
    """The rows of a key by their order; equal ones by their content, so that no arrangement of the rows matters.

    >>> in_order([{"t": 2, "a": 1}, {"t": 1, "a": 3}, {"t": 1, "a": 2}, {"t": None, "a": 0}], "t")
    [{'t': 1, 'a': 2}, {'t': 1, 'a': 3}, {'t': 2, 'a': 1}, {'t': None, 'a': 0}]
    """
    listed = list(rows)
    if order is None:
        return listed
    moments = [row[order] for row in listed]
    if None in moments or len(set(moments)) < len(moments):
        return sorted(listed, key=lambda row: (row[order] is None, 0 if row[order] is None else row[order], _content(row, id)))
    return sorted(listed, key=lambda row: row[order])


def _content(row: dict[str, Any], id: str | None) -> str:
    """Something that tells rows of the same moment apart."""
    return repr((None if id is None else row[id], row))
