"""The stack: a full-covariance Kalman filter whose features are the Kalman lanes' outputs.

The tangent lanes stay out: one with a radius far too large for its stream is chaotic, and would turn rounding
into differences (the aggregation gives it next to no weight; a filter would not).
"""

from __future__ import annotations

import math

from burkholder.auto.full import kalman_step
from burkholder.auto.plan import LOGISTIC
from burkholder.auto.state import FULL_ON, LABEL_SQUARES, LABELS
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all8, fused, load8, row8, store, total8

DRIFT = 1e-5


@inlined
def label_scale(plan, state):
    """Regression outputs are divided by the running rms of the labels, so that the prior has a meaning."""
    if plan.kinds[0] == LOGISTIC or state.scalars[LABEL_SQUARES] == 0.0:
        return 1.0
    return max(math.sqrt(state.scalars[LABEL_SQUARES] / state.scalars[LABELS]), 1e-75)


@inlined
def forecast(plan, state, work):
    """The stacks' predictions into work.out, last; they read work.entry. Weights of lanes that are no input are 0."""
    live = plan.tangents if state.scalars[FULL_ON] == 1.0 else plan.full
    for s in range(plan.groups):
        if plan.kinds[0] == LOGISTIC:
            total = all8(0.0)
            for k in range(0, live, 8):
                total = fused(row8(state.stack_w, s, k), load8(work.entry, k), total)
            work.out[plan.stacks + s] = total8(total)
        else:
            # one after another: while every label was the same, whether the sum of equal outputs rounds to just below
            # that label decides what the next label teaches (`censored`)
            at = plan.stacks + s
            work.out[at] = 0.0
            for k in range(live):
                work.out[at] += state.stack_w[s, k] * work.entry[k]


@inlined
def reach(plan, state, work):
    """Let the variances drift; Px of each stack into its row of work.columns, X = xᵀPx into work.reach."""
    live = plan.tangents if state.scalars[FULL_ON] == 1.0 else plan.full
    inverse = 1.0 / label_scale(plan, state)
    for s in range(plan.groups):
        p, column = state.stack_p[s], work.columns[plan.full_lanes + s]
        for i in range(live):
            p[i, i] += DRIFT
        total = all8(0.0)
        for i in range(0, live, 8):
            part = all8(0.0)
            for k in range(live):
                part = fused(row8(p, k, i), all8(work.entry[k] * inverse), part)
            store(column, i, part)
            total = fused(part, load8(work.entry, i) * all8(inverse), total)
        work.reach[plan.stacks + s] = max(total8(total), 0.0)


@inlined
def learn(plan, state, work):
    """Each stack takes its step. A step towards labels over `unit` is 1/unit of the step towards the labels."""
    live = plan.tangents if state.scalars[FULL_ON] == 1.0 else plan.full
    inverse = 1.0 / label_scale(plan, state)
    for s in range(plan.groups):
        at = plan.stacks + s
        column = work.columns[plan.full_lanes + s]
        size = (live + 7) // 8 * 8
        kalman_step(state.stack_p[s], state.stack_w[s], column, live, size, work.step[at] * inverse, work.shrink[at])
