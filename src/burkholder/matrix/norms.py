"""Norms from above: numbers that are certainly not below a norm, whatever was rounded on the way.

A power iteration approaches ‖G‖ from below and proves nothing. Three bounds are certain, and the least is taken:
    ‖G‖ ≤ ‖G‖_F;
    ‖G‖² ≤ max_i (|G||G|ᵀq)_i/q_i for every q > 0 (the Perron root of |G||G|ᵀ, by Collatz and Wielandt);
    ‖G‖² ≤ λ̂ + (n+2)u‖G‖_F² + 256·m·u·‖K‖_F, λ̂ the computed largest eigenvalue of K, the computed Gram matrix GGᵀ of
    side m: its entries are sums of at most n products, and a symmetric eigenvalue solver is backward stable.
Sums of numbers that are not negative only need their factor (`rounding.more`). Before anything is squared, G is divided by a
power of two that makes its largest entry about 1, so that nothing that matters over- or underflows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.learning.rounding import UNIT, more

DENSE = 1024  # up to this side eigenvalues are computed in full
SOLVER = 256.0  # roundings a coordinate behind an eigenvalue or a singular value, generously
TURNS = 12  # of the iteration for q; any q > 0 serves
LEAST = 1e-60  # of an entry of q beside its largest


def frobenius(values: Any) -> float:
    """A number certainly not below the root of the sum of squares.

    >>> 5.0 <= frobenius([3.0, 4.0]) < 5.0 + 1e-12
    True
    """
    numbers = np.abs(np.asarray(values, float)).reshape(-1)
    largest = float(numbers.max(initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    exponent = math.frexp(largest)[1]
    return _scaled(math.sqrt(math.fsum(np.ldexp(numbers, -exponent) ** 2)), exponent, 16.0)


def spectral(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[np.float64]) -> float:
    """A number certainly not below ‖G‖, for G given by its entries, each place once.

    >>> 5.0 <= spectral(np.array([0, 7]), np.array([2, 2]), np.array([3.0, 4.0])) < 5.0 + 1e-12
    True
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    from scipy.sparse import csr_matrix

    exponent = math.frexp(largest)[1]
    i, j = (np.unique(places, return_inverse=True)[1].reshape(-1) for places in (rows, columns))
    shape = (int(i.max()) + 1, int(j.max()) + 1)
    if shape[0] > shape[1]:
        i, j, shape = j, i, (shape[1], shape[0])
    G = csr_matrix((np.ldexp(values, -exponent), (i, j)), shape=shape)
    whole = frobenius(G.data)
    squares = [whole * whole, _perron(abs(G))]
    if shape[0] <= DENSE:
        squares.append(_gram(G, whole))
    return _scaled(math.sqrt(min(squares)), exponent, 16.0)


def _perron(sizes: Any) -> float:
    """An upper bound of ‖|G|‖², by the best of a few q > 0."""
    q = np.ones(sizes.shape[0])
    best = math.inf
    for _ in range(TURNS):
        image = sizes @ (sizes.T @ q)
        best = min(best, float((image / q).max()))
        q = np.maximum(image / image.max(), LEAST)
    return more(best, 2.0 * sum(sizes.shape))


def _gram(G: Any, whole: float) -> float:
    """An upper bound of ‖G‖² from the eigenvalues of GGᵀ."""
    K = np.asarray((G @ G.T).toarray())
    value = max(float(np.linalg.eigvalsh(K)[-1]), 0.0)
    error = (G.shape[1] + 2.0) * whole * whole + SOLVER * len(K) * frobenius(K)
    return more(value + more(UNIT * error, 16.0), 4.0)


def nuclear(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[np.float64]) -> float:
    """A number certainly not below ‖W‖_Σ: the sum of singular values, or of entries where there are too many.

    >>> 5.0 <= nuclear(np.array([0, 7]), np.array([2, 2]), np.array([3.0, 4.0])) < 5.0 + 1e-11
    True
    """
    entries = more(math.fsum(np.abs(values)), 4.0)
    i, j = (np.unique(places, return_inverse=True)[1].reshape(-1) for places in (rows, columns))
    shape = (int(i.max(initial=-1)) + 1, int(j.max(initial=-1)) + 1)
    if not len(values) or max(shape) > DENSE or not math.isfinite(entries):
        return entries
    W = np.zeros(shape)
    W[i, j] = values
    sizes = np.linalg.svd(W, compute_uv=False)
    error = SOLVER * len(sizes) * max(shape) * UNIT * float(sizes[0])
    return min(entries, more(math.fsum(sizes) + error, 16.0))


def _scaled(number: float, exponent: int, terms: float) -> float:
    try:
        return more(math.ldexp(more(number, terms), exponent))
    except OverflowError:
        return math.inf
