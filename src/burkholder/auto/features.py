"""One pass over a row: which features it touches, and each one scaled in two ways before anything is predicted.

x̂ = x/h with h the running maximum of |x|, and x̃ standardised with running moments (this row included). A value
more than ten times its feature's maximum so far raises that maximum ten times only: one absurd value then costs
one round, not the feature. Moments are kept in units of h, so nothing overflows when squared.
"""

from __future__ import annotations

import math

from burkholder.auto.inlined import inlined
from burkholder.auto.state import COUNT, DENSE, FEATURES, HEIGHT, INVERSE, MEAN, ROUNDS, SPREAD
from burkholder.compiled import compiled
from burkholder.simd import prefetch

GROWTH = 10.0
TINY = 1e-300  # smaller values are taken for 0: their inverse is not a number any more
CONSTANT = 1e-24  # a variance below this, in units of h², is rounding: the feature is constant


@inlined
def gather(plan, state, work, indices, values, start, stop, grow):  # type: ignore[no-untyped-def]
    """Fill work.slot and work.raw with the features of a row; repeated indices are added up.

    Slot 0 is the intercept. Features in the dense list are visited even when absent (x = 0), because their
    standardised value is not 0. With `grow` unseen features get a slot; without, they are left out (their
    weights are 0).
    """
    work.stamp[0] += work.slot.shape[0]  # marks of earlier rows are below, those of this row at or above
    stamp = work.stamp[0]
    m = 0
    if plan.intercept == 1:
        work.slot[0] = 0
        work.raw[0] = 1.0
        m = 1
    for j in range(start, stop):
        x = values[j]
        if abs(x) < TINY:
            continue
        feature = indices[j]
        slot = state.slot_of[feature] if grow or feature < state.slot_of.shape[0] else -1
        if slot < 0:
            if not grow:
                continue
            slot = int(state.scalars[FEATURES])
            state.scalars[FEATURES] += 1.0
            state.slot_of[feature] = slot
        mark = work.mark[slot]
        if mark >= stamp:  # seen in this very row, at place mark − stamp
            work.raw[mark - stamp] += x
        else:
            prefetch(state.lanes, slot, 0)
            prefetch(state.lanes, slot, 8)
            prefetch(state.lanes, slot, 16)
            prefetch(state.stat, slot, 0)
            work.mark[slot] = stamp + m
            work.slot[m] = slot
            work.raw[m] = x
            m += 1
    for j in range(state.dense_count[0]):
        slot = state.dense[j]
        if work.mark[slot] < stamp:
            work.mark[slot] = stamp + m
            work.slot[m] = slot
            work.raw[m] = 0.0
            m += 1
    return m


@inlined
def scale(state, work, m, keep):  # type: ignore[no-untyped-def]
    """Fill work.hat and work.tilde; with `keep` also write the new statistics, which count this row."""
    n = state.scalars[ROUNDS] + 1.0
    once = 1.0 / n
    stat = state.stat
    for j in range(m):
        slot = work.slot[j]
        if slot == 0:  # the constant stays 1
            work.hat[j] = 1.0
            work.tilde[j] = 1.0
            continue
        x = work.raw[j]
        h, count, mean, spread = stat[slot, HEIGHT], stat[slot, COUNT], stat[slot, MEAN], stat[slot, SPREAD]
        inverse = stat[slot, INVERSE]
        size = abs(x)
        if size > h:
            # the first value of a feature sets its height; min also covers 10·h overflowing to infinity
            taller = size if h == 0.0 else min(size, GROWTH * h)
            ratio = h / taller
            mean *= ratio
            spread *= ratio * ratio
            h = taller
            inverse = 1.0 / h
        z = min(max(x * inverse, -1.0), 1.0)
        if x != 0.0:
            count += 1.0
            gap = z - mean
            mean += gap / count
            spread += gap * (z - mean)
        dense = stat[slot, DENSE]
        if 2.0 * count >= n:
            dense = 1.0
        elif 4.0 * count < n:
            dense = 0.0
        work.hat[j] = z
        if dense == 1.0:
            share = count * once
            variance = spread * once + share * (1.0 - share) * mean * mean
            work.tilde[j] = (z - share * mean) / math.sqrt(variance) if variance > CONSTANT else 0.0
        else:
            work.tilde[j] = z * math.sqrt(count / (spread + count * mean * mean))
        if keep:
            stat[slot, HEIGHT], stat[slot, COUNT], stat[slot, MEAN], stat[slot, SPREAD] = h, count, mean, spread
            stat[slot, INVERSE] = inverse
            if stat[slot, DENSE] != dense:
                stat[slot, DENSE] = dense
                list_dense(state, slot, dense == 1.0)


@inlined
def list_dense(state, slot, dense):  # type: ignore[no-untyped-def]
    """Put a feature on the list of dense ones, or take it off."""
    if dense:
        state.dense[state.dense_count[0]] = slot
        state.dense_count[0] += 1
        return
    kept = 0
    for i in range(state.dense_count[0]):
        if state.dense[i] != slot:
            state.dense[kept] = state.dense[i]
            kept += 1
    state.dense_count[0] = kept


@compiled
def count_unseen(slot_of, indices):  # type: ignore[no-untyped-def]
    """How many different unseen features there are among the indices; leaves slot_of as it was."""
    count = 0
    for feature in indices:
        if slot_of[feature] == -1:
            slot_of[feature] = -2
            count += 1
    for feature in indices:
        if slot_of[feature] == -2:
            slot_of[feature] = -1
    return count
