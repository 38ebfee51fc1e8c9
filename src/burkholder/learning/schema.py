"""What the arrays and the header of a saved learner must be: said once, checked before anything is made of them.

Compiled rounds trust their arrays: they follow an index without asking whether it is one. So a learner describes what it
saves (type, shape, range, what an index may point at) and nothing that does not fit is ever handed out. Sizes are only
compared with those of arrays that are there, so that no number in a file can ask for more memory than the file has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.suggestions import did_you_mean

Arrays = Mapping[str, np.ndarray]
# the types of numbers that a file may hold
DTYPES = ("<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
LARGEST = float(np.finfo(np.float64).max)
COUNTED = 2.0**52  # no learner is older: one more round is still counted
SUMMED = 1e307  # of losses: no stream comes so far, and one round more does not overflow


class Array(NamedTuple):
    """One array. An axis is a number, or a name: every axis of that name has the same length.

    `low` and `high` include their ends, and may be arrays that say it place by place; `whole` numbers have no fraction;
    `steady` is what never changes, compared bit for bit; `infinite` admits −inf too (the logarithm of nothing).
    """

    shape: tuple[int | str, ...]
    dtype: str = "<f8"
    low: Any = -LARGEST
    high: Any = LARGEST
    whole: bool = False
    infinite: bool = False
    steady: Any = None


def like(array: np.ndarray, **changes: Any) -> Array:
    """The description of an array of this type and shape."""
    return Array(array.shape, array.dtype.newbyteorder("<").str)._replace(**changes)


def steady(array: np.ndarray) -> Array:
    """The description of an array that is always the same."""
    return like(array, steady=array)


def index(shape: tuple[int | str, ...], below: int, dtype: str = "<i8", none: bool = False) -> Array:
    """Places in another array of so many rows; with `none`, −1 stands for no place."""
    return Array(shape, dtype, low=-1 if none else 0, high=below - 1)


def count(shape: tuple[int | str, ...] = (), dtype: str = "<i8", most: float = COUNTED) -> Array:
    """Numbers of things."""
    return Array(shape, dtype, low=0, high=most, whole=True)


@dataclass(frozen=True)
class Schema:
    """Everything a learner saves, by name, and rules over several arrays together: (what is wrong, whether it is right).

    >>> pairs = Schema({"key": index(("pairs",), below=3), "value": Array(("pairs",), low=0.0)})
    >>> pairs.check({"key": np.array([0, 2]), "value": np.array([0.5, 1.0])})
    {'pairs': 2}
    >>> pairs.check({"key": np.array([0, 3]), "value": np.array([0.5, 1.0])})
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: array 'key' = 3 cannot be used: its numbers must lie in [0, 2]
    """

    arrays: Mapping[str, Array]
    rules: tuple[tuple[str, Callable[[Any], bool]], ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)

    def check(self, arrays: Arrays) -> dict[str, int]:
        """The length of every named axis; BadInput names the first array that does not fit."""
        for name in arrays:
            if name not in self.arrays:
                raise BadInput(f"array {name!r}", "there", "this kind of learner has no such array")
        sizes = dict(self.sizes)
        for name, wanted in self.arrays.items():
            if name not in arrays:
                raise BadInput(f"array {name!r}", "missing", "every array of this kind of learner must be there")
            _fits(name, arrays[name], wanted, sizes)
        for wrong, holds in self.rules:
            if not holds(arrays):
                raise BadInput("arrays", wrong, "they do not fit together")
        return sizes


def _fits(name: str, array: np.ndarray, wanted: Array, sizes: dict[str, int]) -> None:
    label = f"array {name!r}"
    if array.dtype.newbyteorder("<").str != wanted.dtype:
        raise BadInput(label, array.dtype.str, f"it must be of type {wanted.dtype}")
    if array.ndim != len(wanted.shape):
        raise BadInput(label, array.shape, f"it must have {len(wanted.shape)} axes")
    for axis, size in zip(wanted.shape, array.shape):
        if size != (sizes.setdefault(axis, size) if isinstance(axis, str) else axis):
            expected = " × ".join(str(sizes.get(part, part) if isinstance(part, str) else part) for part in wanted.shape)
            raise BadInput(label, array.shape, f"its shape must be {expected}")
    if wanted.steady is not None and array.tobytes() != np.ascontiguousarray(wanted.steady).tobytes():
        raise BadInput(label, "other numbers", "these numbers never change")
    if wanted.dtype[1] == "b":
        if array.size and array.view(np.uint8).max() > 1:
            raise BadInput(label, "a byte that is no truth value", "it holds 0 and 1 alone")
        return
    good = (array >= wanted.low) & (array <= wanted.high)  # false for NaN
    if wanted.infinite:
        good |= array == -math.inf
    if not good.all():
        low, high = (np.broadcast_to(end, array.shape)[~good].reshape(-1)[0] for end in (wanted.low, wanted.high))
        raise BadInput(label, array[~good].reshape(-1)[0].item(), f"its numbers must lie in [{low:g}, {high:g}]")
    if wanted.whole and array.dtype.kind == "f" and (array != np.floor(array)).any():
        raise BadInput(label, array[array != np.floor(array)].reshape(-1)[0].item(), "its numbers must be whole")


def within_sizes(sums: np.ndarray) -> bool:
    """Whether a sum and its correction (the first two rows) are no larger than the sum of sizes (the third), but for rounding."""
    with np.errstate(over="ignore"):
        return bool((np.abs(sums[0]) + np.abs(sums[1]) <= (1.0 + 1e-6) * sums[2] + 1e-300).all())


# --- headers ------------------------------------------------------------------------------------------------------
def number(value: Any) -> bool:
    """A finite number, and no truth value."""
    return type(value) in (int, float) and math.isfinite(value)


def answer(value: Any) -> bool:
    """What a learner may have said: a number whose square is one."""
    return number(value) and abs(value) <= 1e150


def whole(value: Any) -> bool:
    """A whole number from 0 to 2⁵²."""
    return type(value) is int and 0 <= value <= COUNTED


def positive(value: Any) -> bool:
    """A finite number above 0."""
    return number(value) and value > 0


def size(value: Any) -> bool:
    """A finite number that is not below 0."""
    return number(value) and value >= 0


def truth(value: Any) -> bool:
    return type(value) is bool


def text(value: Any) -> bool:
    return type(value) is str


def one_of(*known: Any) -> Callable[[Any], bool]:
    """One of these, of the same type."""
    return lambda value: any(type(value) is type(item) and value == item for item in known)


def maybe(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """None, or that."""
    return lambda value: value is None or kind(value)


def all_of(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A list of that."""
    return lambda value: type(value) is list and all(kind(item) for item in value)


def feature(value: Any) -> bool:
    """What may name a feature of a `Learner` that is stored: text, or a whole number."""
    return type(value) in (str, int, bool)


def name(value: Any) -> bool:
    """What may name a feature or a class: text, a number, a truth value, nothing, or a tuple of such; but not what differs from itself."""
    if type(value) is tuple:
        return all(name(part) for part in value)
    return value is None or type(value) in (str, int, bool) or (type(value) is float and value == value)


def names(value: Any) -> bool:
    """A list of different names."""
    return all_of(name)(value) and len(set(value)) == len(value)


def options(value: Any) -> bool:
    """Names with finite numbers."""
    return type(value) is dict and all(type(name) is str and number(item) for name, item in value.items())


def check_header(header: Any, kinds: Mapping[str, Callable[[Any], bool]]) -> None:
    """Exactly these keys, each of its kind."""
    if type(header) is not dict:
        raise BadInput("header", type(header).__name__, "it must be a table of names and values")
    for key in header:
        if key not in kinds:
            raise BadInput("header", key, f"{did_you_mean(key, kinds)}this kind of learner has no such key")
    for key, kind in kinds.items():
        if key not in header:
            raise BadInput("header", key, "this key is missing")
        if not kind(header[key]):
            raise BadInput(f"header {key!r}", header[key], "this is not what stands there")


# --- plays that wait for their labels -------------------------------------------------------------------------------
def limit(value: Any) -> bool:
    """How many plays may wait: a whole number from 1."""
    return whole(value) and value > 0


def check_plays(plays: Any, issued: int, most: int, rounds: int, kinds: tuple[Callable[[Any], bool], ...]) -> None:
    """Lists [id, the round it was played in, …] of these kinds: ids that were handed out, each once, and no more than may wait."""
    if type(plays) is not list or len(plays) > most:
        raise BadInput("header 'pending'", type(plays).__name__, f"a list of at most {most} plays stands there")
    met = set()
    for play in plays:
        if type(play) is not list or len(play) != 2 + len(kinds) or not all(kind(part) for kind, part in zip((whole, whole, *kinds), play)):
            raise BadInput("header 'pending'", play, "this is no play that waits for its label")
        if not 0 < play[0] <= issued or play[0] in met:
            raise BadInput("header 'pending'", play[0], "no play, or another one, has this id")
        if play[1] > rounds:
            raise BadInput("header 'pending'", play[1], f"only {rounds} rounds were learned")
        met.add(play[0])
