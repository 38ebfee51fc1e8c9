"""One pass over a row: which features it touches, and each one scaled in two ways before anything is predicted.

x̂ = x/h with h the running maximum of |x|, and x̃ standardised with running moments (this row included). A value
more than ten times its feature's maximum so far raises that maximum ten times only: one absurd value then costs
one round, not the feature. Moments are kept in units of h, so nothing overflows when squared.
"""

from __future__ import annotations

import math

from burkholder.auto.state import COUNT, DENSE, FEATURES, HEIGHT, LAST, MEAN, ROUNDS, SPREAD
from burkholder.compiled import compiled

GROWTH = 10.0
CONSTANT = 1e-24  # a variance below this, in units of h², is rounding: the feature is constant


@compiled
def gather(plan, state, work, indices, values, start, stop, grow):  # type: ignore[no-untyped-def]
    """Fill work.slot and work.raw with the features of a row; repeated indices are added up.

    Slot 0 is the intercept. Features in the dense list are visited even when absent (x = 0), because their
    standardised value is not 0. With `grow` unseen features get a slot; without, they are left out (their
    weights are 0).
    """
    work.stamp[0] += 1
    stamp = work.stamp[0]
    m = 0
    if plan.intercept == 1:
        work.slot[0] = 0
        work.raw[0] = 1.0
        m = 1
    for j in range(start, stop):
        x = values[j]
        if x == 0.0:
            continue
        feature = indices[j]
        slot = state.slot_of[feature] if feature < state.slot_of.shape[0] else -1
        if slot < 0:
            if not grow:
                continue
            slot = int(state.scalars[FEATURES])
            state.scalars[FEATURES] += 1.0
            state.slot_of[feature] = slot
        if work.mark[slot] == stamp:
            work.raw[work.place[slot]] += x
        else:
            work.mark[slot] = stamp
            work.place[slot] = m
            work.slot[m] = slot
            work.raw[m] = x
            m += 1
    for j in range(state.dense_count[0]):
        slot = state.dense[j]
        if work.mark[slot] != stamp:
            work.mark[slot] = stamp
            work.place[slot] = m
            work.slot[m] = slot
            work.raw[m] = 0.0
            m += 1
    return m


@compiled
def scale(plan, state, work, m):  # type: ignore[no-untyped-def]
    """Fill work.hat, work.tilde and the new statistics of each touched feature; the state is only read."""
    n = state.scalars[ROUNDS] + 1.0
    stat, fresh = state.stat, work.fresh
    for j in range(m):
        slot = work.slot[j]
        if slot == 0:  # the constant stays 1
            work.hat[j] = 1.0
            work.tilde[j] = 1.0
            continue
        x = work.raw[j]
        h, count, mean, spread = stat[slot, HEIGHT], stat[slot, COUNT], stat[slot, MEAN], stat[slot, SPREAD]
        size = abs(x)
        if size > h:
            # the first value of a feature sets its height; min also covers 10·h overflowing to infinity
            taller = size if h == 0.0 else min(size, GROWTH * h)
            ratio = h / taller
            mean *= ratio
            spread *= ratio * ratio
            h = taller
        z = min(max(x / h, -1.0), 1.0) if h > 0.0 else 0.0
        if x != 0.0:
            count += 1.0
            if z != mean:
                gap = z - mean
                mean += gap / count
                spread += gap * (z - mean)
        dense = stat[slot, DENSE]
        if 2.0 * count >= n:
            dense = 1.0
        elif 4.0 * count < n:
            dense = 0.0
        if dense == 1.0:
            share = count / n
            variance = spread / n + share * (1.0 - share) * mean * mean
            work.tilde[j] = (z - share * mean) / math.sqrt(variance) if variance > CONSTANT else 0.0
        elif spread == 0.0:  # always the same value where present
            work.tilde[j] = 0.0 if x == 0.0 else (1.0 if z > 0.0 else -1.0)
        else:
            work.tilde[j] = z / math.sqrt(spread / count + mean * mean)
        work.hat[j] = z
        fresh[j, HEIGHT], fresh[j, COUNT], fresh[j, MEAN], fresh[j, SPREAD] = h, count, mean, spread
        fresh[j, DENSE] = dense


@compiled
def settle(state, work, m):  # type: ignore[no-untyped-def]
    """Write the new statistics of the touched features, and keep the list of dense ones."""
    stat, fresh = state.stat, work.fresh
    now = state.scalars[ROUNDS]
    for j in range(m):
        slot = work.slot[j]
        stat[slot, LAST] = now
        if slot == 0:
            continue
        was, dense = stat[slot, DENSE], fresh[j, DENSE]
        stat[slot, HEIGHT] = fresh[j, HEIGHT]
        stat[slot, COUNT] = fresh[j, COUNT]
        stat[slot, MEAN] = fresh[j, MEAN]
        stat[slot, SPREAD] = fresh[j, SPREAD]
        if was != dense:
            stat[slot, DENSE] = dense
            if dense == 1.0:
                state.dense[state.dense_count[0]] = slot
                state.dense_count[0] += 1
            else:
                kept = 0
                for i in range(state.dense_count[0]):
                    if state.dense[i] != slot:
                        state.dense[kept] = state.dense[i]
                        kept += 1
                state.dense_count[0] = kept
