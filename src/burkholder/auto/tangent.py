"""Tangent lanes: the square function per coordinate with the tangent strategy, on x̂.

With g = Σδx̂ and s = Σ(δx̂)², coordinate i plays w = −R·g/sqrt(2s−g²), or −R·sgn g where s < g². The potential
U = Σδŷ + R·Σ_i U_sq(g_i, √s_i) then never rises, on any path, whatever the losses: the regret against every
|u_i| ≤ R is at most 2R·Σ_i sqrt(s_i). δ is taken at the lane's own prediction.
"""

from __future__ import annotations

import math

from burkholder.auto.state import FEATURES, RADIUS_SCALE
from burkholder.compiled import compiled


@compiled
def direction(g, s):  # type: ignore[no-untyped-def]
    """−g/sqrt(2s−g²) where s ≥ g², else −sgn g; 0 at g = 0. One formula: 2s−g² ≥ g² exactly when s ≥ g²."""
    return -g / math.sqrt(max(max(2.0 * s - g * g, g * g), 1e-300))


@compiled
def square_function(g, s):  # type: ignore[no-untyped-def]
    """U_sq(g, √s) = −sqrt(2s−g²) if s ≥ g², else |g| − 2√s."""
    return -math.sqrt(2.0 * s - g * g) if s >= g * g else abs(g) - 2.0 * math.sqrt(s)


@compiled
def forecast(plan, state, work, m):  # type: ignore[no-untyped-def]
    """The tangent lanes' predictions into work.out, after the diagonal lanes'."""
    first, count = len(plan.kinds), len(plan.radii)
    base = 2 * first
    out, lanes = work.out, state.lanes
    for k in range(len(plan.radii)):
        out[first + k] = 0.0
    for j in range(m):
        row = lanes[work.slot[j]]
        x = work.hat[j]
        for k in range(len(plan.radii)):
            out[first + k] += direction(row[base + k], row[base + count + k]) * x
    for k in range(len(plan.radii)):
        out[first + k] *= plan.radii[k] * state.scalars[RADIUS_SCALE]


@compiled
def learn(plan, state, work, m):  # type: ignore[no-untyped-def]
    """g += δx̂, s += (δx̂)², with δ of each lane in work.step."""
    first, count = len(plan.kinds), len(plan.radii)
    base = 2 * first
    step, lanes = work.step, state.lanes
    for k in range(len(plan.radii)):
        state.bias[k] += step[first + k] * work.out[first + k]
    for j in range(m):
        row = lanes[work.slot[j]]
        x = work.hat[j]
        for k in range(len(plan.radii)):
            d = step[first + k] * x
            row[base + k] += d
            row[base + count + k] += d * d


@compiled
def raise_radius(plan, state, scale):  # type: ignore[no-untyped-def]
    """Multiply every radius up to `scale`; the potential then moves by (R′−R)·ΣU_sq, which is written down."""
    first, count = len(plan.kinds), len(plan.radii)
    more = scale - state.scalars[RADIUS_SCALE]
    for k in range(len(plan.radii)):
        total = 0.0
        for i in range(int(state.scalars[FEATURES])):
            total += square_function(state.lanes[i, 2 * first + k], state.lanes[i, 2 * first + count + k])
        state.jump[k] += plan.radii[k] * more * total
    state.scalars[RADIUS_SCALE] = scale
