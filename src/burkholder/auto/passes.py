"""The two passes over the features of a row: one reads every lane's prediction, one learns. Nothing between them
looks at a feature; each feature's cache lines are used once in either pass."""

from __future__ import annotations

from burkholder.auto import kalman, tangent
from burkholder.auto.inlined import inlined
from burkholder.auto.simd import all4, all8, fused, halves, load4, load8, row8, store
from burkholder.auto.state import LAST, ROUNDS


@inlined
def read(plan, state, work, m):  # type: ignore[no-untyped-def]
    """p = ⟨w, x⟩ of every diagonal and tangent lane into work.out, X = ΣVx² into work.reach. The state is only read."""
    v0, drift, now = load8(state.v0, 0), load8(state.drift, 0), state.scalars[ROUNDS]
    at = 16 * plan.groups
    for group in range(plan.groups):
        p, reach, lean = all8(0.0), all8(0.0), all4(0.0)
        for j in range(m):
            slot, x = work.slot[j], halves(work.hat[j], work.tilde[j])
            p = fused(row8(state.lanes, slot, 16 * group), x, p)
            v = kalman.variance(state, slot, 16 * group, v0, drift, now - state.stat[slot, LAST])
            reach = fused(v * x, x, reach)
            if group == 0:
                lean = fused(tangent.direction(state, slot, at), all4(work.hat[j]), lean)
        store(work.out, 8 * group, p)
        store(work.reach, 8 * group, reach)
        if group == 0:
            tangent.play(plan, state, work, lean)


@inlined
def learn(plan, state, work, m):  # type: ignore[no-untyped-def]
    """Every diagonal lane takes its step, and the tangent lanes take δ; both are in work.step."""
    v0, drift, now = load8(state.v0, 0), load8(state.drift, 0), state.scalars[ROUNDS]
    at = 16 * plan.groups
    delta = load4(work.step, plan.tangents)
    for group in range(plan.groups):
        g, shrink = all8(0.0) - load8(work.step, 8 * group), all8(0.0) - load8(work.shrink, 8 * group)
        for j in range(m):
            slot, x = work.slot[j], halves(work.hat[j], work.tilde[j])
            v = kalman.variance(state, slot, 16 * group, v0, drift, now - state.stat[slot, LAST])
            kalman.learn(state, slot, 16 * group, v, x, g, shrink)
            if group == 0:
                tangent.learn(state, slot, at, delta * all4(work.hat[j]))
            if group == plan.groups - 1:
                state.stat[slot, LAST] = now
