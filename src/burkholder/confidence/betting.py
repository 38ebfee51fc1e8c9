"""Betting on every candidate mean at once: tighter than the closed form while values are few; the mean must be constant.

Against a candidate m, wealth Π(1 + λ_t(x_t − m)), with λ_t chosen from the past, does not grow in mean where m is the mean, so it ever
meets 1/α with probability at most α (Ville). Candidates are a continuum, and all of them are judged, not only those of a grid: [0, 1] is
cut into cells, and all candidates m of a cell [a, b] are met with the same stakes. Where λ ≥ 0, 1 + λ(x − m) ≥ 1 + λ(x − b), and where
λ ≤ 0 it is ≥ 1 + λ(x − a). So the wealth kept for a cell, played against its far end in every round, is at most that of each of its
candidates: when it meets 1/α, so has the wealth of all of them, and the cell is struck out for good. The cell that holds the mean
falls with probability at most α, at whatever place in it the mean lies.

The stake is Kelly's for the moments seen so far and the nearer end c of the cell, λ = (μ̂ − c)/(σ̂² + (μ̂ − c)²), nothing where μ̂ is
within the cell, and kept within what leaves half of the wealth. Half of the wealth is played so, and half with the stake of the size
that suits the width at hand, √(2 ln(2/α)/(σ̂² t ln(1+t))), split between both signs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.confidence.sequence import checked_alpha, checked_range
from burkholder.errors import BadInput
from burkholder.learning.rounding import UNIT
from burkholder.machine.compiling import compiled

COUNT, SUM, SQUARES = 0, 1, 2  # of the moments, in [0, 1]; SQUARES are about the mean at that time
KEEP = 0.5  # no bet can lose more of its wealth


class Betting:
    """The constant mean of values in [low, high], at every moment at once, but for an error alpha; to the width of a cell, of which
    there are `grid`.

    >>> betting = Betting(alpha=0.05)
    >>> for value in [0.0, 1.0, 1.0, 0.0] * 50:
    ...     betting.update(value)
    >>> low, high = betting.interval()
    >>> bool(0.3 < low < 0.5 < high < 0.7)
    True
    """

    def __init__(self, low: float = 0.0, high: float = 1.0, alpha: float = 0.05, *, grid: int = 1000) -> None:
        low, high = checked_range(low, high)
        if isinstance(grid, bool) or not isinstance(grid, int) or grid < 2:
            raise BadInput("grid", grid, "give a whole number ≥ 2")
        self.low, self.high, self.alpha, self.grid = low, high, checked_alpha(alpha), grid
        self.moments = np.zeros(3)
        self.logs = np.zeros((3, grid))  # log wealth of each strategy: Kelly's stake, the stake upwards, the stake downwards
        self.ends = np.array([0, grid - 1], np.int64)  # the first and the last cell alive

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"<Betting: {self.rounds:,} values, the mean lies in [{low}, {high}] but for an error of {self.alpha:g}>"

    @property
    def rounds(self) -> int:
        """How many values were seen."""
        return int(self.moments[COUNT])

    def update(self, value: Any) -> None:
        """One value."""
        self.run([value])

    def run(self, values: Any) -> None:
        """Every value in turn."""
        try:
            x = np.array(values, float).reshape(-1)
        except (TypeError, ValueError, OverflowError):
            raise BadInput("values", values, "give numbers") from None
        good = (x >= self.low) & (x <= self.high)
        if not good.all():
            place = int(np.argmin(good))
            raise BadInput(f"values[{place}]", float(x[place]), f"values lie in [{self.low:g}, {self.high:g}]")
        _bets(self.moments, self.logs, self.ends, (x - self.low) / (self.high - self.low), self.alpha)

    def interval(self) -> tuple[float, float]:
        """(low, high): from the first cell alive to the last; the last one to fall where none is left."""
        first, last = (int(end) for end in self.ends)
        unit = (self.high - self.low) / self.grid
        slack = 64.0 * UNIT * (abs(self.low) + abs(self.high))  # of the last steps
        return max(self.low, self.low + first * unit - slack), min(self.high, self.low + (last + 1) * unit + slack)


@compiled
def _bets(moments, logs, ends, values, alpha):
    grid = logs.shape[1]
    limit, stake = math.log(1.0 / alpha), 2.0 * math.log(2.0 / alpha)
    most = math.log(1.0 + grid)  # no bet's logarithm is larger
    for x in values:
        n = moments[COUNT]
        mean = (0.5 + moments[SUM]) / (n + 1.0)
        variance = (0.25 + moments[SQUARES]) / (n + 1.0)
        plug = math.sqrt(stake / (variance * (n + 1.0) * math.log(n + 2.0)))
        # what the logarithms may have lost: a term, by its value and its stake; their sum, in every step
        lost = UNIT * (n + 1.0) * (8.0 + 4.0 * grid + (n + 3.0) * most)
        first, last = grid, -1
        for j in range(ends[0], ends[1] + 1):
            a, b = j / grid, (j + 1) / grid
            up, down = KEEP / b, KEEP / (1.0 - a)  # the largest stakes: 1 + λ(x − m) stays ≥ ½
            if mean > b:
                logs[0, j] += math.log1p(min((mean - b) / (variance + (mean - b) ** 2), up) * (x - b))
            elif mean < a:
                logs[0, j] += math.log1p(max((mean - a) / (variance + (mean - a) ** 2), -down) * (x - a))
            logs[1, j] += math.log1p(min(plug, up) * (x - b))
            logs[2, j] += math.log1p(-min(plug, down) * (x - a))
            top = max(logs[0, j], logs[1, j], logs[2, j])
            parts = 0.5 * math.exp(logs[0, j] - top) + 0.25 * math.exp(logs[1, j] - top) + 0.25 * math.exp(logs[2, j] - top)
            if top + math.log(parts) < limit + lost:
                first, last = min(first, j), max(last, j)
        if last >= first:
            ends[0], ends[1] = first, last
        else:  # an error of probability alpha happened, or the mean was not constant
            ends[1] = ends[0]
        moments[COUNT] += 1.0
        moments[SUM] += x
        moments[SQUARES] += (x - (0.5 + moments[SUM]) / (moments[COUNT] + 1.0)) ** 2
