"""The two passes over the features of a row: one reads every lane's prediction, one learns. Nothing between them
looks at a feature; each feature's cache lines are used once in either pass."""

from __future__ import annotations

from burkholder.auto import kalman, tangent
from burkholder.auto.plan import BETTING
from burkholder.auto.state import LAST, ROUNDS
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all4, all8, fused, halves, load4, load8, peek, poke, row8, store


@inlined
def read(plan, state, work, m):
    """p = ⟨w, x⟩ of every diagonal and tangent lane into work.out, X = ΣVx² into work.reach. The state is only read."""
    v0, drift, now = load8(state.v0, 0), load8(state.drift, 0), state.scalars[ROUNDS]
    at = 16 * plan.groups
    p, reach, lean = all8(0.0), all8(0.0), all4(0.0)
    for j in range(m):
        slot, x = work.slot[j], halves(work.hat[j], work.tilde[j])
        work.waited[j] = now - peek(state.stat, slot, LAST)
        p = fused(row8(state.lanes, slot, 0), x, p)
        reach = fused(kalman.variance(state, slot, 0, v0, drift, work.waited[j]) * x, x, reach)
        lean = fused(tangent.direction(state, slot, at), all4(work.hat[j]), lean)
        # for the betting lane, which is played eight features at a time
        work.bet[j] = peek(state.lanes, slot, at + BETTING)
        work.stake[j] = peek(state.lanes, slot, at + 4 + BETTING)
    store(work.out, 0, p)
    store(work.reach, 0, reach)
    tangent.play(plan, state, work, lean)
    if plan.groups == 2:
        p, reach = all8(0.0), all8(0.0)
        for j in range(m):
            slot, x = work.slot[j], halves(work.hat[j], work.tilde[j])
            p = fused(row8(state.lanes, slot, 16), x, p)
            reach = fused(kalman.variance(state, slot, 16, v0, drift, work.waited[j]) * x, x, reach)
        store(work.out, 8, p)
        store(work.reach, 8, reach)


@inlined
def learn(plan, state, work, m):
    """Every diagonal lane takes its step, and the tangent lanes take δ; both are in work.step."""
    v0, drift, now = load8(state.v0, 0), load8(state.drift, 0), state.scalars[ROUNDS]
    at = 16 * plan.groups
    delta = load4(work.step, plan.tangents)
    g, shrink = all8(0.0) - load8(work.step, 0), all8(0.0) - load8(work.shrink, 0)
    strain = load4(state.strain, 0)
    for j in range(m):
        slot, x = work.slot[j], halves(work.hat[j], work.tilde[j])
        v = kalman.variance(state, slot, 0, v0, drift, work.waited[j])
        kalman.learn(state, slot, 0, v, x, g, shrink)
        strain = strain + abs(tangent.learn(state, slot, at, delta * all4(work.hat[j])))
        poke(state.stat, slot, LAST, now)
    store(state.strain, 0, strain)
    if plan.groups == 2:
        g, shrink = all8(0.0) - load8(work.step, 8), all8(0.0) - load8(work.shrink, 8)
        for j in range(m):
            slot, x = work.slot[j], halves(work.hat[j], work.tilde[j])
            v = kalman.variance(state, slot, 16, v0, drift, work.waited[j])
            kalman.learn(state, slot, 16, v, x, g, shrink)
