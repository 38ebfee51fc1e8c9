"""Copies of arrays to go back to, made before many rows are learned and dropped when all went well.

Asking the system for pages, and filling them for the first time, costs several times what copying does. So the room of large
copies is used again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

LARGE = 1 << 16  # bytes; smaller room is had quickly anyway
SHAPES = 16  # of how many kinds room is kept,
SPARE = 2  # and how much of each

_rooms: dict[Any, list[np.ndarray]] = {}


class Kept(dict[str, np.ndarray]):
    """Copies of arrays by their names.

    >>> numbers = np.ones(3)
    >>> kept = Kept({"numbers": numbers})
    >>> numbers[:] = 0.0
    >>> kept["numbers"]
    array([1., 1., 1.])
    """

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        super().__init__({name: _copy(array) for name, array in arrays.items()})

    def __del__(self) -> None:
        for array in self.values():
            if array.nbytes >= LARGE:
                if len(_rooms) >= SHAPES:
                    _rooms.clear()
                spare = _rooms.setdefault((array.shape, array.dtype), [])
                if len(spare) < SPARE:
                    spare.append(array)


def _copy(array: np.ndarray) -> np.ndarray:
    try:
        room = _rooms[array.shape, array.dtype].pop()
    except (KeyError, IndexError):
        return array.copy()
    np.copyto(room, array)
    return room
