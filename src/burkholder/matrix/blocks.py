"""Block Lanczos from any start block: what a low-rank X does to tr exp(A), without an eigenvalue of A.

The compiled kernel of `lanczos` is this method for the two unit vectors of one entry; here the block is as
wide as twice the rank of X, the operator is anything with a product, and every block is orthogonalised
against all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NEGLIGIBLE = 1e-12


def projections(product: Callable[[Array], Array], start: Array) -> Iterator[tuple[Array, bool]]:
    """T_1, T_2, …: the operator seen from its growing Krylov space; True marks the last, exact one."""
    dimension, width = start.shape
    basis, T = start, np.zeros((0, 0))
    while True:
        block = basis[:, -width:]
        image = product(block)
        # the last block's row of T is all that is new; everything further back is zero in exact arithmetic
        size = basis.shape[1]
        grown = np.zeros((size, size))
        grown[: len(T), : len(T)] = T
        inner = basis.T @ image
        grown[:, size - width :] = inner
        grown[size - width :, :] = inner.T
        T = 0.5 * (grown + grown.T)
        rest = image - basis @ inner
        rest -= basis @ (basis.T @ rest)
        left, sizes, _ = np.linalg.svd(rest, full_matrices=False)
        width = int(np.sum(sizes > NEGLIGIBLE * max(1.0, float(np.abs(T).max()))))
        width = min(width, dimension - size)
        yield T, width == 0
        if width == 0:
            return
        basis = np.hstack([basis, left[:, :width]])


def small_trace(T: Array, change: Array | None, log_trace: float) -> float:
    """tr exp(T + change), the change added to T's leading block, in units of exp(log_trace)."""
    if change is not None:
        T = T.copy()
        T[: len(change), : len(change)] += change
    return float(np.exp(np.linalg.eigvalsh(T) - log_trace).sum())


def trace_changes(T: Array, changes: list[Array], log_trace: float) -> Array:
    """log of tr exp(A + change)/tr exp(A) for each change."""
    base = small_trace(T, None, log_trace)
    q = np.array([small_trace(T, change, log_trace) - base for change in changes])
    return np.log1p(np.maximum(q, -1.0 + 1e-12))


def small_exponential(T: Array, width: int, log_trace: float) -> Array:
    """The leading block of exp(T − log_trace)."""
    eigenvalues, vectors = np.linalg.eigh(T)
    head = vectors[:width]
    return np.asarray((head * np.exp(eigenvalues - log_trace)) @ head.T)


def converged(product: Callable[[Array], Array], start: Array, answer: Callable[[Array], Array], tol: float) -> tuple[Array, Array, int]:
    """(T, answer(T), block steps) once two consecutive changes of the answer are at most tol."""
    last, quiet, steps = None, 0, 0
    T, now = np.zeros((0, 0)), np.zeros(0)
    for T, exact in projections(product, start):
        steps += 1
        now = answer(T)
        if exact:
            break
        small = last is not None and float(np.max(np.abs(now - last))) <= tol
        # as in `krylov.deep_enough`: before √width steps every answer may agree on nothing
        quiet = quiet + 1 if small and steps**2 >= float(np.abs(T).sum(1).max()) else 0
        if quiet == 2:
            break
        last = now
    return T, now, steps
