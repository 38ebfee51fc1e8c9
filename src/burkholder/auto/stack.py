"""The stack: a full-covariance Kalman filter whose features are the other lanes' outputs."""

from __future__ import annotations

import math

from burkholder.auto.full import rank_one
from burkholder.auto.plan import LOGISTIC
from burkholder.auto.state import FULL_ON, LABEL_SQUARES, LABELS
from burkholder.auto.steps import step
from burkholder.compiled import compiled

DRIFT = 1e-5
LIMIT = 30.0  # log-odds beyond ±30 are not told apart


@compiled
def inputs(plan, state):  # type: ignore[no-untyped-def]
    """How many lanes feed the stack; the retired full lanes are last and are left out."""
    base = len(plan.kinds) + len(plan.radii)
    return base + plan.full_lanes if state.scalars[FULL_ON] == 1.0 else base


@compiled
def label_scale(plan, state):  # type: ignore[no-untyped-def]
    """Regression outputs are divided by the running rms of the labels, so that the prior has a meaning."""
    if plan.stack_kinds[0] == LOGISTIC or state.scalars[LABEL_SQUARES] == 0.0:
        return 1.0
    return math.sqrt(state.scalars[LABEL_SQUARES] / state.scalars[LABELS])


@compiled
def forecast(plan, state, work):  # type: ignore[no-untyped-def]
    """The stacks' predictions into work.out, last; they read work.entry."""
    size, first = inputs(plan, state), work.out.shape[0] - len(plan.stack_kinds)
    for s in range(len(plan.stack_kinds)):
        total = 0.0
        for k in range(size):
            total += state.stack_w[s, k] * work.entry[k]
        work.out[first + s] = total


@compiled
def learn(plan, state, work, y, weight):  # type: ignore[no-untyped-def]
    """One Kalman step of each stack."""
    size, first = inputs(plan, state), work.out.shape[0] - len(plan.stack_kinds)
    unit = label_scale(plan, state)
    for s in range(len(plan.stack_kinds)):
        p, w, column = state.stack_p[s], state.stack_w[s], work.column
        for i in range(size):
            p[i, i] += DRIFT
            column[i] = 0.0
        for k in range(size):
            x = work.entry[k] / unit
            for i in range(size):
                column[i] += p[k, i] * x
        reach = 0.0
        for i in range(size):
            reach += column[i] * work.entry[i] / unit
        reach = max(reach, 0.0)
        g, c = step(
            plan.stack_kinds[s], work.out[first + s] / unit, reach, y / unit, weight,
            state.residual[first + s] / unit, plan.quantile,
        )
        for i in range(size):
            w[i] -= g * column[i]
        rank_one(p, column, size, c / (1.0 + c * reach))
