"""Full-covariance Kalman steps: for the lanes on few features, and for the stack over the lanes' outputs."""

from __future__ import annotations

from burkholder.auto.inlined import inlined
from burkholder.auto.plan import LOGISTIC
from burkholder.auto.state import FEATURES, FULL_ON, HIGH, LOW
from burkholder.auto.steps import step
from burkholder.simd import all8, lane, load8, row8, store
from burkholder.simd import put as put8


@inlined
def censored(state, p, y):  # type: ignore[no-untyped-def]
    """Whether label and prediction both lie at or beyond the same end of the range: nothing to learn then."""
    low, high = state.scalars[LOW], state.scalars[HIGH]
    return (p < low and y <= low) or (p > high and y >= high)


@inlined
def kalman_step(p, w, column, live, size, reach, kind, played, y, weight, residual, quantile):  # type: ignore[no-untyped-def]
    """One step with covariance P, given column = Px and reach = xᵀPx, on the first `live` rows."""
    reach = max(reach, 0.0)
    steps, shrinks = step(kind, all8(played), all8(reach), y, weight, all8(residual), quantile)
    g, shrink = all8(lane(steps, 0)), lane(shrinks, 0)
    for i in range(0, size, 8):
        store(w, i, load8(w, i) - g * load8(column, i))
    for i in range(live):
        c = all8(shrink * column[i])
        for j in range(0, size, 8):
            put8(p, i, j, row8(p, i, j) - c * load8(column, j))


@inlined
def forecast(plan, state, work, m):  # type: ignore[no-untyped-def]
    """Full lanes' predictions into work.out; once retired, each is its diagonal twin."""
    for k in range(plan.full_lanes):
        if state.scalars[FULL_ON] == 0.0:
            work.out[plan.full + k] = work.out[int(state.full_spec[k, 3])]
            continue
        on_tilde = state.full_spec[k, 0] == 1.0
        total = 0.0
        for j in range(m):
            slot = work.slot[j]
            if slot <= plan.full_features:
                total += state.full_w[k, slot] * (work.tilde[j] if on_tilde else work.hat[j])
        work.out[plan.full + k] = total


@inlined
def learn(plan, state, work, m, y, weight):  # type: ignore[no-untyped-def]
    """One Kalman step of every full lane."""
    features = int(state.scalars[FEATURES])
    size = (features + 7) // 8 * 8
    column = work.column
    for k in range(plan.full_lanes):
        v0, q, kind = state.full_spec[k, 1], state.full_spec[k, 2], int(state.full_spec[k, 4])
        on_tilde = state.full_spec[k, 0] == 1.0
        p = state.full_p[k]
        for i in range(features):
            if p[i, i] < v0:
                p[i, i] += q
        if kind != LOGISTIC and censored(state, work.out[plan.full + k], y):
            continue
        for i in range(0, size, 8):
            total = all8(0.0)
            for j in range(m):
                x = work.tilde[j] if on_tilde else work.hat[j]
                total = total + row8(p, work.slot[j], i) * all8(x)
            store(column, i, total)
        reach = 0.0
        for j in range(m):
            reach += column[work.slot[j]] * (work.tilde[j] if on_tilde else work.hat[j])
        kalman_step(p, state.full_w[k], column, features, size, reach, kind, work.entry[plan.full + k], y, weight,
                    state.residual[plan.full + k], plan.quantile)


@inlined
def retire(plan, state):  # type: ignore[no-untyped-def]
    """Too many features: from now on each full lane *is* its diagonal twin, also in the stack."""
    for k in range(plan.full_lanes):
        twin = int(state.full_spec[k, 3])
        for s in range(state.stack_w.shape[0]):
            state.stack_w[s, twin] += state.stack_w[s, plan.full + k]
            state.stack_w[s, plan.full + k] = 0.0
            for i in range(state.stack_w.shape[1]):
                state.stack_p[s, i, plan.full + k] = 0.0
                state.stack_p[s, plan.full + k, i] = 0.0
    state.scalars[FULL_ON] = 0.0
