"""The final aggregation: never much worse than any lane, on any stream.

Every lane k has a weight w_k, at first the prior π_k. With rate η and losses ℓ_k the mix loss is −ln(Σ w e^{−ηℓ})/η, the
weights become w·e^{−ηℓ} over their sum, and SHARE/(t+2) of them goes back to the prior. With D_k = ln(w_k/π_k)/η
    D_k rises by (mix loss − ℓ_k), and the sharing lets it fall by at most SHARE·ln((t+2)/(t+1))/η (Bernoulli);
lowering η to η′ as w ∝ π·(w/π)^(η′/η) only raises D_k (Jensen), and at any time D_k ≤ ln(1/π_k)/η. Hence
    Σ mix loss ≤ Σ loss of lane k + (ln(1/π_k) + SHARE·ln(n+1))/η_n.
Log loss: η = 1, and the mixture of probabilities pays the mix loss exactly. Other losses: the weighted mean is played,
what it paid above the mix loss is added up (GAP), and η = ln K/GAP as in AdaHedge. Where the loss is curved, or the
lanes agree, little or nothing is added, and η stays as large as the stream allows; squared losses of predictions
and labels within Δ add nothing once η ≤ 1/(2Δ²). What a weight above 1 costs the log loss is written down.
"""

from __future__ import annotations

import math

from burkholder.auto.plan import MIX_LOG
from burkholder.auto.state import ETA, GAP, RANGE, ROUNDS, SURPRISE, SURPRISES
from burkholder.auto.sums import add, add8
from burkholder.losses import value
from burkholder.machine.compiling import inlined
from burkholder.machine.elementary import exp_down, log
from burkholder.machine.vectors import all8, least, load8, most, store, total8, where_positive

SHARE = 0.3
FLOOR = 0.1
NARROWEST = 1e-290  # a spread of losses below it is none: its η would be no number
STEP = 0.95  # η is lowered when it is due to fall by a twentieth: any falling η has the bound


@inlined
def combine(plan, state, work):
    """The prediction made of work.played (for the log loss the odds, e to the prediction); work.mixed and work.other
    keep what learning needs again."""
    played, mixed = work.played, work.mixed
    if plan.mixing == MIX_LOG:
        ups, downs = all8(0.0), all8(0.0)
        for k in range(0, plan.lanes, 8):
            p, weight = load8(played, k), load8(state.weight, k)
            e = exp_down(least(p, all8(0.0) - p))
            each = all8(1.0) / (all8(1.0) + e)
            up = where_positive(p, all8(1.0), e) * each
            down = where_positive(p, e, all8(1.0)) * each
            store(mixed, k, up)
            store(work.other, k, down)
            ups, downs = ups + weight * up, downs + weight * down
        return total8(ups) / total8(downs)
    yhat = 0.0
    for k in range(plan.lanes):
        yhat += state.weight[k] * played[k]
    return yhat


@inlined
def absorb(plan, loss, state, work, yhat, y, weight):
    """Change the weights by the lanes' losses at the label y."""
    if plan.mixing == MIX_LOG:
        absorb_log(plan, loss, state, work, yhat, y, weight)
        return
    scalars, loss_of, losing = state.scalars, work.mixed, weight * value(loss, yhat, y)
    lowest, highest = math.inf, -math.inf
    for k in range(plan.lanes):
        lost = weight * value(loss, work.played[k], y)
        add(state.lane_loss, k, state.lane_rest, k, lost)
        loss_of[k] = lost - losing
        lowest, highest = min(lowest, loss_of[k]), max(highest, loss_of[k])
    scalars[RANGE] = max(scalars[RANGE], highest - lowest)
    if scalars[RANGE] < NARROWEST:  # so far every lane lost the same, and the weights are the prior at any rate
        return
    if scalars[ETA] == 0.0:
        scalars[ETA] = rate(plan, state)
    eta, total = scalars[ETA], 0.0
    # (1/η)·ln Σ w·e^{−ηl}. Where exponents are large (the range may have grown a thousandfold) the largest is taken
    # out; where they are small, expm1 keeps the digits.
    if -eta * lowest > 1.0:
        for k in range(plan.lanes):
            work.other[k] = math.exp(-eta * (loss_of[k] - lowest))
            total += state.weight[k] * work.other[k]
        gap = math.log(total) / eta - lowest
    else:
        for k in range(plan.lanes):
            work.other[k] = math.expm1(-eta * loss_of[k])
            total += state.weight[k] * work.other[k]
            work.other[k] += 1.0
        gap = math.log1p(total) / eta
        total += 1.0
    scalars[GAP] += max(0.0, gap)
    for k in range(plan.lanes):
        state.weight[k] *= work.other[k]
    share(plan, state, total, 0.0, False)
    if rate(plan, state) < STEP * eta:
        lower_rate(plan, state, rate(plan, state))


@inlined
def rate(plan, state):
    """AdaHedge's η = ln K/GAP, with the gap at least a tenth of the largest spread of losses in one round.

    Without that floor η is infinite at first, and rounding decides between lanes that are equal so far.
    """
    return math.log(plan.lanes) / max(state.scalars[GAP], FLOOR * state.scalars[RANGE])


@inlined
def absorb_log(plan, loss, state, work, yhat, y, weight):
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
    share(plan, state, total, weight * value(loss, yhat, y) if weight > 1.0 else -math.inf, weight > 1.0)


@inlined
def settle(plan, state):
    """Bring the cumulative log losses of the lanes up to date."""
    for k in range(0, plan.lanes, 8):
        add8(state.lane_loss, state.lane_rest, k, all8(0.0) - log(most(load8(state.likelihood, k), all8(1e-300))))
        store(state.likelihood, k, all8(1.0))


@inlined
def share(plan, state, total, played, check):
    """Normalise the weights and share SHARE/(t+2) of them with the prior; note a loss above the mix loss."""
    scalars = state.scalars
    part = SHARE / (scalars[ROUNDS] + 2.0)
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
def lower_rate(plan, state, eta):
    """w ∝ π·(w/π)^(η′/η)."""
    ratio = eta / state.scalars[ETA]
    total = 0.0
    for k in range(plan.lanes):
        state.weight[k] = state.prior[k] * (state.weight[k] / state.prior[k]) ** ratio
        total += state.weight[k]
    for k in range(plan.lanes):
        state.weight[k] /= total
    state.scalars[ETA] = eta
