"""How loops are compiled, and the words of numba they are written in: other packages have them from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from numba import njit, typeof, types

from burkholder.machine.cache import Kept
from burkholder.machine.pieces import LOOP, PART, SIMPLE, inlined, overload, register_jitable
from burkholder.machine.processor import PLAIN

__all__ = ["compiled", "inlined", "lean", "overload", "register_jitable", "typeof", "types", "uncounted"]

F = TypeVar("F", bound=Callable[..., Any])

# The loops that say so allocate nothing and keep no reference to their arrays, so there is nothing to count. numba has no
# public name for this.
_UNCOUNTED: dict[str, Any] = {} if PLAIN else {"_nrt": False}
_INLINED: dict[str, Any] = {} if PLAIN else {"forceinline": True}


def compiled(function: F, part: Mapping[str, Any] = PART, **options: Any) -> F:
    """Compile a loop; its machine code is kept on disk for the next process (see `cache`). Called by another, it is a part of that."""
    loop: Any = njit(error_model="numpy", **LOOP, **options)(function)
    loop._cache = Kept(function)
    if not PLAIN:
        inside: Any = njit(error_model="numpy", **{**part, **options})(function)
        loop.get_call_template, loop.get_overload = inside.get_call_template, inside.get_overload
    return loop


def uncounted(function: F) -> F:
    """`compiled`, for a loop that creates no arrays: without reference counts, which cost 100 ns and more a row.

    Slices of its arguments are fine; `np.zeros` and the like are refused at compile time.
    """
    return compiled(function, SIMPLE, **_UNCOUNTED)


def lean(function: F) -> F:
    """`uncounted`, for a loop that Python calls once a row: what unpacks its arguments and what uses them are one piece."""
    return compiled(function, SIMPLE, **_UNCOUNTED, **_INLINED)
