"""One pass over a row: which features it touches, and each one scaled in two ways before anything is predicted.

x̂ = x/h with h the running maximum of |x|, and x̃ standardised with running moments (this row included). A value
more than ten times its feature's maximum so far raises that maximum ten times only: one absurd value then costs
one round, not the feature. Moments are kept in units of h, so nothing overflows when squared.
"""

from __future__ import annotations

from numpy import uintp

from burkholder.auto.state import FEATURES, HEIGHT, INVERSE, ROUNDS
from burkholder.machine.columns import columns, put_columns
from burkholder.machine.compiling import compiled, inlined
from burkholder.machine.elementary import inverse_root
from burkholder.machine.prefetch import prefetch
from burkholder.machine.vectors import all8, any_above, fused, least, load8, most, put, store, where_positive

GROWTH = 10.0
TINY = 1e-300  # smaller values are taken for 0: their inverse is not a number any more
CONSTANT = 1e-24  # a variance below this, in units of h², is rounding: the feature is constant
AHEAD = 16  # how many entries ahead a feature's cache lines are asked for
MANY = 500.0  # with fewer features than this everything is near anyway


@inlined
def gather(plan, state, work, indices, values, start, stop, grow):
    """Fill work.slot and work.raw with the features of a row; repeated indices are added up.

    Slot 0 is the intercept. Features in the dense list are visited even when absent (x = 0), because their
    standardised value is not 0. With `grow` unseen features get a slot; without, they are left out (their
    weights are 0).
    """
    work.stamp[0] += work.slot.shape[0]  # marks of earlier rows are below, those of this row at or above
    stamp = work.stamp[0]
    far = state.scalars[FEATURES] > MANY
    m = plan.intercept
    work.slot[0] = 0
    work.raw[0] = 0.0  # `scale` puts the constant itself
    # unsigned places, because signed ones are looked at twice: negative ones would count from the end
    for j in range(start, stop):
        if far and j + AHEAD < indices.shape[0] and indices[uintp(j + AHEAD)] < state.slot_of.shape[0]:
            fetch(plan, state, max(state.slot_of[uintp(indices[uintp(j + AHEAD)])], 0))
        x = values[uintp(j)]
        if abs(x) < TINY:
            continue
        feature = indices[uintp(j)]
        slot = int(state.slot_of[uintp(feature)]) if feature < state.slot_of.shape[0] else -1
        if slot < 0:
            if not grow:
                continue
            slot = int(state.scalars[FEATURES])
            state.scalars[FEATURES] += 1.0
            state.slot_of[uintp(feature)] = slot
            for group in range(plan.groups):
                put(state.lanes, slot, 16 * group + 8, load8(state.v0, 0))
        mark = work.mark[uintp(slot)]
        if mark >= stamp:  # seen in this very row, at place mark − stamp
            work.raw[mark - stamp] += x
        else:
            work.mark[uintp(slot)] = stamp + m
            work.slot[uintp(m)] = slot
            work.raw[uintp(m)] = x
            m += 1
    for j in range(state.dense_count[0]):
        slot = state.dense[j]
        if work.mark[uintp(slot)] < stamp:
            work.slot[uintp(m)] = slot
            work.raw[uintp(m)] = 0.0
            m += 1
    for j in range(m, m + 8):  # the last block of eight is filled up with the constant, at x = 0
        work.slot[uintp(j)] = 0
        work.raw[uintp(j)] = 0.0
    return m


@inlined
def fetch(plan, state, slot):
    """Ask for all that is kept of a feature which will be wanted soon."""
    prefetch(state.stat, slot, 0)
    prefetch(state.lanes, slot, 0)
    prefetch(state.lanes, slot, 8)
    prefetch(state.lanes, slot, 16)
    if plan.groups == 2:
        prefetch(state.lanes, slot, 24)
        prefetch(state.lanes, slot, 32)


@inlined
def scale(plan, state, work, m, keep):
    """Fill work.hat and work.tilde; with `keep` also write the new statistics, which count this row."""
    zero, one = all8(0.0), all8(1.0)
    rounds = all8(state.scalars[ROUNDS] + 1.0)
    once = one / rounds
    for j in range(0, m, 8):
        signed, mean, spread, inverse = columns(state.stat, work.slot, j)  # COUNT, MEAN, SPREAD, INVERSE
        x = load8(work.raw, j)
        count, was = abs(signed), where_positive(zero - signed, one, zero)
        if any_above(abs(x * inverse), one) or any_above(one, count):
            heighten(state, work, j, keep)
            inverse, ratio = load8(work.inverse, 0), load8(work.ratio, 0)
            mean, spread = mean * ratio, spread * ratio * ratio
        z = least(most(x * inverse, zero - one), one)
        here = where_positive(abs(x), one, zero)
        count = count + here
        each = one / most(count, one)
        gap = (z - mean) * here
        mean = fused(gap, each, mean)
        spread = fused(gap, z - mean, spread)
        # dense once nonzero in half of the rounds, until in less than a quarter
        dense = where_positive(rounds - count - count, where_positive(rounds - all8(4.0) * count, zero, was), one)
        share, square = count * once, mean * mean
        variance = fused(spread, once, share * (one - share) * square)
        variance = where_positive(dense, variance, fused(spread, each, square))
        above = where_positive(dense, z - share * mean, z)
        store(work.hat, j, z)
        store(work.tilde, j, where_positive(variance - all8(CONSTANT), above * inverse_root(most(variance, all8(CONSTANT))), zero))
        if keep:
            put_columns(state.stat, work.slot, j, where_positive(dense, zero - count, count), mean, spread, inverse)
            if any_above(abs(dense - was), zero):
                store(work.ratio, 0, dense - was)
                for i in range(8):
                    if work.ratio[i] != 0.0 and work.slot[j + i] > 0:
                        list_dense(state, work.slot[j + i], work.ratio[i] > 0.0)
    if plan.intercept == 1:  # the constant stays 1
        work.hat[0] = 1.0
        work.tilde[0] = 1.0
    for j in range(m, m + 8):  # what fills up the last block of eight counts for nothing
        work.hat[j] = 0.0
        work.tilde[j] = 0.0


@inlined
def heighten(state, work, j, keep):
    """Raise the heights of eight features to this row's values: old over new height, and 1/h, into work."""
    for i in range(8):
        slot, size = work.slot[j + i], abs(work.raw[j + i])
        h = state.stat[slot, HEIGHT]
        work.ratio[i] = 1.0
        work.inverse[i] = state.stat[slot, INVERSE]
        if size > h:
            # the first value of a feature sets its height; min also covers 10·h overflowing to infinity
            taller = size if h == 0.0 else min(size, GROWTH * h)
            work.ratio[i] = h / taller
            work.inverse[i] = 1.0 / taller
            if keep:
                state.stat[slot, HEIGHT] = taller


@inlined
def list_dense(state, slot, dense):
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
def count_unseen(slot_of, indices):
    """How many different unseen features there are among the indices; leaves slot_of as it was."""
    count = 0
    for feature in indices:
        if slot_of[feature] == -1:
            slot_of[feature] = -2
            count += 1
    if count:
        for feature in indices:
            if slot_of[feature] == -2:
                slot_of[feature] = -1
    return count
