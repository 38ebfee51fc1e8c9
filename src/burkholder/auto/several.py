"""What follows the linear lanes of several classes in every round: trees, neighbours, discriminants, a pool. One compiled loop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.auto import bayes, discriminants, grove, kernel, pooling
from burkholder.auto.discriminants import Looks, View, new_looks, new_view, roomier
from burkholder.auto.forest import ROUND, WIDEST
from burkholder.auto.grove import Grove, Walk, most_nodes, new_grove, new_walk, roomy, wider
from burkholder.auto.nonlinear import clear, scatter
from burkholder.auto.room import plain
from burkholder.auto.state import aligned, copied, padded
from burkholder.auto.window import lately_of
from burkholder.learning.keeping import Kept
from burkholder.machine.compiling import uncounted
from burkholder.machine.memory import Matrix, Vector, named, place, table
from burkholder.machine.vectors import all8, put

NAMES = ("linear lanes", "trees alone", "trees on the linear lanes", "neighbours in the leaves", "neighbours", "discriminants", "pool")
LINEAR, ALONE, BASED, LEAVES, LAST, LOOKS, POOL = range(len(NAMES))
WAYS = len(NAMES)
PRIOR = (0.3, 0.05, 0.075, 0.025, 0.025, 0.025, 0.5)
PRECISION = 30.0  # of the pool
START = 8  # rounds in which the linear lanes are alone: enough to see whether rows are wide


class Meeting(NamedTuple):
    """How all of them become probabilities."""

    pool: Matrix  # see `pooling`
    lost: Vector  # the ways' cumulative losses, as `bayes` has them
    retired: Vector  # 1 once there were too many features: from then on all play what the linear lanes play


class Desk(NamedTuple):
    """Scratch for one row."""

    ways: Matrix
    logs: Matrix
    newton: Matrix
    shares: Vector


grove_of, walk_of, meeting_of, desk_of = named(Grove), named(Walk), named(Meeting), named(Desk)
looks_of, view_of = named(Looks), named(View)


@uncounted
def run_several(
    groves,
    walks,
    looking,
    views,
    meetings,
    desks,
    known,
    rounds,
    most,
    slots,
    indptr,
    indices,
    values,
    base,
    label,
    weight,
    likely,
    found,
    paid,
    learning,
    fresh,
):
    """Predict, then learn, row by row, after the linear lanes did: base, rows × known, is what they said. As `classes.run_classes`;
    `most` is how many nodes a tree may have. A class that is `fresh` is counted, but teaches no choice: nobody could have known it."""
    trees, walk, meeting, desk = grove_of(groves, 0), walk_of(walks, 0), meeting_of(meetings, 0), desk_of(desks, 0)
    looks, view = looks_of(looking, 0), view_of(views, 0)
    slot_of, ids, numbers, ways, lost = place(slots), place(indices), place(values), desk.ways, meeting.lost
    for t in range(base.shape[0]):
        start, stop, top, wide = indptr[t], indptr[t + 1], 0, False
        now, few = rounds + (float(t) if learning else 0.0), False
        quiet = meeting.retired[0] == 1.0
        for c in range(known):
            walk.base[0, c + 1], walk.base[1, c + 1], ways[LINEAR, c + 1] = base[t, c], 1.0 / float(known), base[t, c]
        bayes.level(ways, LINEAR, known)
        if quiet:
            for way in range(1, WAYS):
                for c in range(1, known + 1):
                    ways[way, c] = ways[LINEAR, c]
        else:
            top, wide = scatter(walk, slot_of, ids, numbers, start, stop)
            for c in range(0, ways.shape[1], 8):
                put(ways, ALONE, c, all8(0.0))
                put(ways, BASED, c, all8(0.0))
            for k in range(trees.used.shape[0]):
                grove.forecast(trees, walk, k, ways, BASED if k % 2 == 0 else ALONE)
            grove.vote(trees, walk, now, ways, LEAVES)
            for way in range(ALONE, LOOKS):
                bayes.level(ways, way, known)
            seen = int(trees.seen[0])
            few = seen <= discriminants.MOST
            if few:
                discriminants.score(looks, view, walk.x, seen, known, ways, LOOKS)
                bayes.normalise(ways, LOOKS, known)
            else:
                for c in range(1, known + 1):
                    ways[LOOKS, c] = ways[LINEAR, c]
            pooling.score(meeting.pool, desk.logs, ways, known)
            bayes.normalise(ways, POOL, known)
        likeliest = bayes.mix(PRIOR, lost, desk.shares, ways, known)
        for c in range(known):
            likely[t, c] = ways[WAYS, c + 1]
        if learning:
            found[t], paid[t] = likeliest, -math.log(ways[WAYS, label[t]])
            if not fresh:
                bayes.charge(lost, ways, label[t], weight[t])
            if not quiet:
                trees.seen[0] = max(trees.seen[0], float(top))  # only now: what is new in a row has no part in what is played
                if not fresh:
                    if few:
                        discriminants.temper(looks, view, known, ways, LOOKS, label[t], weight[t])
                    pooling.learn(meeting.pool, desk.logs, ways, desk.newton, known, label[t], weight[t])
                if few and int(trees.seen[0]) <= discriminants.MOST:
                    discriminants.learn(looks, view, walk.x, int(trees.seen[0]), label[t], weight[t])
                grove.remember(trees, walk, label[t], weight[t], now)
                for k in range(trees.used.shape[0]):
                    grove.learn(trees, walk, k, label[t], weight[t], fresh)
                    grove.hold(trees, walk, k, now, most)
            if wide:
                meeting.retired[0] = 1.0
        if not quiet:
            clear(walk, slot_of, ids, start, stop)


class Several:
    """The arrays of the trees and of the pool, and the calls of their loop."""

    def __init__(self, trees: int, classes: int, lost: float) -> None:
        """After rounds in which every way lost what the linear lanes lost."""
        self.grove, self.looks = new_grove(trees, padded(classes + 1)), new_looks(padded(classes + 1), 8)
        told = aligned(2 * WAYS)
        told[:WAYS] = lost
        self.meeting = Meeting(pooling.new_pool(WAYS - 1, PRECISION), told, np.zeros(1))
        self._ready()

    def _ready(self) -> None:
        room = self.grove.found.shape[1]
        self._walk, self._view = new_walk(self.grove), new_view(self.looks)
        self._desk = Desk(aligned(WAYS + 1, room), aligned(WAYS - 1, room), aligned(3, WAYS - 1), aligned(WAYS))
        self._tables: Any = None

    def add_class(self, classes: int) -> None:
        """Room for so many classes."""
        room = self.grove.found.shape[1]
        if classes + 1 > room:
            self.grove, self.looks = wider(self.grove, 2 * room), roomier(self.looks, 2 * room, len(self.looks.inverse))
            self._ready()

    def learn(
        self, slots: Any, features: int, rows: kernel.Rows, rounds: int, base: NDArray[np.float64], label: Any, weight: Any, fresh: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """(likeliest classes, log losses, probabilities) of rows that the linear lanes have played and learned after so many rounds."""
        if self.meeting.retired[0] == 0.0:
            grown = roomy(self.grove, rounds, len(base), min(features - 1, WIDEST))
            if grown is not self.grove:
                if grown.ring is not self.grove.ring:
                    self._walk = self._walk._replace(lately=lately_of(grown.ring, ROUND))
                self.grove, self._tables = grown, None
            side = min(padded(grown.ring.shape[1] - ROUND), padded(discriminants.MOST + 1))
            if side > len(self.looks.inverse):
                self.looks = roomier(self.looks, len(self.looks.means), side)
                self._ready()
        labels = plain(label, np.int64)
        found, paid, likely = np.empty(len(labels), np.int64), np.empty(len(labels)), np.empty_like(base)
        self._run(slots, rows, rounds, base, labels, plain(weight, np.float64), likely, found, paid, True, fresh)
        if self.meeting.retired[0] == 1.0:
            self._forget()
        return found, paid, likely

    def predict(self, slots: Any, rows: kernel.Rows, rounds: int, base: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probabilities of rows, given the linear lanes'; nothing is learned."""
        likely, nothing, none = np.empty_like(base), np.empty(0), np.empty(0, np.int64)
        self._run(slots, rows, rounds, base, none, nothing, likely, none, nothing, False, False)
        return likely

    def _run(self, slots: Any, rows: kernel.Rows, rounds: int, base: NDArray[np.float64], *rest: Any) -> None:
        if self._tables is None:
            self._tables = tuple(table(part) for part in (self.grove, self._walk, self.looks, self._view, self.meeting, self._desk))
        most = most_nodes(len(self.grove.used), self.grove.found.shape[1])
        given: Any = (base.shape[1], float(rounds), most, slots, *kernel.plain_rows(rows), base, *rest)
        run_several(*self._tables, *given)

    def _forget(self) -> None:
        """Trees that never play again keep no nodes and no rows."""
        if len(self.grove.ring) > 1:
            room = self.grove.found.shape[1]
            self.grove, self.looks = new_grove(len(self.grove.used), room), new_looks(room, 8)
            self._ready()

    # --- saved and copied ------------------------------------------------------------------------------------
    def arrays(self) -> dict[str, NDArray]:
        """Everything that was learned, by name; nodes that are there."""
        own = self._own()
        used = int(self.grove.used.max()) * len(self.grove.used)
        own |= {name: own[name][:used] for name in ("nodes", "found", "hoped", "held")}
        return {name: array.copy() for name, array in own.items()}

    def kept(self) -> Mapping[str, NDArray]:
        """All arrays, for `restore` alone."""
        return Kept(self._own())

    def _own(self) -> dict[str, NDArray]:
        return {name: array for part in (self.grove, self.looks, self.meeting) for name, array in part._asdict().items()}

    def restore(self, arrays: Mapping[str, NDArray]) -> None:
        """Back to what `arrays` gave."""
        self.grove = Grove(**{name: copied(arrays[name]) for name in Grove._fields})
        self.looks = Looks(**{name: copied(arrays[name]) for name in Looks._fields})
        self.meeting = Meeting(**{name: copied(arrays[name]) for name in Meeting._fields})
        self._ready()

    def __getstate__(self) -> dict[str, Any]:
        # addresses of this very learner's arrays must not reach a copy
        return {"arrays": self.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.restore(state["arrays"])
