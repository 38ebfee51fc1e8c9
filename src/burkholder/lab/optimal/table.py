"""Every state that a finite game can reach, level by level, and the largest E V from each (`eq:u_construction`).

A game has finitely many features, finitely many values of δ and a number of rounds. States that several histories share
are kept once, so that the table grows with the states, not with the paths. Backward from the last level

    U_n = V,    U_t(τ) = max over x of the largest mean of U_{t+1}(τ + T(x, δ)) over mean-zero laws of δ,

and where some T(x⁰, y⁰, 0) = 0 the process may stand still, so that U_t ≥ V as well. Laws with two values suffice: they are
the extreme points of the mean-zero laws on a finite set. Numbers are floats, or fractions where T and V take them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction, Tau

MOST_STATES = 1_000_000


class Law(NamedTuple):
    """A mean-zero law on the values of δ: their places, and the chance of the first."""

    first: int
    second: int
    chance: Any


class Level(NamedTuple):
    """The states of one time: rows of all parts of τ side by side, and where each move leads on the next level."""

    states: np.ndarray  # (states, width)
    after: np.ndarray | None  # (states, features, slopes): places on the next level; None on the last
    places: dict[bytes | tuple[Any, ...], int]  # of states, by name


class Table(NamedTuple):
    """The whole game and its values; `best[t]` holds (feature, law) of the worst move, or −1 where standing still is."""

    levels: tuple[Level, ...]
    values: tuple[np.ndarray, ...]
    targets: tuple[np.ndarray, ...]  # V at the same states
    best: tuple[np.ndarray, ...]
    features: np.ndarray
    slopes: np.ndarray
    laws: tuple[Law, ...]
    still: bool


def mean_zero(slopes: Sequence[Any]) -> tuple[Law, ...]:
    """The extreme mean-zero laws on these values.

    >>> [tuple(law) for law in mean_zero([-1, 0, 2])]
    [(1, 1, 1), (0, 2, Fraction(2, 3))]
    """
    laws = [Law(k, k, 1) for k, value in enumerate(slopes) if value == 0]
    for (i, low), (j, high) in product(enumerate(slopes), repeat=2):
        if low < 0 < high:
            exact = isinstance(low, (int, Fraction)) and isinstance(high, (int, Fraction))
            laws.append(Law(i, j, Fraction(high) / Fraction(high - low) if exact else high / (high - low)))
    if not laws:
        raise BadInput("slopes", list(slopes), "give values on both sides of 0: no law on these has mean 0")
    return tuple(laws)


def rows(tau: Tau, kind: Any) -> np.ndarray:
    """The parts of a batch of states side by side, one row a state; −0 is 0."""
    count = len(tau[0])
    parts = [np.asarray(part, kind).reshape(count, -1) for part in tau]
    return np.concatenate(parts, axis=1) + (0.0 if kind is float else 0)


def exactly(numbers: np.ndarray, kind: Any) -> np.ndarray:
    """The numbers as fractions, or as floats."""
    return np.vectorize(Fraction, otypes=[object])(numbers) if kind is object else np.asarray(numbers, float)


def parts(table: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> Tau:
    """Rows taken apart again into the parts of a state."""
    cut, out = 0, []
    for shape in shapes:
        width = int(np.prod(shape))
        out.append(table[:, cut : cut + width].reshape((len(table), *shape)))
        cut += width
    return tuple(out)


def name(row: np.ndarray) -> bytes | tuple[Any, ...]:
    """What a state is looked up by: its bits, or its fractions."""
    return row.tobytes() if row.dtype != object else tuple(row)


def stands_still(function: BurkholderFunction, dim: int) -> bool:
    """Whether T(x⁰, y⁰, 0) = 0 for x⁰ = 0 and y⁰ = 0: a process may then stop.

    >>> from burkholder.functions import ParameterFree, SquareFunction
    >>> stands_still(SquareFunction(), 2), stands_still(ParameterFree(), 2)
    (True, False)
    """
    before = tuple(np.asarray(part)[None] for part in function.zero(dim))
    after = function.advance(before, np.zeros((1, dim)), np.zeros(1), np.zeros(1))
    return all(np.array_equal(old, new) for old, new in zip(before, after))


def build(function: BurkholderFunction, features: np.ndarray, slopes: np.ndarray, rounds: int) -> Table:
    """All levels forward, then all values backward."""
    kind = object if features.dtype == object else float
    dim, shapes = features.shape[1], [np.shape(part) for part in function.zero(features.shape[1])]
    zero: Any = Fraction(0) if kind is object else 0.0
    start = rows(tuple(exactly(np.asarray(part)[None], kind) for part in function.zero(dim)), kind)
    moves = [(x, delta) for x in features for delta in slopes]
    levels, states = [], start
    for _ in range(rounds):
        if len(states) * len(moves) > 8 * MOST_STATES:
            raise BadInput("rounds", rounds, f"more than {MOST_STATES:,} states: give fewer rounds, features or slopes")
        index: dict[bytes | tuple[Any, ...], int] = {}
        following: list[np.ndarray] = []
        after = np.empty((len(states), len(moves)), np.int64)
        tau = parts(states, shapes)
        for m, (x, delta) in enumerate(moves):
            count = len(states)
            moved = function.advance(tau, np.tile(x, (count, 1)), np.full(count, zero, kind), np.full(count, delta, kind))
            for i, row in enumerate(rows(moved, kind)):
                place = index.setdefault(name(row), len(following))
                if place == len(following):
                    following.append(row)
                after[i, m] = place
            if len(following) > MOST_STATES:
                raise BadInput("rounds", rounds, f"more than {MOST_STATES:,} states: give fewer rounds, features or slopes")
        levels.append(Level(states, after.reshape(len(states), len(features), len(slopes)), _index(states)))
        states = np.array(following, kind)
    levels.append(Level(states, None, _index(states)))
    return _solved(function, levels, features, slopes, shapes, stands_still(function, dim))


def _index(states: np.ndarray) -> dict[bytes | tuple[Any, ...], int]:
    return {name(row): i for i, row in enumerate(states)}


def _solved(
    function: BurkholderFunction, levels: list[Level], features: np.ndarray, slopes: np.ndarray, shapes: list[Any], still: bool
) -> Table:
    laws = mean_zero(list(slopes))
    targets = tuple(np.asarray(function.target(parts(level.states, shapes))) for level in levels)
    values: list[np.ndarray] = [targets[-1]]
    best: list[np.ndarray] = [np.full((len(levels[-1].states), 2), -1)]
    for level, here in reversed(list(zip(levels[:-1], targets))):
        assert level.after is not None
        later = values[0][level.after]  # (states, features, slopes)
        means = np.stack([law.chance * later[..., law.first] + (1 - law.chance) * later[..., law.second] for law in laws], axis=-1)
        flat = means.reshape(len(means), -1)
        place = np.argmax(flat, axis=1)
        value = flat[np.arange(len(flat)), place]
        move = np.stack(np.divmod(place, len(laws)), axis=1)
        if still:
            stop = here >= value
            value, move = np.where(stop, here, value), np.where(stop[:, None], -1, move)
        values.insert(0, value)
        best.insert(0, move)
    return Table(tuple(levels), tuple(values), targets, tuple(best), features, slopes, laws, still)
