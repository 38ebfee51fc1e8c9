"""The step each lane takes towards the label: implicit, so that no prediction is carried past it.

A lane at prediction p with variance X = ΣVx² moves to the minimiser of (p′−p)²/(2X) + weight·ℓ(p′, y), which is
w ← w − g·V·x with g the slope of the loss at p′, and its variance shrinks as if the loss had curvature c there.
"""

from __future__ import annotations

import math

from burkholder.auto.plan import LOGISTIC, SQUARED
from burkholder.compiled import compiled

FLAT = 1e-6  # least curvature of the logistic loss: a saturated prediction still shrinks its variance


@compiled
def implicit_logistic(m, reach, e):  # type: ignore[no-untyped-def]
    """σ(−z) at the root of z = m + reach·σ(−z); e = exp(−|m|). Bracketed Newton to 1e-9 relative.

    The start is a lower bound of the root when reach is large, and m itself when it is small. The function
    z − m − reach·σ(−z) rises with slope in [1, 1 + reach/4], and the root lies in [m, m + reach].
    """
    if reach < 0.5:
        z = m
    else:
        top = math.log1p(reach)
        z = max(m, top - math.log(max(top - m, 1.0)))
        e = math.exp(-abs(z))
    low, high = m, m + reach
    s = e / (1.0 + e) if z > 0.0 else 1.0 / (1.0 + e)
    for _ in range(50):
        off = z - m - reach * s
        if off > 0.0:
            high = z
        else:
            low = z
        move = off / (1.0 + reach * s * (1.0 - s))
        nearer = z - move
        if not (low <= nearer <= high):
            nearer = 0.5 * (low + high)
        done = abs(nearer - z) <= 1e-9 * (1.0 + abs(z))
        z = nearer
        e = math.exp(-abs(z))
        s = e / (1.0 + e) if z > 0.0 else 1.0 / (1.0 + e)
        if done:
            break
    return s


@compiled
def step(kind, p, reach, y, weight, residual, quantile):  # type: ignore[no-untyped-def]
    """(g, c) of one lane; `residual` is its typical |residual|, the noise scale of a quantile step."""
    if kind == LOGISTIC:
        m = y * p
        e = math.exp(-abs(m))
        slope = implicit_logistic(m, weight * reach, e)
        return -y * weight * slope, weight * max(e / ((1.0 + e) * (1.0 + e)), FLAT)
    if kind == SQUARED:
        return weight * (p - y) / (1.0 + weight * reach), weight
    # Laplace noise of scale b: the implicit step is the residual, cut at 2·quantile·b·X upwards and
    # 2(1−quantile)·b·X downwards; its Fisher information is 1/b², hence curvature 1 as for squares.
    if reach <= 0.0:
        return 0.0, weight
    up, down = 2.0 * quantile * residual * weight, 2.0 * (1.0 - quantile) * residual * weight
    return min(max((p - y) / reach, -up), down), weight
