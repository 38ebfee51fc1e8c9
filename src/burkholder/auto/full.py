"""Full-covariance Kalman steps: for the lanes on few features, and for the stack over the lanes' outputs."""

from __future__ import annotations

import math

from burkholder.auto.state import DELAY, FEATURES, FULL_ON, HIGH, LOW, ROUNDS
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all8, fused, load8, poke, row8, store, total8, where_positive
from burkholder.machine.vectors import put as put8


@inlined
def censored(state, p, y):
    """Whether label and prediction both lie at or beyond the same end of the range: nothing to learn then."""
    low, high = state.scalars[LOW], state.scalars[HIGH]
    return (p < low and y <= low) or (p > high and y >= high)


@inlined
def kalman_step(p, w, column, live, size, g, shrink):
    """One step with covariance P, given column = Px, on the first `live` rows: w ← w − g·Px, P ← P − c/(1+cX)·Px(Px)ᵀ.

    What is taken off is the same both ways to the last bit, and so is P: what were not would stay while P becomes small.
    """
    back, root = all8(0.0 - g), math.sqrt(max(shrink, 0.0))
    for i in range(0, size, 8):
        store(w, i, fused(back, load8(column, i), load8(w, i)))
    for i in range(live):
        c = all8(0.0 - root * column[i])
        for j in range(0, size, 8):
            put8(p, i, j, fused(c, all8(root) * load8(column, j), row8(p, i, j)))


@inlined
def live_size(plan, state):
    """How far the rows of full lanes are in use, in whole blocks of eight."""
    return min((int(state.scalars[FEATURES]) + 7) // 8 * 8, state.full_w.shape[1])


@inlined
def forecast(plan, state, work, m):
    """Full lanes' predictions into work.out; once retired, each is its diagonal twin."""
    if state.scalars[FULL_ON] == 0.0:
        for k in range(plan.full_lanes):
            work.out[plan.full + k] = work.out[int(state.full_spec[k, 3])]
        return
    size = live_size(plan, state)
    for i in range(0, size, 8):  # the row with all its zeros: x̂, then x̃
        put8(work.spread, 0, i, all8(0.0))
        put8(work.spread, 1, i, all8(0.0))
    for j in range(m):
        slot = work.slot[j]
        if slot <= plan.full_features:
            poke(work.spread, 0, slot, work.hat[j])
            poke(work.spread, 1, slot, work.tilde[j])
    for k in range(plan.full_lanes):
        scaling, total = int(state.full_spec[k, 0]), all8(0.0)
        for i in range(0, size, 8):
            total = fused(row8(state.full_w, k, i), row8(work.spread, scaling, i), total)
        work.out[plan.full + k] = total8(total)


@inlined
def multiply(p, slot, x, m, column, size):
    """column += Px. Four blocks side by side, then two, then one: a sum waits for its last term, four sums do not."""
    i = 0
    while i + 32 <= size:
        a, b, c, d = load8(column, i), load8(column, i + 8), load8(column, i + 16), load8(column, i + 24)
        for j in range(m):
            row, number = slot[j], all8(x[j])
            a, b = fused(row8(p, row, i), number, a), fused(row8(p, row, i + 8), number, b)
            c, d = fused(row8(p, row, i + 16), number, c), fused(row8(p, row, i + 24), number, d)
        store(column, i, a)
        store(column, i + 8, b)
        store(column, i + 16, c)
        store(column, i + 24, d)
        i += 32
    if i + 16 <= size:
        a, b = load8(column, i), load8(column, i + 8)
        for j in range(m):
            row, number = slot[j], all8(x[j])
            a, b = fused(row8(p, row, i), number, a), fused(row8(p, row, i + 8), number, b)
        store(column, i, a)
        store(column, i + 8, b)
        i += 16
    if i < size:
        a = load8(column, i)
        for j in range(m):
            a = fused(row8(p, slot[j], i), all8(x[j]), a)
        store(column, i, a)


@inlined
def reach(plan, state, work, m):
    """Let the variances drift; Px of every full lane into its row of work.columns, X = xᵀPx into work.reach.

    P = full_p + diag(full_drift) − Σ_r d_r·u_r·u_rᵀ over the steps since full_p was last brought up to date: writing
    the matrix every round is what costs, so it is done every eighth.
    """
    size, pending = live_size(plan, state), int(state.scalars[ROUNDS]) % DELAY
    for k in range(plan.full_lanes):
        v0, q, scaling = all8(state.full_spec[k, 1]), all8(state.full_spec[k, 2]), int(state.full_spec[k, 0])
        x = work.tilde if scaling == 1 else work.hat
        p, u, column = state.full_p[k], state.full_u[k], work.columns[k]
        for i in range(0, size, 8):
            variance = row8(state.full_variance, k, i)
            more = where_positive(v0 - variance, q, all8(0.0))
            drift = row8(state.full_drift, k, i) + more
            put8(state.full_variance, k, i, variance + more)
            put8(state.full_drift, k, i, drift)
            store(column, i, drift * row8(work.spread, scaling, i))
        multiply(p, work.slot, x, m, column, size)
        for r in range(pending):
            total = all8(0.0)
            for i in range(0, size, 8):
                total = fused(row8(u, r, i), row8(work.spread, scaling, i), total)
            back = all8(0.0 - state.full_d[k, r] * total8(total))
            for i in range(0, size, 8):
                store(column, i, fused(back, row8(u, r, i), load8(column, i)))
        total = all8(0.0)
        for i in range(0, size, 8):
            total = fused(load8(column, i), row8(work.spread, scaling, i), total)
        work.reach[plan.full + k] = max(total8(total), 0.0)


@inlined
def learn(plan, state, work):
    """Every full lane takes its step; the change of its covariance is written down, and made every eighth round."""
    size, pending = live_size(plan, state), int(state.scalars[ROUNDS]) % DELAY
    for k in range(plan.full_lanes):
        g, shrink = all8(0.0 - work.step[plan.full + k]), work.shrink[plan.full + k]
        column, u = work.columns[k], state.full_u[k]
        state.full_d[k, pending] = shrink
        for i in range(0, size, 8):
            px = load8(column, i)
            put8(state.full_w, k, i, fused(g, px, row8(state.full_w, k, i)))
            put8(state.full_variance, k, i, fused(all8(0.0 - shrink) * px, px, row8(state.full_variance, k, i)))
            put8(u, pending, i, px)
        if pending == DELAY - 1:
            catch_up(state, k, size)


@inlined
def catch_up(state, k, size):
    """Bring full_p of one lane up to date."""
    p, u, d = state.full_p[k], state.full_u[k], state.full_d[k]
    for i in range(int(state.scalars[FEATURES])):
        c0, c1 = all8(0.0 - d[0] * u[0, i]), all8(0.0 - d[1] * u[1, i])
        c2, c3 = all8(0.0 - d[2] * u[2, i]), all8(0.0 - d[3] * u[3, i])
        c4, c5 = all8(0.0 - d[4] * u[4, i]), all8(0.0 - d[5] * u[5, i])
        c6, c7 = all8(0.0 - d[6] * u[6, i]), all8(0.0 - d[7] * u[7, i])
        for j in range(0, size, 8):
            total = fused(c0, row8(u, 0, j), fused(c1, row8(u, 1, j), row8(p, i, j)))
            total = fused(c2, row8(u, 2, j), fused(c3, row8(u, 3, j), total))
            total = fused(c4, row8(u, 4, j), fused(c5, row8(u, 5, j), total))
            put8(p, i, j, fused(c6, row8(u, 6, j), fused(c7, row8(u, 7, j), total)))
        p[i, i] = state.full_variance[k, i]
    for i in range(0, size, 8):
        put8(state.full_drift, k, i, all8(0.0))


@inlined
def retire(plan, state):
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


@inlined
def hand_over(plan, state, work):
    """What the full lanes have learned becomes their twins', so that no prediction jumps when a feature more ends them."""
    for k in range(plan.full_lanes):
        twin = int(state.full_spec[k, 3])
        column, scale = 16 * (twin // 8) + twin % 8, 1.0 / work.gain[twin % 8]
        for slot in range(plan.full_features + 1):
            state.lanes[slot, column] = state.full_w[k, slot] * scale
