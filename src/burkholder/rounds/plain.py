"""What a dict may hold to be read by compiled code: names that are text or whole numbers, numbers of plain types.

Types are told by their addresses, which differ from process to process and so come in an array.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from burkholder.machine.compiling import lean, register_jitable, typeof
from burkholder.machine.objects import (
    Borrowed,
    Engraved,
    address,
    content,
    engrave,
    failed,
    float_of,
    float_of_any,
    float_of_int,
    forgive,
    layout_known,
    next_entry,
    type_of,
)

# Words of `addresses`: three slots for walking a dict, the verdict, then objects and the types a row may hold.
POSITION, KEY, VALUE, VERDICT, NAMES, KEYS, TEXT, INT, BOOL, FLOAT = range(10)
PLAIN = 10  # the first of numpy's types
NUMPY = (np.float64, np.float32, np.int64, np.int32)  # their conversion runs no code but numpy's own
KNOWN = layout_known()  # otherwise every dict goes the long way round
# Names whose comparison with text or a whole number runs no code but the interpreter's own.
QUIET = frozenset({str, int, bool, float, complex, bytes, tuple, frozenset, type(None)})


def quiet(names: Iterable[Any]) -> bool:
    """Whether looking up text or a whole number among these names runs nobody's code.

    >>> from fractions import Fraction
    >>> quiet(["age", 3, ("a", "pair")]), quiet([Fraction(1, 3)])
    (True, False)
    """
    return all(type(name) in QUIET for name in names)


def addresses_of(names: dict[Any, int], keys: list[Any]) -> np.ndarray:
    """The words of `addresses`, for these names and this list to hold on to them."""
    return np.array([0, 0, 0, 0, *map(id, (names, keys, str, int, bool, float, *NUMPY))], np.uint64)


@register_jitable
def number_in(addresses, value):
    """The number in an object; NaN for what is not a number of a plain type."""
    kind = type_of(value)
    if kind == addresses[FLOAT] or kind == addresses[PLAIN]:
        return float_of(value)
    number = math.nan
    if kind == addresses[INT] or kind == addresses[BOOL]:
        number = float_of_int(value)
    elif (kind == addresses[PLAIN + 1]) | (kind == addresses[PLAIN + 2]) | (kind == addresses[PLAIN + 3]):
        number = float_of_any(value)
    if number == -1.0 and failed() != 0:
        forgive()
        return math.nan
    return number


@lean
def _all_plain(engraved, x):
    addresses, row = content(engraved), address(x)
    addresses[POSITION], good = 0, True
    while next_entry(row, np.uint64(addresses.ctypes.data)):
        kind, number = type_of(addresses[KEY]), number_in(addresses, addresses[VALUE])
        good &= ((kind == addresses[TEXT]) | (kind == addresses[INT])) & (number == number)
    return good


@cache
def _plain() -> tuple[Any, int, Any]:
    addresses, block = addresses_of({}, []), np.zeros(64, np.uint64)
    engrave(addresses, block)
    entry = _all_plain.compile((Engraved(typeof(addresses)), Borrowed()))  # type: ignore[attr-defined]
    return entry, block.ctypes.data, (addresses, block)  # the arrays live as long as the address


def _is_number(value: Any) -> bool:
    """What `number_in` says, in Python."""
    try:
        return type(value) in (int, bool, float, *NUMPY) and not math.isnan(float(value))
    except OverflowError:
        return False


def plain(x: dict[Any, Any]) -> bool:
    """Whether all names are text or whole numbers, and all values plain numbers that are not NaN.

    >>> plain({"size": 3, "open": True, "age": 1.5}), plain({"size": 3, "city": "Rome"}), plain({"age": float("nan")})
    (True, False, False)
    """
    if not KNOWN:
        return all(type(name) in (str, int) and _is_number(value) for name, value in x.items())
    entry, place, _ = _plain()
    return entry(place, x)
