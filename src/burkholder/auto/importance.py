"""How much every feature moves Auto's prediction, read off the lanes' weights."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.betting import FARTHEST
from burkholder.auto.features import CONSTANT
from burkholder.auto.plan import BETTING, LOGISTIC, RADII, Plan
from burkholder.auto.state import (
    COUNT,
    FEATURES,
    FULL_ON,
    HAT_SQUARES,
    LABEL_SQUARES,
    LABELS,
    MEAN,
    RADIUS_SCALE,
    ROUNDS,
    SPREAD,
    STEEPEST,
    TILDE_SQUARES,
    UNIT,
    State,
)
from burkholder.potentials import Adaptive, SquareRoot, batch

Array = NDArray[np.float64]


def importances(plan: Plan, state: State) -> Array:
    """|Σ_k v_k·w_ki|·σ_i for every slot, in the target's units: w_ki is lane k's weight for feature i, σ_i the standard deviation of
    the feature as that lane sees it, v_k the lane's say: its aggregation weight, and what the stacks give it. Clipping is left out.
    """
    s, f = state.scalars, int(state.scalars[FEATURES])
    hat, tilde = spreads(plan, state)
    say = state.weight.copy()
    for stack in range(plan.groups):
        say[: plan.tangents] += state.weight[plan.stacks + stack] * state.stack_w[stack, : plan.tangents]
    gain = [1.0 / math.sqrt(max(s[place], 1.0)) for place in (HAT_SQUARES, TILDE_SQUARES)]
    total = np.zeros(f)
    for k in range(8 * plan.groups):
        on_tilde = k % 8 >= 4
        each = gain[on_tilde] if state.wide[k % 8] > 0.0 else 1.0
        total += say[k] * each * state.lanes[:f, 16 * (k // 8) + k % 8] * (tilde if on_tilde else hat)
    if s[FULL_ON] == 1.0:
        for k in range(plan.full_lanes):
            width = min(f, state.full_w.shape[1])
            total[:width] += say[plan.full + k] * state.full_w[k, :width] * (tilde if state.full_spec[k, 0] else hat)[:width]
    else:
        for k in range(plan.full_lanes):  # each is its diagonal twin
            twin = int(state.full_spec[k, 3])
            each = gain[twin % 8 >= 4] if state.wide[twin % 8] > 0.0 else 1.0
            column = state.lanes[:f, 16 * (twin // 8) + twin % 8]
            total += say[plan.full + k] * each * column * (tilde if twin % 8 >= 4 else hat)
    at = 16 * plan.groups
    for k, radius in enumerate(RADII):
        g, square = state.lanes[:f, at + k], state.lanes[:f, at + 4 + k]
        slope = np.copysign(batch.slope(SquareRoot(), np.abs(g), square), g)
        total -= say[plan.tangents + k] * radius * s[RADIUS_SCALE] * slope * hat
    total -= say[plan.tangents + BETTING] * _bets(plan, state, f) * gain[0] * hat
    return np.abs(total) * s[UNIT]


def spreads(plan: Plan, state: State) -> tuple[Array, Array]:
    """The standard deviations of x̂ and x̃ over all rounds, slot by slot; 0 for the constant."""
    f, n = int(state.scalars[FEATURES]), max(float(state.scalars[ROUNDS]), 1.0)
    count, mean, spread = np.abs(state.stat[:f, COUNT]), state.stat[:f, MEAN], state.stat[:f, SPREAD]
    second = np.maximum(spread, 0.0) + count * mean * mean
    hat = np.sqrt(np.maximum(second / n - (count * mean / n) ** 2, 0.0))
    dense = state.stat[:f, COUNT] < 0.0
    unit = np.where(dense, hat, np.sqrt(second / np.maximum(count, 1.0)))
    tilde = np.where(unit * unit > CONSTANT, hat / np.maximum(unit, 1e-300), 0.0)
    hat[0] = tilde[0] = 0.0
    return hat, tilde


def _bets(plan: Plan, state: State, f: int) -> Array:
    """The betting lane's weights, for features over the width of the rows."""
    s, at, steep, size = state.scalars, 16 * plan.groups + BETTING, 1.0, 1.0
    if plan.kinds[0] != LOGISTIC:
        steep = float(s[STEEPEST])
        size = math.sqrt(s[LABEL_SQUARES] / s[LABELS]) if s[LABEL_SQUARES] > 0.0 else 1.0
    if steep <= 1e-100:
        return np.zeros(f)
    g, square = state.lanes[:f, at], state.lanes[:f, at + 4]
    held = np.minimum(np.abs(g), FARTHEST * np.sqrt(square + steep * steep))
    return np.copysign(batch.slope(Adaptive(size * steep, steep * steep), held, square), g)
