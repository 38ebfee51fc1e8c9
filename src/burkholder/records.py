"""Records: a NamedTuple of parameters whose class says which formula they belong to.

numba specialises compiled loops by a NamedTuple's class, which is why parameters live in one. But a NamedTuple
compares as the bare tuple of its fields, so that two losses without parameters would be equal. A record is equal to
a record of its own class with the same fields, and to nothing else.
"""

from __future__ import annotations

from typing import Any, TypeVar

R = TypeVar("R", bound=type)


def record(kind: R) -> R:
    """Make a NamedTuple class compare and hash by class as well as by fields.

    >>> from typing import NamedTuple
    >>> @record
    ... class Metres(NamedTuple):
    ...     length: float
    >>> @record
    ... class Seconds(NamedTuple):
    ...     length: float
    >>> Metres(2.0) == Metres(2.0), Metres(2.0) == Seconds(2.0), Metres(2.0) == (2.0,)
    (True, False, False)
    """
    for name, method in (("__eq__", _equal), ("__ne__", _unequal), ("__hash__", _hash)):
        setattr(kind, name, method)
    return kind


def _equal(self: Any, other: object) -> bool:
    # never NotImplemented: Python would then ask the other side, and a plain tuple says yes
    return type(self) is type(other) and tuple.__eq__(self, other)  # type: ignore[operator]


def _unequal(self: Any, other: object) -> bool:
    return not _equal(self, other)


def _hash(self: Any) -> int:
    return hash((type(self), tuple.__hash__(self)))
