"""Clicks and plays: only what was chosen is known, so that what was not is sampled."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.matrix.ids import Id, checked_pair, items

TRIES = 50  # to find a column that this row has not chosen


class Negatives:
    """For each choice so many columns met before that this row has not chosen, each alike; seeded.

    >>> sampler = Negatives(seed=1)
    >>> sampler.rounds("ann", "alien"), sampler.rounds("bob", "brazil")
    ([('ann', 'alien', 1.0)], [('bob', 'brazil', 1.0), ('bob', 'alien', 0.0)])
    """

    def __init__(self, count: int = 1, seed: int = 0) -> None:
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 0 <= count <= 1000:
            raise BadInput("count", count, "give a whole number from 0 to 1000")
        if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
            raise BadInput("seed", seed, "give a whole number ≥ 0")
        self.count, self._rng = int(count), np.random.default_rng(seed)
        self._columns: list[Id] = []
        self._met: set[Id] = set()
        self._chosen: dict[Id, set[Id]] = {}

    def rounds(self, row: Id, column: Id) -> list[tuple[Id, Id, float]]:
        """The choice, labelled 1, then what was not chosen, labelled 0: rounds for a learner of ratings in [0, 1]."""
        row, column = checked_pair((row, column))
        chosen = self._chosen.setdefault(row, set())
        chosen.add(column)
        if column not in self._met:
            self._met.add(column)
            self._columns.append(column)
        found: list[tuple[Id, Id, float]] = [(row, column, 1.0)]
        for _ in range(TRIES * self.count):
            if len(found) > self.count or len(chosen) >= len(self._columns):
                break
            other = self._columns[int(self._rng.integers(len(self._columns)))]
            if other not in chosen:
                found.append((row, other, 0.0))
        return found


def clicks(rows: Any, columns: Any, negatives: int = 1, seed: int = 0) -> tuple[list[Id], list[Id], list[float]]:
    """(rows, columns, labels): a stream of choices as ratings in [0, 1], for `MatrixCompletion(0, 1).run`.

    What was sampled counts as rated, so tell `top` what to leave out. The learner's certificate is then about these rounds: the loss
    on choices and on what was sampled beside them.

    >>> import burkholder as bk
    >>> songs = bk.MatrixCompletion(0, 1)
    >>> run = songs.run(*bk.clicks(["ann", "bob", "ann", "cid"], ["a", "a", "b", "a"], seed=3))
    >>> songs.rounds, songs.top("cid", 1, without=["a"])[0][0]
    (5, 'b')
    """
    sampler = Negatives(negatives, seed)
    who, what = list(items(rows)), list(items(columns))
    if len(who) != len(what):
        raise BadInput("columns", f"{len(what)} ids", f"there are {len(who)} rows: give one column for each")
    found = [one for pair in zip(who, what) for one in sampler.rounds(*pair)]
    return [one[0] for one in found], [one[1] for one in found], [one[2] for one in found]
