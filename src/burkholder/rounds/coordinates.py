"""A round for potentials that work per coordinate: U = a + Σ_i f(g_i, s_i), cells g, s."""

from __future__ import annotations

import math

import numpy as np

from burkholder.machine.cells import gather_pairs8, scatter_pairs8
from burkholder.machine.compiling import overload, register_jitable
from burkholder.machine.vectors import WIDTH, all8, fused, load8, store, total8
from burkholder.potentials import gap, slope
from burkholder.rounds.layout import DRIFTED, G_ROW, OUT_ROW, S_ROW, X_ROW, by_clock, foresee, tick


def respond(frame, potential, g, s, values, out):
    """Each coordinate's share of the prediction into `out`; returns what minus their sum is to be divided by."""
    raise NotImplementedError("only inside compiled loops")


def _tangent(frame, potential, g, s, values, out):
    for k in range(out.size):
        out[k] = values[k] * math.copysign(slope(potential, abs(g[k]), s[k], 0.0, 0.0), g[k])
    return 1.0


def _sign_flip(frame, potential, g, s, values, out):
    lipschitz = frame.lipschitz
    for k in range(out.size):
        here, d = g[k], lipschitz * values[k]
        # |g+d| − |g−d| without cancellation; the product's sign is right even when it underflows to ±0
        difference = math.copysign(2.0 * min(abs(here), abs(d)), here * d)
        out[k] = gap(potential, abs(here + d), abs(here - d), difference, s[k] + d * d)
    return lipschitz


_choose = by_clock(_tangent, _sign_flip)


@overload(respond)
def _respond(frame, potential, g, s, values, out):
    return _choose(frame)


@register_jitable
def largest(values):
    """max|x_i|."""
    top = 0.0
    for k in range(values.size):
        size = abs(values[k])
        if size > top:
            top = size
    return top


@register_jitable
def recall(frame, potential, cells, scalars, scratch, indices, values, squares, ahead):
    n, g, s, x = indices.size, scratch[G_ROW], scratch[S_ROW], scratch[X_ROW]
    whole = n - n % WIDTH
    for k in range(0, whole, WIDTH):
        foresee(cells, 2, indices, values, ahead, k)
        first, second = gather_pairs8(cells, indices, k)
        store(g, k, first)
        store(s, k, second)
        store(x, k, load8(values, k))
    for k in range(whole, n):
        at = np.uint64(2) * np.uint64(indices[k])
        g[k], s[k], x[k] = cells[at], cells[at + np.uint64(1)], values[k]
    for k in range(n, -(-n // WIDTH) * WIDTH):
        g[k], s[k], x[k] = 0.0, 1.0, 0.0
    # the largest |x_i| is asked for only when the function assumes a limit on it
    return 0.0, 0.0, 1.0, largest(values) if frame.limit < math.inf else 0.0, 0.0


@register_jitable
def answer(frame, potential, cells, scalars, scratch, indices, values, seen):
    n = -(-indices.size // WIDTH) * WIDTH
    out = scratch[OUT_ROW, :n]
    unit = respond(frame, potential, scratch[G_ROW, :n], scratch[S_ROW, :n], scratch[X_ROW, :n], out)
    sums = all8(0.0)
    for k in range(0, n, 8):
        sums = sums + load8(out, k)
    return -total8(sums) / unit


@register_jitable
def absorb(frame, cells, scalars, scratch, indices, values, seen, delta):
    n = indices.size
    whole = n - n % WIDTH
    g, s, x = scratch[G_ROW], scratch[S_ROW], scratch[X_ROW]
    sizes, rest = all8(0.0), 0.0
    for k in range(0, whole, WIDTH):
        across = load8(x, k)
        here = fused(delta, across, load8(g, k))
        sizes = sizes + abs(here)
        scatter_pairs8(cells, indices, k, here, load8(s, k) + tick(frame, across, delta))
    for k in range(whole, n):
        at, here = np.uint64(2) * np.uint64(indices[k]), fused(delta, x[k], g[k])
        rest += abs(here)
        cells[at], cells[at + np.uint64(1)] = here, s[k] + tick(frame, x[k], delta)
    scalars[DRIFTED] += total8(sizes) + rest
