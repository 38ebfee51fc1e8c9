"""Whole streams of ratings, compiled: bias + tangent direction + bet, one call for many rounds."""

from __future__ import annotations

import numpy as np

from burkholder.learning.rounding import add
from burkholder.machine.compiling import compiled
from burkholder.matrix import bet, bias, tangent
from burkholder.matrix.tangent import FOLLOWED, FOLLOWED_LOW, LATE, LEANED, MOVED

_advise, _learn_bias = bias.predict, bias.update
_stake, _settle = bet.predict, bet.update
_join, _direction, _learn, _lower = tangent.join, tangent.direction, tangent.learn, tangent.lower


@compiled
def rounds(graph, scalars, model, log_wealth, i, j, y, played, tol, most, probes, basis, T, R):
    """Play and learn every round; rows (ŷ, bias prediction, u, block steps, error of u).

    Without labels nothing is learned: only workspace changes, and a node of −1 is unknown and leaves the bias alone. Where rows
    (ŷ, b, u) were `played` some rounds ago these count; the Krylov space is today's all the same, since that is what the trace
    rests on.
    """
    learning, late = y.size > 0, played.shape[0] > 0
    out = np.empty((i.size, 5))
    for t in range(i.size):
        if learning:
            _join(graph, scalars, i[t])
            _join(graph, scalars, j[t])
        m, u, gap = 0, 0.0, 0.0
        known = i[t] >= 0 and j[t] >= 0
        if known:
            m, u, gap = _direction(graph, scalars, i[t], j[t], tol, most, basis, T, R)
        if late:
            yhat, b, u = played[t, 0], played[t, 1], played[t, 2]
            scalars[LATE] += 1.0
        else:
            b = _advise(model, i[t], j[t])
            yhat = min(max(b + _stake(log_wealth, u), -1.0), 1.0) if known else b
        out[t, 0], out[t, 1], out[t, 2], out[t, 3], out[t, 4] = yhat, b, u, m, gap
        if not learning:
            continue
        delta = yhat - y[t]
        followed = delta * (yhat - b)
        add(scalars, FOLLOWED, FOLLOWED_LOW, followed)
        scalars[LEANED] += abs(followed)
        scalars[MOVED] += abs(delta)
        _settle(log_wealth, u, delta)
        _learn(graph, scalars, i[t], j[t], u, gap, delta, m, T)
        _learn_bias(model, i[t], j[t], y[t])
        _lower(graph, scalars, i[t], j[t], 1e-9, probes, basis, T, R)
    return out
