"""The compiled loops for several classes: the features of a row are scaled once, and every class learns from them.

All classes see the same rows, so names, slots, heights, means, spreads and counts are the same for each: they are
kept once. What belongs to a class alone has the class as its first axis; class 0 is the one that was never met.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.auto import bayes, features, kernel, pooling, softmax
from burkholder.auto.plan import Plan
from burkholder.auto.room import plain, plan_of, state_of, work_of
from burkholder.auto.state import (
    FEATURES,
    HEAVY,
    LEARNT_LOSS,
    LEARNT_REST,
    LOSS,
    LOSS_REST,
    ROUNDS,
    WEIGHT_SUM,
    State,
    Work,
    aligned,
    copied,
    grown,
    new_work,
    widened,
)
from burkholder.auto.sums import add
from burkholder.losses import Logistic
from burkholder.machine.compiling import inlined, uncounted
from burkholder.machine.memory import Cube, Matrix, Vector, Whole, named, place, table
from burkholder.machine.vectors import load8, put

OWN = (
    "scalars",
    "lanes",
    "bias",
    "bias_rest",
    "bias_size",
    "push",
    "strain",
    "jump",
    "clip_cost",
    "residual",
    "full_w",
    "full_p",
    "full_u",
    "full_d",
    "full_drift",
    "full_variance",
    "stack_w",
    "stack_p",
    "weight",
    "lane_loss",
    "lane_rest",
    "likelihood",
)
OWN_WORK = ("out", "entry", "played", "exact", "reach", "step", "shrink", "mixed", "other", "columns", "spread")
Tables = tuple[Any, Any, Any, Any]  # of the plan, of the mixing, and of every class's state and scratch
WAYS = pooling.JOINED + 1
PRIOR = (*[0.5 / pooling.JOINED] * pooling.JOINED, 0.5)  # of the ways; the pool has half of it


class Mixing(NamedTuple):
    """How the margins of the classes become probabilities: what is learned of it, and scratch."""

    blend: Vector  # a, b, and their precision (aa, ab, bb)
    lost: Vector  # the ways' cumulative losses, then what rounding took from each (see `sums`)
    shares: Vector  # their weights
    margins: Vector  # one a class
    ways: Matrix  # each way's probabilities, and what they say together
    soft: Cube  # classes × features × COLUMNS: the softmax lanes
    pool: Matrix  # see `pooling`
    logs: Matrix
    desk: Matrix
    place: Whole  # what the Newton lane sees of a row
    row: Matrix


mixing_of = named(Mixing)


@inlined
def log_sigmoid(m):
    """ln σ(m)."""
    return min(m, 0.0) - math.log1p(math.exp(-abs(m)))


@inlined
def every_way(mixing, known):
    """Probabilities of the classes 1, …, known into ways: e^score over their sum, the score being ln σ(m), or m, or
    a·m + b·ln σ(m) with the learned (a, b) = blend[:2], or the softmax lanes', which stand there, or the pool's."""
    margins, blend, ways = mixing.margins, mixing.blend, mixing.ways
    for way in range(pooling.JOINED):
        a = 0.0 if way == 0 else 1.0 if way == 1 else blend[0]
        b = 1.0 if way == 0 else 0.0 if way == 1 else blend[1]
        if way < softmax.FIRST:
            for c in range(1, known + 1):
                ways[way, c] = a * margins[c] + b * log_sigmoid(margins[c])
        bayes.normalise(ways, way, known)
    pooling.score(mixing.pool, mixing.logs, ways, known)
    bayes.normalise(ways, pooling.JOINED, known)


@inlined
def learn_blend(margins, known, label, weight, ways, blend):
    """One Newton step of (a, b) on the log loss; blend[2:] is the precision, to which the curvature is added."""
    x, z = -margins[label], -log_sigmoid(margins[label])
    mean, other, xx, xz, zz = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(1, known + 1):
        p, m, s = ways[2, c], margins[c], log_sigmoid(margins[c])
        mean, other = mean + p * m, other + p * s
        xx, xz, zz = xx + p * m * m, xz + p * m * s, zz + p * s * s
    blend[2] += weight * max(xx - mean * mean, 0.0)
    blend[3] += weight * (xz - mean * other)
    blend[4] += weight * max(zz - other * other, 0.0)
    x, z = weight * (x + mean), weight * (z + other)
    determinant = blend[2] * blend[4] - blend[3] * blend[3]
    blend[0] -= (blend[4] * x - blend[3] * z) / determinant
    blend[1] -= (blend[2] * z - blend[3] * x) / determinant


@uncounted
def run_classes(plans, mixings, states, works, known, indptr, indices, values, label, weight, likely, found, paid, learning):
    """Predict, then learn, row by row. plans, mixings: tables of one record; states, works: of one a class.
    likely: every class's probability, row by row (left alone if empty); found: the likeliest class of each row (1, …, known, as
    are labels), paid: its unweighted log loss. Without `learning` only likely and scratch are written."""
    plan, mixing, first, scratch = plan_of(plans, 0), mixing_of(mixings, 0), state_of(states, 0), work_of(works, 0)
    ids, numbers = place(indices), place(values)
    margins, ways, lost, blend = mixing.margins, mixing.ways, mixing.lost, mixing.blend
    for t in range(indptr.shape[0] - 1):
        before = int(first.scalars[FEATURES])
        m = features.gather(plan, first, scratch, ids, numbers, indptr[t], indptr[t + 1], learning)
        features.scale(plan, first, scratch, m, learning)
        after = int(first.scalars[FEATURES])
        for c in range(0 if learning else 1, known + 1):
            state = state_of(states, c)
            if learning:
                state.scalars[FEATURES] = first.scalars[FEATURES]
                for slot in range(before, after):
                    put(state.lanes, slot, 8, load8(state.v0, 0))
            margins[c] = math.log(kernel.play(plan, state, work_of(works, c), m))
        rounds = first.scalars[ROUNDS]
        count = softmax.gather(plan, mixing.soft, scratch, m, before, after, rounds, mixing.place, mixing.row)
        softmax.score(mixing.soft, scratch, m, known, ways, mixing.place, mixing.row, count)
        every_way(mixing, known)
        likeliest = bayes.mix(PRIOR, lost, mixing.shares, ways, known)
        if likely.shape[0] > 0:
            for c in range(known):
                likely[t, c] = ways[WAYS, c + 1]
        if not learning:
            continue
        found[t], paid[t] = likeliest, -math.log(ways[WAYS, label[t]])
        bayes.charge(lost, ways, label[t], weight[t])
        pooling.learn(mixing.pool, mixing.logs, ways, mixing.desk, known, label[t], weight[t])
        learn_blend(margins, known, label[t], weight[t], ways, blend)
        softmax.learn(mixing.soft, scratch, m, known, label[t], weight[t], ways, mixing.place, mixing.row, count)
        softmax.keep(mixing.soft, after, mixing.row)
        for c in range(known + 1):
            state = state_of(states, c)
            y = 1.0 if c == label[t] else -1.0
            kernel.learn(plan, Logistic(), state, work_of(works, c), m, margins[c], y, weight[t])
            cost = weight[t] * (math.log1p(math.exp(-abs(margins[c]))) + max(-y * margins[c], 0.0))
            add(state.scalars, LOSS, state.scalars, LOSS_REST, cost)
            add(state.scalars, LEARNT_LOSS, state.scalars, LEARNT_REST, cost)
            state.scalars[WEIGHT_SUM] += weight[t]
            if weight[t] > 1.0:
                state.scalars[HEAVY] += 1.0
            state.scalars[ROUNDS] += 1.0


def tables_of(plan: Plan, mixing: Mixing, many: Any, works: Any) -> Tables:
    """What the loop reads, for every class there is room for; whoever asks keeps the arrays behind it."""
    classes = range(len(many.scalars))
    return table(plan), table(mixing), table(*[one_of(many, c) for c in classes]), table(*[_one_work(works, c) for c in classes])


def _one_work(works: Any, c: int) -> Work:
    """The scratch of one class: what was made of the row is shared."""
    return Work(**{name: getattr(works, name)[c] if name in OWN_WORK else getattr(works, name) for name in Work._fields})


def new_mixing(blend: Any, lost: Any, soft: Any, pool: Any) -> Mixing:
    """With what was learned so far; there is room for as many classes as `soft` has."""
    room = len(soft)
    shares, margins, ways = np.empty(WAYS), np.empty(room), np.empty((WAYS + 1, room))
    logs, desk = np.empty((pooling.JOINED, room)), np.empty((3, pooling.JOINED))
    longest = soft.shape[1] + 16  # as many as a row touches, and as there are
    place, row = np.zeros(longest, np.int64), np.zeros((2, longest))
    learned = np.array(blend, np.float64), np.array(lost, np.float64)
    return Mixing(*learned, shares, margins, ways, soft, copied(pool), logs, desk, place, row)


def roomy_soft(soft: Any, classes: int, slots: int) -> Any:
    """The softmax lanes with room for so many classes and features."""
    if soft.shape[:2] == (classes, slots):
        return soft
    larger = aligned(classes, slots, softmax.COLUMNS)
    larger[: soft.shape[0], : soft.shape[1]] = soft
    return larger


def learn_classes(
    tables: Tables, known: int, rows: kernel.Rows, label: Any, weight: Any, likely: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(likeliest classes, unweighted log losses) of rows (indptr, indices, values) with classes 1, …, known: each predicted before
    it is learned. `likely`, rows × known, is filled with what was said of every class."""
    labels = plain(label, np.int64)
    found, paid = np.empty(len(labels), np.int64), np.empty(len(labels))
    said = np.empty((0, 0)) if likely is None else likely
    run_classes(*tables, known, *kernel.plain_rows(rows), labels, plain(weight, np.float64), said, found, paid, True)
    return found, paid


def predict_classes(tables: Tables, known: int, rows: kernel.Rows) -> NDArray[np.float64]:
    """A row of probabilities, of the classes 1, …, known, for each of the rows; what was learned stays as it is, bit for bit."""
    indptr, indices, values = kernel.plain_rows(rows)
    likely, nothing = np.empty((len(indptr) - 1, known)), np.empty(0)
    run_classes(*tables, known, indptr, indices, values, np.empty(0, np.int64), nothing, likely, np.empty(0, np.int64), nothing, False)
    return likely


def many_of(state: State, room: int) -> Any:
    """One state as class 0 of `room` places."""
    stacked = {name: copied(np.repeat(getattr(state, name)[None], room, axis=0)) for name in OWN}
    return State(**{**state._asdict(), **stacked})


def one_of(many: Any, c: int) -> State:
    """The state of one class, as views."""
    return State(**{name: getattr(many, name)[c] if name in OWN else getattr(many, name) for name in State._fields})


def works_of(plan: Plan, room: int, slots: int, touched: int) -> Any:
    """Scratch for `room` classes."""
    work = new_work(plan, slots, touched)
    return Work(**{**work._asdict(), **{name: copied(np.repeat(getattr(work, name)[None], room, axis=0)) for name in OWN_WORK}})


def more_classes(many: Any) -> Any:
    """The same with twice the room."""
    return many._replace(**{name: copied(np.concatenate([getattr(many, name)] * 2)) for name in OWN})


def more_features(plan: Plan, many: Any, slots: int, ids: int) -> Any:
    """The same with room for more features."""
    larger = grown(plan, one_of(many, 0), slots, ids)
    own: dict[str, Any] = {}
    if len(larger.stat) > many.lanes.shape[1]:
        lanes = aligned(len(many.lanes), len(larger.stat), many.lanes.shape[2])
        lanes[:, : many.lanes.shape[1]] = many.lanes
        own = {"lanes": lanes} | widened(plan, many, len(larger.stat))
    return many._replace(stat=larger.stat, slot_of=larger.slot_of, dense=larger.dense, dense_count=larger.dense_count, **own)
