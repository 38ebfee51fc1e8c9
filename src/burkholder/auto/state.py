"""What an Auto remembers: plain arrays, so that it can be compiled, grown, saved and resumed bit for bit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.plan import GROUP, RADII, Plan, full_lane_specs, prior
from burkholder.machine.memory import Cube, Matrix, Short, Vector, Whole

# columns of `stat`, one row a feature: in how many rounds it was nonzero (negative while it counts as dense), mean
# and summed squared deviations of its nonzero values over the height, 1/height, the height, the round it was last seen
COUNT, MEAN, SPREAD, INVERSE, HEIGHT, LAST = range(6)
STATS = 8  # padded to a cache line

# places in `scalars`; the loss is LOSS + LOSS_REST, its total and what rounding took from it (see `sums`), and so is what
# was learned from, LEARNT_LOSS + LEARNT_REST
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
    LOSS_REST,
    LEARNT_REST,
) = range(24)
SCALARS = 24
DELAY = 8  # rounds after which the covariances of full lanes are brought up to date; `full.catch_up` is written for 8


WIDENED = ("full_w", "full_p", "full_u", "full_drift", "full_variance")  # arrays that have a place for every feature of a full lane


class State(NamedTuple):
    """All that changes, and the lanes' constants. Vectors over lanes are padded to a multiple of eight.

    `lanes` holds for each feature and group 8 weights and 8 variances, then g and s of the three tangent lanes and
    of the betting lane.
    """

    scalars: Vector
    stat: Matrix  # features × STATS
    lanes: Matrix  # features × (16·groups + 8); a feature's variances are set when it is first seen
    slot_of: Short  # feature id → row of `stat` and `lanes`, −1 unseen
    dense: Whole
    dense_count: Whole
    v0: Vector
    drift: Vector
    wide: Vector  # 1 for lanes whose features are scaled by the width of the rows
    radii: Vector  # 0 for the betting lane
    bias: Vector  # Σδŷ of each tangent lane (the `a` of its potential) and of the betting lane: bias + bias_rest
    bias_rest: Vector
    bias_size: Vector  # Σ|δŷ| of each of them, a plain sum
    push: Vector  # Σ|δ|·‖x̂‖₂, likewise
    strain: Vector  # Σ over rounds and features touched of |g| as it then was: g is off by at most 2⁻⁵³ of this, all features together
    jump: Vector  # what raising the radius cost each tangent lane
    clip_cost: Vector  # what clipping and rounding cost each tangent lane
    residual: Vector  # running mean |residual| of each lane
    full_w: Matrix
    full_p: Cube  # brought up to date every DELAY rounds; until then, P − Σ d·u·uᵀ + diag(drift) is meant
    full_u: Cube
    full_d: Matrix
    full_drift: Matrix
    full_variance: Matrix  # the diagonal of the covariance as it is now
    full_spec: Matrix
    stack_w: Matrix
    stack_p: Cube
    weight: Vector  # aggregation weight of each lane
    prior: Vector
    lane_loss: Vector  # cumulative loss of each lane: lane_loss + lane_rest
    lane_rest: Vector
    likelihood: Vector  # log loss: e^−loss of each lane since lane_loss was last brought up to date, a product of at most sixteen


class Work(NamedTuple):
    """Scratch for one row; never part of the state."""

    slot: Whole
    raw: Vector
    hat: Vector
    tilde: Vector
    waited: Vector  # rounds since the feature was last seen
    mark: Whole
    stamp: Whole
    out: Vector  # each lane's own output; eight places more than lanes
    entry: Vector  # each lane's output, clipped: what the stack reads
    played: Vector  # each lane's output as aggregated
    exact: Vector  # the tangent lanes' outputs before rounding
    reach: Vector  # ΣVx² of each diagonal lane
    step: Vector
    shrink: Vector
    mixed: Vector
    other: Vector
    ratio: Vector
    inverse: Vector
    columns: Matrix  # Px of every full-covariance lane, then of every stack
    spread: Matrix  # x̂ and x̃ of the row with all their zeros, for the full lanes
    second: Vector  # 1 for full lanes and stacks of the second kind of step
    gain: Vector  # by what the features of each diagonal lane of a group are multiplied
    squares: Vector  # mean ‖x̂‖² and ‖x̃‖², this row included, and ‖x̂‖² of this row
    narrow: Vector  # 1 over the root of the mean ‖x̂‖² of the rows before
    bet: Vector  # g of the betting lane, feature by feature
    stake: Vector  # s of the betting lane


def padded(count: int) -> int:
    """The next multiple of eight."""
    return -(-count // 8) * 8


def side_of(plan: Plan, features: int) -> int:
    """The side of the covariances of full lanes, where there is room for so many features."""
    return padded(min(features, plan.full_features + 1))


def new_state(plan: Plan, features: int = 64, ids: int = 64) -> State:
    """An empty state: variances at their prior, the stack at the average of the lanes."""
    lanes, inputs, stacks = padded(plan.lanes), padded(plan.tangents), plan.groups
    stat = aligned(features, STATS)
    stat[0, [COUNT, MEAN, INVERSE, HEIGHT]] = 1.0
    rows = aligned(features, 16 * plan.groups + 8)
    for group in range(plan.groups):
        rows[0, 16 * group + 8 : 16 * group + 16] = [v for v, _, _ in GROUP]
    specs = np.array(full_lane_specs(plan), dtype=np.float64).reshape(plan.full_lanes, 5)
    side = side_of(plan, features)
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
        bias_rest=aligned(4),
        bias_size=aligned(4),
        push=aligned(4),
        strain=aligned(4),
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
        lane_rest=aligned(lanes),
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
        columns=aligned(plan.full_lanes + plan.groups, max(side_of(plan, features), lanes)),
        spread=aligned(2, side_of(plan, features)),
        second=second,
        gain=copied(np.ones(8)),
        squares=np.ones(3),
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
        changes |= {"stat": stat, "lanes": lanes, "dense": dense} | widened(plan, state, size)
    if ids > len(state.slot_of):
        slot_of = np.full(max(ids, 2 * len(state.slot_of)), -1, np.int32)
        slot_of[: len(state.slot_of)] = state.slot_of
        changes["slot_of"] = slot_of
    return state._replace(**changes) if changes else state


def widened(plan: Plan, state: State, features: int) -> dict[str, NDArray]:
    """The arrays of the full lanes with room for so many features; the classes of several are a first axis more."""
    side, have = side_of(plan, features), state.full_w.shape[-1]
    if side <= have:
        return {}
    changes = {}
    for name in WIDENED:
        array = getattr(state, name)
        square = name == "full_p"
        larger = aligned(*array.shape[: -2 if square else -1], *((side, side) if square else (side,)))
        larger[(..., slice(have), slice(have)) if square else (..., slice(have))] = array
        changes[name] = larger
    late = np.arange(have, side)  # features that were not seen yet: their variance is the prior's
    changes["full_p"][..., late, late] = changes["full_variance"][..., have:] = state.full_spec[:, 1:2]
    return changes
