"""Diagonal Kalman lanes: every feature has a weight and a variance in each lane, eight lanes side by side.

`at` is where the group begins in the feature's row: eight weights, then eight variances.
"""

from __future__ import annotations

from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all8, fused, least, put, row8


@inlined
def variance(state, slot, at, v0, drift, waited):
    """The variances have drifted since the feature was last seen: V ← min(v₀, V + QΔt)."""
    return least(v0, fused(drift, all8(waited), row8(state.lanes, slot, at + 8)))


@inlined
def learn(state, slot, at, v, x, g, shrink):
    """w ← w − g·V·x and V ← V − (Vx)²·c/(1+cX), given −g and −c/(1+cX)."""
    vx = v * x
    put(state.lanes, slot, at, fused(g, vx, row8(state.lanes, slot, at)))
    put(state.lanes, slot, at + 8, fused(vx * vx, shrink, v))
