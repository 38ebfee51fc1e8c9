"""Block Lanczos on two start vectors e_i, e_j: the small matrix T_m that stands for ηH − cM.

Both basis vectors of the change that a rating makes lie in the Krylov space's first block, so whatever is
asked about exp(A + change) is a question about T_m with the change added to its leading 2×2 block.
"""

from __future__ import annotations

import numpy as np

from burkholder.machine.compiling import compiled, uncounted

WIDE = 30.0  # spectra wider than this need full orthogonalisation
DEPTH = 48  # most block steps; T has 2·DEPTH rows
NEGLIGIBLE = 1e-6  # a new direction shorter than this is dropped (cold rows exhaust their Krylov space)


@uncounted
def start(basis, i, j, nodes):
    """V₀ = [e_i, e_j] in basis[0]; basis is (3, 2·capacity): blocks k, k−1, k+1 take turns in its rows."""
    for r in range(2 * nodes):
        basis[0, r] = 0.0
        basis[2, r] = 0.0
    basis[0, 2 * i] = 1.0
    basis[0, 2 * j + 1] = 1.0


@uncounted
def clear(R):
    """No block before the first."""
    for a in range(2):
        for b in range(2):
            R[a, b] = 0.0


@uncounted
def apply_to_units(graph, rate, damping, i, j, y, nodes):
    """What `apply` gives for x = [e_i, e_j] and no previous block: two columns of A."""
    for r in range(2 * nodes):
        y[r] = 0.0
    for side, node in enumerate((i, j)):
        for p in range(graph.start[node], graph.start[node] + graph.length[node]):
            y[2 * np.int64(graph.neighbour[p]) + side] += rate * graph.weight[p]
        y[2 * node + side] -= damping * graph.diagonal[node]
    return float(y[2 * i]), 0.5 * (y[2 * i + 1] + y[2 * j]), float(y[2 * j + 1])


@uncounted
def apply(graph, rate, damping, x, previous, R, y, nodes):
    """y = A x − previous·Rᵀ and the 2×2 block α = xᵀy, for A = rate·edges − damping·diagonal.

    Two accumulators per column hide the latency of the additions; the order of additions is fixed.
    """
    zero, one, two = np.uint64(0), np.uint64(1), np.uint64(2)
    neighbour, weight = graph.neighbour, graph.weight
    a00 = a01 = a10 = a11 = 0.0
    r00, r01, r11 = R[0, 0], R[0, 1], R[1, 1]
    row = zero
    while row < nodes:
        p = graph.start[row]
        count = graph.length[row]
        stop = p + count
        even = stop - (count & one)
        s0 = s1 = t0 = t1 = x[zero] - x[zero]
        while p < even:
            c = two * np.uint64(neighbour[p])
            w = weight[p]
            s0 += w * x[c]
            s1 += w * x[c + one]
            c = two * np.uint64(neighbour[p + one])
            w = weight[p + one]
            t0 += w * x[c]
            t1 += w * x[c + one]
            p += two
        if p < stop:
            c = two * np.uint64(neighbour[p])
            w = weight[p]
            s0 += w * x[c]
            s1 += w * x[c + one]
        here = two * row
        x0, x1 = x[here], x[here + one]
        q0, q1 = previous[here], previous[here + one]
        d = damping * graph.diagonal[row]
        y0 = rate * (s0 + t0) - d * x0 - (q0 * r00 + q1 * r01)
        y1 = rate * (s1 + t1) - d * x1 - q1 * r11
        y[here] = y0
        y[here + one] = y1
        a00 += x0 * y0
        a01 += x0 * y1
        a10 += x1 * y0
        a11 += x1 * y1
        row += one
    return a00, 0.5 * (a01 + a10), a11


@uncounted
def orthonormal(x, y, alpha00, alpha01, alpha11, R, nodes):
    """y ← the orthonormal block Q with y − x·α = Q·R, R upper triangular; negligible columns become zero."""
    n = 0.0
    m = 0.0
    for r in range(nodes):
        x0, x1 = x[2 * r], x[2 * r + 1]
        y0 = y[2 * r] - (x0 * alpha00 + x1 * alpha01)
        y1 = y[2 * r + 1] - (x0 * alpha01 + x1 * alpha11)
        y[2 * r], y[2 * r + 1] = y0, y1
        n += y0 * y0
        m += y0 * y1
    n = np.sqrt(n)
    if n < NEGLIGIBLE:
        R[0, 0], R[0, 1], scale, slope = 0.0, 0.0, 0.0, 0.0
    else:
        R[0, 0], R[0, 1], scale, slope = n, m / n, 1.0 / n, m / (n * n)
    n = 0.0
    for r in range(nodes):
        y0 = y[2 * r]
        y1 = y[2 * r + 1] - slope * y0
        y[2 * r], y[2 * r + 1] = scale * y0, y1
        n += y1 * y1
    n = np.sqrt(n)
    if n < NEGLIGIBLE:
        R[1, 1], scale = 0.0, 0.0
    else:
        R[1, 1], scale = n, 1.0 / n
    for r in range(nodes):
        y[2 * r + 1] *= scale


@compiled
def memory(graph, damping, nodes):
    """Room to keep every block, if the spectrum is so wide that blocks would drift from orthogonality; else
    none.

    Under the rules that set η the width is about log D and nothing is kept; a large fixed η makes it wide.
    """
    widest = 0.0
    for r in range(nodes):
        widest = max(widest, graph.diagonal[r])
    return np.zeros((DEPTH if damping * widest > WIDE else 0, 2 * nodes))


@uncounted
def reorthogonal(kept, k, y, nodes):
    """y less its components in blocks 0..k, twice."""
    for _ in range(2):
        for b in range(k + 1):
            d00 = d01 = d10 = d11 = 0.0
            for r in range(nodes):
                d00 += kept[b, 2 * r] * y[2 * r]
                d01 += kept[b, 2 * r] * y[2 * r + 1]
                d10 += kept[b, 2 * r + 1] * y[2 * r]
                d11 += kept[b, 2 * r + 1] * y[2 * r + 1]
            for r in range(nodes):
                y[2 * r] -= kept[b, 2 * r] * d00 + kept[b, 2 * r + 1] * d10
                y[2 * r + 1] -= kept[b, 2 * r] * d01 + kept[b, 2 * r + 1] * d11


@uncounted
def step(graph, rate, damping, basis, T, R, k, i, j, nodes, kept):
    """Block step k: fills T's rows 2k and 2k+1 and couples them to the next block; rotates `basis`.

    i, j are the units that `start` was given, or −1 after any other start; `kept` comes from `memory`.
    Returns the size of the coupling: 0 when the Krylov space is exhausted and T is exact.
    """
    here, previous, y = k % 3, (k + 2) % 3, (k + 1) % 3
    if k == 0 and i >= 0:
        a00, a01, a11 = apply_to_units(graph, rate, damping, i, j, basis[y], nodes)
    else:
        a00, a01, a11 = apply(graph, rate, damping, basis[here], basis[previous], R, basis[y], np.uint64(nodes))
    p = 2 * k
    T[p, p], T[p, p + 1], T[p + 1, p], T[p + 1, p + 1] = a00, a01, a01, a11
    if kept.shape[0] > 0:
        for r in range(2 * nodes):
            kept[k, r] = basis[here, r]
        reorthogonal(kept, k, basis[y], nodes)
        orthonormal(basis[here], basis[y], 0.0, 0.0, 0.0, R, nodes)
    else:
        orthonormal(basis[here], basis[y], a00, a01, a11, R, nodes)
    if p + 3 < T.shape[0]:
        for a in range(2):
            for b in range(2):
                T[p + 2 + a, p + b] = R[a, b]
                T[p + b, p + 2 + a] = R[a, b]
    return abs(R[0, 0]) + abs(R[0, 1]) + abs(R[1, 1])
