"""Betting on every candidate mean at once: tighter than the closed form while values are few; the mean must be constant.

Against the candidate m, wealth is Π(1 + λ_t(x_t − m)), with λ_t chosen from the past: where m is the mean it does not grow in mean, so
wealth 1/α is met with probability at most α (Ville), and m is struck out for good. The stake is Kelly's for the moments seen so far,
λ = (μ̂ − m)/(σ̂² + (μ̂ − m)²), kept within what leaves half of the wealth. Half of the wealth is played so, and half with the stake of
the same size that suits the width at hand, √(2 ln(2/α)/(σ̂² t ln(1+t))), split between both signs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.confidence.sequence import checked_alpha
from burkholder.errors import BadInput
from burkholder.machine.compiling import compiled

COUNT, SUM, SQUARES = 0, 1, 2  # of the moments, in [0, 1]; SQUARES are about the mean at that time
KEEP = 0.5  # no bet can lose more of its wealth


class Betting:
    """The constant mean of values in [low, high], at every moment at once, but for an error alpha; `grid` candidates.

    >>> betting = Betting(alpha=0.05)
    >>> for value in [0.0, 1.0, 1.0, 0.0] * 50:
    ...     betting.update(value)
    >>> low, high = betting.interval()
    >>> bool(0.3 < low < 0.5 < high < 0.7)
    True
    """

    def __init__(self, low: float = 0.0, high: float = 1.0, alpha: float = 0.05, *, grid: int = 1000) -> None:
        if not all(isinstance(end, (int, float)) and math.isfinite(end) for end in (low, high)) or not low < high:
            raise BadInput("low, high", (low, high), "give finite numbers, low < high")
        if isinstance(grid, bool) or not isinstance(grid, int) or grid < 2:
            raise BadInput("grid", grid, "give a whole number ≥ 2")
        self.low, self.high, self.alpha, self.grid = float(low), float(high), checked_alpha(alpha), grid
        self.moments = np.zeros(3)
        self.logs = np.zeros((3, grid + 1))  # log wealth of each strategy: Kelly's stake, the stake upwards, the stake downwards
        self.ends = np.array([0, grid], np.int64)  # candidates between these are alive

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
        except (TypeError, ValueError):
            raise BadInput("values", values, "give numbers") from None
        good = (x >= self.low) & (x <= self.high)
        if not good.all():
            place = int(np.argmin(good))
            raise BadInput(f"values[{place}]", float(x[place]), f"values lie in [{self.low:g}, {self.high:g}]")
        _bets(self.moments, self.logs, self.ends, (x - self.low) / (self.high - self.low), self.alpha)

    def interval(self) -> tuple[float, float]:
        """(low, high): from one candidate outside those alive to the other; the whole range's middle where none is left."""
        first, last = (int(end) for end in self.ends)
        unit = (self.high - self.low) / self.grid
        return max(self.low, self.low + (first - 1) * unit), min(self.high, self.low + (last + 1) * unit)


@compiled
def _bets(moments, logs, ends, values, alpha):
    grid = logs.shape[1] - 1
    limit, stake = math.log(1.0 / alpha), 2.0 * math.log(2.0 / alpha)
    for x in values:
        n = moments[COUNT]
        mean = (0.5 + moments[SUM]) / (n + 1.0)
        variance = (0.25 + moments[SQUARES]) / (n + 1.0)
        plug = math.sqrt(stake / (variance * (n + 1.0) * math.log(n + 2.0)))
        first, last = grid + 1, -1
        for j in range(ends[0], ends[1] + 1):
            m = j / grid
            up = KEEP / m if m > 0.0 else 1e9  # the largest stakes: 1 + λ(x − m) stays ≥ ½
            down = KEEP / (1.0 - m) if m < 1.0 else 1e9
            gap = mean - m
            kelly = min(max(gap / (variance + gap * gap), -down), up)
            logs[0, j] += math.log1p(kelly * (x - m))
            logs[1, j] += math.log1p(min(plug, up) * (x - m))
            logs[2, j] += math.log1p(-min(plug, down) * (x - m))
            top = max(logs[0, j], logs[1, j], logs[2, j])
            if top < 600.0:
                wealth = 0.5 * math.exp(logs[0, j]) + 0.25 * math.exp(logs[1, j]) + 0.25 * math.exp(logs[2, j])
                if math.log(wealth) < limit:
                    first, last = min(first, j), max(last, j)
        if last >= first:
            ends[0], ends[1] = first, last
        else:  # an error of probability alpha happened, or the mean was not constant
            ends[1] = ends[0]
        moments[COUNT] += 1.0
        moments[SUM] += x
        moments[SQUARES] += (x - (0.5 + moments[SUM]) / (moments[COUNT] + 1.0)) ** 2
