"""One round and the compiled loop over rounds: `predict`, `predict_many`, `update` and `run` all are this one loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.auto import aggregate, betting, features, full, passes, stack, tangent, width
from burkholder.auto.plan import LOGISTIC, MIX_LOG
from burkholder.auto.room import plain, plan_with, state_of, work_of
from burkholder.auto.state import (
    CLIPPED_LABELS,
    FEATURES,
    FULL_ON,
    HEAVY,
    HIGH,
    LABEL_SQUARES,
    LABELS,
    LEARNT_LOSS,
    LEARNT_REST,
    LOSS,
    LOSS_REST,
    LOW,
    RADIUS_SCALE,
    ROUNDS,
    UNIT,
    WEIGHT_SUM,
)
from burkholder.auto.steps import step
from burkholder.auto.sums import add
from burkholder.losses import Logistic, derivative, value
from burkholder.machine.compiling import inlined, uncounted
from burkholder.machine.elementary import log, sigmoid
from burkholder.machine.memory import place
from burkholder.machine.prefetch import prefetch, prefetch_rows
from burkholder.machine.vectors import all8, element, least, load8, most, store, where_positive

Rows = tuple[Any, Any, Any]  # CSR: indptr, indices, values
LIMIT = 30.0  # log-odds beyond ±30 are not told apart
LARGEST = 1e100  # in units of the first nonzero label


@inlined
def play(plan, state, work, m):
    """Every lane's output, then the aggregate, in internal units (for the log loss, its odds). The state is only read."""
    passes.read(plan, state, work, m)
    width.measure(plan, state, work, m)
    betting.forecast(plan, state, work, m)
    full.forecast(plan, state, work, m)
    clip(plan, state, work, 0, plan.stacks)
    stack.forecast(plan, state, work)
    clip(plan, state, work, plan.stacks, plan.lanes)
    if plan.steep > 0.0:  # a margin: the stack reads log-odds; what is aggregated is steep and within ±1
        for k in range(plan.lanes):
            steep = 1.0 if plan.tangents <= k < plan.stacks else plan.steep
            work.played[k] = min(max(work.out[k] * steep, -1.0), 1.0)
    return aggregate.combine(plan, state, work)


@inlined
def clip(plan, state, work, first, last):
    """Log-odds within ±30, regression within the range of labels seen: both cost (almost) nothing."""
    low, high = state.scalars[LOW], state.scalars[HIGH]
    if plan.kinds[0] == LOGISTIC:
        low, high = -LIMIT, LIMIT
    bottom, top = all8(low), all8(high)
    for k in range(first // 8 * 8, last, 8):
        p = least(most(load8(work.out, k), bottom), top)
        store(work.entry, k, p)
        store(work.played, k, p)


@inlined
def learn(plan, loss, state, work, m, yhat, y, weight):
    """Everything the label changes, except the statistics of the features."""
    scalars = state.scalars
    regression = plan.kinds[0] != LOGISTIC
    leaving = scalars[FULL_ON] == 1.0 and scalars[FEATURES] > plan.full_features + 1
    if leaving:
        full.retire(plan, state)
    if scalars[FULL_ON] == 1.0:
        full.reach(plan, state, work, m)
    stack.reach(plan, state, work)
    if regression:
        rate = max(1.0 / (scalars[ROUNDS] + 1.0), 0.01)
        for k in range(plan.lanes):
            state.residual[k] += rate * (abs(work.entry[k] - y) - state.residual[k])
    every_step(plan, state, work, y, weight)
    tangent_slopes(plan, loss, state, work, y, weight)
    stack.learn(plan, state, work)
    if scalars[FULL_ON] == 1.0:
        full.learn(plan, state, work)
    tangent.charge(plan, state, work)
    betting.steepen(plan, state, work)
    width.keep(plan, state, work)
    passes.learn(plan, state, work, m)
    if leaving:
        full.hand_over(plan, state, work)
    aggregate.absorb(plan, loss, state, work, yhat, y, weight)


@inlined
def every_step(plan, state, work, y, weight):
    """The step of every Kalman lane and stack into work.step and work.shrink, eight lanes at a time.

    All of them wait for nothing but their predictions and reaches, so the processor works on them side by side.
    """
    wrong = work.other if y > 0.0 else work.mixed  # σ(−yp), which the aggregation has worked out
    for k in range(0, plan.lanes, 8):
        group = k // 8
        p, reach, residual = load8(work.entry, k), load8(work.reach, k), load8(state.residual, k)
        kind = plan.kinds[0] if group == 0 or group >= plan.groups else plan.kinds[1]
        s = load8(wrong, k) if plan.mixing == MIX_LOG else sigmoid(all8(0.0 - y) * p)
        g, shrink = step(kind, p, reach, s, y, weight, residual, plan.quantile)
        if plan.groups == 2 and group >= 2:  # full lanes and stacks of both kinds
            other, narrow = step(plan.kinds[1], p, reach, s, y, weight, residual, plan.quantile)
            second = load8(work.second, k)
            g, shrink = where_positive(second, other, g), where_positive(second, narrow, shrink)
        store(work.step, k, g)
        store(work.shrink, k, shrink)
    if plan.kinds[0] != LOGISTIC:
        for k in range(plan.lanes):
            if full.censored(state, work.out[k], y):
                work.step[k] = 0.0
                work.shrink[k] = 0.0


@inlined
def tangent_slopes(plan, loss, state, work, y, weight):
    """δ of the tangent lanes, each at its own prediction, into work.step."""
    # squares of anything smaller than 1e-100 are subnormal numbers, a hundred times slower and of no consequence
    if plan.mixing == MIX_LOG:
        deltas = weight * derivative(Logistic(), load8(work.out, plan.tangents), y)
        deltas = where_positive(abs(deltas) - all8(1e-100), deltas, all8(0.0))
        for k in range(4):
            work.step[plan.tangents + k] = element(deltas, k)
        return
    for k in range(plan.tangents, plan.tangents + 4):
        delta = weight * derivative(loss, work.out[k], y)
        work.step[k] = delta if abs(delta) > 1e-100 else 0.0
        if plan.steep == 0.0:
            more = value(loss, work.played[k], y) - value(loss, work.out[k], y)
            state.clip_cost[k - plan.tangents] += weight * max(0.0, more)


@inlined
def tame(plan, state, y):
    """The label to learn from: at most ten times the range so far beyond it. One absurd label costs one round."""
    scalars = state.scalars
    if plan.range_given == 1 or scalars[LABELS] == 0.0:
        return y
    low, high = scalars[LOW], scalars[HIGH]
    span = high - low if high > low else abs(high)
    if span == 0.0:
        return y
    span *= features.GROWTH
    return min(max(y, max(low - span, -LARGEST)), min(high + span, LARGEST))


@inlined
def extend(plan, state, y):
    """Take a label into the range seen."""
    scalars = state.scalars
    scalars[LABEL_SQUARES] += y * y
    scalars[LABELS] += 1.0
    if plan.range_given == 0:
        first = scalars[LABELS] == 1.0
        scalars[LOW] = y if first else min(scalars[LOW], y)
        scalars[HIGH] = y if first else max(scalars[HIGH], y)


@inlined
def widen(plan, state, y):
    """Take a label into the range seen, with all that depends on it."""
    extend(plan, state, y)
    if plan.range_given == 0 and abs(y) > state.scalars[RADIUS_SCALE]:
        tangent.raise_radius(plan, state, 2.0 * abs(y))


@uncounted
def run_rows(plans, states, works, loss, indptr, indices, values, y, weight, yhat, losses, learning):
    """Predict, then learn, row by row: the one loop. `loss` and y are in internal units (y over the unit of the labels).

    Without `learning` rows are only predicted: nothing but scratch and yhat is written, and y, weight and losses are not read.
    """
    plan, state, work = plan_with(plans, 0, loss), state_of(states, 0), work_of(works, 0)
    starts, ids, numbers = place(indptr), place(indices), place(values)
    rounds(plan, state, work, loss, starts, ids, numbers, place(y), place(weight), place(yhat), place(losses), learning)


@uncounted
def run_many(plans, states, works, loss, starts, order, indptr, indices, values, y, weight, yhat, losses, learning):
    """The same rounds for many learners of one plan and one loss: the rows of the k-th stand in the order from starts[k] on."""
    plan, work = plan_with(plans, 0, loss), work_of(works, 0)
    ends, ids, numbers, labels, weights = place(indptr), place(indices), place(values), place(y), place(weight)
    out, paid, rows = place(yhat), place(losses), place(order)
    for k in range(starts.shape[0] - 1):
        state = state_of(states, k)
        for i in range(starts[k], starts[k + 1]):
            later = prefetch_rows(order, i, indptr, indices, values)
            prefetch(y, later)
            prefetch(weight, later)
            prefetch(yhat, later)
            prefetch(losses, later)
            one_round(plan, state, work, loss, ends, ids, numbers, labels, weights, out, paid, rows[i], learning)
    if plan.mixing == MIX_LOG:
        logarithms(out)
        if learning:
            log_losses(labels, weights, out, paid)
            for k in range(starts.shape[0] - 1):
                for i in range(starts[k], starts[k + 1]):
                    book(state_of(states, k), paid[rows[i]])


@inlined
def rounds(plan, state, work, loss, indptr, indices, values, y, weight, yhat, losses, learning):
    """The loop itself."""
    for t in range(yhat.shape[0]):
        one_round(plan, state, work, loss, indptr, indices, values, y, weight, yhat, losses, t, learning)
    if plan.mixing == MIX_LOG:
        logarithms(yhat)
        if learning:
            log_losses(y, weight, yhat, losses)
            for t in range(y.shape[0]):
                book(state, losses[t])


@inlined
def one_round(plan, state, work, loss, indptr, indices, values, y, weight, yhat, losses, t, learning):
    """Predict row t, then learn it; what the log loss predicts are still odds, and its losses are booked by the loop."""
    scalars = state.scalars
    m = features.gather(plan, state, work, indices, values, indptr[t], indptr[t + 1], learning)
    features.scale(plan, state, work, m, learning)
    p = play(plan, state, work, m)
    # log loss: odds, whose logarithms are taken by the loop, eight at a time
    yhat[t] = p if plan.mixing == MIX_LOG else p * scalars[UNIT]
    if not learning:
        return
    scalars[WEIGHT_SUM] += weight[t]
    if weight[t] > 1.0:
        scalars[HEAVY] += 1.0
    label = y[t]
    if plan.mixing == MIX_LOG:
        if weight[t] > 1.0:
            p = log(p)
    else:
        losses[t] = weight[t] * value(loss, p, label)
        if plan.kinds[0] != LOGISTIC:
            label = tame(plan, state, label)
        if label != y[t]:
            scalars[CLIPPED_LABELS] += 1.0
        add(scalars, LOSS, scalars, LOSS_REST, losses[t])
        add(scalars, LEARNT_LOSS, scalars, LEARNT_REST, weight[t] * value(loss, p, label))
    learn(plan, loss, state, work, m, p, label, weight[t])
    if plan.kinds[0] != LOGISTIC:
        widen(plan, state, label)
    scalars[ROUNDS] += 1.0


@inlined
def logarithms(yhat):
    """From odds to predictions."""
    whole = yhat.shape[0] // 8 * 8
    for t in range(0, whole, 8):
        store(yhat, t, log(load8(yhat, t)))
    for t in range(whole, yhat.shape[0]):
        yhat[t] = log(yhat[t])


@inlined
def log_losses(y, weight, yhat, losses):
    """ln(1 + e^−yŷ) of every row."""
    whole = y.shape[0] // 8 * 8
    for t in range(0, whole, 8):
        store(losses, t, load8(weight, t) * value(Logistic(), load8(yhat, t), load8(y, t)))
    for t in range(whole, y.shape[0]):
        losses[t] = weight[t] * value(Logistic(), yhat[t], y[t])


@inlined
def book(state, loss):
    """Enter what a round of the log loss paid; whatever is paid is learned from."""
    add(state.scalars, LOSS, state.scalars, LOSS_REST, loss)
    add(state.scalars, LEARNT_LOSS, state.scalars, LEARNT_REST, loss)


def learn_rows(tables: tuple[Any, Any, Any], loss: Any, rows: Rows, y: Any, weight: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(predictions, losses) of rows (indptr, indices, values), each predicted before its label is learned; labels and losses in
    internal units, predictions in the target's own. The arrays that `tables` name must have room for what the rows bring."""
    labels = plain(y, np.float64)
    yhat, losses = np.empty(len(labels)), np.empty(len(labels))
    run_rows(*tables, loss, *plain_rows(rows), labels, plain(weight, np.float64), yhat, losses, True)
    return yhat, losses


def predict_rows(tables: tuple[Any, Any, Any], loss: Any, rows: Rows) -> NDArray[np.float64]:
    """Predictions of rows (indptr, indices, values), in the target's own units; the state stays as it is, bit for bit."""
    indptr, indices, values = plain_rows(rows)
    yhat = np.empty(len(indptr) - 1)
    run_rows(*tables, loss, indptr, indices, values, yhat, yhat, yhat, yhat, False)
    return yhat


def plain_rows(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The rows as the loops take them."""
    return plain(rows[0], np.int64), plain(rows[1], np.int64), plain(rows[2], np.float64)
