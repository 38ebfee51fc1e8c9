"""The tangent strategy (S4) on a growing graph: the direction u of the default completion learner.

A = ηH − η²Σδ²M with radius 1, u = −⟨P, H(X)⟩ = −2·P_ij for X = e_i e_jᵀ. η = min(¼, sqrt(log D/V̄)); V̄
starts at 4 and doubles, η falling with it, as soon as the largest diagonal entry of Σδ²M could exceed it in
the next round.

Ledger: Σδu + log tr exp(A)/η never exceeds PAID, the sum of what log tr exp(A)/η gained when a row or a
column joined and when η fell. Hence A₁ = PAID + η·max diagonal bounds Σδu − Σδ⟨W, X⟩ over ‖W‖_Σ ≤ 1, on
every path.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burkholder.machine.compiling import compiled, uncounted
from burkholder.matrix import trace
from burkholder.matrix.graph import add_edge
from burkholder.matrix.krylov import probe_tangent, trace_change

LIPSCHITZ = 2.0
CAP = 0.25  # η·L·‖X‖ ≤ ½

# places in the vector of scalars
LOG_TRACE, RATE, CEILING, PAID, ALONG, WIDEST, SQUARES, STEPS, LOWERED, FOLLOWED, ERROR = range(11)
# FOLLOWED is Σδ(ŷ − b), negative where following u gained, FOLLOWED_LOW its correction; ERROR is Σ|δ|·(last change of u);
# LEANED is Σ|δ(ŷ − b)|, MOVED Σ|δ|, and LATE counts labels that came after other rounds
# UNSEEN counts rounds whose direction was not computed any more
FOLLOWED_LOW, LEANED, MOVED, LATE, UNSEEN = range(11, 16)
SCALARS = 16

_exact, _stochastic = trace.exact, trace.stochastic


def start() -> NDArray[np.float64]:
    """The scalars before any node exists: tr exp(A) = 0, η = ¼, V̄ = 4."""
    scalars = np.zeros(SCALARS)
    scalars[LOG_TRACE], scalars[RATE], scalars[CEILING] = -np.inf, CAP, LIPSCHITZ**2
    return scalars


@uncounted
def join(graph, scalars, node):
    """A row or column appears: tr exp(A) grows by one."""
    if node >= graph.used[0]:
        before = scalars[LOG_TRACE]
        scalars[LOG_TRACE] = np.logaddexp(before, np.log(float(node + 1 - graph.used[0])))
        gained = scalars[LOG_TRACE] - (before if before > -np.inf else 0.0)
        scalars[PAID] += gained / scalars[RATE]
        graph.used[0] = node + 1


@compiled
def direction(graph, scalars, i, j, tol, most, basis, T, R):
    """(block steps, u, last change of u). A node without ratings gives u = 0: its sign is free."""
    cold = graph.length[i] == 0 or graph.length[j] == 0
    rate = scalars[RATE]
    first = int(scalars[STEPS]) - 3
    m, entry, gap = probe_tangent(graph, i, j, rate, rate * rate, scalars[LOG_TRACE], tol, first, most, basis, T, R)
    return m, (0.0 if cold else -2.0 * entry), 2.0 * gap


@compiled
def learn(graph, scalars, i, j, u, gap, delta, m, T):
    """Take in the slope δ at (i, j), where `direction` left T with m block steps."""
    rate = scalars[RATE]
    scalars[STEPS] = m
    scalars[ALONG] += delta * u
    scalars[ERROR] += abs(delta) * gap
    scalars[SQUARES] += delta * delta * u * u
    scalars[WIDEST] = max(scalars[WIDEST], abs(u))
    step = rate * delta
    scalars[LOG_TRACE] += trace_change(T, m, step, -step * step, scalars[LOG_TRACE])
    add_edge(graph, i, j, delta)
    graph.diagonal[i] += delta * delta
    graph.diagonal[j] += delta * delta


@compiled
def pass_by(graph, scalars, i, j, delta):
    """Take in the slope for ΣδX alone, where the trace is no longer followed."""
    scalars[UNSEEN] += 1.0
    add_edge(graph, i, j, delta)
    graph.diagonal[i] += delta * delta
    graph.diagonal[j] += delta * delta


@compiled
def lower(graph, scalars, i, j, tol, probes, basis, T, R):
    """Double V̄ while the next slope at i or j could pass it; η follows. probes = 0: exact traces."""
    most = max(graph.diagonal[i], graph.diagonal[j]) + LIPSCHITZ * LIPSCHITZ
    if most <= scalars[CEILING]:
        return
    while most > scalars[CEILING]:
        scalars[CEILING] *= 2.0
    old = scalars[RATE]
    new = min(old, np.sqrt(np.log(float(graph.used[0])) / scalars[CEILING]))
    if new == old:
        return
    before = scalars[LOG_TRACE]
    if probes == 0:
        after = _exact(graph, new, new * new, before, tol, basis, T, R)
    else:
        after = (
            before
            + _stochastic(graph, new, new * new, before, probes, 10, basis, T, R)
            - _stochastic(graph, old, old * old, before, probes, 10, basis, T, R)
        )
    scalars[PAID] += after / new - before / old
    scalars[LOG_TRACE], scalars[RATE] = after, new
    scalars[LOWERED] += 1.0
