"""log tr exp(A) from scratch, when the rate changes: every diagonal entry, or a few random probes.

The diagonal costs as much as half a round per node and is exact to the tolerance; the probes (stochastic
Lanczos quadrature) cost a fixed number of rounds and are used as a ratio, with the same vectors before and
after.
"""

from __future__ import annotations

import numpy as np

from burkholder.machine.compiling import compiled, uncounted
from burkholder.matrix import lanczos
from burkholder.matrix.krylov import deep_enough, small_entries
from burkholder.matrix.lanczos import DEPTH

_start, _step, _memory, _clear = lanczos.start, lanczos.step, lanczos.memory, lanczos.clear


@compiled
def exact(graph, rate, damping, scale, tol, basis, T, R):
    """log tr exp(A) as the sum of its diagonal entries, two per Krylov space, each to relative tol.

    `scale` is a guess of the answer (the value at another rate); it only keeps exponentials in range.
    """
    nodes = graph.used[0]
    kept = _memory(graph, damping, nodes)
    log_total = -np.inf
    for i in range(0, nodes, 2):
        j = i + 1 if i + 1 < nodes else (i - 1 if i > 0 else 0)
        single = i + 1 >= nodes
        if graph.length[i] == 0 and (single or graph.length[j] == 0):
            # lone nodes: exp of their own diagonal entry
            pair = np.exp(-damping * graph.diagonal[i] - scale)
            if not single:
                pair += np.exp(-damping * graph.diagonal[j] - scale)
        else:
            _clear(R)
            _start(basis, i, j, nodes)
            quiet = 0
            pair = np.nan
            for k in range(DEPTH):
                coupling = _step(graph, rate, damping, basis, T, R, k, i, j, nodes, kept)
                before = pair
                e00, _, e11 = small_entries(T, k + 1, scale)
                pair = e00 if single else e00 + e11
                if coupling == 0.0:
                    break
                quiet = quiet + 1 if abs(pair - before) <= tol * pair and deep_enough(T, k + 1) else 0
                if quiet == 2:
                    break
        log_total = np.logaddexp(log_total, np.log(pair) + scale)
    return log_total


@uncounted
def sign_of(node, probe):
    """A fixed pseudo-random ±1 (splitmix64), so that a run repeats bit for bit."""
    z = np.uint64(node) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(probe + 1) * np.uint64(0xD1342543DE82EF95)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return 1.0 if (z ^ (z >> np.uint64(31))) & np.uint64(1) else -1.0


@compiled
def stochastic(graph, rate, damping, scale, probes, depth, basis, T, R):
    """log of the estimate of tr exp(A) from `probes` pairs of random signs, `depth` block steps each."""
    nodes = graph.used[0]
    kept = _memory(graph, damping, nodes)
    log_total = -np.inf
    none = np.int64(-1)
    for probe in range(probes):
        cross = 0.0
        for r in range(nodes):
            basis[0, 2 * r] = sign_of(r, 2 * probe)
            basis[0, 2 * r + 1] = sign_of(r, 2 * probe + 1)
            basis[1, 2 * r] = basis[1, 2 * r + 1] = 0.0
            basis[2, 2 * r] = basis[2, 2 * r + 1] = 0.0
            cross += basis[0, 2 * r] * basis[0, 2 * r + 1]
        _clear(R)
        # orthonormalise the pair: [p, q] = V₀·C, so that pᵀfp + qᵀfq = tr(C Cᵀ · V₀ᵀfV₀)
        n = np.sqrt(float(nodes))
        c01 = cross / n
        c11 = np.sqrt(max(float(nodes) - c01 * c01, 0.0))
        for r in range(nodes):
            basis[0, 2 * r] /= n
            rest = basis[0, 2 * r + 1] - c01 * basis[0, 2 * r]
            basis[0, 2 * r + 1] = rest / c11 if c11 > 0.0 else 0.0
        for k in range(depth):
            _step(graph, rate, damping, basis, T, R, k, none, none, nodes, kept)
        e00, e01, e11 = small_entries(T, depth, scale)
        estimate = (n * n + c01 * c01) * e00 + 2.0 * c01 * c11 * e01 + c11 * c11 * e11
        log_total = np.logaddexp(log_total, np.log(estimate))
    return log_total + scale - np.log(2.0 * probes)
