"""The step each lane takes towards the label: implicit, so that no prediction is carried past it.

A lane at prediction p with variance X = ΣVx² moves to the minimiser of (p′−p)²/(2X) + weight·ℓ(p′, y), which is
w ← w − g·V·x with g the slope of the loss at p′, and its variance shrinks as if the loss had curvature c there:
V ← V − (Vx)²·c/(1+cX). Eight lanes at a time; `p` is what the lane played, so a clipped prediction is corrected
by the error it was charged with.
"""

from __future__ import annotations

from burkholder.auto.plan import LOGISTIC, SQUARED
from burkholder.machine.compiling import inlined
from burkholder.machine.elementary import coarse_exp, coarse_log2
from burkholder.machine.vectors import all8, fused, least, most, where_positive

FLAT = 1e-6  # least curvature of the logistic loss: a saturated prediction still shrinks its variance
HEAVIEST = 1e9
LN2 = 0.6931471805599453


@inlined
def implicit_logistic(m, reach):
    """z of z = m + reach·σ(−z), two Halley steps, each kept within [m, m + reach].

    The start is max(m, ℓ − ln max(ℓ−m, 1)), ℓ = ln(1+reach), with coarse logarithms. The slope (z−m)/reach is
    then within 4e-4 of σ(−z) everywhere (a third step would make it 4e-9, for no gain in loss).
    """
    top = coarse_log2(all8(1.0) + reach) * all8(LN2)
    z = most(m, top - coarse_log2(most(top - m, all8(1.0))) * all8(LN2))
    for _ in range(2):
        e = coarse_exp(least(z, all8(0.0) - z))
        s = where_positive(z, e, all8(1.0)) / (all8(1.0) + e)
        pull = reach * s
        bend = pull * (all8(1.0) - s)
        off, slope = z - m - pull, all8(1.0) + bend
        # f″ = −bend·(1−2s); Halley: z − 2ff′/(2f′² − ff″)
        move = off * slope / fused(slope, slope, all8(0.5) * off * bend * (all8(1.0) - s - s))
        z = least(most(z - move, m), m + reach)
    return z


@inlined
def step(kind, p, reach, s, y, weight, residual, quantile):
    """(g, c/(1+cX)) of eight lanes; `s` is σ(−yp) for a logistic step, `residual` the typical |residual|, the noise
    scale of a quantile step. A weight above HEAVIEST counts as it: 1 + cX is a sum of numbers of the same size then, however much
    of a variance has cancelled."""
    weight = min(weight, HEAVIEST)
    one, w, label = all8(1.0), all8(weight), all8(y)
    if kind == LOGISTIC:
        m = label * p
        z = implicit_logistic(m, w * reach)
        c = w * most(s * (one - s), all8(FLAT))
        # z − m = weight·reach·σ(−z); for a tiny reach the quotient is σ(−m) itself
        far = reach - all8(1e-9)
        slope = where_positive(far, (z - m) / where_positive(far, reach, one), w * s)
        return all8(0.0) - label * slope, c / (one + c * reach)
    c = w / (one + w * reach)
    if kind == SQUARED:
        return (p - label) * c, c
    # Laplace noise of scale b: the implicit step is the residual, cut at 2·quantile·b·X upwards and
    # 2(1−quantile)·b·X downwards; its Fisher information is 1/b², hence curvature 1 as for squares.
    up, down = residual * all8(2.0 * quantile * weight), residual * all8(2.0 * (1.0 - quantile) * weight)
    g = (p - label) / most(reach, all8(1e-300))
    return least(most(g, all8(0.0) - up), down), c
