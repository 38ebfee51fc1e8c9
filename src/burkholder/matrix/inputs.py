"""What may be given as X: a dense or sparse matrix, an entry (i, j) or (i, j, w), or factors (U, V)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput

Array = NDArray[np.float64]
NEGLIGIBLE = 1e-12  # singular values below this part of the largest are rounding


class Factors(NamedTuple):
    """X = left·diag(sizes)·rightᵀ with orthonormal columns and positive sizes."""

    left: Array
    sizes: Array
    right: Array

    @property
    def norm(self) -> float:
        """The spectral norm."""
        return float(self.sizes[0]) if len(self.sizes) else 0.0

    def dense(self) -> Array:
        return np.asarray((self.left * self.sizes) @ self.right.T)


def entry(X: Any, shape: tuple[int, int]) -> tuple[int, int, float] | None:
    """(i, j, w) if X was given as one entry, else None."""
    if not isinstance(X, tuple) or not all(np.ndim(part) == 0 for part in X):
        return None
    if len(X) not in (2, 3):
        raise BadInput("X", X, "give (i, j) or (i, j, w)")
    i, j, weight = X[0], X[1], float(X[2]) if len(X) == 3 else 1.0
    for name, index, size in (("row", i, shape[0]), ("column", j, shape[1])):
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < size:
            raise BadInput(name, index, f"give an integer from 0 to {size - 1}")
    if not math.isfinite(weight):
        raise BadInput("w", weight, "give a finite weight")
    return int(i), int(j), weight


def _orthonormal(values: Array, what: Any) -> tuple[Array, Array, Array]:
    left, sizes, right = np.linalg.svd(values, full_matrices=False)
    keep = sizes > NEGLIGIBLE * (sizes[0] if len(sizes) else 0.0)
    return left[:, keep], sizes[keep], right[keep].T


def factors(X: Any, shape: tuple[int, int]) -> Factors:
    """The singular factors of X, found in the smallest matrix that has them."""
    found = entry(X, shape)
    if found is not None:
        i, j, weight = found
        left, right = np.zeros((shape[0], 1)), np.zeros((shape[1], 1))
        left[i], right[j] = math.copysign(1.0, weight), 1.0
        keep = slice(0, 1 if weight else 0)
        return Factors(left[:, keep], np.array([abs(weight)])[keep], right[:, keep])
    if isinstance(X, tuple) and len(X) == 2:
        return _from_pair(np.asarray(X[0], dtype=float), np.asarray(X[1], dtype=float), shape)
    if hasattr(X, "tocoo"):
        return _from_sparse(X.tocoo(), shape)
    try:
        dense = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        raise BadInput("X", X, "give a matrix, (i, j, w), or two factors") from None
    if dense.shape != shape:
        raise BadInput("X", dense.shape, f"its shape must be {shape}")
    _finite(dense)
    return Factors(*_orthonormal(dense, X))


def _finite(values: Array) -> None:
    if not np.isfinite(values).all():
        raise BadInput("X", float(values[~np.isfinite(values)][0]), "its entries must be finite")


def _from_pair(U: Array, V: Array, shape: tuple[int, int]) -> Factors:
    U, V = U.reshape(len(U), -1), V.reshape(len(V), -1)
    if (len(U), len(V)) != shape or U.shape[1] != V.shape[1]:
        raise BadInput("X", (U.shape, V.shape), f"factors of a {shape[0]} × {shape[1]} matrix must share their width")
    _finite(U)
    _finite(V)
    (qu, ru), (qv, rv) = np.linalg.qr(U), np.linalg.qr(V)
    left, sizes, right = _orthonormal(ru @ rv.T, (U, V))
    return Factors(qu @ left, sizes, qv @ right)


def _from_sparse(X: Any, shape: tuple[int, int]) -> Factors:
    if X.shape != shape:
        raise BadInput("X", X.shape, f"its shape must be {shape}")
    X.sum_duplicates()
    _finite(X.data)
    rows, columns = np.unique(X.row), np.unique(X.col)
    block = np.zeros((len(rows), len(columns)))
    block[np.searchsorted(rows, X.row), np.searchsorted(columns, X.col)] = X.data
    small_left, sizes, small_right = _orthonormal(block, X) if X.nnz else (block, np.zeros(0), block.T)
    left, right = np.zeros((shape[0], len(sizes))), np.zeros((shape[1], len(sizes)))
    left[rows], right[columns] = small_left[:, : len(sizes)], small_right[:, : len(sizes)]
    return Factors(left, sizes, right)
