"""Full-covariance Kalman updates: for the lanes on few features, and for the stack over the lanes' outputs."""

from __future__ import annotations

from burkholder.auto.state import FEATURES, FULL_ON
from burkholder.auto.steps import step
from burkholder.compiled import compiled


@compiled
def rank_one(p, column, size, factor):  # type: ignore[no-untyped-def]
    """P ← P − factor·column·columnᵀ."""
    for i in range(size):
        c = factor * column[i]
        for j in range(size):
            p[i, j] -= c * column[j]


@compiled
def forecast(plan, state, work, m):  # type: ignore[no-untyped-def]
    """Full lanes' predictions into work.out, after the tangent lanes'."""
    if state.scalars[FULL_ON] == 0.0:
        return
    first = len(plan.kinds) + len(plan.radii)
    for k in range(plan.full_lanes):
        x = work.tilde if state.full_spec[k, 0] == 1.0 else work.hat
        total = 0.0
        for j in range(m):
            slot = work.slot[j]
            if slot <= plan.full_features:
                total += state.full_w[k, slot] * x[j]
        work.out[first + k] = total


@compiled
def learn(plan, state, work, m, y, weight):  # type: ignore[no-untyped-def]
    """One Kalman step of every full lane."""
    first = len(plan.kinds) + len(plan.radii)
    size = int(state.scalars[FEATURES])
    for k in range(plan.full_lanes):
        v0, q = state.full_spec[k, 1], state.full_spec[k, 2]
        x = work.tilde if state.full_spec[k, 0] == 1.0 else work.hat
        p, w, column = state.full_p[k], state.full_w[k], work.column
        for i in range(size):
            if p[i, i] < v0:
                p[i, i] += q
            column[i] = 0.0
        for j in range(m):
            slot = work.slot[j]
            for i in range(size):
                column[i] += p[slot, i] * x[j]
        reach = 0.0
        for j in range(m):
            reach += column[work.slot[j]] * x[j]
        reach = max(reach, 0.0)
        g, c = step(
            int(state.full_spec[k, 4]), work.out[first + k], reach, y, weight,
            state.residual[first + k], plan.quantile,
        )
        for i in range(size):
            w[i] -= g * column[i]
        rank_one(p, column, size, c / (1.0 + c * reach))


@compiled
def retire(plan, state):  # type: ignore[no-untyped-def]
    """Too many features: from now on each full lane *is* its diagonal twin, so their weights are added up."""
    first = len(plan.kinds) + len(plan.radii)
    for k in range(plan.full_lanes):
        twin = int(state.full_spec[k, 3])
        state.weight[twin] += state.weight[first + k]
        state.prior[twin] += state.prior[first + k]
        state.weight[first + k] = 0.0
        state.prior[first + k] = 0.0
        for s in range(state.stack_w.shape[0]):
            state.stack_w[s, twin] += state.stack_w[s, first + k]
    state.scalars[FULL_ON] = 0.0
