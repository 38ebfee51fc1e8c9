"""What may be given as X: a dense or sparse matrix, an entry (i, j) or (i, j, w), or factors (U, V)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput
from burkholder.learning.rounding import more
from burkholder.matrix.norms import frobenius

Array = NDArray[np.float64]
NEGLIGIBLE = 1e-12  # singular values below this part of the largest are rounding
LARGEST = 1e30  # of an entry of X: sums of their squares, and products of four such sums, stay finite


def played_number(yhat: float) -> float:
    """ŷ as it is; BadInput where the sums behind it are so far apart in size that no number is left."""
    if math.isnan(yhat):
        raise BadInput("x", yhat, "the prediction overflows: what was learned before differs too far in size")
    return yhat


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


class Row:
    """An X of our own, checked: nobody else can change it. `factors` and `term` are found when they are asked for."""

    def __init__(self, X: Any, shape: tuple[int, int]) -> None:
        self.shape = shape
        self.entry = entry(X, shape)
        self.given: Any = self.entry if self.entry is not None else _copied(X, shape)

    @cached_property
    def factors(self) -> Factors:
        """The singular factors, as the strategies need them."""
        return factors(self.given, self.shape)

    def term(self, sparse: bool) -> tuple[Any, float, float]:
        """(X, a bound on ‖X‖_F, and a bound on what forming δX costs in units of |δ|·2⁻⁵³, in the same norm).

        A product δX_ij is rounded once; the entries of UVᵀ are sums of k rounded products before that.
        """
        from scipy.sparse import csr_matrix

        if self.entry is not None:
            i, j, weight = self.entry
            X = csr_matrix(([weight], ([i], [j])), shape=self.shape)
            return (X if sparse else X.toarray()), abs(weight), abs(weight)
        if isinstance(self.given, tuple):
            U, V = self.given
            size = more(frobenius(U) * frobenius(V))
            X = csr_matrix(U) @ csr_matrix(V).T if sparse else U @ V.T
            return X, size, (U.shape[1] + 4.0) * size
        X = self.given
        size = frobenius(X if isinstance(X, np.ndarray) else X.data)
        if isinstance(X, np.ndarray):  # a sum of both kinds would be neither
            return (csr_matrix(X) if sparse else X), size, size
        return (X if sparse else X.toarray()), size, size

    def packed(self) -> tuple[Any, dict[str, Array]]:
        """(what kind it is, and its numbers), for saving."""
        if self.entry is not None:
            return list(self.entry), {}
        if isinstance(self.given, tuple):
            return "factors", {"left": self.given[0], "right": self.given[1]}
        if isinstance(self.given, np.ndarray):
            return "dense", {"X": self.given}
        X = self.given.tocoo()
        return "sparse", {"row": X.row.astype(np.int64), "column": X.col.astype(np.int64), "value": X.data}

    @classmethod
    def unpacked(cls, words: Any, parts: dict[str, Array], shape: tuple[int, int]) -> Row:
        """The row that `packed` described, checked like any other."""
        if isinstance(words, list):
            return cls(tuple(words), shape)
        if words == "factors":
            return cls((parts["left"], parts["right"]), shape)
        if words == "dense":
            return cls(parts["X"], shape)
        from scipy.sparse import coo_matrix

        return cls(coo_matrix((parts["value"], (parts["row"], parts["column"])), shape=shape), shape)


class Rows(NamedTuple):
    """Many X, checked and copied."""

    listed: list[Row]

    @property
    def rows(self) -> int:
        return len(self.listed)

    def part(self, start: int, stop: int) -> Rows:
        return Rows(self.listed[start:stop])

    def nodes(self, rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        """Row nodes, column nodes and weights, where all are entries; columns are numbered after the rows."""
        found = [row.entry for row in self.listed if row.entry is not None]
        i, j = (np.array([entry[k] for entry in found], np.int64) for k in (0, 1))
        return i, j + rows, np.array([entry[2] for entry in found])


def _copied(X: Any, shape: tuple[int, int]) -> Any:
    """A dense array, a CSR matrix without repetitions, or a pair of two-dimensional factors."""
    if isinstance(X, tuple) and len(X) == 2:
        try:
            U, V = (np.array(part, dtype=float) for part in X)
            return _pair(U.reshape(len(U), -1), V.reshape(len(V), -1), shape)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, BadInput):
                raise
            raise BadInput("X", X, "give a matrix, (i, j, w), or two factors") from None
    if hasattr(X, "tocoo"):
        if X.shape != shape:
            raise BadInput("X", X.shape, f"its shape must be {shape}")
        X = X.tocsr().astype(float, copy=True)
        X.sum_duplicates()
        _finite(X.data)
        return X
    try:
        dense = np.array(X, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise BadInput("X", X, "give a matrix, (i, j, w), or two factors") from None
    if dense.shape != shape:
        raise BadInput("X", dense.shape, f"its shape must be {shape}")
    _finite(dense)
    return dense


def entry(X: Any, shape: tuple[int, int]) -> tuple[int, int, float] | None:
    """(i, j, w) if X was given as one entry, else None."""
    if not isinstance(X, tuple) or not all(np.ndim(part) == 0 for part in X):
        return None
    if len(X) not in (2, 3):
        raise BadInput("X", X, "give (i, j) or (i, j, w)")
    i, j = X[:2]
    try:
        weight = float(X[2]) if len(X) == 3 else 1.0
    except (TypeError, ValueError, OverflowError):
        weight = math.nan
    for name, index, size in (("row", i, shape[0]), ("column", j, shape[1])):
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or not 0 <= index < size:
            raise BadInput(name, index, f"give an integer from 0 to {size - 1}")
    if not abs(weight) <= LARGEST:
        raise BadInput("w", X[2], f"give a finite weight, at most {LARGEST:g} in size")
    return int(i), int(j), weight


def _orthonormal(values: Array) -> tuple[Array, Array, Array]:
    left, sizes, right = np.linalg.svd(values, full_matrices=False)
    keep = sizes > NEGLIGIBLE * (sizes[0] if len(sizes) else 0.0)
    return left[:, keep], sizes[keep], right[keep].T


def factors(X: Any, shape: tuple[int, int]) -> Factors:
    """The singular factors of X, found in the smallest matrix that has them; X as `Row` keeps it."""
    if isinstance(X, tuple) and len(X) == 3:
        i, j, weight = X
        left, right = np.zeros((shape[0], 1)), np.zeros((shape[1], 1))
        left[i], right[j] = math.copysign(1.0, weight), 1.0
        keep = slice(0, 1 if weight else 0)
        return Factors(left[:, keep], np.array([abs(weight)])[keep], right[:, keep])
    if isinstance(X, tuple):
        (qu, ru), (qv, rv) = np.linalg.qr(X[0]), np.linalg.qr(X[1])
        left, sizes, right = _orthonormal(ru @ rv.T)
        return Factors(qu @ left, sizes, qv @ right)
    return Factors(*_orthonormal(X)) if isinstance(X, np.ndarray) else _from_sparse(X.tocoo(), shape)


def _finite(values: Array) -> None:
    good = np.abs(values) <= LARGEST
    if not good.all():
        raise BadInput("X", float(values[~good][0]), f"its entries must be finite, at most {LARGEST:g} in size")


def _pair(U: Array, V: Array, shape: tuple[int, int]) -> tuple[Array, Array]:
    if (len(U), len(V)) != shape or U.shape[1] != V.shape[1]:
        raise BadInput("X", (U.shape, V.shape), f"factors of a {shape[0]} × {shape[1]} matrix must share their width")
    for part in (U, V):
        _finite(part)
    if max(np.abs(U).max(initial=0.0), 1.0) * max(np.abs(V).max(initial=0.0), 1.0) * U.shape[1] > LARGEST:
        raise BadInput("X", "U Vᵀ", f"its entries must be at most {LARGEST:g} in size")
    return U, V


def _from_sparse(X: Any, shape: tuple[int, int]) -> Factors:
    rows, columns = np.unique(X.row), np.unique(X.col)
    block = np.zeros((len(rows), len(columns)))
    block[np.searchsorted(rows, X.row), np.searchsorted(columns, X.col)] = X.data
    small_left, sizes, small_right = _orthonormal(block) if X.nnz else (block, np.zeros(0), block.T)
    left, right = np.zeros((shape[0], len(sizes))), np.zeros((shape[1], len(sizes)))
    left[rows], right[columns] = small_left[:, : len(sizes)], small_right[:, : len(sizes)]
    return Factors(left, sizes, right)
