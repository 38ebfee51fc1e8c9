"""The sparse state of a stream of entries w·e_i e_jᵀ: a graph whose lists grow as ratings arrive.

Rows and columns share one numbering, in order of arrival; H(X) for X = w·e_i e_jᵀ is the edge i–j of weight
w and M(X) lies on the diagonal, so that ηH − cM is `rate`·edges − `damping`·diagonal and no degree need be
known ahead. Each node's list lies in one stretch of a shared pool and moves to its end, with twice the
room, when full: memory stays proportional to the ratings seen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from burkholder.machine.compiling import uncounted


class Graph(NamedTuple):
    """Lists `neighbour[start[r] : start[r] + length[r]]` with their weights, and the diagonal of ΣM."""

    start: NDArray[np.uint64]
    length: NDArray[np.uint64]
    room: NDArray[np.uint64]
    neighbour: NDArray[np.uint32]
    weight: NDArray[np.float64]
    diagonal: NDArray[np.float64]
    used: NDArray[np.int64]  # how many nodes exist, how much of the pool is taken

    @property
    def nodes(self) -> int:
        return int(self.used[0])


def empty() -> Graph:
    """A graph without nodes."""
    none = np.zeros(0, np.uint64)
    return Graph(
        start=none,
        length=none.copy(),
        room=none.copy(),
        neighbour=np.zeros(0, np.uint32),
        weight=np.zeros(0),
        diagonal=np.zeros(0),
        used=np.zeros(2, np.int64),
    )


def with_nodes(graph: Graph, nodes: int) -> Graph:
    """Room for that many nodes; they exist only once `used` counts them."""
    capacity = len(graph.start)
    if nodes > capacity:
        extra = max(nodes, 2 * capacity, 16) - capacity
        columns = [
            np.concatenate([column, np.zeros(extra, column.dtype)]) for column in (graph.start, graph.length, graph.room, graph.diagonal)
        ]
        graph = graph._replace(start=columns[0], length=columns[1], room=columns[2], diagonal=columns[3])
    return graph


def with_room(graph: Graph, ends: NDArray[np.int64]) -> Graph:
    """The graph with room for one more edge at every node listed in `ends` (repetitions count).

    Lists that are too short move to the end of the pool; when moved lists have left more holes than half of
    the pool, everything is packed again. Order within a list never changes, so neither does any sum over
    it.
    """
    nodes, times = np.unique(ends, return_counts=True)
    need = graph.length[nodes] + times.astype(np.uint64)
    short = need > graph.room[nodes]
    if not short.any():
        return graph
    nodes, room = nodes[short], np.maximum(need[short], 2 * graph.room[nodes[short]])
    room = np.maximum(room, np.uint64(4))
    wanted = int(graph.used[1]) + int(room.sum())
    alive = int(graph.room.sum())
    if wanted > len(graph.neighbour) or wanted > 2 * (alive + int(room.sum())) + 64:
        rooms = graph.room.copy()
        rooms[nodes] = room
        return _packed(graph, rooms)
    for node, size in zip(nodes, room):
        begin, count, end = int(graph.start[node]), int(graph.length[node]), int(graph.used[1])
        graph.neighbour[end : end + count] = graph.neighbour[begin : begin + count]
        graph.weight[end : end + count] = graph.weight[begin : begin + count]
        graph.start[node], graph.room[node] = end, size
        graph.used[1] += int(size)
    return graph


def _packed(graph: Graph, rooms: NDArray[np.uint64]) -> Graph:
    """All lists moved to a fresh pool, with these rooms and as much again to spare for later moves."""
    total = int(rooms.sum())
    pool = total + total // 2 + 64
    begins = np.concatenate([np.zeros(1, np.uint64), np.cumsum(rooms[:-1], dtype=np.uint64)])
    neighbour, weight = np.zeros(pool, np.uint32), np.zeros(pool)
    _copy_lists(graph.start, graph.length, len(begins), begins, graph.neighbour, neighbour)
    _copy_lists(graph.start, graph.length, len(begins), begins, graph.weight, weight)
    graph.used[1] = total
    return graph._replace(start=begins, room=rooms, neighbour=neighbour, weight=weight)


@uncounted
def _copy_lists(start, length, nodes, begins, source, target):
    for r in range(nodes):
        for k in range(length[r]):
            target[begins[r] + np.uint64(k)] = source[start[r] + np.uint64(k)]


@uncounted
def add_edge(graph, i, j, weight):
    """Append weight·(e_i e_jᵀ + e_j e_iᵀ); `with_room` has made sure it fits."""
    for here, there in ((i, j), (j, i)):
        place = graph.start[here] + graph.length[here]
        graph.neighbour[place] = there
        graph.weight[place] = weight
        graph.length[here] += np.uint64(1)


def to_dense(graph: Graph) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(H, diagonal of M) as arrays, for small cases and for checking."""
    H = np.zeros((graph.nodes, graph.nodes))
    for r in range(graph.nodes):
        begin = int(graph.start[r])
        stretch = slice(begin, begin + int(graph.length[r]))
        np.add.at(H[r], graph.neighbour[stretch].astype(np.int64), graph.weight[stretch])
    return H, graph.diagonal[: graph.nodes].copy()


def to_sparse(graph: Graph, rate: float, damping: float) -> Any:
    """rate·edges − damping·diagonal as a scipy CSR matrix."""
    from scipy.sparse import coo_matrix

    counts = graph.length[: graph.nodes].astype(np.int64)
    rows = np.repeat(np.arange(graph.nodes), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(graph.start[: graph.nodes].astype(np.int64), counts) + within
    diagonal = np.arange(graph.nodes)
    values = np.concatenate([rate * graph.weight[places], -damping * graph.diagonal[: graph.nodes]])
    where = (np.concatenate([rows, diagonal]), np.concatenate([graph.neighbour[places], diagonal]))
    return coo_matrix((values, where), shape=(graph.nodes, graph.nodes)).tocsr()
