"""What an Auto remembers: plain arrays, so that it can be compiled, grown, saved and resumed bit for bit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.plan import Plan, full_lane_specs, lane_count, prior

# columns of `stat`, one row a feature
HEIGHT, COUNT, MEAN, SPREAD, DENSE, LAST = range(6)
STATS = 6

# places in `scalars`
(
    ROUNDS, LOSS, FEATURES, UNIT, LOW, HIGH, LABELS, LABEL_SQUARES, RADIUS_SCALE, ETA, GAP, SURPRISE,
    SURPRISES, CLIPPED_LABELS, LEARNT_LOSS, FULL_ON, HEAVY, WEIGHT_SUM,
) = range(18)
SCALARS = 18

GROWS = ("stat", "lanes", "slot_of", "dense")


class State(NamedTuple):
    """All that changes. `lanes` holds, a feature: weights and variances of the diagonal lanes, then g and s."""

    scalars: NDArray[np.float64]
    stat: NDArray[np.float64]  # features × STATS
    lanes: NDArray[np.float64]  # features × 2(diagonal + tangent)
    slot_of: NDArray[np.int32]  # feature id → row of `stat` and `lanes`, −1 unseen
    dense: NDArray[np.int64]
    dense_count: NDArray[np.int64]
    bias: NDArray[np.float64]  # Σδŷ of each tangent lane (the `a` of its potential)
    jump: NDArray[np.float64]  # what raising the radius cost each tangent lane
    residual: NDArray[np.float64]  # running mean |residual| of each lane
    full_w: NDArray[np.float64]
    full_p: NDArray[np.float64]
    full_spec: NDArray[np.float64]
    stack_w: NDArray[np.float64]
    stack_p: NDArray[np.float64]
    weight: NDArray[np.float64]  # aggregation weight of each lane
    prior: NDArray[np.float64]
    lane_loss: NDArray[np.float64]  # cumulative loss of each lane
    linear: NDArray[np.float64]  # cumulative linearised loss of each lane (AdaHedge)


class Work(NamedTuple):
    """Scratch for one row; never part of the state."""

    slot: NDArray[np.int64]
    raw: NDArray[np.float64]
    hat: NDArray[np.float64]
    tilde: NDArray[np.float64]
    fresh: NDArray[np.float64]
    mark: NDArray[np.int64]
    place: NDArray[np.int64]
    stamp: NDArray[np.int64]
    out: NDArray[np.float64]  # each lane's own output
    entry: NDArray[np.float64]  # each lane's output, clipped: what the stack reads
    played: NDArray[np.float64]  # each lane's output as aggregated
    spread: NDArray[np.float64]  # ΣVx² of each diagonal lane
    step: NDArray[np.float64]
    curve: NDArray[np.float64]
    mixed: NDArray[np.float64]
    column: NDArray[np.float64]  # Px of a full-covariance update


def width(plan: Plan) -> int:
    return 2 * (len(plan.kinds) + len(plan.radii))


def new_state(plan: Plan, features: int = 64, ids: int = 64) -> State:
    """An empty state: variances at their prior, the stack at the average of the lanes."""
    lanes = lane_count(plan)
    stacks, inputs = len(plan.stack_kinds), lanes - len(plan.stack_kinds)
    specs = np.array(full_lane_specs(plan), dtype=np.float64).reshape(plan.full_lanes, 5)
    side = plan.full_features + 1
    full_p = np.zeros((plan.full_lanes, side, side))
    for k in range(plan.full_lanes):
        np.fill_diagonal(full_p[k], specs[k, 1])
    scalars = np.zeros(SCALARS)
    scalars[FEATURES] = 1.0  # slot 0 is the intercept
    scalars[UNIT] = 1.0
    scalars[RADIUS_SCALE] = 1.0
    scalars[FULL_ON] = float(plan.full_lanes > 0)
    stack_p = np.zeros((stacks, inputs, inputs))
    stack_p[:] = np.eye(inputs)
    return State(
        scalars=scalars, stat=np.zeros((features, STATS)), lanes=fresh_lanes(plan, features),
        slot_of=np.full(ids, -1, np.int32), dense=np.zeros(features, np.int64),
        dense_count=np.zeros(1, np.int64), bias=np.zeros(len(plan.radii)), jump=np.zeros(len(plan.radii)),
        residual=np.zeros(lanes), full_w=np.zeros((plan.full_lanes, side)), full_p=full_p, full_spec=specs,
        stack_w=np.full((stacks, inputs), 1.0 / inputs), stack_p=stack_p,
        weight=np.array(prior(plan)), prior=np.array(prior(plan)), lane_loss=np.zeros(lanes),
        linear=np.zeros(lanes),
    )


def fresh_lanes(plan: Plan, features: int) -> NDArray[np.float64]:
    """Rows of unseen features: weight 0, variance v₀, g = s = 0."""
    hat, tilde = len(plan.hat_v0), len(plan.tilde_v0)
    rows = np.zeros((features, width(plan)))
    rows[:, hat:2 * hat] = plan.hat_v0
    rows[:, 2 * hat + tilde:2 * (hat + tilde)] = plan.tilde_v0
    return rows


def new_work(plan: Plan, features: int, touched: int) -> Work:
    lanes = lane_count(plan)
    return Work(
        slot=np.zeros(touched, np.int64), raw=np.zeros(touched), hat=np.zeros(touched),
        tilde=np.zeros(touched), fresh=np.zeros((touched, STATS)), mark=np.zeros(features, np.int64),
        place=np.zeros(features, np.int64), stamp=np.zeros(1, np.int64), out=np.zeros(lanes),
        entry=np.zeros(lanes), played=np.zeros(lanes), spread=np.zeros(lanes), step=np.zeros(lanes), curve=np.zeros(lanes),
        mixed=np.zeros(lanes + 1), column=np.zeros(max(plan.full_features + 1, lanes)),
    )


def grown(plan: Plan, state: State, features: int, ids: int) -> State:
    """The same state with room for more features (at least doubled, so that growth costs O(1) each)."""
    changes: dict[str, NDArray] = {}
    have = len(state.stat)
    if features > have:
        size = max(features, 2 * have)
        stat = np.zeros((size, STATS))
        stat[:have] = state.stat
        lanes = fresh_lanes(plan, size)
        lanes[:have] = state.lanes
        dense = np.zeros(size, np.int64)
        dense[:have] = state.dense
        changes |= {"stat": stat, "lanes": lanes, "dense": dense}
    if ids > len(state.slot_of):
        slot_of = np.full(max(ids, 2 * len(state.slot_of)), -1, np.int32)
        slot_of[: len(state.slot_of)] = state.slot_of
        changes["slot_of"] = slot_of
    return state._replace(**changes) if changes else state
