"""What the log holds: requests as they came, in order. Nothing else changes a model."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

JSON, LINES, ARROW, BYTES = "json", "lines", "arrow", "bytes"


class Event(NamedTuple):
    """One request: what is asked of which model, and the body as it was sent."""

    verb: str  # predict, label, learn, create, drop or forget
    model: str
    form: str  # of the body: JSON, LINES, ARROW or BYTES
    body: bytes
    key: str = ""  # of a learn: the same key is learned once; of a create: the model it shadows


class Group(NamedTuple):
    """Events that were written together, and the service's clock then."""

    moment: float
    events: list[Event]


_groups = msgspec.msgpack.Decoder(Group)


def sealed(group: Group) -> bytes:
    """The group as bytes.

    >>> group = Group(12.5, [Event("label", "default", JSON, b'{"id": "a", "y": 1}')])
    >>> unsealed(sealed(group)) == group
    True
    """
    return msgspec.msgpack.encode(group)


def unsealed(data: bytes) -> Group:
    """The group those bytes hold."""
    return _groups.decode(data)
