"""The width of the rows: lanes marked `wide` see their features over the root of the mean ‖x‖².

Their prior variance v₀ is then that of the prediction, whether a row has three features or three thousand. A gain on
the features is a gain on what is summed over them: ⟨w, x⟩ and the step take it once, ΣVx² and the shrinkage twice,
so that no feature is touched for it.
"""

from __future__ import annotations

import math

from burkholder.auto.state import HAT_SQUARES, ROUNDS, TILDE_SQUARES
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all8, fused, halves, load8, store, total8, where_positive


@inlined
def measure(plan, state, work, m):
    """The gains, put into work.out and work.reach of the diagonal lanes; and the mean squared width with this row.

    The gains come from the rows before: features met for the first time are left out of a prediction, and must not
    change it through the width. Before the first label every prediction is 0, so there this row may count.
    """
    hat, tilde = all8(0.0), all8(0.0)
    for j in range(0, m, 8):
        x, z = load8(work.hat, j), load8(work.tilde, j)
        hat, tilde = fused(x, x, hat), fused(z, z, tilde)
    scalars, once = state.scalars, 1.0 / (state.scalars[ROUNDS] + 1.0)
    work.squares[2] = total8(hat)
    work.squares[0] = scalars[HAT_SQUARES] + (work.squares[2] - scalars[HAT_SQUARES]) * once
    work.squares[1] = scalars[TILDE_SQUARES] + (total8(tilde) - scalars[TILDE_SQUARES]) * once
    before = 1.0 if scalars[ROUNDS] > 0.0 else 0.0
    hats = before * scalars[HAT_SQUARES] + (1.0 - before) * work.squares[0]
    tildes = before * scalars[TILDE_SQUARES] + (1.0 - before) * work.squares[1]
    work.narrow[0] = 1.0 / math.sqrt(max(hats, 1.0))
    gains = halves(work.narrow[0], 1.0 / math.sqrt(max(tildes, 1.0)))
    gain = where_positive(load8(state.wide, 0), gains, all8(1.0))
    store(work.gain, 0, gain)
    for k in range(0, 8 * plan.groups, 8):
        store(work.out, k, load8(work.out, k) * gain)
        store(work.reach, k, load8(work.reach, k) * gain * gain)


@inlined
def keep(plan, state, work):
    """Remember the mean squared width; gains into the steps of the diagonal lanes."""
    state.scalars[HAT_SQUARES] = work.squares[0]
    state.scalars[TILDE_SQUARES] = work.squares[1]
    gain = load8(work.gain, 0)
    for k in range(0, 8 * plan.groups, 8):
        store(work.step, k, load8(work.step, k) * gain)
        store(work.shrink, k, load8(work.shrink, k) * gain * gain)
