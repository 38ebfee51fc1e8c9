"""Experts made from the others: their mean, their geometric mean, and log-linear pools learned on the way.

A pool plays softmax_k(b_k + Σ_j v_j·ln p_jk): the experts' logarithms, weighed, sharpened or flattened, and a constant a class. (v, b)
is followed by an extended Kalman filter, whose gain is the Gauss–Newton step of the log loss; it starts at the geometric mean. One
pool stands still in the long run, one drifts. They carry no promise of their own: the aggregation above them does.
"""

from __future__ import annotations

import math

import numpy as np

from burkholder.machine.compiling import compiled

NAMES = ("mean", "geometric mean", "pool", "drifting pool")
COUNT = len(NAMES)
FIRST_POOL = 2
DRIFTS = np.array([0.0, 1e-4])  # what each pool's variances grow by in a round
WIDE = 24  # so many experts are weighed one by one; the others come in through the geometric mean
CONSTANT = 0.1  # the variance of b_k at first
STEEP = 30.0  # of logits


def places(experts: int, outcomes: int) -> int:
    """How many numbers a pool learns: a constant an outcome, a weight on the geometric mean, and one on each of the first experts."""
    return outcomes + 1 + min(experts, WIDE)


def start(experts: int, outcomes: int) -> tuple[np.ndarray, np.ndarray]:
    """(means, covariances) of both pools: the geometric mean, and room to move away from it."""
    size = places(experts, outcomes)
    mean, variance = np.zeros(size), np.full(size, 1.0)
    variance[:outcomes] = CONSTANT
    mean[outcomes] = 1.0
    return np.tile(mean, (len(DRIFTS), 1)), np.tile(np.diag(variance), (len(DRIFTS), 1, 1))


def wider(means: np.ndarray, covariances: np.ndarray, experts: int, outcomes: int) -> tuple[np.ndarray, np.ndarray]:
    """The same with room for so many experts."""
    more, spread = start(experts, outcomes)
    size = means.shape[1]
    if more.shape[1] == size:
        return means, covariances
    more[:, :size], spread[:, :size, :size] = means, covariances
    return more, spread


@compiled
def features(forecasts, phi):
    """ϕ (numbers of a pool × outcomes) for the users' experts in the rows after the pools' own; asleep is as the others."""
    outcomes = phi.shape[1]
    phi[:, :] = 0.0
    experts, awake = forecasts.shape[0] - COUNT, 0
    for k in range(outcomes):
        phi[k, k] = 1.0
    for j in range(experts):
        if not math.isnan(forecasts[COUNT + j, 0]):
            awake += 1
            for k in range(outcomes):
                phi[outcomes, k] += math.log(forecasts[COUNT + j, k])
    if awake == 0:
        return False
    middle = 0.0
    for k in range(outcomes):
        phi[outcomes, k] /= awake
        middle += phi[outcomes, k] / outcomes
    for k in range(outcomes):
        phi[outcomes, k] -= middle
    for j in range(phi.shape[0] - outcomes - 1):  # how each differs from their mean
        if not math.isnan(forecasts[COUNT + j, 0]):
            middle = 0.0
            for k in range(outcomes):
                middle += math.log(forecasts[COUNT + j, k]) / outcomes
            for k in range(outcomes):
                phi[outcomes + 1 + j, k] = math.log(forecasts[COUNT + j, k]) - middle - phi[outcomes, k]
    return True


@compiled
def softmax(mean, phi, floor, out):
    """A pool's probabilities, none below the floor."""
    top = -math.inf
    for k in range(out.size):
        total = 0.0
        for i in range(mean.size):
            total += mean[i] * phi[i, k]
        out[k] = total
        top = max(top, total)
    total = 0.0
    for k in range(out.size):
        out[k] = math.exp(max(out[k] - top, -STEEP))
        total += out[k]
    for k in range(out.size):
        out[k] = (1.0 - out.size * floor) * (out[k] / total) + floor


@compiled
def fill(means, forecasts, phi, floor):
    """Write what the made experts say into the first rows; NaN where nobody is awake."""
    outcomes = phi.shape[1]
    if not features(forecasts, phi):
        forecasts[:COUNT, :] = math.nan
        return
    awake = 0.0
    forecasts[0, :] = 0.0
    for j in range(COUNT, forecasts.shape[0]):
        if not math.isnan(forecasts[j, 0]):
            awake += 1.0
            for k in range(outcomes):
                forecasts[0, k] += forecasts[j, k]
    for k in range(outcomes):
        forecasts[0, k] /= awake
    plain = np.zeros(means.shape[1])
    plain[outcomes] = 1.0
    softmax(plain, phi, floor, forecasts[1])
    for lane in range(means.shape[0]):
        softmax(means[lane], phi, floor, forecasts[FIRST_POOL + lane])


@compiled
def follow(means, covariances, drifts, forecasts, phi, floor, y, weight):
    """One step of every pool towards what happened; a step that leaves the numbers is not taken."""
    if weight == 0.0 or not features(forecasts, phi):
        return
    size, outcomes = phi.shape
    q, middle, pull = np.empty(outcomes), np.empty(size), np.empty(size)
    for lane in range(means.shape[0]):
        mean, spread = means[lane].copy(), covariances[lane].copy()
        softmax(mean, phi, floor, q)
        for i in range(size):
            middle[i] = 0.0
            for k in range(outcomes):
                middle[i] += q[k] * phi[i, k]
            spread[i, i] += drifts[lane]
        for k in range(outcomes):  # the curvature is Σ_k q_k(ϕ_k − ϕ̄)(ϕ_k − ϕ̄)ᵀ
            bent = 1.0
            for i in range(size):
                pull[i] = 0.0
                for m in range(size):
                    pull[i] += spread[i, m] * (phi[m, k] - middle[m])
            for i in range(size):
                bent += weight * q[k] * (phi[i, k] - middle[i]) * pull[i]
            for i in range(size):  # one half and its mirror: symmetric to the last bit
                for m in range(i + 1):
                    spread[i, m] -= weight * q[k] * pull[i] * pull[m] / bent
                    spread[m, i] = spread[i, m]
        sound = True
        for i in range(size):
            step = 0.0
            for m in range(size):
                step += spread[i, m] * (phi[m, y] - middle[m])
            mean[i] += weight * step
            sound = sound and abs(mean[i]) < 1e6 and 0.0 < spread[i, i] < 1e6
        if sound:
            means[lane], covariances[lane] = mean, spread
