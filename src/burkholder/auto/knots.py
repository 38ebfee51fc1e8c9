"""Where the additive lanes have their knots, and which pairs they look at: found anew as the stream becomes four times as long.

A feature with few values has a knot at each; another at even quantiles of the rows remembered, where two neighbours make a side of a
cell. Functions learned so far are read off at the new knots. Pairs: all of them while they are few, else those that the
trees cut one after the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from burkholder.auto.additive import COLUMNS, GRID, KNOTS, LEVELS, PAIRS, SCALE, Cells
from burkholder.auto.forest import CHILD, FEATURE, ROUND, Forest
from burkholder.auto.state import aligned

FIRST = 128  # rounds before there are knots; then 512, 2,048, …
QUANTILES = 10
CROSSED = 4096  # cells of all pairs at most
EACH = 128  # cells of a pair, while they are few
SMALLEST = 1e-290  # of a standard deviation: one over it is a number


def due(rounds: int) -> int:
    """The first round from `rounds` on at which knots are found."""
    at = FIRST
    while at < rounds:
        at *= 4
    return at


def found(cells: Cells, forest: Forest) -> Cells:
    """The same lanes on the knots of the rows remembered; as they are while there are no such rows."""
    rows = forest.ring[forest.ring[:, ROUND] > 0.0]
    seen = int(forest.seen[0])
    if len(rows) < 2 or not seen:
        return cells
    knots, hats = aligned(max(seen + 1, len(cells.knots)), COLUMNS), aligned(max(seen + 1, len(cells.knots)) * KNOTS, 8)
    for i in range(1, seen + 1):
        values = np.unique(rows[:, ROUND + i])
        many = len(values) > KNOTS
        if many:
            middles = (np.arange(QUANTILES) + 0.5) / QUANTILES
            values = np.unique(np.quantile(rows[:, ROUND + i], middles, method="inverted_cdf"))
        knots[i, :KNOTS], knots[i, : len(values)] = values[-1], values
        knots[i, SCALE] = inverse_spread(rows[:, ROUND + i])
        knots[i, LEVELS], knots[i, GRID] = len(values), 2.0 if many else 1.0
        before = int(cells.knots[i, LEVELS]) if i < len(cells.knots) else 0
        if before:
            old = cells.hats[i * KNOTS : i * KNOTS + before]
            for column in range(8):
                hats[i * KNOTS : i * KNOTS + len(values), column] = read_off(values, cells.knots[i, :before], old[:, column], column >= 4)
    pairs = paired(np.flatnonzero(knots[:, LEVELS] >= 2.0), forest)
    cells = cells._replace(knots=knots, hats=hats, pairs=pairs, live=np.array([float((knots[:, LEVELS] > 2.0).sum())]))
    size = min(CROSSED, 1 << (EACH * len(pairs) - 1).bit_length())
    if size > len(cells.crossed):  # what was learned of cells that now share a row with others stays where it was
        crossed = aligned(size, 8)
        crossed[: len(cells.crossed)] = cells.crossed
        cells = cells._replace(crossed=crossed)
    return cells


def inverse_spread(column: NDArray[np.float64]) -> float:
    """1 over the standard deviation, whatever the unit; 0 where there is none."""
    top = float(np.abs(column).max())
    spread = top * float((column / top).std()) if top > SMALLEST else 0.0
    return 1.0 / spread if SMALLEST < spread < 1.0 / SMALLEST else 0.0


def read_off(values: NDArray[np.float64], knots: NDArray[np.float64], old: NDArray[np.float64], variance: bool) -> NDArray[np.float64]:
    """A piecewise linear function at other places; a variance beside a knot that was never touched is that of one never touched."""
    if not variance:
        return np.interp(values, knots, old)
    beside = np.interp(values, knots, (old == 0.0).astype(np.float64)) > 0.0
    return np.where(beside, 0.0, np.interp(values, knots, old))


def paired(features: NDArray[np.int64], forest: Forest) -> NDArray[np.float64]:
    """Pairs of these features, the smaller first, a row each; one row of zeros if there are none."""
    every = [(i, j) for place, i in enumerate(features.tolist()) for j in features.tolist()[place + 1 :]]
    if len(every) > PAIRS:
        counted = cut_together(forest, int(features.max()) + 1)
        every = sorted(sorted(every, key=lambda pair: -counted[pair])[:PAIRS])
    return np.array(every or [(0, 0)], np.float64)


def cut_together(forest: Forest, size: int) -> NDArray[np.float64]:
    """How often trees cut feature j right below feature i, or i below j."""
    counted, trees = np.zeros((size, size)), len(forest.used)
    for k in range(trees):
        nodes = forest.nodes[k::trees][: int(forest.used[k])]
        feature, child = nodes[:, FEATURE].astype(np.int64), nodes[:, CHILD].astype(np.int64)
        above = np.flatnonzero(child > 0)
        for side in range(2):
            below = child[above] + side
            both = child[below] > 0
            np.add.at(counted, (feature[above[both]], feature[below[both]]), 1.0)
    return counted + counted.T
