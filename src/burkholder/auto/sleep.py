"""Lanes that sleep: while the trees bring nothing, they cost nothing, and the linear lanes play alone.

Every SPAN rounds what was lost is compared. Two spans in which the blend was no better than the linear lanes by a part of WORTH send
the trees to sleep until the stream is twice as long; the linear lanes losing LOUD times as much as before wakes them earlier. A lane that
sleeps plays what the linear lanes play: every promise about it stays true, and its weight stays what it was.
"""

from __future__ import annotations

import numpy as np

from burkholder.auto.state import ROUNDS, aligned
from burkholder.machine.compiling import inlined

UNTIL, COUNT, LINEAR, BLENDED, USUAL, IDLE, RETIRED, RESTLESS = range(8)
SPAN = 1024.0  # a multiple of sixteen: the lanes' losses are settled when it is over
WORTH = 0.002
LOUD = 1.25


def new_watch(restless: bool) -> np.ndarray:
    """Awake; `restless` trees never sleep."""
    watch = aligned(8)
    watch[RESTLESS] = float(restless)
    return watch


@inlined
def asleep(blend):
    """Whether the linear lanes play alone: for a while, or for ever."""
    return blend.watch[RETIRED] == 1.0 or blend.scalars[ROUNDS] < blend.watch[UNTIL]


@inlined
def note(blend, linear, blended):
    """What a round cost the linear lanes, and what it cost all together; called before the round is counted."""
    watch, after = blend.watch, blend.scalars[ROUNDS] + 1.0
    watch[LINEAR] += linear
    watch[BLENDED] += blended
    watch[COUNT] += 1.0
    if watch[COUNT] < SPAN or watch[RESTLESS] == 1.0:
        return
    if after <= watch[UNTIL]:
        if watch[LINEAR] > LOUD * watch[USUAL]:
            watch[UNTIL] = after
    else:
        watch[IDLE] = watch[IDLE] + 1.0 if watch[LINEAR] - watch[BLENDED] < WORTH * watch[LINEAR] else 0.0
        if watch[IDLE] >= 2.0:
            watch[UNTIL], watch[USUAL], watch[IDLE] = 2.0 * after, watch[LINEAR], 0.0
    watch[LINEAR], watch[BLENDED], watch[COUNT] = 0.0, 0.0, 0.0
