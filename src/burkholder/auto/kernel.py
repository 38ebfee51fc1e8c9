"""One round and the compiled loop over rounds. `predict`, `update` and `run` all go through these functions."""

from __future__ import annotations

from burkholder.auto import aggregate, features, full, kalman, stack, tangent
from burkholder.auto.plan import LOGISTIC, MIX_SQUARE
from burkholder.auto.state import (
    CLIPPED_LABELS,
    ETA,
    FEATURES,
    FULL_ON,
    HEAVY,
    HIGH,
    LABEL_SQUARES,
    LABELS,
    LEARNT_LOSS,
    LOSS,
    LOW,
    RADIUS_SCALE,
    ROUNDS,
    UNIT,
    WEIGHT_SUM,
)
from burkholder.auto.steps import step
from burkholder.compiled import compiled
from burkholder.losses import derivative, value

LARGEST = 1e100  # in units of the first nonzero label


@compiled
def play(plan, state, work, m):  # type: ignore[no-untyped-def]
    """Every lane's output, then the aggregate, in internal units. The state is only read."""
    kalman.forecast(plan, state, work, m)
    tangent.forecast(plan, state, work, m)
    full.forecast(plan, state, work, m)
    lanes = work.out.shape[0]
    others = lanes - len(plan.stack_kinds)
    base = len(plan.kinds) + len(plan.radii)
    if state.scalars[FULL_ON] == 0.0:
        for k in range(plan.full_lanes):
            work.out[base + k] = work.out[int(state.full_spec[k, 3])]
    clip(plan, state, work, 0, others)
    stack.forecast(plan, state, work)
    clip(plan, state, work, others, lanes)
    for k in range(lanes):
        work.played[k] = work.entry[k]
        if plan.steep > 0.0:  # hinge: the stack reads log-odds; what is aggregated is steep and within ±1
            tangential = len(plan.kinds) <= k < base
            work.played[k] = min(max(work.out[k] * (1.0 if tangential else plan.steep), -1.0), 1.0)
    return aggregate.combine(plan, state, work)


@compiled
def clip(plan, state, work, first, last):  # type: ignore[no-untyped-def]
    """Log-odds within ±30, regression within the range of labels seen: both cost (almost) nothing."""
    low, high = state.scalars[LOW], state.scalars[HIGH]
    if plan.stack_kinds[0] == LOGISTIC:
        low, high = -stack.LIMIT, stack.LIMIT
    for k in range(first, last):
        work.entry[k] = min(max(work.out[k], low), high)


@compiled
def learn(plan, loss, state, work, m, yhat, y, weight):  # type: ignore[no-untyped-def]
    """Everything the label changes, except the statistics of the features."""
    scalars = state.scalars
    diagonal, tangents = len(plan.kinds), len(plan.radii)
    if state.scalars[FULL_ON] == 1.0 and scalars[FEATURES] > plan.full_features + 1:
        full.retire(plan, state)
    kalman.reach(plan, state, work, m)
    rate = max(1.0 / (scalars[ROUNDS] + 1.0), 0.01)
    if plan.stack_kinds[0] != LOGISTIC:
        for k in range(work.out.shape[0]):
            state.residual[k] += rate * (abs(work.out[k] - y) - state.residual[k])
    for k in range(len(plan.kinds)):
        g, c = step(plan.kinds[k], work.out[k], work.spread[k], y, weight, state.residual[k], plan.quantile)
        work.step[k] = g
        work.curve[k] = c / (1.0 + c * work.spread[k])
    for k in range(len(plan.radii)):
        work.step[diagonal + k] = weight * derivative(loss, work.out[diagonal + k], y)
    stack.learn(plan, state, work, y, weight)
    if state.scalars[FULL_ON] == 1.0:
        full.learn(plan, state, work, m, y, weight)
    kalman.learn(plan, state, work, m)
    tangent.learn(plan, state, work, m)
    aggregate.absorb(plan, loss, state, work, yhat, y, weight)


@compiled
def tame(plan, state, y):  # type: ignore[no-untyped-def]
    """The label to learn from: at most ten times the range so far beyond it. One absurd label costs one round."""
    scalars = state.scalars
    if plan.range_given == 1 or scalars[LABELS] == 0.0:
        return y
    low, high = scalars[LOW], scalars[HIGH]
    span = high - low if high > low else abs(high)
    if span == 0.0:
        return y
    return min(max(y, max(low - features.GROWTH * span, -LARGEST)), min(high + features.GROWTH * span, LARGEST))


@compiled
def widen(plan, state, y):  # type: ignore[no-untyped-def]
    """Take a label into the range seen, with all that depends on it."""
    scalars = state.scalars
    scalars[LABEL_SQUARES] += y * y
    scalars[LABELS] += 1.0
    if plan.range_given == 1:
        return
    first = scalars[LABELS] == 1.0
    if first or y < scalars[LOW] or y > scalars[HIGH]:
        scalars[LOW] = y if first else min(scalars[LOW], y)
        scalars[HIGH] = y if first else max(scalars[HIGH], y)
        span = scalars[HIGH] - scalars[LOW]
        if plan.mixing == MIX_SQUARE and span > 0.0:
            if scalars[ETA] == 0.0:
                scalars[ETA] = 2.0 / (span * span)
            else:
                aggregate.lower_rate(state, 2.0 / (span * span))
        if abs(y) > scalars[RADIUS_SCALE]:
            tangent.raise_radius(plan, state, 2.0 * abs(y))


@compiled
def predict_row(plan, state, work, indices, values):  # type: ignore[no-untyped-def]
    """The prediction for one row; nothing but scratch is written."""
    m = features.gather(plan, state, work, indices, values, 0, indices.shape[0], False)
    features.scale(plan, state, work, m)
    return play(plan, state, work, m) * state.scalars[UNIT]


@compiled
def run_rows(plan, loss, state, work, indptr, indices, values, y, weight, yhat, loss_out):  # type: ignore[no-untyped-def]
    """Predict, then learn, row by row. `loss` and y are in internal units (y over the unit of the labels)."""
    scalars = state.scalars
    for t in range(y.shape[0]):
        m = features.gather(plan, state, work, indices, values, indptr[t], indptr[t + 1], True)
        features.scale(plan, state, work, m)
        p = play(plan, state, work, m)
        yhat[t] = p * scalars[UNIT]
        paid = weight[t] * value(loss, p, y[t])
        loss_out[t] = paid
        scalars[LOSS] += paid
        label = y[t]
        if plan.stack_kinds[0] != LOGISTIC:
            label = tame(plan, state, y[t])
            if label != y[t]:
                scalars[CLIPPED_LABELS] += 1.0
        scalars[LEARNT_LOSS] += weight[t] * value(loss, p, label)
        if weight[t] > 1.0:
            scalars[HEAVY] += 1.0
        scalars[WEIGHT_SUM] += weight[t]
        learn(plan, loss, state, work, m, p, label, weight[t])
        if plan.stack_kinds[0] != LOGISTIC:
            widen(plan, state, label)
        features.settle(state, work, m)
        scalars[ROUNDS] += 1.0
