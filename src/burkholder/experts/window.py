"""The window of Huber-root's rates: of all powers of two, those that are kept.

A rate that never was in use has W = 1, and a price in proportion to itself, `missed`. So a window of them is enough. It moves when the
rates of use leave it: those that enter are as they would be, those that leave are forgotten, and what they weighed is booked.
"""

from __future__ import annotations

import math
from typing import Any

from burkholder.experts.scale import FIRST_SPREAD, USED, octave, rate
from burkholder.machine.compiling import register_jitable

OCTAVE, GONE, EXCESS = range(3)  # places in a state's `window`


@register_jitable
def kept(state: Any, row: int) -> float:
    """λ of a row of the window."""
    return rate(int(state.window[OCTAVE]) + row)


@register_jitable
def lead(state: Any, h: float, rates: int, size: int = 1) -> int:
    """The row of the first rate of use, or the nearest in the window."""
    return min(max(octave(state, h, size) - int(state.window[OCTAVE]), 0), rates - 1)


@register_jitable
def wake(state: Any, first: int, last: int) -> None:
    """Keep the prices of these rates from now on; while they slept, they were those of `missed`."""
    for k in range(first, last):
        if not state.moved[k]:
            state.moved[k], lam = True, kept(state, k)
            for j in range(state.missed.size):
                state.cost[k, j] = lam * state.missed[j]
            state.path[k] = lam * state.path_missed[0]


@register_jitable
def follow(state: Any, size: int) -> None:
    """Move the window so that the rates of use are in it, no further."""
    rates, shares, experts = state.log_w.shape
    start, first = int(state.window[OCTAVE]), octave(state, state.scale[FIRST_SPREAD], size)
    by = max(first + min(USED, rates) - start - rates, 0) if first > start else first - start
    if by == 0:
        return
    for k in range(rates):
        if not 0 <= k - by < rates:
            forget(state, k)
    state.window[OCTAVE] = start + by
    for i in range(rates):
        k = i if by > 0 else rates - 1 - i  # none is written before it is read
        fresh = not 0 <= k + by < rates
        for j in range(experts):
            for a in range(shares):
                state.log_w[k, a, j] = 0.0 if fresh else state.log_w[k + by, a, j]
            state.cost[k, j] = 0.0 if fresh else state.cost[k + by, j]
        state.path[k] = 0.0 if fresh else state.path[k + by]
        state.moved[k] = not fresh and state.moved[k + by]


@register_jitable
def forget(state: Any, k: int) -> None:
    """Book what the rows of a rate weigh; those that never moved weigh 1 an expert, as if they had never been."""
    for a in range(state.log_w.shape[1]):
        moved, excess = False, 0.0
        for j in range(state.log_w.shape[2]):
            moved = moved or state.log_w[k, a, j] != 0.0
            excess += math.expm1(state.log_w[k, a, j])
        if moved:
            state.window[GONE] += 1.0
            state.window[EXCESS] += excess
