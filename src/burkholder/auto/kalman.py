"""Diagonal Kalman lanes: every feature has a weight and a variance in each lane; eight lanes in one pass."""

from __future__ import annotations

from burkholder.auto.inlined import inlined
from burkholder.auto.state import LAST, ROUNDS
from burkholder.simd import all8, halves, least, load8, put, row8, store


@inlined
def forecast(plan, state, work, m):  # type: ignore[no-untyped-def]
    """p = ⟨w, x⟩ of every diagonal lane into work.out. The state is only read."""
    for group in range(plan.groups):
        p = all8(0.0)
        for j in range(m):
            p = p + row8(state.lanes, work.slot[j], 16 * group) * halves(work.hat[j], work.tilde[j])
        store(work.out, 8 * group, p)


@inlined
def reach(plan, state, work, m):  # type: ignore[no-untyped-def]
    """Let the variances drift, V ← min(v₀, V + QΔt), and put X = ΣVx² of every lane into work.reach."""
    v0, drift = load8(state.v0, 0), load8(state.drift, 0)
    now = state.scalars[ROUNDS]
    for group in range(plan.groups):
        total = all8(0.0)
        for j in range(m):
            slot = work.slot[j]
            x = halves(work.hat[j], work.tilde[j])
            waited = all8(now - state.stat[slot, LAST])
            v = least(v0, row8(state.lanes, slot, 16 * group + 8) + drift * waited)
            put(state.lanes, slot, 16 * group + 8, v)
            total = total + v * x * x
        store(work.reach, 8 * group, total)


@inlined
def learn(plan, state, work, m):  # type: ignore[no-untyped-def]
    """w ← w − g·V·x and V ← V − (Vx)²·c/(1+cX), with g in work.step and c/(1+cX) in work.shrink."""
    for group in range(plan.groups):
        g, shrink = load8(work.step, 8 * group), load8(work.shrink, 8 * group)
        for j in range(m):
            slot = work.slot[j]
            v = row8(state.lanes, slot, 16 * group + 8)
            vx = v * halves(work.hat[j], work.tilde[j])
            put(state.lanes, slot, 16 * group, row8(state.lanes, slot, 16 * group) - g * vx)
            put(state.lanes, slot, 16 * group + 8, v - vx * vx * shrink)
            state.stat[slot, LAST] = state.scalars[ROUNDS]
