"""The last aggregation: the linear lanes' prediction, the trees, the additive lanes, neighbours, and a stack over all of them.

The stack reads [scale, linear, tree_1 − linear, …, errors]: a full-covariance Kalman filter that begins as the mean of the trees, so
that it also recalibrates what the linear lanes play (the first two inputs drift). The errors are by how much the last labels were
above what was played, as means over about one, five and thirty rounds: where errors repeat, the next one is foreseen. Weights
are those of `aggregate`: the loss is at most that of the linear lanes, of any tree, of hats or neighbours, and of the stack,
plus what aggregating costs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from burkholder.auto import aggregate, kernel, sleep
from burkholder.auto.additive import LANES, additive_names
from burkholder.auto.full import censored, kalman_step
from burkholder.auto.neighbours import LANES as NEIGHBOURS
from burkholder.auto.neighbours import neighbour_names
from burkholder.auto.plan import LOGISTIC, MIX_LOG, STEP_NAMES, Plan
from burkholder.auto.state import ETA, GAP, HIGH, LEARNT_LOSS, LEARNT_REST, LOW, RANGE, ROUNDS, SURPRISE, SURPRISES, aligned, copied, padded
from burkholder.auto.steps import step
from burkholder.machine.compiling import inlined
from burkholder.machine.elementary import sigmoid
from burkholder.machine.memory import Cube, Matrix, Vector
from burkholder.machine.vectors import all8, element, fused, row8, store

LINEAR_SHARE, STACK_SHARE = 0.1, 0.8  # of the prior; the rest is the trees' and the additive lanes'
SPREAD = 0.1  # prior variance of the stack's weights
SMALLEST = 1e-75  # of a scale: what is divided by it stays a number
DRIFT = 1e-5
MEMORIES = (1.0, 5.0, 30.0)  # rounds over which the last errors are averaged


class Blend(NamedTuple):
    """What the aggregation learns; scalars have the places of `state`."""

    scalars: Vector
    weight: Vector
    prior: Vector
    lane_loss: Vector
    lane_rest: Vector
    likelihood: Vector
    residual: Vector  # running mean |residual| of every lane
    squares: Vector  # Σ of the squared residuals of the linear lanes (regression), and how many
    watch: Vector  # see `sleep`
    errors: Vector  # averages of the last errors, one a memory
    stack_w: Matrix
    stack_p: Cube


class Desk(NamedTuple):
    """Scratch for one row."""

    out: Vector  # every lane's own output
    played: Vector
    mixed: Vector
    other: Vector
    input: Vector  # of the stacks
    column: Vector


def blend_plan(plan: Plan, trees: int) -> Plan:
    """Lanes in order: linear, trees, additive (from `full` on), neighbours, stacks; the stacks have `tangents` inputs."""
    additive, stacks = 1 + trees, 1 + trees + LANES + NEIGHBOURS
    inputs = 1 + stacks + len(MEMORIES)
    return plan._replace(full_lanes=0, full_features=0, full=additive, tangents=inputs, stacks=stacks, lanes=stacks + plan.groups)


def blend_names(plan: Plan) -> list[str]:
    """A name for every lane."""
    trees = [f"tree {k}, {'on the linear lanes' if based(k) else 'alone'}" for k in range(1, plan.full)]
    stacks = [f"stack with trees {STEP_NAMES[kind]}" for kind in plan.kinds[: plan.groups]]
    return ["linear lanes", *trees, *additive_names(plan), *neighbour_names(plan), *stacks]


@inlined
def based(lane):
    """Whether this lane's tree corrects what the linear lanes play: every second one."""
    return lane % 2 == 1


def new_blend(plan: Plan, scalars: np.ndarray, restless: bool) -> Blend:
    """Everything as the linear lanes left it (their scalars), with the prior for weights."""
    lanes, side, trees = padded(plan.lanes), padded(plan.tangents), plan.full - 1
    own = copied(scalars)
    own[[GAP, RANGE, SURPRISE, SURPRISES]] = 0.0
    own[ETA] = 1.0 if plan.mixing == MIX_LOG else 0.0
    weight, stack_w, stack_p = aligned(lanes), aligned(plan.groups, side), aligned(plan.groups, side, side)
    weight[0] = LINEAR_SHARE
    weight[1 : plan.stacks] = (1.0 - LINEAR_SHARE - STACK_SHARE) / (plan.stacks - 1)
    weight[plan.stacks : plan.lanes] = STACK_SHARE / plan.groups
    stack_w[:, 1] = 1.0
    stack_w[:, 2 : 2 + trees] = 1.0 / trees
    for i in range(plan.tangents):
        stack_p[:, i, i] = SPREAD if plan.kinds[0] == LOGISTIC or i != 1 else 0.0
    # until now every lane played what the linear lanes play
    lost, rest = aligned(lanes), aligned(lanes)
    lost[: plan.lanes], rest[: plan.lanes] = scalars[LEARNT_LOSS], scalars[LEARNT_REST]
    likelihood, watch = copied(np.ones(lanes)), sleep.new_watch(restless)
    return Blend(own, weight, copied(weight), lost, rest, likelihood, aligned(lanes), aligned(2), watch, aligned(8), stack_w, stack_p)


def new_desk(plan: Plan) -> Desk:
    """Scratch."""
    lanes, side = padded(plan.lanes), padded(plan.tangents)
    out, played, mixed, other = (aligned(lanes) for _ in range(4))
    return Desk(out, played, mixed, other, aligned(side), aligned(side))


@inlined
def ends(plan, blend):
    """The least and the largest prediction."""
    if plan.kinds[0] == LOGISTIC:
        return -kernel.LIMIT, kernel.LIMIT
    return blend.scalars[LOW], blend.scalars[HIGH]


@inlined
def scale_of(plan, blend):
    """The root mean square of the linear lanes' residuals; 1 for classes."""
    if plan.kinds[0] == LOGISTIC or blend.squares[0] == 0.0:
        return 1.0
    return max(math.sqrt(blend.squares[0] / blend.squares[1]), SMALLEST)


@inlined
def play(plan, blend, desk):
    """Every lane's prediction from desk.out (all but the stacks'), the stacks' own, and the aggregate of all (log loss: its odds)."""
    low, high = ends(plan, blend)
    for k in range(plan.stacks):
        desk.played[k] = min(max(desk.out[k], low), high)
    desk.input[0], desk.input[1] = scale_of(plan, blend), desk.played[0]
    for k in range(1, plan.stacks):
        desk.input[k + 1] = desk.played[k] - desk.played[0]
    for k in range(len(MEMORIES)):
        desk.input[1 + plan.stacks + k] = blend.errors[k]
    for s in range(plan.groups):
        total = 0.0
        for i in range(plan.tangents):
            total += blend.stack_w[s, i] * desk.input[i]
        desk.out[plan.stacks + s] = total
        desk.played[plan.stacks + s] = min(max(total, low), high)
    return aggregate.combine(plan, blend, desk)


@inlined
def err(plan, blend, yhat, usual):
    """How far the label was above what was played (two classes: above the chance of it) into the averages of the last errors."""
    error = usual - yhat
    if plan.mixing == MIX_LOG:
        error = (1.0 if usual > 0.0 else 0.0) - element(sigmoid(all8(yhat)), 0)
    for k in range(len(MEMORIES)):
        blend.errors[k] += (error - blend.errors[k]) / min(MEMORIES[k], blend.scalars[ROUNDS] + 1.0)


@inlined
def learn(plan, loss, blend, desk, yhat, y, usual, weight):
    """The stacks step towards the label, cut to the `usual` range, and the weights take the losses."""
    scale, size = scale_of(plan, blend), (plan.tangents + 7) // 8 * 8
    regression = plan.kinds[0] != LOGISTIC
    for s in range(plan.groups):
        at, p = plan.stacks + s, desk.played[plan.stacks + s]
        covariance, reach = blend.stack_p[s], 0.0
        for i in range(plan.tangents):
            if covariance[i, i] > 0.0:
                covariance[i, i] += DRIFT
        for i in range(0, plan.tangents, 8):
            part = all8(0.0)
            for j in range(plan.tangents):
                part = fused(row8(covariance, j, i), all8(desk.input[j] / scale), part)
            store(desk.column, i, part)
        for i in range(plan.tangents):
            reach += desk.column[i] * desk.input[i] / scale
        reach = max(reach, 0.0)
        if regression:
            often = max(1.0 / (blend.scalars[ROUNDS] + 1.0), 0.01)
            blend.residual[at] += often * (abs(p - usual) - blend.residual[at])
        wrong = sigmoid(all8((0.0 - usual) * p))
        g, shrink = step(plan.kinds[s], all8(p), all8(reach), wrong, usual, weight, all8(blend.residual[at]), plan.quantile)
        if not (regression and censored(blend, desk.out[at], usual)):
            kalman_step(covariance, blend.stack_w[s], desk.column, plan.tangents, size, element(g, 0) / scale, element(shrink, 0))
    if regression:
        blend.squares[0] += (desk.played[0] - usual) * (desk.played[0] - usual)
        blend.squares[1] += 1.0
    err(plan, blend, yhat, usual)
    aggregate.absorb(plan, loss, blend, desk, yhat, y, weight)
