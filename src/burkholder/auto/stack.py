"""The stack: a full-covariance Kalman filter whose features are the Kalman lanes' outputs.

The tangent lanes stay out: one with a radius far too large for its stream is chaotic, and would turn rounding
into differences (the aggregation gives it next to no weight; a filter would not).
"""

from __future__ import annotations

import math

from burkholder.auto.full import censored, kalman_step
from burkholder.auto.inlined import inlined
from burkholder.auto.plan import LOGISTIC
from burkholder.auto.state import FULL_ON, LABEL_SQUARES, LABELS
from burkholder.simd import all8, row8, store

DRIFT = 1e-5


@inlined
def label_scale(plan, state):  # type: ignore[no-untyped-def]
    """Regression outputs are divided by the running rms of the labels, so that the prior has a meaning."""
    if plan.kinds[0] == LOGISTIC or state.scalars[LABEL_SQUARES] == 0.0:
        return 1.0
    return math.sqrt(state.scalars[LABEL_SQUARES] / state.scalars[LABELS])


@inlined
def forecast(plan, state, work):  # type: ignore[no-untyped-def]
    """The stacks' predictions into work.out, last; they read work.entry."""
    live = plan.tangents if state.scalars[FULL_ON] == 1.0 else plan.full
    for s in range(plan.groups):
        total = 0.0
        for k in range(live):
            total += state.stack_w[s, k] * work.entry[k]
        work.out[plan.stacks + s] = total


@inlined
def learn(plan, state, work, y, weight):  # type: ignore[no-untyped-def]
    """One Kalman step of each stack."""
    size = state.stack_w.shape[1]
    live = plan.tangents if state.scalars[FULL_ON] == 1.0 else plan.full
    unit = label_scale(plan, state)
    inverse = 1.0 / unit
    column = work.column
    for s in range(plan.groups):
        p, w = state.stack_p[s], state.stack_w[s]
        for i in range(live):
            p[i, i] += DRIFT
        if plan.kinds[s] != LOGISTIC and censored(state, work.out[plan.stacks + s], y):
            continue
        for i in range(0, size, 8):
            total = all8(0.0)
            for k in range(live):
                total = total + row8(p, k, i) * all8(work.entry[k] * inverse)
            store(column, i, total)
        reach = 0.0
        for k in range(live):
            reach += column[k] * (work.entry[k] * inverse)
        kalman_step(p, w, column, live, size, reach, plan.kinds[s], work.entry[plan.stacks + s] / unit, y / unit,
                    weight, state.residual[plan.stacks + s] / unit, plan.quantile)
