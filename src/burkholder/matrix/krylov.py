"""Predictions from one Krylov space: both signs of the sign flip, or the tangent, with error control.

`T` (2·DEPTH square), `basis`, `R` are workspace; after a probe the leading 2m rows of T describe the state
around (i, j), and `trace_change` tells from them what any rating at (i, j) does to tr exp(A).
"""

from __future__ import annotations

import numpy as np

from burkholder.machine.compiling import compiled, uncounted
from burkholder.matrix import lanczos
from burkholder.matrix.lanczos import DEPTH

# bound at import so that compiled code sees plain functions
_start, _step, _memory, _clear = lanczos.start, lanczos.step, lanczos.memory, lanczos.clear


@compiled
def small(T, m, off, diagonal):
    """T_m with [[diagonal, off], [off, diagonal]] added to its leading block."""
    S = T[: 2 * m, : 2 * m].copy()
    S[0, 0] += diagonal
    S[1, 1] += diagonal
    S[0, 1] += off
    S[1, 0] += off
    return S


@compiled
def small_trace(T, m, off, diagonal, log_trace):
    """tr exp of `small`, in units of exp(log_trace)."""
    total = 0.0
    for eigenvalue in np.linalg.eigvalsh(small(T, m, off, diagonal)):
        total += np.exp(eigenvalue - log_trace)
    return total


@compiled
def trace_change(T, m, off, diagonal, log_trace):
    """log of tr exp(A + change)/tr exp(A), where log_trace = log tr exp(A).

    The floor only matters when log_trace is wrong by more than the whole trace.
    """
    q = small_trace(T, m, off, diagonal, log_trace) - small_trace(T, m, 0.0, 0.0, log_trace)
    return np.log1p(max(q, -1.0 + 1e-12))


@uncounted
def deep_enough(T, m):
    """Whether m block steps can resolve exp on T's spectrum at all: m² at least its width (by row sums).

    A polynomial of degree below the square root of the width is blind to exp near the upper end: all its
    answers agree, on 0. Two small changes mean nothing before that.
    """
    widest = 0.0
    for r in range(2 * m):
        total = 0.0
        for c in range(max(0, r - 3), min(2 * m, r + 4)):
            total += abs(T[r, c])
        widest = max(widest, total)
    return m * m >= widest


@compiled
def probe_signs(graph, i, j, rate, damping, off, diagonal, log_trace, tol, first, basis, T, R):
    """(m, log change at +off, log change at −off, last difference) for A = rate·edges − damping·diagonal.

    Stops after two consecutive changes of both below tol (one can be an accident), or when T is exact.
    `first` is the step at which looking begins; looking later than necessary only costs time.
    """
    nodes = graph.used[0]
    kept = _memory(graph, damping, nodes)
    _clear(R)
    _start(basis, i, j, nodes)
    plus = minus = np.nan
    gap = np.inf
    quiet = 0
    m = 0
    for k in range(DEPTH):
        coupling = _step(graph, rate, damping, basis, T, R, k, i, j, nodes, kept)
        m = k + 1
        if m < first and coupling > 0.0:
            continue
        base = small_trace(T, m, 0.0, 0.0, log_trace)
        before_plus, before_minus = plus, minus
        plus = np.log1p(max(small_trace(T, m, off, diagonal, log_trace) - base, -1.0 + 1e-12))
        minus = np.log1p(max(small_trace(T, m, -off, diagonal, log_trace) - base, -1.0 + 1e-12))
        if coupling == 0.0:
            gap = 0.0
            break
        gap = max(abs(plus - before_plus), abs(minus - before_minus))
        quiet = quiet + 1 if gap <= tol and deep_enough(T, m) else 0
        if quiet == 2:
            break
    return m, plus, minus, gap


@compiled
def small_entries(T, m, log_trace):
    """The leading 2×2 block of exp(T_m − log_trace): entries (0,0), (0,1), (1,1)."""
    eigenvalues, vectors = np.linalg.eigh(T[: 2 * m, : 2 * m].copy())
    e00 = e01 = e11 = 0.0
    for k in range(2 * m):
        weight = np.exp(eigenvalues[k] - log_trace)
        e00 += weight * vectors[0, k] * vectors[0, k]
        e01 += weight * vectors[0, k] * vectors[1, k]
        e11 += weight * vectors[1, k] * vectors[1, k]
    return e00, e01, e11


@compiled
def probe_tangent(graph, i, j, rate, damping, log_trace, tol, first, most, basis, T, R):
    """(m, P_ij, last difference) for P = exp(A)/tr exp(A): P_ij, P_ii and P_jj have all changed by at most
    tol·(|P_ij| + e^{−log_trace}), twice.

    The unit e^{−log_trace} is what a node without ratings has on P's diagonal. At most `most` block steps.
    """
    nodes = graph.used[0]
    kept = _memory(graph, damping, nodes)
    _clear(R)
    _start(basis, i, j, nodes)
    e00 = e01 = e11 = np.nan
    gap = np.inf
    quiet = 0
    m = 0
    for k in range(min(most, DEPTH)):
        coupling = _step(graph, rate, damping, basis, T, R, k, i, j, nodes, kept)
        m = k + 1
        if m < first and coupling > 0.0 and m < most - 1:
            continue
        b00, b01, b11 = e00, e01, e11
        e00, e01, e11 = small_entries(T, m, log_trace)
        if coupling == 0.0:
            gap = 0.0
            break
        gap = abs(e01 - b01)
        # P_ij may be right by symmetry (0) long before the diagonal, on which the change of the trace rests
        change = max(gap, abs(e00 - b00), abs(e11 - b11))
        calm = change <= tol * (abs(e01) + np.exp(-log_trace)) and deep_enough(T, m)
        quiet = quiet + 1 if calm else 0
        if quiet == 2:
            break
    return m, e01, gap
