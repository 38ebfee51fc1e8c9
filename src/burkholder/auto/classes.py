"""The compiled loops for several classes: the features of a row are scaled once, and every class learns from them.

All classes see the same rows, so names, slots, heights, means, spreads and counts are the same for each: they are
kept once. What belongs to a class alone has the class as its first axis; class 0 is the one that was never met.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.auto import features, kernel
from burkholder.auto.plan import Plan
from burkholder.auto.state import FEATURES, HEAVY, LEARNT_LOSS, LOSS, ROUNDS, WEIGHT_SUM, State, Work, aligned, copied, grown, new_work
from burkholder.machine.compiling import inlined, uncounted
from burkholder.machine.vectors import load8, put

OWN = (
    "scalars",
    "lanes",
    "bias",
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
    "likelihood",
)
OWN_WORK = ("out", "entry", "played", "exact", "reach", "step", "shrink", "mixed", "other", "columns", "spread")
LEAST = 1e-13  # no class is given less


@inlined
def of_class(many, c):  # type: ignore[no-untyped-def]
    """The state of one class: its own arrays, and the shared ones."""
    return State(
        many.scalars[c],
        many.stat,
        many.lanes[c],
        many.slot_of,
        many.dense,
        many.dense_count,
        many.v0,
        many.drift,
        many.wide,
        many.radii,
        many.bias[c],
        many.jump[c],
        many.clip_cost[c],
        many.residual[c],
        many.full_w[c],
        many.full_p[c],
        many.full_u[c],
        many.full_d[c],
        many.full_drift[c],
        many.full_variance[c],
        many.full_spec,
        many.stack_w[c],
        many.stack_p[c],
        many.weight[c],
        many.prior,
        many.lane_loss[c],
        many.likelihood[c],
    )


@inlined
def work_of(works, c):  # type: ignore[no-untyped-def]
    """The scratch of one class: what was made of the row is shared."""
    return Work(
        works.slot,
        works.raw,
        works.hat,
        works.tilde,
        works.waited,
        works.mark,
        works.stamp,
        works.out[c],
        works.entry[c],
        works.played[c],
        works.exact[c],
        works.reach[c],
        works.step[c],
        works.shrink[c],
        works.mixed[c],
        works.other[c],
        works.ratio,
        works.inverse,
        works.columns[c],
        works.spread[c],
        works.second,
        works.gain,
        works.squares,
        works.narrow,
        works.bet,
        works.stake,
    )


@inlined
def log_sigmoid(m):  # type: ignore[no-untyped-def]
    """ln σ(m)."""
    return min(m, 0.0) - math.log1p(math.exp(-abs(m)))


@inlined
def three_ways(margins, known, blend, ways):  # type: ignore[no-untyped-def]
    """Probabilities of the classes 1, …, known into ways, none below LEAST: e^score over their sum, the score being
    ln σ(m), or m, or a·m + b·ln σ(m) with the learned (a, b) = blend[:2]."""
    for way in range(3):
        a = 0.0 if way == 0 else 1.0 if way == 1 else blend[0]
        b = 1.0 if way == 0 else 0.0 if way == 1 else blend[1]
        top = -math.inf
        for c in range(1, known + 1):
            ways[way, c] = a * margins[c] + b * log_sigmoid(margins[c])
            top = max(top, ways[way, c])
        total = 0.0
        for c in range(1, known + 1):
            ways[way, c] = math.exp(ways[way, c] - top)
            total += ways[way, c]
        again = 0.0
        for c in range(1, known + 1):
            ways[way, c] = max(ways[way, c] / total, LEAST)
            again += ways[way, c]
        for c in range(1, known + 1):
            ways[way, c] /= again


@inlined
def learn_blend(margins, known, label, weight, ways, blend):  # type: ignore[no-untyped-def]
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


@inlined
def trust(lost, shares):  # type: ignore[no-untyped-def]
    """Bayes' weights of the ways, from their cumulative losses."""
    least, total = min(lost[0], min(lost[1], lost[2])), 0.0
    for way in range(3):
        shares[way] = math.exp(least - lost[way])
        total += shares[way]
    for way in range(3):
        shares[way] /= total


@uncounted
def predict_classes(plan, many, works, known, blend, indices, values, margins, ways):  # type: ignore[no-untyped-def]
    """Every way's probabilities for one row; nothing but scratch is written."""
    m = features.gather(plan, of_class(many, 0), work_of(works, 0), indices, values, 0, indices.shape[0], False)
    features.scale(plan, of_class(many, 0), work_of(works, 0), m, False)
    for c in range(1, known + 1):
        margins[c] = math.log(kernel.play(plan, of_class(many, c), work_of(works, c), m))
    three_ways(margins, known, blend, ways)


@uncounted
def run_classes(  # type: ignore[no-untyped-def]
    plan, loss, many, works, known, blend, indptr, indices, values, label, weight, lost, margins, ways, shares, found, paid
):
    """Predict, then learn, row by row. label: 1, …, known; lost: the ways' cumulative losses, changed, as is blend;
    found: the likeliest class of each row, paid: its unweighted log loss."""
    first, scratch = of_class(many, 0), work_of(works, 0)
    for t in range(label.shape[0]):
        before = int(first.scalars[FEATURES])
        m = features.gather(plan, first, scratch, indices, values, indptr[t], indptr[t + 1], True)
        features.scale(plan, first, scratch, m, True)
        after = int(first.scalars[FEATURES])
        for c in range(known + 1):
            state = of_class(many, c)
            state.scalars[FEATURES] = first.scalars[FEATURES]
            for slot in range(before, after):
                put(state.lanes, slot, 8, load8(state.v0, 0))
            margins[c] = math.log(kernel.play(plan, state, work_of(works, c), m))
        three_ways(margins, known, blend, ways)
        trust(lost, shares)
        best, at, likely = -1.0, 1, 0.0
        for c in range(1, known + 1):
            p = shares[0] * ways[0, c] + shares[1] * ways[1, c] + shares[2] * ways[2, c]
            if p > best:
                best, at = p, c
            if c == label[t]:
                likely = p
        found[t], paid[t] = at, -math.log(likely)
        for way in range(3):
            lost[way] -= weight[t] * math.log(ways[way, label[t]])
        learn_blend(margins, known, label[t], weight[t], ways, blend)
        for c in range(known + 1):
            state = of_class(many, c)
            y = 1.0 if c == label[t] else -1.0
            kernel.learn(plan, loss, state, work_of(works, c), m, margins[c], y, weight[t])
            cost = weight[t] * (math.log1p(math.exp(-abs(margins[c]))) + max(-y * margins[c], 0.0))
            state.scalars[LOSS] += cost
            state.scalars[LEARNT_LOSS] += cost
            state.scalars[WEIGHT_SUM] += weight[t]
            if weight[t] > 1.0:
                state.scalars[HEAVY] += 1.0
            state.scalars[ROUNDS] += 1.0


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
    lanes = many.lanes
    if len(larger.stat) > lanes.shape[1]:
        lanes = aligned(len(lanes), len(larger.stat), lanes.shape[2])
        lanes[:, : many.lanes.shape[1]] = many.lanes
    return many._replace(stat=larger.stat, slot_of=larger.slot_of, dense=larger.dense, dense_count=larger.dense_count, lanes=lanes)
