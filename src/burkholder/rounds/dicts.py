"""Rounds on dicts of named features, each in one compiled call that reads the dict itself.

A name is looked up only where it is not the very object that stood in this place of the row before (`seen`): rows of a
table, and a row that is predicted and then learned, are not looked up again. Values are always read. Names that are not
known yet take the places after the known ones; they stay only if the round is learned from, which is the caller's to
write down. Whatever is unusual is left to the caller's long way round, which also says what is wrong with it.

Each round comes in two forms. `glance` and `step` are for a caller who does not hold the learner's lock: they are single
compiled calls, in which no code of Python's runs and no other thread can, and they decline (NaN, nothing touched) when the
lock is held or there is more to do than the call itself: room to make, names to write down. `play` and `learn` are for
one who holds it, and do that, too.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakMethod

import numpy as np

from burkholder import losses
from burkholder.machine.compiling import lean, register_jitable, typeof, types
from burkholder.machine.locks import holder
from burkholder.machine.objects import (
    Borrowed,
    Engraved,
    address,
    content,
    engrave,
    entries_of,
    entry_of,
    hold,
    next_entry,
    put_item,
    type_of,
    whole_of,
)
from burkholder.potentials.dispatch import LARGEST
from burkholder.rounds.checks import FINE, GROW, WIDE
from burkholder.rounds.layout import CODE, ROW_INDICES, ROW_VALUES
from burkholder.rounds.loops import learned, played
from burkholder.rounds.plain import INT, KEY, KEYS, NAMES, POSITION, TEXT, VALUE, VERDICT, addresses_of, number_in
from burkholder.rounds.state import LinearState

ODD = 7  # beside the verdicts of `checks`: not for here


class Board(NamedTuple):
    """Everything a round on dicts has before it, engraved once."""

    desk: Any
    addresses: Any  # see `plain`
    seen: Any  # two rows: the address of the name last met at each place of a row, and its index
    intercept: int
    classes: int  # whether labels are ±1
    limit: float  # what a target's size must not exceed
    alone: int  # whether the caller does without the lock
    holder: Any  # 0: nobody has the lock


@register_jitable
def _read(board, x):
    """x in the row buffers, zeros left out: (entries, names not known yet, 1 + the largest index); see VERDICT."""
    desk, addresses, seen = board.desk, board.addresses, board.seen
    indices, values = desk.scratch[ROW_INDICES].view(np.uint64), desk.scratch[ROW_VALUES]
    row, names, slots = address(x), addresses[NAMES], np.uint64(addresses.ctypes.data)
    length, known = entries_of(row), np.uint64(entries_of(names))
    addresses[VERDICT] = ODD if length == 0 else (FINE if length < seen.shape[1] else WIDE)
    if addresses[VERDICT] != FINE:
        return 0, 0, 0.0
    addresses[POSITION] = 0
    fine, count, fresh, top = True, 0, np.uint64(0), np.uint64(0)
    for k in range(length):
        next_entry(row, slots)
        name = addresses[KEY]
        place = seen[1, k]
        if seen[0, k] != name:
            kind = type_of(name)
            if kind != addresses[TEXT] and kind != addresses[INT]:  # looking up other names could run anyone's code
                addresses[VERDICT] = ODD
                return 0, 0, 0.0
            found = entry_of(names, name)
            if found == 0:
                place = known + fresh
                fresh += np.uint64(1)
            else:
                place = np.uint64(whole_of(found))
                hold(name)  # or another name might come to lie at this address
                put_item(addresses[KEYS], k, name)
                seen[0, k], seen[1, k] = name, place
        number = number_in(addresses, addresses[VALUE])
        fine &= (abs(number) <= desk.frame.largest) & (place >= np.uint64(board.intercept))
        top = max(top, place)
        indices[count], values[count] = place, number
        count += number != 0.0
    if board.intercept > 0:  # feature 0; a feature of its name would have to be added to it, and is not `fine`
        indices[count], values[count] = 0, 1.0
        count += 1
    if not fine:
        addresses[VERDICT] = ODD
    elif top >= np.uint64(min(desk.cells.size // desk.width, desk.frame.most)):
        addresses[VERDICT] = GROW
    return count, fresh, top + 1.0


@register_jitable
def _label(board, y):
    """The label as `losses.label` has it; NaN where that one has something to say."""
    if board.classes > 0:
        return 1.0 if y == 1.0 else (-1.0 if (y == -1.0) | (y == 0.0) else math.nan)
    return y if abs(y) <= board.limit else math.nan


@lean
def named_play(engraved, x):
    """ŷ for a dict; NaN with a verdict when it cannot be played here."""
    board = content(engraved)
    if board.alone > 0 and board.holder[0] != 0:
        return math.nan
    desk = board.desk
    count, _, _ = _read(board, x)
    if board.addresses[VERDICT] != FINE:
        return math.nan
    here, values = desk.scratch[ROW_INDICES].view(np.uint64)[:count], desk.scratch[ROW_VALUES, :count]
    return min(max(played(desk, here, values), -desk.bound), desk.bound)


@lean
def named_round(engraved, x, y, weight):
    """Play, settle and learn a dict: the number of its names that are new, or NaN with a verdict and nothing changed."""
    board = content(engraved)
    if board.alone > 0 and board.holder[0] != 0:
        return math.nan
    desk = board.desk
    count, fresh, top = _read(board, x)
    target = _label(board, y)
    if board.addresses[VERDICT] != FINE or (board.alone > 0 and fresh > 0):
        return math.nan
    if not (target == target and 0.0 <= weight <= LARGEST):
        board.addresses[VERDICT] = ODD
        return math.nan
    here, values = desk.scratch[ROW_INDICES].view(np.uint64)[:count], desk.scratch[ROW_VALUES, :count]
    learned(desk, here, values, top, target, weight)
    if desk.scalars[CODE] != FINE:
        desk.scalars[CODE], board.addresses[VERDICT] = FINE, ODD
        return math.nan
    return float(fresh)


class NamedRow:
    """Single rounds of a state on dicts whose names have the indices given by `names`.

    >>> from burkholder.learning import ledger
    >>> from burkholder.functions.linear import Linear
    >>> from burkholder.potentials import SquareRoot
    >>> state = LinearState(Linear("AdaGrad", SquareRoot(), "coordinates", "gradient"))
    >>> row = NamedRow(state, {}, losses.get("absolute"), bound=1.0, book=ledger.empty())
    >>> row.play({"age": 3.0, "height": 1.8})
    0.0
    >>> row.learn({"age": 3.0, "height": 1.8}, 1.0, weight=1.0)  # two names to write down: they have places 0 and 1
    2.0
    >>> row.play({"age": "three"})
    nan
    """

    def __init__(
        self,
        state: LinearState,
        names: dict[Any, int],
        loss: Any,
        bound: float,
        book: np.ndarray,
        intercept: bool = False,
        lock: Any = None,
    ) -> None:
        self.state, self.names, self.loss, self.bound, self.book = state, names, loss, float(bound), book
        self.intercept, self._lock = bool(intercept), lock
        self._holder = holder(lock)
        self._board = self._written()
        words = -(-engrave(self._board, np.zeros(0, np.uint64)) // 8)
        self._blocks = np.zeros((2, words), np.uint64)  # for the caller who holds the lock, and for the one who does not
        self._engrave()
        state.followers.append(WeakMethod(self._renew))  # the state outlives us, and is not kept alive by us
        kind = typeof(self._board)
        self._held, self._free = (int(block.ctypes.data) for block in self._blocks)
        self._play: Any = named_play.compile((Engraved(kind), Borrowed()))  # type: ignore[attr-defined]
        self._round: Any = None
        self.glance: Any = partial(self._play, self._free)
        self.step: Any = None  # from the first round on

    def _written(self) -> Board:
        state = self.state
        self._keys: list[Any] = [None] * state.scratch.shape[1]  # holds on to the names whose addresses are in `seen`
        return Board(
            state.desk(self.loss, self.bound, self.book),
            addresses_of(self.names, self._keys),
            np.zeros((2, len(self._keys)), np.uint64),
            int(self.intercept),
            int(losses.is_classification(self.loss)),
            min(self.bound, LARGEST) if losses.has_minimiser(self.loss) else LARGEST,
            0,
            self._holder,
        )

    def _engrave(self) -> None:
        for alone, block in enumerate(self._blocks):
            engrave(self._board._replace(alone=alone), block)

    def _renew(self) -> None:
        """Write everything down anew: whenever the state has made room, and so in the hands of whoever holds the lock."""
        self._board = self._written()
        self._engrave()

    def play(self, x: dict[Any, Any]) -> float:
        """ŷ; NaN when x must go the long way round."""
        yhat = self._play(self._held, x)
        while yhat != yhat and self._mend(x):
            yhat = self._play(self._held, x)
        return yhat

    def learn(self, x: dict[Any, Any], y: Any, weight: Any) -> float:
        """One round; how many names of x are new, in the order of x. NaN, and nothing learned: the long way round."""
        new = (self._round or self._open())(self._held, x, y, weight)
        while new != new and self._mend(x):
            new = self._round(self._held, x, y, weight)
        return new

    def _open(self) -> Any:
        signature = (Engraved(typeof(self._board)), Borrowed(), types.float64, types.float64)
        self._round = named_round.compile(signature)  # type: ignore[attr-defined]
        self.step = partial(self._round, self._free)
        return self._round

    def _mend(self, x: dict[Any, Any]) -> bool:
        """Make room for x; False when that is not what was wrong."""
        verdict = self._board.addresses[VERDICT]
        if verdict == WIDE:
            self.state.reserve(len(x) + 1)
        elif verdict == GROW:
            self.state.grow(len(self.names) + sum(name not in self.names for name in x) - 1)
        return bool(verdict in (WIDE, GROW))
