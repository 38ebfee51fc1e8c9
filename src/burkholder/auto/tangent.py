"""Tangent lanes: the square function per coordinate with the tangent strategy, on x̂.

With g = Σδx̂ and s = Σ(δx̂)², coordinate i plays w = −R·g/sqrt(2s−g²), or −R·sgn g where s < g². The potential
U = Σδŷ + R·Σ_i U_sq(g_i, √s_i) then never rises, on any path, whatever the losses: the regret against every
|u_i| ≤ R is at most 2R·Σ_i sqrt(s_i). δ is taken at the lane's own, unclipped prediction.

Predictions are played to a millionth: while R is large for its stream the recursion is chaotic and would blow up
rounding errors; on the grid it does not. What the rounding costs is measured, δ·(played − exact), and charged.
"""

from __future__ import annotations

import math

from burkholder.auto.state import FEATURES, RADIUS_SCALE
from burkholder.auto.sums import add4
from burkholder.machine.compiling import inlined
from burkholder.machine.vectors import all4, fused, load4, most, put, row4, store
from burkholder.potentials import SquareRoot, slope, value

GRID = float(1 << 20)
WHOLE = 6755399441055744.0


@inlined
def direction(state, slot, at):
    """−w/R of one feature in the four lanes: the slope of U_sq at |g|, with the sign of g."""
    g, s = row4(state.lanes, slot, at), row4(state.lanes, slot, at + 4)
    return math.copysign(slope(SquareRoot(1.0, 2.0), abs(g), s, 0.0, 0.0), g)


@inlined
def play(plan, state, work, lean):
    """The tangent lanes' predictions into work.out, on their grid; lean = ⟨−w/R, x̂⟩."""
    p = lean * load4(state.radii, 0) * all4(-state.scalars[RADIUS_SCALE])
    store(work.exact, 0, p)
    # (x + 1.5·2⁵²) − 1.5·2⁵² is x rounded to a whole number
    store(work.out, plan.tangents, ((p * all4(GRID) + all4(WHOLE)) - all4(WHOLE)) * all4(1.0 / GRID))


@inlined
def charge(plan, state, work):
    """Σδŷ, what rounding to the grid cost, and the sizes its own rounding is bounded by, with δ of each lane in work.step."""
    delta, exact = load4(work.step, plan.tangents), load4(work.exact, 0)
    lean = delta * exact
    add4(state.bias, state.bias_rest, lean)
    store(state.bias_size, 0, load4(state.bias_size, 0) + abs(lean))
    store(state.push, 0, fused(abs(delta), all4(math.sqrt(work.squares[2])), load4(state.push, 0)))
    rounding = most(delta * (load4(work.out, plan.tangents) - exact), all4(0.0))
    store(state.clip_cost, 0, load4(state.clip_cost, 0) + rounding)


@inlined
def learn(state, slot, at, d):
    """g += δx̂, s += (δx̂)²; the new g."""
    g = row4(state.lanes, slot, at) + d
    put(state.lanes, slot, at, g)
    put(state.lanes, slot, at + 4, fused(d, d, row4(state.lanes, slot, at + 4)))
    return g


@inlined
def raise_radius(plan, state, scale):
    """Multiply every radius up to `scale`; the potential then moves by (R′−R)·ΣU_sq, which is written down."""
    at = 16 * plan.groups
    more = scale - state.scalars[RADIUS_SCALE]
    for k in range(4):
        total = 0.0
        for i in range(int(state.scalars[FEATURES])):
            total += value(SquareRoot(1.0, 2.0), abs(state.lanes[i, at + k]), state.lanes[i, at + 4 + k], 0.0, 0.0)
        state.jump[k] += state.radii[k] * more * total
    state.scalars[RADIUS_SCALE] = scale
