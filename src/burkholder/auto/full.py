"""Full-covariance Kalman steps: for the lanes on few features, and for the stack over the lanes' outputs."""

from __future__ import annotations

from burkholder.auto.inlined import inlined
from burkholder.auto.simd import all8, fused, load8, row8, store
from burkholder.auto.simd import put as put8
from burkholder.auto.state import FEATURES, FULL_ON, HIGH, LOW


@inlined
def censored(state, p, y):  # type: ignore[no-untyped-def]
    """Whether label and prediction both lie at or beyond the same end of the range: nothing to learn then."""
    low, high = state.scalars[LOW], state.scalars[HIGH]
    return (p < low and y <= low) or (p > high and y >= high)


@inlined
def kalman_step(p, w, column, live, size, g, shrink):  # type: ignore[no-untyped-def]
    """One step with covariance P, given column = Px, on the first `live` rows: w ← w − g·Px, P ← P − c/(1+cX)·Px(Px)ᵀ."""
    back = all8(0.0 - g)
    for i in range(0, size, 8):
        store(w, i, fused(back, load8(column, i), load8(w, i)))
    for i in range(live):
        c = all8(0.0 - shrink * column[i])
        for j in range(0, size, 8):
            put8(p, i, j, fused(c, load8(column, j), row8(p, i, j)))


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
def reach(plan, state, work, m):  # type: ignore[no-untyped-def]
    """Let the variances drift; Px of every full lane into its row of work.columns, X = xᵀPx into work.reach."""
    features = int(state.scalars[FEATURES])
    size = (features + 7) // 8 * 8
    for k in range(plan.full_lanes):
        v0, q = state.full_spec[k, 1], state.full_spec[k, 2]
        x = work.tilde if state.full_spec[k, 0] == 1.0 else work.hat
        p, column = state.full_p[k], work.columns[k]
        for i in range(features):
            if p[i, i] < v0:
                p[i, i] += q
        for i in range(0, size, 8):
            total = all8(0.0)
            for j in range(m):
                total = fused(row8(p, work.slot[j], i), all8(x[j]), total)
            store(column, i, total)
        total = 0.0
        for j in range(m):
            total += column[work.slot[j]] * x[j]
        work.reach[plan.full + k] = max(total, 0.0)


@inlined
def learn(plan, state, work):  # type: ignore[no-untyped-def]
    """Every full lane takes its step."""
    features = int(state.scalars[FEATURES])
    size = (features + 7) // 8 * 8
    for k in range(plan.full_lanes):
        at = plan.full + k
        kalman_step(state.full_p[k], state.full_w[k], work.columns[k], features, size, work.step[at], work.shrink[at])


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
