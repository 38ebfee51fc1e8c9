"""Predictions whose labels are still to come: what was played is kept, and nothing outside can change it."""

from __future__ import annotations

from typing import Any, Generic, NamedTuple, TypeVar

from burkholder.errors import BadInput

MAX_PENDING = 1_000_000
P = TypeVar("P")


class Ticket(NamedTuple):
    """A prediction whose label is still to come; hand it, or its id, to `reveal`, or to `forget`.

    >>> import burkholder as bk
    >>> learner = bk.Auto("absolute")
    >>> ticket = learner.play({"hour": 13})
    >>> ticket
    Ticket(id=1, prediction=0.0)
    >>> learner.reveal(ticket.id, 4.2)
    """

    id: int
    prediction: Any


class Played(NamedTuple):
    """What a learner keeps of a play: its own copy of the row, what it needs to learn from it, and when it was."""

    row: Any
    memo: Any
    round: int


class Tickets(Generic[P]):
    """The plays that wait, by id. At most `limit` of them.

    >>> tickets = Tickets(limit=1)
    >>> tickets.issue("what was played")
    1
    >>> tickets.issue("another")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: max_pending = 1 cannot be used: so many plays wait for their labels: reveal or forget some first
    More: docs/learners.md
    >>> tickets.take(1)
    'what was played'
    """

    def __init__(self, limit: int = MAX_PENDING) -> None:
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise BadInput("max_pending", limit, "give a whole number ≥ 1")
        self.limit, self.issued = limit, 0
        self.waiting: dict[int, P] = {}

    def __len__(self) -> int:
        return len(self.waiting)

    def check_room(self, plays: int = 1) -> None:
        """Refuse a play, or several, that would be too many."""
        if len(self.waiting) + plays > self.limit:
            raise BadInput("max_pending", self.limit, "so many plays wait for their labels: reveal or forget some first")

    def issue(self, play: P) -> int:
        """Keep a play; its id."""
        self.check_room()
        self.issued += 1
        self.waiting[self.issued] = play
        return self.issued

    def issue_many(self, plays: list[P]) -> range:
        """`issue` for each of them, or for none."""
        self.check_room(len(plays))
        ids = range(self.issued + 1, self.issued + 1 + len(plays))
        self.waiting.update(zip(ids, plays))
        self.issued += len(plays)
        return ids

    def look(self, id: Any) -> P:
        """The play of that id, or of that ticket, which goes on waiting."""
        id = id.id if isinstance(id, Ticket) else id
        if isinstance(id, bool) or id not in self.waiting:
            known = isinstance(id, int) and 0 < id <= self.issued
            raise BadInput("id", id, "its label was already revealed, or it was forgotten" if known else "no play has this id")
        return self.waiting[id]

    def take(self, id: Any) -> P:
        """The play of that id, or of that ticket, which waits no more."""
        play = self.look(id)
        del self.waiting[id.id if isinstance(id, Ticket) else id]
        return play
