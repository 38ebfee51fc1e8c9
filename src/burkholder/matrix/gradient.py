"""G = ΣδX by its entries, as a certificate needs it: each entry the right sum, and a bound on what is still wrong."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.learning.rounding import UNIT, more
from burkholder.matrix import norms
from burkholder.matrix.graph import Graph

Places = NDArray[np.int64]


class Gradient(NamedTuple):
    """Every place once, in order; `error` bounds ‖G − ΣδX‖_F up to the rounding of each single term δX."""

    rows: Places
    columns: Places
    values: NDArray[np.float64]
    error: float

    def at(self, rows: Places, columns: Places) -> NDArray[np.float64]:
        """The entries at these places; 0 where nothing was ever learned."""
        if not len(self.values):
            return np.zeros(len(rows))
        width = int(max(self.columns.max(), columns.max(initial=0))) + 1
        keys, wanted = self.rows * width + self.columns, rows * width + columns
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, self.values[found], 0.0)

    def dense(self, shape: tuple[int, int]) -> NDArray[np.float64]:
        G = np.zeros(shape)
        G[self.rows, self.columns] = self.values
        return G


def collected(rows: Places, columns: Places, terms: NDArray[np.float64]) -> Gradient:
    """The sum of terms e_i e_jᵀ·term. Entries with several terms are summed exactly and rounded once (`fsum`).

    >>> collected(np.array([1, 0, 1, 1]), np.array([0, 0, 0, 0]), np.array([1e16, 2.0, 1.0, -1e16])).values
    array([2., 1.])
    """
    order = np.lexsort((columns, rows))
    rows, columns, terms = rows[order], columns[order], terms[order]
    fresh = np.ones(len(terms), bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    begins = np.flatnonzero(fresh)
    ends = np.append(begins[1:], len(terms))
    values = terms[begins].copy()
    for k in np.flatnonzero(ends - begins > 1):
        values[k] = math.fsum(terms[begins[k] : ends[k]])
    return Gradient(rows[begins], columns[begins], values, more(UNIT * norms.frobenius(values), 4.0))


def from_matrix(G: Any, error: float) -> Gradient:
    """The entries of a dense or sparse matrix."""
    if isinstance(G, np.ndarray):
        rows, columns = np.nonzero(G)
        return Gradient(rows, columns, G[rows, columns], error)
    G = G.tocoo()
    order = np.lexsort((G.col, G.row))
    return Gradient(G.row[order].astype(np.int64), G.col[order].astype(np.int64), G.data[order], error)


def from_graph(graph: Graph, rows: Places) -> Gradient:
    """The entries that the lists of these row nodes hold; columns keep the numbers of their nodes."""
    counts = graph.length[rows].astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(graph.start[rows].astype(np.int64), counts) + within
    return collected(np.repeat(rows, counts), graph.neighbour[places].astype(np.int64), graph.weight[places])
