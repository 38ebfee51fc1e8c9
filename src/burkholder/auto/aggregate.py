"""The final aggregation: never much worse than any lane, on any stream.

Log loss: Vovk's aggregating algorithm with η = 1. Squared loss on labels in [a, b]: the same with η = 2/(b−a)² and
its substitution function. Other losses: AdaHedge on the linearised losses. The first two share 1/(t+2) of the
weight with the prior every round; every lane k then satisfies, with D_k = ln(w_k/π_k)/η,
    D_k rises by (aggregate's mix loss − lane k's loss) and falls by at most ln((t+2)/(t+1))/η;
lowering η to η′ as w ∝ π·(w/π)^(η′/η) only raises D_k (Jensen), and at any time D_k ≤ ln(1/π_k)/η. Hence
    Σ mix loss ≤ Σ loss of lane k + (ln(1/π_k) + ln(n+1))/η_n.
What the played prediction paid above the mix loss (a label outside [a, b], a weight above 1) is written down.
"""

from __future__ import annotations

import math

from burkholder.auto.plan import HEDGE, MIX_LOG, MIX_SQUARE
from burkholder.auto.state import ETA, GAP, HIGH, LOW, ROUNDS, SURPRISE, SURPRISES
from burkholder.compiled import compiled
from burkholder.losses import derivative, value


@compiled
def hedge_weights(state, mixed):  # type: ignore[no-untyped-def]
    """AdaHedge's weights π·e^{−ηL}, η = ln K/Δ, into `mixed`; at Δ = 0 only the leaders count. Returns η."""
    lanes = state.weight.shape[0]
    eta = math.log(lanes) / state.scalars[GAP] if state.scalars[GAP] > 0.0 else math.inf
    least = state.linear[0]
    for k in range(1, lanes):
        least = min(least, state.linear[k])
    total = 0.0
    for k in range(lanes):
        behind = state.linear[k] - least
        mixed[k] = state.prior[k] * (1.0 if behind == 0.0 else math.exp(-eta * behind))
        total += mixed[k]
    for k in range(lanes):
        mixed[k] /= total
    return eta


@compiled
def combine(plan, state, work):  # type: ignore[no-untyped-def]
    """The prediction made of work.played; work.mixed keeps what learning needs again."""
    lanes, played, mixed = state.weight.shape[0], work.played, work.mixed
    if plan.mixing == MIX_LOG:
        up, down = 0.0, 0.0
        for k in range(lanes):
            e = math.exp(-abs(played[k]))
            big, small = 1.0 / (1.0 + e), e / (1.0 + e)
            mixed[k] = big if played[k] > 0.0 else small
            up += state.weight[k] * mixed[k]
            down += state.weight[k] * (small if played[k] > 0.0 else big)
        return math.log(up) - math.log(down)
    if plan.mixing == MIX_SQUARE:
        low, high = state.scalars[LOW], state.scalars[HIGH]
        if not high > low:
            return played[0]
        at_low, at_high = 0.0, 0.0
        for k in range(lanes):
            z = (played[k] - low) / (high - low)
            at_low += state.weight[k] * math.exp(-2.0 * z * z)
            at_high += state.weight[k] * math.exp(-2.0 * (1.0 - z) * (1.0 - z))
        # ŷ = (a+b)/2 + (G(a)−G(b))/(2Δ) with G(y) = −ln(Σ w e^{−η(y−p)²})/η and η = 2/Δ²
        return 0.5 * (low + high) + 0.25 * (high - low) * (math.log(at_high) - math.log(at_low))
    hedge_weights(state, mixed)
    yhat = 0.0
    for k in range(lanes):
        yhat += mixed[k] * played[k]
    return yhat


@compiled
def absorb(plan, loss, state, work, yhat, y, weight):  # type: ignore[no-untyped-def]
    """Change the weights by the lanes' losses at the label y."""
    lanes, played, mixed, scalars = state.weight.shape[0], work.played, work.mixed, state.scalars
    for k in range(lanes):
        state.lane_loss[k] += weight * value(loss, played[k], y)
    if plan.mixing == HEDGE:
        slope = weight * derivative(loss, yhat, y)
        eta = hedge_weights(state, mixed)
        if eta == math.inf:
            before, after = state.linear[0], state.linear[0] + slope * (played[0] - yhat)
            for k in range(1, lanes):
                before = min(before, state.linear[k])
                after = min(after, state.linear[k] + slope * (played[k] - yhat))
            mix = after - before
        else:
            total = 0.0
            for k in range(lanes):
                total += mixed[k] * math.expm1(-eta * slope * (played[k] - yhat))
            mix = -math.log1p(total) / eta
        for k in range(lanes):
            state.linear[k] += slope * (played[k] - yhat)
        scalars[GAP] += max(0.0, -mix)  # the aggregate's own linearised loss is 0 by centring
        return
    if plan.mixing == MIX_SQUARE and not scalars[HIGH] > scalars[LOW]:
        return  # no range yet: every lane played the same
    eta = scalars[ETA]
    total = 0.0
    for k in range(lanes):
        if plan.mixing == MIX_LOG:
            likely = mixed[k] if y > 0.0 else 1.0 - mixed[k]
            if weight != 1.0:
                likely = likely**weight
        else:
            likely = math.exp(-eta * weight * (played[k] - y) * (played[k] - y))
        state.weight[k] *= likely
        total += state.weight[k]
    if not total > 1e-250:  # every lane lost beyond what a number holds: begin again from the prior
        total = 0.0
        for k in range(lanes):
            state.weight[k] = state.prior[k]
        scalars[SURPRISES] += 1.0
        scalars[SURPRISE] = math.inf
    else:
        above = weight * value(loss, yhat, y) + math.log(total) / eta
        if above > 1e-9 * (1.0 + abs(math.log(total)) / eta):
            scalars[SURPRISES] += 1.0
            scalars[SURPRISE] += above
    share = 1.0 / (scalars[ROUNDS] + 2.0)
    for k in range(lanes):
        kept = state.weight[k] / total if total > 0.0 else state.prior[k]
        state.weight[k] = (1.0 - share) * kept + share * state.prior[k]


@compiled
def lower_rate(state, eta):  # type: ignore[no-untyped-def]
    """w ∝ π·(w/π)^(η′/η), when the range of the labels has grown."""
    ratio = eta / state.scalars[ETA]
    lanes = state.weight.shape[0]
    total = 0.0
    for k in range(lanes):
        state.weight[k] = state.prior[k] * (state.weight[k] / state.prior[k]) ** ratio
        total += state.weight[k]
    for k in range(lanes):
        state.weight[k] /= total
    state.scalars[ETA] = eta
