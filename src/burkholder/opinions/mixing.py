"""The aggregating algorithm (Vovk) over the simplex, for the two losses that are 1-mixable there.

    log     ℓ(p, y) = −ln p_y,                 played p̂ = Σ_j w_j p_j;
    brier   ℓ(p, y) = Σ_k (p_k − 1{k = y})²,   played p̂_k = (c − G_k)₊/2, G_k = −ln Σ_j w_j exp(−ℓ(p_j, k)), c such that Σp̂_k = 1.

Either way exp(−ℓ(p̂, y)) ≥ Σ_j w_j exp(−ℓ(p_j, y)) for every y, so that ΣW, W_j ← W_j·exp(η·weight·(ℓ(p̂, y) − ℓ(p_j, y))), does not
rise while η·weight ≤ 1 (Jensen), and R_j ≤ ln(ΣW)/η. A heavier round lowers η to 1/weight: mean W^(η′/η) ≤ (mean W)^(η′/η). An expert
asleep plays p̂, so W_j stays. One row of weights a share α, each sharing W_j ← (1 − α)W_j + α·mean over those awake.
"""

from __future__ import annotations

import math

import numpy as np

from burkholder.machine.compiling import compiled

LOG, BRIER = 0, 1
LOSSES = {"log": LOG, "brier": BRIER}


@compiled
def paid(kind, p, y):
    """ℓ(p, y)."""
    if kind == LOG:
        return -math.log(p[y])
    total = 0.0
    for k in range(p.size):
        off = p[k] - 1.0 if k == y else p[k]
        total += off * off
    return total


@compiled
def gain(kind, p, expert, y):
    """(the slope's part of a mixture, its size): Reg(w) ≤ Σ_j w_j·gain_j for every w in the simplex, by convexity."""
    if kind == LOG:
        ratio = expert[y] / p[y]
        return ratio - 1.0, ratio + 1.0
    total, size = 0.0, 0.0
    for k in range(p.size):
        slope = 2.0 * (p[k] - 1.0 if k == y else p[k])
        total += slope * (p[k] - expert[k])
        size += abs(slope) * (p[k] + expert[k])
    return total, size


@compiled
def shortfall(kind, p, expert, y, short):
    """By how much `gain` rises where the expert, as it was given, loses less by `short`."""
    if kind == LOG:
        return math.expm1(short) * (expert[y] / p[y])
    return short


@compiled
def shares_of(log_w, forecasts, out):
    """The weight of every expert that is awake, over all shares; whether there is one."""
    top = -math.inf
    for j in range(out.size):
        out[j] = 0.0
        if not math.isnan(forecasts[j, 0]):
            for a in range(log_w.shape[0]):
                top = max(top, log_w[a, j])
    if top == -math.inf:
        return False
    total = 0.0
    for j in range(out.size):
        if not math.isnan(forecasts[j, 0]):
            for a in range(log_w.shape[0]):
                out[j] += math.exp(log_w[a, j] - top)
            total += out[j]
    for j in range(out.size):
        out[j] /= total
    return True


@compiled
def mixed(kind, weights, forecasts, out):
    """p̂ for these weights of experts."""
    count = out.size
    if kind == LOG:
        out[:] = 0.0
        for j in range(weights.size):
            if weights[j] > 0.0:
                for k in range(count):
                    out[k] += weights[j] * forecasts[j, k]
    else:
        for k in range(count):
            total = 0.0
            for j in range(weights.size):
                if weights[j] > 0.0:
                    total += weights[j] * math.exp(-paid(kind, forecasts[j], k))
            out[k] = -math.log(total)
        order = np.sort(out)
        level, met = 0.0, 0.0
        for k in range(count):  # c with Σ(c − G)₊ = 2: water over the lowest places
            met += order[k]
            level = (2.0 + met) / (k + 1.0)
            if k + 1 == count or level <= order[k + 1]:
                break
        for k in range(count):
            out[k] = max(level - out[k], 0.0) / 2.0
    total = 0.0
    for k in range(count):
        total += out[k]
    for k in range(count):
        out[k] /= total


@compiled
def reweighed(log_w, shares, forecasts, change):
    """W_j ← W_j·exp(change_j) for those awake, then the sharing among them; in log space."""
    awake = 0
    for j in range(log_w.shape[1]):
        if not math.isnan(forecasts[j, 0]):
            awake += 1
    for a in range(log_w.shape[0]):
        top = -math.inf
        for j in range(log_w.shape[1]):
            if not math.isnan(forecasts[j, 0]):
                log_w[a, j] += change[j]
                top = max(top, log_w[a, j])
        if shares[a] > 0.0 and awake > 0:
            total = 0.0
            for j in range(log_w.shape[1]):
                if not math.isnan(forecasts[j, 0]):
                    total += math.exp(log_w[a, j] - top)
            each = shares[a] * total / awake
            for j in range(log_w.shape[1]):
                if not math.isnan(forecasts[j, 0]):
                    log_w[a, j] = top + math.log((1.0 - shares[a]) * math.exp(log_w[a, j] - top) + each)
