"""How a comparator W is given to a certificate: by its entries under their ids, or as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import BadInput
from burkholder.matrix import norms
from burkholder.matrix.gradient import from_matrix
from burkholder.matrix.ids import Id, checked_entries
from burkholder.matrix.inputs import LARGEST


class Matrix(NamedTuple):
    """A comparator by its entries, and a number not below its nuclear norm."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    nuclear: float


@dataclass(frozen=True)
class ByIds:
    """{(row, column): W_ij}; an id never seen has never mattered."""

    rows: dict[Id, int]
    columns: dict[Id, int]

    def __call__(self, W: Any) -> Matrix:
        found = [(pair, value) for pair, value in checked_entries(W) if pair[0] in self.rows and pair[1] in self.columns]
        i = np.array([self.rows[row] for (row, _), _ in found], np.int64)
        j = np.array([self.columns[column] for (_, column), _ in found], np.int64)
        values = np.array([value for _, value in found])
        return Matrix(i, j, values, norms.nuclear(i, j, values))


@dataclass(frozen=True)
class OfShape:
    """A matrix of that shape, dense or sparse."""

    shape: tuple[int, int]

    def __call__(self, W: Any) -> Matrix:
        try:
            W = np.asarray(W.toarray() if hasattr(W, "toarray") else W, float)
        except (TypeError, ValueError, OverflowError):
            raise BadInput("w", W, f"give a matrix of shape {self.shape}") from None
        if W.shape != self.shape:
            raise BadInput("w", W.shape, f"give a matrix of shape {self.shape}")
        if not (np.abs(W) <= LARGEST).all():
            raise BadInput("w", float(np.abs(W).max()), f"its entries must be numbers of size at most {LARGEST:g}")
        entries = from_matrix(W, 0.0)
        return Matrix(*entries[:3], norms.nuclear(*entries[:3]))
