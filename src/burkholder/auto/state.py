"""What an Auto remembers: plain arrays, so that it can be compiled, grown, saved and resumed bit for bit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.plan import GROUP, RADII, Plan, full_lane_specs, prior

# columns of `stat`, one row a feature: in how many rounds it was nonzero (negative while it counts as dense), mean
# and summed squared deviations of its nonzero values over the height, 1/height, the height, the round it was last seen
COUNT, MEAN, SPREAD, INVERSE, HEIGHT, LAST = range(6)
STATS = 8  # padded to a cache line

# places in `scalars`
(
    ROUNDS,
    LOSS,
    FEATURES,
    UNIT,
    LOW,
    HIGH,
    LABELS,
    LABEL_SQUARES,
    RADIUS_SCALE,
    ETA,
    GAP,
    SURPRISE,
    SURPRISES,
    CLIPPED_LABELS,
    LEARNT_LOSS,
    FULL_ON,
    HEAVY,
    WEIGHT_SUM,
    RANGE,
    HAT_SQUARES,
    TILDE_SQUARES,
    STEEPEST,
) = range(22)
SCALARS = 22
DELAY = 8  # rounds after which the covariances of full lanes are brought up to date; `full.catch_up` is written for 8


class State(NamedTuple):
    """All that changes, and the lanes' constants. Vectors over lanes are padded to a multiple of eight.

    `lanes` holds for each feature and group 8 weights and 8 variances, then g and s of the three tangent lanes and
    of the betting lane.
    """

    scalars: NDArray[np.float64]
    stat: NDArray[np.float64]  # features × STATS
    lanes: NDArray[np.float64]  # features × (16·groups + 8); a feature's variances are set when it is first seen
    slot_of: NDArray[np.int32]  # feature id → row of `stat` and `lanes`, −1 unseen
    dense: NDArray[np.int64]
    dense_count: NDArray[np.int64]
    v0: NDArray[np.float64]
    drift: NDArray[np.float64]
    wide: NDArray[np.float64]  # 1 for lanes whose features are scaled by the width of the rows
    radii: NDArray[np.float64]  # 0 for the betting lane
    bias: NDArray[np.float64]  # Σδŷ of each tangent lane (the `a` of its potential) and of the betting lane
    jump: NDArray[np.float64]  # what raising the radius cost each tangent lane
    clip_cost: NDArray[np.float64]  # what clipping and rounding cost each tangent lane
    residual: NDArray[np.float64]  # running mean |residual| of each lane
    full_w: NDArray[np.float64]
    full_p: NDArray[np.float64]  # brought up to date every DELAY rounds; until then, P − Σ d·u·uᵀ + diag(drift) is meant
    full_u: NDArray[np.float64]
    full_d: NDArray[np.float64]
    full_drift: NDArray[np.float64]
    full_variance: NDArray[np.float64]  # the diagonal of the covariance as it is now
    full_spec: NDArray[np.float64]
    stack_w: NDArray[np.float64]
    stack_p: NDArray[np.float64]
    weight: NDArray[np.float64]  # aggregation weight of each lane
    prior: NDArray[np.float64]
    lane_loss: NDArray[np.float64]  # cumulative loss of each lane
    likelihood: NDArray[np.float64]  # log loss: e^−loss of each lane since lane_loss was last brought up to date


class Work(NamedTuple):
    """Scratch for one row; never part of the state."""

    slot: NDArray[np.int64]
    raw: NDArray[np.float64]
    hat: NDArray[np.float64]
    tilde: NDArray[np.float64]
    waited: NDArray[np.float64]  # rounds since the feature was last seen
    mark: NDArray[np.int64]
    stamp: NDArray[np.int64]
    out: NDArray[np.float64]  # each lane's own output; eight places more than lanes
    entry: NDArray[np.float64]  # each lane's output, clipped: what the stack reads
    played: NDArray[np.float64]  # each lane's output as aggregated
    exact: NDArray[np.float64]  # the tangent lanes' outputs before rounding
    reach: NDArray[np.float64]  # ΣVx² of each diagonal lane
    step: NDArray[np.float64]
    shrink: NDArray[np.float64]
    mixed: NDArray[np.float64]
    other: NDArray[np.float64]
    ratio: NDArray[np.float64]
    inverse: NDArray[np.float64]
    columns: NDArray[np.float64]  # Px of every full-covariance lane, then of every stack
    spread: NDArray[np.float64]  # x̂ and x̃ of the row with all their zeros, for the full lanes
    second: NDArray[np.float64]  # 1 for full lanes and stacks of the second kind of step
    gain: NDArray[np.float64]  # by what the features of each diagonal lane of a group are multiplied
    squares: NDArray[np.float64]  # mean ‖x̂‖² and ‖x̃‖², this row included
    narrow: NDArray[np.float64]  # 1 over the root of the mean ‖x̂‖² of the rows before
    bet: NDArray[np.float64]  # g of the betting lane, feature by feature
    stake: NDArray[np.float64]  # s of the betting lane


def padded(count: int) -> int:
    """The next multiple of eight."""
    return -(-count // 8) * 8


def new_state(plan: Plan, features: int = 64, ids: int = 64) -> State:
    """An empty state: variances at their prior, the stack at the average of the lanes."""
    lanes, inputs, stacks = padded(plan.lanes), padded(plan.tangents), plan.groups
    stat = aligned(features, STATS)
    stat[0, [COUNT, MEAN, INVERSE, HEIGHT]] = 1.0
    rows = aligned(features, 16 * plan.groups + 8)
    for group in range(plan.groups):
        rows[0, 16 * group + 8 : 16 * group + 16] = [v for v, _, _ in GROUP]
    specs = np.array(full_lane_specs(plan), dtype=np.float64).reshape(plan.full_lanes, 5)
    side = padded(plan.full_features + 1)
    full_p = aligned(plan.full_lanes, side, side)
    for k in range(plan.full_lanes):
        np.fill_diagonal(full_p[k], specs[k, 1])
    scalars = aligned(SCALARS)
    scalars[FEATURES] = 1.0  # slot 0 is the intercept
    scalars[UNIT] = 1.0
    scalars[RADIUS_SCALE] = 1.0
    scalars[FULL_ON] = float(plan.full_lanes > 0)
    stack_w, stack_p = aligned(stacks, inputs), aligned(stacks, inputs, inputs)
    stack_w[:, : plan.tangents] = 1.0 / plan.tangents
    for k in range(plan.tangents):
        stack_p[:, k, k] = 1.0
    weight = aligned(lanes)
    weight[: plan.lanes] = prior(plan)
    return State(
        scalars=scalars,
        stat=stat,
        lanes=rows,
        slot_of=np.full(ids, -1, np.int32),
        dense=np.zeros(features, np.int64),
        dense_count=np.zeros(1, np.int64),
        v0=copied(np.array([v for v, _, _ in GROUP])),
        drift=copied(np.array([q for _, q, _ in GROUP])),
        wide=copied(np.array([float(w) for _, _, w in GROUP])),
        radii=copied(np.array([*RADII, 0.0])),
        bias=aligned(4),
        jump=aligned(4),
        clip_cost=aligned(4),
        residual=aligned(lanes),
        full_w=aligned(plan.full_lanes, side),
        full_p=full_p,
        full_u=aligned(plan.full_lanes, DELAY, side),
        full_d=aligned(plan.full_lanes, DELAY),
        full_drift=aligned(plan.full_lanes, side),
        full_variance=copied(np.tile(specs[:, 1:2], (1, side))),
        full_spec=specs,
        stack_w=stack_w,
        stack_p=stack_p,
        weight=weight,
        prior=copied(weight),
        lane_loss=aligned(lanes),
        likelihood=copied(np.ones(lanes)),
    )


def aligned(*shape: int) -> NDArray[np.float64]:
    """Zeros that begin on a cache line, so that eight numbers never straddle two."""
    size = math.prod(shape)
    room = np.zeros(size + 8)
    start = -(room.ctypes.data // 8) % 8
    return room[start : start + size].reshape(shape)


def copied(array: NDArray) -> NDArray:
    """A copy, of numbers on a cache line."""
    if array.dtype != np.float64:
        return np.ascontiguousarray(array).copy()
    copy = aligned(*array.shape)
    copy[...] = array
    return copy


def new_work(plan: Plan, features: int, touched: int) -> Work:
    """Scratch for rows that touch at most so many of so many features."""
    lanes = padded(plan.lanes)
    touched += 8  # the last block of eight is filled up
    second = aligned(lanes)
    second[[plan.full + k for k, spec in enumerate(full_lane_specs(plan)) if spec[4] != plan.kinds[0]]] = 1.0
    second[plan.stacks + 1 : plan.stacks + plan.groups] = 1.0
    return Work(
        slot=np.zeros(touched, np.int64),
        raw=aligned(touched),
        hat=aligned(touched),
        tilde=aligned(touched),
        waited=aligned(touched),
        mark=np.zeros(features, np.int64),
        stamp=np.zeros(1, np.int64),
        out=aligned(lanes + 8),
        entry=aligned(lanes),
        played=aligned(lanes),
        exact=aligned(4),
        reach=aligned(lanes),
        step=aligned(lanes),
        shrink=aligned(lanes),
        mixed=aligned(lanes),
        other=aligned(lanes),
        ratio=aligned(8),
        inverse=aligned(8),
        columns=aligned(plan.full_lanes + plan.groups, max(padded(plan.full_features + 1), lanes)),
        spread=aligned(2, padded(plan.full_features + 1)),
        second=second,
        gain=copied(np.ones(8)),
        squares=np.ones(2),
        narrow=np.ones(1),
        bet=aligned(touched),
        stake=aligned(touched),
    )


def grown(plan: Plan, state: State, features: int, ids: int) -> State:
    """The same state with room for more features (at least doubled, so that growth costs O(1) each)."""
    changes: dict[str, NDArray] = {}
    have = len(state.stat)
    if features > have:
        size = max(features, 2 * have)
        stat = aligned(size, STATS)
        stat[:have] = state.stat
        lanes = aligned(size, state.lanes.shape[1])
        lanes[:have] = state.lanes
        dense = np.zeros(size, np.int64)
        dense[:have] = state.dense
        changes |= {"stat": stat, "lanes": lanes, "dense": dense}
    if ids > len(state.slot_of):
        slot_of = np.full(max(ids, 2 * len(state.slot_of)), -1, np.int32)
        slot_of[: len(state.slot_of)] = state.slot_of
        changes["slot_of"] = slot_of
    return state._replace(**changes) if changes else state
