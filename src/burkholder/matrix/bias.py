"""The bias model: a running mean plus one offset per row and per column, at four speeds of forgetting.

Labels lie in [−1, 1]. With p = μ + b_row + b_column and e = y − p, each offset moves by e·max(f, 1/(n+3)),
n its count including this rating; f = 0 averages for ever, larger f forgets. The four answers are experts
for Huber-root (slopes at most 2), so none of them has to be chosen. For log-odds p is μ's log-odds plus offsets, e = y − tanh(p/2), and
offsets move 2/(1−m²) times as far, m the mean label: so much p takes for tanh(p/2) to move by one where nothing is known. Where the best
answer is a median, each answer is offered sharpened, too.
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
RETURN = 0.1  # what forgets returns to 0

SHARPER = 8.0
FARTHEST = 20.0  # log-odds an error of one moves: classes rarer than 3 % count as that rare
_slope, _expected, SURE = aims.slope, aims.expected, aims.SURE
_predict_experts, _update_experts = huber_root.predict, huber_root.update


class Bias(NamedTuple):
    """Changes in place; `offset` and `counts` are per node (rows and columns share one numbering)."""

    mean: NDArray[np.float64]  # running sum of labels, and how many
    offset: NDArray[np.float64]  # (capacity, speeds)
    counts: NDArray[np.int64]
    speed: NDArray[np.float64]
    experts: huber_root.HuberRoot


def start(tempers: int = 1) -> Bias:
    """No rating seen yet."""
    speeds = np.array(FORGETTING)
    experts = huber_root.start(tempers * len(speeds), aims.SLOPE)
    return Bias(np.zeros(2), np.zeros((0, len(speeds))), np.zeros(0, np.int64), speeds, experts)


def with_nodes(bias: Bias, nodes: int) -> Bias:
    """Room for that many nodes."""
    capacity = len(bias.counts)
    if nodes <= capacity:
        return bias
    extra = max(nodes, 2 * capacity, 16) - capacity
    return bias._replace(
        offset=np.concatenate([bias.offset, np.zeros((extra, len(bias.speed)))]),
        counts=np.concatenate([bias.counts, np.zeros(extra, np.int64)]),
    )


@compiled
def level(bias, aim):
    """What is expected where nothing is known of row and column."""
    if aim.odds:
        return np.log((bias.mean[1] + bias.mean[0] + 1.0) / (bias.mean[1] - bias.mean[0] + 1.0))
    return bias.mean[0] / bias.mean[1] if bias.mean[1] > 0.0 else 0.0


@uncounted
def unit(mean):
    """How far log-odds move near the mean for the expected label to move by one: 2/(1−m²), m = tanh(mean/2)."""
    return min(2.0 * np.cosh(0.5 * mean) ** 2, FARTHEST)


@compiled
def advice(bias, aim, i, j):
    """The predictions at (i, j), kept within what is possible; a node of index −1 is unknown and adds nothing."""
    speeds, most = bias.speed.size, SURE if aim.odds else 1.0
    x = np.full(bias.experts.log_w.shape[2], level(bias, aim))
    for f in range(x.size):
        for node in (i, j):
            if node >= 0:
                x[f] += bias.offset[node, f % speeds]
        x[f] = min(max(x[f] * (1.0 if f < speeds else SHARPER), -most), most)
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
    mean = level(bias, aim)
    far, back = (unit(mean), RETURN) if aim.odds else (1.0, 0.0)
    bias.counts[i] += 1
    bias.counts[j] += 1
    for f in range(bias.speed.size):
        error, leak = y - _expected(aim, mean + bias.offset[i, f] + bias.offset[j, f]), back * bias.speed[f]
        for node in (i, j):
            step = max(bias.speed[f], 1.0 / (bias.counts[node] + PRIOR_COUNT)) * error
            bias.offset[node, f] += far * (step - leak * bias.offset[node, f])
    bias.mean[0] += y
    bias.mean[1] += 1.0
