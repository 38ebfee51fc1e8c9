"""Diagonal Kalman lanes: every feature has a weight and a variance in each lane; all lanes in one pass."""

from __future__ import annotations

from burkholder.auto.state import LAST, ROUNDS
from burkholder.compiled import compiled


@compiled
def forecast(plan, state, work, m):  # type: ignore[no-untyped-def]
    """p = ⟨w, x⟩ of every diagonal lane into work.out. The state is only read."""
    hats, tildes = len(plan.hat_v0), len(plan.tilde_v0)
    out, lanes = work.out, state.lanes
    for k in range(hats + tildes):
        out[k] = 0.0
    for j in range(m):
        row = lanes[work.slot[j]]
        x, t = work.hat[j], work.tilde[j]
        for k in range(len(plan.hat_v0)):
            out[k] += row[k] * x
        for k in range(len(plan.tilde_v0)):
            out[hats + k] += row[2 * hats + k] * t


@compiled
def reach(plan, state, work, m):  # type: ignore[no-untyped-def]
    """Let the variances drift, V ← min(v₀, V + QΔt), and put X = ΣVx² of every lane into work.spread."""
    hats, tildes = len(plan.hat_v0), len(plan.tilde_v0)
    spread, lanes = work.spread, state.lanes
    now = state.scalars[ROUNDS]
    for k in range(hats + tildes):
        spread[k] = 0.0
    for j in range(m):
        slot = work.slot[j]
        row = lanes[slot]
        x, t = work.hat[j], work.tilde[j]
        waited = now - state.stat[slot, LAST]
        for k in range(len(plan.hat_v0)):
            v = min(plan.hat_v0[k], row[hats + k] + plan.hat_q[k] * waited)
            row[hats + k] = v
            spread[k] += v * x * x
        for k in range(len(plan.tilde_v0)):
            v = min(plan.tilde_v0[k], row[2 * hats + tildes + k] + plan.tilde_q[k] * waited)
            row[2 * hats + tildes + k] = v
            spread[hats + k] += v * t * t


@compiled
def learn(plan, state, work, m):  # type: ignore[no-untyped-def]
    """w ← w − g·V·x and V ← V − (Vx)²·c/(1+cX), with g in work.step and c/(1+cX) in work.curve."""
    hats, tildes = len(plan.hat_v0), len(plan.tilde_v0)
    step, curve, lanes = work.step, work.curve, state.lanes
    for j in range(m):
        row = lanes[work.slot[j]]
        x, t = work.hat[j], work.tilde[j]
        for k in range(len(plan.hat_v0)):
            vx = row[hats + k] * x
            row[k] -= step[k] * vx
            row[hats + k] -= vx * vx * curve[k]
        for k in range(len(plan.tilde_v0)):
            vx = row[2 * hats + tildes + k] * t
            row[2 * hats + k] -= step[hats + k] * vx
            row[2 * hats + tildes + k] -= vx * vx * curve[hats + k]
