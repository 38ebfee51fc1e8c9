"""Rounds that are over, by the ids they had: the latest in memory, the others in the store."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from burkholder.serve.model import Over
from burkholder.serve.store import Closed

Find = Callable[[int, list[str], int], dict[str, bytes]]


class Fresh(NamedTuple):
    """A round that is over and not yet in the store, and the group in which it ended."""

    group: int
    over: Over


class Ended:
    """Every round that is over. `find` looks up those in the store: of a model, by their ids, over after so many groups."""

    def __init__(self, find: Find) -> None:
        self.find = find
        self.fresh: dict[tuple[int, str], Fresh] = {}

    def add(self, model: int, id: str, over: Over, group: int) -> None:
        """One more, of the model of that number."""
        self.fresh[model, id] = Fresh(group, over)

    def get(self, model: int, ids: list[str], known: int) -> dict[str, Over]:
        """Those of these rounds that are over. The store may know more than `known` groups made: that is not asked for."""
        found = {id: fresh.over for id in ids if (fresh := self.fresh.get((model, id))) is not None}
        stored = self.find(model, [id for id in ids if id not in found], known)
        return found | {id: Over(*msgspec.msgpack.decode(body)) for id, body in stored.items()}

    def rows(self) -> list[Closed]:
        """What the store does not have yet, as its rows; `stored` says that it has them."""
        encode = msgspec.msgpack.encode
        return [Closed(model, id, fresh.group, encode(fresh.over)) for (model, id), fresh in self.fresh.items()]

    def stored(self, rows: list[Closed]) -> None:
        """These rounds can be found in the store now."""
        for row in rows:
            fresh = self.fresh.get((row.model, row.id))
            if fresh is not None and fresh.group == row.seq:
                del self.fresh[row.model, row.id]
