"""How Auto's loops are compiled: without reference counting, and with every piece inlined.

The pieces take records of some twenty arrays. Counting references to each of them at every call cost ten times
what the arithmetic does; the loops allocate nothing, so there is nothing to count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from burkholder.machine.compiling import compiled
from burkholder.machine.pieces import piece

F = TypeVar("F", bound=Callable[..., Any])


def uncounted(function: F) -> F:
    """`compiled`, for a loop that allocates nothing and keeps no reference to its arrays."""
    loop: Any = compiled(function)
    loop.targetoptions["_nrt"] = False
    return loop


inlined = piece
