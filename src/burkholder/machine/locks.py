"""Whether a lock is held, as compiled code can ask: one word of memory.

A compiled call keeps the interpreter's lock from its first instruction to its last, so no other thread runs Python code meanwhile:
where nobody holds our own lock when it begins, nobody will before it ends. Asking costs a nanosecond, taking the lock and
giving it back a hundred.
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from typing import Any

import numpy as np

from burkholder.machine.objects import TYPE_AT, layout_known


def _word(lock: Any, offset: int) -> np.ndarray:
    return np.ctypeslib.as_array((ctypes.c_uint64 * 1).from_address(id(lock) + offset))


@cache
def _owner_at() -> int | None:
    """Where an RLock keeps the thread that holds it, and 0 while none does; None when no such place is found."""
    if not layout_known():
        return None
    lock = threading.RLock()
    for offset in range(TYPE_AT + 8, type(lock).__basicsize__ - 7, 8):
        seen = [int(_word(lock, offset)[0])]
        for _ in range(2):
            with lock:
                seen.append(int(_word(lock, offset)[0]))
            seen.append(int(_word(lock, offset)[0]))
        if seen == [0, threading.get_ident(), 0, threading.get_ident(), 0]:
            return offset
    return None


def holder(lock: Any) -> np.ndarray:
    """An array of one word, 0 exactly while nobody holds this RLock; where that cannot be told, never 0. The lock must outlive it.

    >>> lock = threading.RLock()
    >>> with lock:
    ...     held = bool(holder(lock)[0])
    >>> held
    True
    """
    offset = _owner_at() if type(lock) is type(threading.RLock()) else None
    return np.ones(1, np.uint64) if offset is None else _word(lock, offset)
