"""A whole row of predictions at once, for ranking: one exponential applied to e_i, and weights that are the same in every column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.experts import huber_root
from burkholder.experts.scale import FIRST_SPREAD, LIPSCHITZ, THETA
from burkholder.machine.compiling import compiled
from burkholder.matrix import aims, bet, bias
from burkholder.matrix.lanczos import DEPTH

CLOSE = 1e-9  # of the largest term: what the exponential may be wrong by

_within, FARTHEST = aims.within, aims.FARTHEST
_masses, _root, _lead = huber_root.masses, huber_root.root, huber_root.lead
_advice, _bias, _wealths, _bet = bias.advice, bias.predict, bet.wealths, bet.play


@compiled
def _apply(graph, rate, damping, x, y, nodes):
    """y = Ax for A = rate·edges − damping·diagonal."""
    for r in range(nodes):
        total = 0.0
        for p in range(graph.start[r], graph.start[r] + graph.length[r]):
            total += graph.weight[p] * x[graph.neighbour[p]]
        y[r] = rate * total - damping * graph.diagonal[r] * x[r]


def exponential(graph: Any, rate: float, damping: float, i: int) -> NDArray[np.float64]:
    """e^A e_i by Lanczos, every direction orthogonal to all before it."""
    nodes = graph.nodes
    basis, T = np.zeros((min(2 * DEPTH, nodes), nodes)), np.zeros((2 * DEPTH + 1, 2 * DEPTH + 1))
    basis[0, i] = 1.0
    fresh, steps = np.empty(nodes), len(basis)
    for k in range(steps):
        _apply(graph, rate, damping, basis[k], fresh, nodes)
        T[k, k] = basis[k] @ fresh
        for _ in range(2):
            fresh -= (basis[: k + 1] @ fresh) @ basis[: k + 1]
        size = float(np.sqrt(fresh @ fresh))
        values, vectors = np.linalg.eigh(T[: k + 1, : k + 1])
        first = vectors @ (np.exp(values - values[-1]) * vectors[0])
        if k + 1 == steps or size * abs(first[-1]) <= CLOSE * np.max(np.abs(first)):
            return np.asarray(np.exp(values[-1]) * (first @ basis[: k + 1]))
        T[k, k + 1] = T[k + 1, k] = size
        np.divide(fresh, size, out=basis[k + 1])
    raise AssertionError("the last step returns")


@compiled
def scores(known, aim, log_wealth, i, columns, u, v):
    """ŷ at (i, c) for every column node c, u and v the directions there; −1 is a row never seen."""
    out = np.empty(columns.size)
    experts = known.experts
    h = experts.scale[FIRST_SPREAD]
    ready = h > 0.0 and experts.scale[LIPSCHITZ] > 0.0
    first = _lead(experts, h, experts.log_w.shape[0]) if ready else 0
    mass = _masses(experts, np.zeros(experts.log_w.shape[2]), first)  # every expert is awake, whatever the column
    shares, top = _wealths(log_wealth)
    for t in range(columns.size):
        b = _root(experts, mass, first, h, _advice(known, aim, i, columns[t]), THETA) if ready else _bias(known, aim, i, columns[t])
        out[t] = _within(aim, b + _bet(shares, top, u[t], v[t], FARTHEST if aim.odds else 4.0))
    return out
