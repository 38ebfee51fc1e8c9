"""The last way to probabilities of several classes: weights on the logarithms of all the others', learned.

It plays softmax_c(Σ_j β_j·ln p_jc), from the geometric mean of the ways, β_j = 1/6; β takes Newton steps on the log loss with the precision
PRECISION·I + Σ (the covariance of the logarithms under its own probabilities), whose inverse P drifts by DRIFT a round.
"""

from __future__ import annotations

import math

import numpy as np

from burkholder.auto.state import aligned
from burkholder.machine.compiling import inlined

JOINED = 6  # ways that are pooled; the pool has the place after them
PRECISION = 300.0
DRIFT = 1e-5
SURE = 1e-6  # classes less likely than this are left out of the covariance
MEAN, PART, REACHED = range(3)  # rows of the scratch


def new_pool(joined: int = JOINED, precision: float = PRECISION) -> np.ndarray:
    """β, then P, row by row."""
    pool = aligned(1 + joined, joined)
    pool[0] = 1.0 / joined
    pool[1:] = np.eye(joined) / precision
    return pool


@inlined
def score(pool, logs, ways, known):
    """The pool's scores of the classes 1, …, known; the logarithms of the others' probabilities are kept for `learn`."""
    joined = pool.shape[1]
    for c in range(1, known + 1):
        total = 0.0
        for j in range(joined):
            logs[j, c] = math.log(ways[j, c])
            total += pool[0, j] * logs[j, c]
        ways[joined, c] = total


@inlined
def learn(pool, logs, ways, desk, known, label, weight):
    """One Newton step; `ways` holds the pool's probabilities."""
    joined = pool.shape[1]
    for j in range(joined):
        pool[1 + j, j] += DRIFT
        desk[MEAN, j] = 0.0
        for c in range(1, known + 1):
            desk[MEAN, j] += ways[joined, c] * logs[j, c]
    for c in range(1, known + 1):
        if ways[joined, c] > SURE:
            size = math.sqrt(weight * ways[joined, c])
            for j in range(joined):
                desk[PART, j] = size * (logs[j, c] - desk[MEAN, j])
            shrink(pool, desk)
    for i in range(joined):
        move = 0.0
        for j in range(joined):
            move += pool[1 + i, j] * (desk[MEAN, j] - logs[j, label])
        pool[0, i] -= weight * move


@inlined
def shrink(pool, desk):
    """P ← P − Pu(Pu)ᵀ/(1 + uᵀPu)."""
    size, joined = 1.0, pool.shape[1]
    for i in range(joined):
        desk[REACHED, i] = 0.0
        for j in range(joined):
            desk[REACHED, i] += pool[1 + i, j] * desk[PART, j]
        size += desk[REACHED, i] * desk[PART, i]
    for i in range(joined):
        for j in range(joined):
            pool[1 + i, j] -= desk[REACHED, i] * desk[REACHED, j] / size
