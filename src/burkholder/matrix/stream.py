"""Whole streams of ratings, compiled: bias + two directions + bet, one call for many rounds."""

from __future__ import annotations

import numpy as np

from burkholder.learning.rounding import add
from burkholder.machine.compiling import compiled
from burkholder.matrix import aims, bet, bias, factors, tangent
from burkholder.matrix.tangent import FOLLOWED, FOLLOWED_LOW, LATE, LEANED, MOVED, UNSEEN

_advise, _learn_bias = bias.predict, bias.update
_slope, _expected, _within, FARTHEST = aims.slope, aims.expected, aims.within, aims.FARTHEST
_stake, _settle = bet.predict, bet.update
_join, _direction, _learn, _lower, _pass_by = tangent.join, tangent.direction, tangent.learn, tangent.lower, tangent.pass_by
_low_rank, _factor = factors.direction, factors.learn


@compiled
def rounds(graph, scalars, model, log_wealth, known_factors, aim, i, j, y, played, exact, tol, most, probes, basis, T, R):
    """Play and learn every round; rows (ŷ, bias prediction, u, v, block steps, error of u).

    Without labels nothing is learned: only workspace changes, and a node of −1 is unknown and leaves the bias alone. Where rows
    (ŷ, b, u, v) were `played` some rounds ago these count; the Krylov space is today's all the same, since that is what the trace
    rests on. After `exact` ratings there is no Krylov space any more, and u is 0: a round would cost more with every rating.
    """
    learning, late = y.size > 0, played.shape[0] > 0
    out = np.empty((i.size, 6))
    farthest = FARTHEST if aim.odds else 4.0  # beyond ±1 all bets are cut alike
    for t in range(i.size):
        if learning:
            _join(graph, scalars, i[t])
            _join(graph, scalars, j[t])
        m, u, gap = 0, 0.0, 0.0
        known = i[t] >= 0 and j[t] >= 0
        followed_still = known_factors.counts[0] < exact and scalars[UNSEEN] == 0.0
        if known and followed_still:
            m, u, gap = _direction(graph, scalars, i[t], j[t], tol, most, basis, T, R)
        if late:
            yhat, b, u, v = played[t, 0], played[t, 1], played[t, 2], played[t, 3]
            scalars[LATE] += 1.0
        else:
            b, v = _advise(model, aim, i[t], j[t]), _low_rank(known_factors, i[t], j[t])
            yhat = _within(aim, b + _stake(log_wealth, u, v, farthest)) if known else b
        out[t, 0], out[t, 1], out[t, 2], out[t, 3], out[t, 4], out[t, 5] = yhat, b, u, v, m, gap
        if not learning:
            continue
        delta = _slope(aim, yhat, y[t])
        followed = delta * (yhat - b)
        add(scalars, FOLLOWED, FOLLOWED_LOW, followed)
        scalars[LEANED] += abs(followed)
        scalars[MOVED] += abs(delta)
        _settle(log_wealth, u, v, delta)
        if followed_still:
            _learn(graph, scalars, i[t], j[t], u, gap, delta, m, T)
            _lower(graph, scalars, i[t], j[t], 1e-9, probes, basis, T, R)
        else:
            _pass_by(graph, scalars, i[t], j[t], delta)
        _factor(known_factors, i[t], j[t], y[t] - _expected(aim, b))
        _learn_bias(model, aim, i[t], j[t], y[t])
    return out
