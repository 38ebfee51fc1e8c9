"""The betting lane: parameter-free per coordinate, for streams where few of many features matter.

With g = Σδx̂, s = Σ(δx̂)² and D = M² + s, M = max|δ|, feature i has the weight −κ·M²·g·D^(−3/2)·exp(g²/2D): the slope of
the adaptive parameter-free potential sqrt(M²/D)·exp(g²/2D), with δ in the place of L. A feature that keeps pushing
the same way gets exponentially more say, the others next to none; κ is the size of a prediction over the root
of the mean ‖x̂‖², so that all features together begin as one guess.

Nothing is promised beforehand (with δ in place of L the potential may rise). What the lane lost against a linear
comparator is known afterwards: Σδŷ − ⟨u, g⟩, for every u at once, and that is what the certificate reports.
"""

from __future__ import annotations

import math

from burkholder.auto.plan import BETTING, LOGISTIC
from burkholder.auto.stack import label_scale
from burkholder.auto.state import HIGH, LOW, STEEPEST
from burkholder.auto.tangent import GRID, WHOLE
from burkholder.machine.compiling import inlined
from burkholder.machine.elementary import inverse_root
from burkholder.machine.vectors import all8, fused, load8, total8
from burkholder.potentials import Adaptive, slope

LIMIT = 30.0
FARTHEST = 10.0  # no weight grows beyond its size at g = 10√D, where the exponential is e⁵⁰


@inlined
def forecast(plan, state, work, m):
    """The lane's prediction, within the limits of predictions and on the tangent lanes' grid, into work.out."""
    steep, size = 1.0, 1.0
    low, high = -LIMIT, LIMIT
    if plan.kinds[0] != LOGISTIC:
        steep, size = state.scalars[STEEPEST], label_scale(plan, state)
        low, high = state.scalars[LOW], state.scalars[HIGH]
    p = 0.0
    if steep > 1e-100:
        # beyond the row x̂ is 0, and g and s are those of some earlier row
        total, square = all8(0.0), steep * steep
        potential = Adaptive(steep * size * work.narrow[0], square)
        for j in range(0, m, 8):
            g, s = load8(work.bet, j), load8(work.stake, j)
            pull = slope(potential, min(abs(g), FARTHEST * (s + square) * inverse_root(s + square)), s, 0.0, 0.0)
            total = fused(math.copysign(pull, g), load8(work.hat, j), total)
        p = -total8(total)
    p = ((p * GRID + WHOLE) - WHOLE) / GRID if abs(p) < 1e9 else p
    p = min(max(p, low), high)
    work.exact[BETTING] = p
    work.out[plan.tangents + BETTING] = p


@inlined
def steepen(plan, state, work):
    """Remember the largest slope."""
    if plan.kinds[0] != LOGISTIC:
        state.scalars[STEEPEST] = max(state.scalars[STEEPEST], abs(work.step[plan.tangents + BETTING]))
