"""The bias model: a running mean plus one offset per row and per column, at four speeds of forgetting.

Labels lie in [−1, 1]. With p = μ + b_row + b_column and e = y − p, each offset moves by e·max(f, 1/(n+3)),
n its count including this rating; f = 0 averages for ever, larger f forgets. The four answers are experts
for Huber-root (slopes at most 2), so none of them has to be chosen. For log-odds p is μ's log-odds plus offsets, e = y − tanh(p/2), and
offsets move 2/(1−m²) times as far, m the mean label: so much p takes for tanh(p/2) to move by one where nothing is known. Where the best
answer is a median, each answer is offered sharpened, too, and so are offsets learned in log-odds: a median of ±1 is a question of which
of the two is likelier, and log-odds know better than means where one of them is rare.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.experts import huber_root
from burkholder.machine.compiling import compiled, uncounted
from burkholder.matrix import aims

FORGETTING = (0.0, 0.02, 0.05, 0.1)
PRIOR_COUNT = 3.0
CAUTIOUS = 10.0  # the same for a second set of log-odds: a rare label says less of them than the slope of tanh has it
RETURN = 0.1  # what forgets returns to 0

SHARPER = 8.0
FARTHEST = 20.0  # log-odds an error of one moves: classes rarer than 3 % count as that rare
_slope, SURE = aims.slope, aims.SURE
_predict_experts, _update_experts = huber_root.predict, huber_root.update


class Bias(NamedTuple):
    """Changes in place; `offset` and `counts` are per node (rows and columns share one numbering)."""

    mean: NDArray[np.float64]  # running sum of labels, and how many
    offset: NDArray[np.float64]  # (capacity, columns): the speeds for labels, for log-odds, or for both
    counts: NDArray[np.int64]
    speed: NDArray[np.float64]  # of each column, and the count it starts from
    prior: NDArray[np.float64]
    experts: huber_root.HuberRoot


def start(odds: bool = False, median: bool = False) -> Bias:
    """No rating seen yet: columns of labels, of log-odds, or of both where the best answer is a median."""
    priors = (() if odds else (PRIOR_COUNT,)) + ((PRIOR_COUNT, CAUTIOUS) if odds or median else ())
    speed, prior = np.tile(FORGETTING, len(priors)), np.repeat(priors, len(FORGETTING))
    experts = huber_root.start(len(speed) + (len(FORGETTING) if median else 0), aims.SLOPE)
    return Bias(np.zeros(2), np.zeros((0, len(speed))), np.zeros(0, np.int64), speed, prior, experts)


def with_nodes(bias: Bias, nodes: int) -> Bias:
    """Room for that many nodes."""
    capacity = len(bias.counts)
    if nodes <= capacity:
        return bias
    extra = max(nodes, 2 * capacity, 16) - capacity
    return bias._replace(
        offset=np.concatenate([bias.offset, np.zeros((extra, bias.offset.shape[1]))]),
        counts=np.concatenate([bias.counts, np.zeros(extra, np.int64)]),
    )


@uncounted
def level(bias, odds):
    """What is expected where nothing is known of row and column, as log-odds or as a label."""
    if odds:
        return np.log((bias.mean[1] + bias.mean[0] + 1.0) / (bias.mean[1] - bias.mean[0] + 1.0))
    return bias.mean[0] / bias.mean[1] if bias.mean[1] > 0.0 else 0.0


@uncounted
def learns_odds(bias, aim, f):
    """Whether column f holds log-odds: all do, or those behind as many of labels as are offered sharpened too."""
    return aim.odds or f >= bias.experts.log_w.shape[2] - bias.speed.size > 0


@uncounted
def known(bias, odds, f, i, j):
    """The level and the offsets in column f; a node of index −1 is unknown and adds nothing."""
    total = level(bias, odds)
    for node in (i, j):
        if node >= 0:
            total += bias.offset[node, f]
    return total


@uncounted
def unit(mean):
    """How far log-odds move near the mean for the expected label to move by one: 2/(1−m²), m = tanh(mean/2)."""
    return min(2.0 * np.cosh(0.5 * mean) ** 2, FARTHEST)


@compiled
def advice(bias, aim, i, j):
    """The predictions at (i, j), kept within what is possible: of every column, and those of labels sharpened at the end."""
    columns = bias.speed.size
    x = np.empty(bias.experts.log_w.shape[2])
    for f in range(columns):
        p = known(bias, learns_odds(bias, aim, f), f, i, j)
        if aim.odds:
            x[f] = min(max(p, -SURE), SURE)
        elif learns_odds(bias, aim, f):
            x[f] = np.tanh(0.5 * SHARPER * p)
        else:
            x[f] = min(max(p, -1.0), 1.0)
            if x.size > columns:
                x[columns + f] = min(max(SHARPER * p, -1.0), 1.0)
    return x


@compiled
def predict(bias, aim, i, j):
    """The aggregated prediction; changes nothing."""
    return _predict_experts(bias.experts, advice(bias, aim, i, j))


@compiled
def update(bias, aim, i, j, y):
    """Learn the rating y at known nodes (i, j); the aggregation pays for its own prediction."""
    x = advice(bias, aim, i, j)
    yhat = _predict_experts(bias.experts, x)
    _update_experts(bias.experts, x, yhat, _slope(aim, yhat, y))
    bias.counts[i] += 1
    bias.counts[j] += 1
    for f in range(bias.speed.size):
        odds, speed = learns_odds(bias, aim, f), bias.speed[f]
        guess = known(bias, odds, f, i, j)
        error, far, leak = y - guess, 1.0, 0.0
        if odds:
            error, far, leak = y - np.tanh(0.5 * guess), unit(level(bias, True)), RETURN * speed
        for node in (i, j):
            step = max(speed, 1.0 / (bias.counts[node] + bias.prior[f])) * error
            bias.offset[node, f] += far * (step - leak * bias.offset[node, f])
    bias.mean[0] += y
    bias.mean[1] += 1.0
