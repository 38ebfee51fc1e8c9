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

from burkholder.auto.chosen import paid, slope
from burkholder.auto.functions import exp8, log8
from burkholder.auto.inlined import inlined
from burkholder.auto.plan import HEDGE, MIX_LOG, MIX_SQUARE
from burkholder.auto.state import ETA, GAP, HIGH, LOW, RANGE, ROUNDS, SURPRISE, SURPRISES
from burkholder.simd import all8, least, load8, most, store, total8, where_positive

FLOOR = 0.1


@inlined
def hedge_rate(plan, state):  # type: ignore[no-untyped-def]
    """AdaHedge's η = ln K/Δ, with Δ at least a tenth of the largest spread of losses in one round.

    Without that floor η is infinite at first, and rounding decides between lanes that are equal so far.
    """
    gap = max(state.scalars[GAP], FLOOR * state.scalars[RANGE])
    return math.log(plan.lanes) / gap if gap > 0.0 else 0.0


@inlined
def hedge_weights(plan, state, mixed):  # type: ignore[no-untyped-def]
    """AdaHedge's weights π·e^{−ηL} into `mixed`. Returns η."""
    eta = hedge_rate(plan, state)
    ahead = state.linear[0]
    for k in range(1, plan.lanes):
        ahead = min(ahead, state.linear[k])
    total = 0.0
    for k in range(plan.lanes):
        mixed[k] = state.prior[k] * math.exp(-eta * (state.linear[k] - ahead))
        total += mixed[k]
    for k in range(plan.lanes):
        mixed[k] /= total
    return eta


@inlined
def combine(plan, state, work):  # type: ignore[no-untyped-def]
    """The prediction made of work.played (for the log loss the odds, e to the prediction); work.mixed and work.other
    keep what learning needs again."""
    played, mixed = work.played, work.mixed
    if plan.mixing == MIX_LOG:
        ups, downs = all8(0.0), all8(0.0)
        for k in range(0, plan.lanes, 8):
            p, weight = load8(played, k), load8(state.weight, k)
            e = exp8(least(p, all8(0.0) - p))
            each = all8(1.0) / (all8(1.0) + e)
            up = where_positive(p, all8(1.0), e) * each
            down = where_positive(p, e, all8(1.0)) * each
            store(mixed, k, up)
            store(work.other, k, down)
            ups, downs = ups + weight * up, downs + weight * down
        return total8(ups) / total8(downs)
    if plan.mixing == MIX_SQUARE:
        low, high = state.scalars[LOW], state.scalars[HIGH]
        if not high > low:
            return played[0]
        at_low, at_high = 0.0, 0.0
        for k in range(plan.lanes):
            z = (played[k] - low) / (high - low)
            at_low += state.weight[k] * math.exp(-2.0 * z * z)
            at_high += state.weight[k] * math.exp(-2.0 * (1.0 - z) * (1.0 - z))
        # ŷ = (a+b)/2 + (G(a)−G(b))/(2Δ) with G(y) = −ln(Σ w e^{−η(y−p)²})/η and η = 2/Δ²
        return 0.5 * (low + high) + 0.25 * (high - low) * math.log(at_high / at_low)
    hedge_weights(plan, state, mixed)
    yhat = 0.0
    for k in range(plan.lanes):
        yhat += mixed[k] * played[k]
    return yhat


@inlined
def absorb(plan, loss, state, work, yhat, y, weight):  # type: ignore[no-untyped-def]
    """Change the weights by the lanes' losses at the label y."""
    if plan.mixing == MIX_LOG:
        absorb_log(plan, loss, state, work, yhat, y, weight)
        return
    for k in range(plan.lanes):
        state.lane_loss[k] += weight * paid(loss, work.played[k], y)
    if plan.mixing == HEDGE:
        absorb_hedge(plan, loss, state, work, yhat, y, weight)
    elif state.scalars[HIGH] > state.scalars[LOW]:  # without a range every lane played the same
        eta, total = state.scalars[ETA], 0.0
        for k in range(plan.lanes):
            gap = work.played[k] - y
            state.weight[k] *= math.exp(-eta * weight * gap * gap)
            total += state.weight[k]
        share(plan, state, total, weight * paid(loss, yhat, y), True)


@inlined
def absorb_log(plan, loss, state, work, yhat, y, weight):  # type: ignore[no-untyped-def]
    """Bayes' rule. Lane losses are kept as products and turned into logarithms every sixteenth round: with
    log-odds within ±30 sixteen factors cannot underflow."""
    likely = work.mixed if y > 0.0 else work.other
    if weight != 1.0:
        for k in range(plan.lanes):
            likely[k] = likely[k] ** weight
    totals = all8(0.0)
    for k in range(0, plan.lanes, 8):
        factor = load8(likely, k)
        kept = load8(state.weight, k) * factor
        store(state.weight, k, kept)
        store(state.likelihood, k, load8(state.likelihood, k) * factor)
        totals = totals + kept
    if weight > 1.0 or int(state.scalars[ROUNDS]) % 16 == 15:
        settle(plan, state)
    total = total8(totals)
    share(plan, state, total, weight * paid(loss, yhat, y) if weight > 1.0 else -math.inf, weight > 1.0)


@inlined
def settle(plan, state):  # type: ignore[no-untyped-def]
    """Bring the cumulative log losses of the lanes up to date."""
    for k in range(0, plan.lanes, 8):
        store(state.lane_loss, k, load8(state.lane_loss, k) - log8(most(load8(state.likelihood, k), all8(1e-300))))
        store(state.likelihood, k, all8(1.0))


@inlined
def share(plan, state, total, played, check):  # type: ignore[no-untyped-def]
    """Normalise the weights and share 1/(t+2) of them with the prior; note a loss above the mix loss."""
    scalars = state.scalars
    part = 1.0 / (scalars[ROUNDS] + 2.0)
    if not total > 1e-280:  # every lane lost beyond what a number holds: begin again from the prior
        for k in range(plan.lanes):
            state.weight[k] = state.prior[k]
        scalars[SURPRISES] += 1.0
        scalars[SURPRISE] = math.inf
        return
    if check:
        mix = -math.log(total) / scalars[ETA]
        if played - mix > 1e-9 * (1.0 + abs(mix)):
            scalars[SURPRISES] += 1.0
            scalars[SURPRISE] += played - mix
    keep = all8((1.0 - part) / total)
    for k in range(0, plan.lanes, 8):
        store(state.weight, k, load8(state.weight, k) * keep + load8(state.prior, k) * all8(part))


@inlined
def absorb_hedge(plan, loss, state, work, yhat, y, weight):  # type: ignore[no-untyped-def]
    """AdaHedge on linearised losses, centred so that the aggregate's own is 0."""
    delta = weight * slope(loss, yhat, y)
    played, linear = work.played, state.linear
    low, high = played[0], played[0]
    for k in range(1, plan.lanes):
        low, high = min(low, played[k]), max(high, played[k])
    eta = hedge_weights(plan, state, work.mixed)
    state.scalars[RANGE] = max(state.scalars[RANGE], abs(delta) * (high - low))
    if eta == 0.0:  # so far every lane lost the same, and the weights are the prior at any rate
        eta = hedge_rate(plan, state)
    if eta > 0.0:
        # (1/η)·ln Σ w·e^{−ηl}. Where exponents are large (the range may have grown a thousandfold) the largest
        # is taken out; where they are small, expm1 keeps the digits.
        top, total = eta * max(delta * (yhat - low), delta * (yhat - high)), 0.0
        if top > 1.0:
            for k in range(plan.lanes):
                total += work.mixed[k] * math.exp(-eta * delta * (played[k] - yhat) - top)
            gap = (top + math.log(total)) / eta
        else:
            for k in range(plan.lanes):
                total += work.mixed[k] * math.expm1(-eta * delta * (played[k] - yhat))
            gap = math.log1p(total) / eta
        state.scalars[GAP] += max(0.0, gap)
    for k in range(plan.lanes):
        linear[k] += delta * (played[k] - yhat)


@inlined
def lower_rate(plan, state, eta):  # type: ignore[no-untyped-def]
    """w ∝ π·(w/π)^(η′/η), when the range of the labels has grown."""
    ratio = eta / state.scalars[ETA]
    total = 0.0
    for k in range(plan.lanes):
        state.weight[k] = state.prior[k] * (state.weight[k] / state.prior[k]) ** ratio
        total += state.weight[k]
    for k in range(plan.lanes):
        state.weight[k] /= total
    state.scalars[ETA] = eta
