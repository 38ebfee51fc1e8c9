"""Whole streams of ratings, compiled: bias + tangent direction + bet, one call for many rounds."""

from __future__ import annotations

import numpy as np

from burkholder.machine.compiling import compiled
from burkholder.matrix import bet, bias, tangent
from burkholder.matrix.tangent import FOLLOWED

_advise, _learn_bias = bias.predict, bias.update
_stake, _settle = bet.predict, bet.update
_join, _direction, _learn, _lower = tangent.join, tangent.direction, tangent.learn, tangent.lower


@compiled
def predict(graph, scalars, model, log_wealth, i, j, tol, most, basis, T, R):  # type: ignore[no-untyped-def]
    """(ŷ, b, u) at nodes (i, j); −1 is unknown and leaves the bias alone. Changes workspace only."""
    b = _advise(model, i, j)
    if i < 0 or j < 0:
        return b, b, 0.0
    u = _direction(graph, scalars, i, j, tol, most, basis, T, R)[1]
    return min(max(b + _stake(log_wealth, u), -1.0), 1.0), b, u


@compiled
def rounds(graph, scalars, model, log_wealth, i, j, y, tol, most, probes, basis, T, R):  # type: ignore[no-untyped-def]
    """Play and learn every round; rows (ŷ, bias prediction, u, block steps, error of u)."""
    out = np.empty((y.size, 5))
    for t in range(y.size):
        _join(graph, scalars, i[t])
        _join(graph, scalars, j[t])
        b = _advise(model, i[t], j[t])
        m, u, gap = _direction(graph, scalars, i[t], j[t], tol, most, basis, T, R)
        yhat = min(max(b + _stake(log_wealth, u), -1.0), 1.0)
        delta = yhat - y[t]
        scalars[FOLLOWED] += delta * (yhat - b)
        _settle(log_wealth, u, delta)
        _learn(graph, scalars, i[t], j[t], u, gap, delta, m, T)
        _learn_bias(model, i[t], j[t], y[t])
        _lower(graph, scalars, i[t], j[t], 1e-9, probes, basis, T, R)
        out[t, 0], out[t, 1], out[t, 2], out[t, 3], out[t, 4] = yhat, b, u, m, gap
    return out
