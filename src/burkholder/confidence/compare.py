"""Which of two predictors is better, and by how much: an interval that may be looked at every day.

The differences of losses, a − b, are values whose mean expectation is bounded by the empirical-Bernstein boundary. Their range is
either given (`bound`: no difference is larger), or known anew before every label (`sizes`): for a loss that is L-Lipschitz
two predictions that are close cannot differ much, |ℓ(ŷ_a, y) − ℓ(ŷ_b, y)| ≤ L·|ŷ_a − ŷ_b|, however wild the labels are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.confidence.boundary import margin
from burkholder.confidence.sequence import Sequence, checked_alpha
from burkholder.errors import BadInput
from burkholder.learning.certificate import Assumption


@dataclass(frozen=True)
class Comparison(Sequence):
    """The mean of a's losses minus b's, after every round, within [low, high] at all times but for an error alpha.

    >>> import numpy as np, burkholder as bk
    >>> a, b = np.tile([0.1, 0.2], 300), np.tile([0.5, 0.4], 300)
    >>> found = bk.compare(a, b)
    >>> found.rounds
    600
    """

    assumptions: tuple[Assumption, ...] = ()
    names: tuple[str, str] = ("a", "b")

    @property
    def rounds(self) -> int:
        """How many rounds were compared."""
        return len(self.mean)

    @property
    def difference(self) -> float:
        """The mean difference at the end."""
        return float(self.mean[-1]) if self.rounds else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The interval at the end."""
        return (float(self.low[-1]), float(self.high[-1])) if self.rounds else (-math.inf, math.inf)

    @property
    def better(self) -> str | None:
        """The name of the one whose losses are smaller; None while nobody can tell."""
        low, high = self.interval
        return self.names[0] if high < 0.0 else self.names[1] if low > 0.0 else None

    @property
    def decided(self) -> int | None:
        """After how many rounds the last open moment was: from the next on the one that is better at the end was seen to be."""
        if self.better is None:
            return None
        away = self.high < 0.0 if self.better == self.names[0] else self.low > 0.0
        return int(np.flatnonzero(~away)[-1]) + 1 if not away.all() else 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        low, high = self.interval
        ends = [end if math.isfinite(end) else None for end in (low, high)]
        return {
            "a": self.names[0],
            "b": self.names[1],
            "rounds": self.rounds,
            "difference": self.difference if self.rounds else None,
            "low": ends[0],
            "high": ends[1],
            "alpha": self.alpha,
            "better": self.better,
            "decided": self.decided,
            "assumptions": [assumption.to_dict() for assumption in self.assumptions],
        }

    def __str__(self) -> str:
        low, high = self.interval
        a, b = self.names
        if self.better is None:
            said = f"after {self.rounds:,} rounds nobody can say whether {a} or {b} is better"
        else:
            said = f"{self.better} is better, as seen at every moment after round {self.decided:,}"
        lines = [
            said,
            f"  mean loss of {a} minus that of {b}: {self.difference:.6g}, in [{low:.6g}, {high:.6g}] but for an error of {self.alpha:g}",
        ]
        return "\n".join([*lines, *(f"  rests on: {assumption.statement}" for assumption in self.assumptions)])


def compare(
    losses_a: Any, losses_b: Any, *, bound: float | None = None, sizes: Any = None, alpha: float = 0.05, names: tuple[str, str] = ("a", "b")
) -> Comparison:
    """The difference of two predictors' losses, round by round, with an interval that is valid at every moment at once.

    bound     no difference is larger: known before the first round
    sizes     no difference is larger than this in its own round: one number a round, known before that round's label

    Without either, the largest difference seen stands in for the bound, and the result says that it rests on that.

    >>> rng = np.random.default_rng(1)
    >>> y = rng.normal(size=2000)
    >>> found = compare(np.abs(0.3 - y), np.abs(1.0 - y), sizes=np.full(2000, 0.7), names=("near", "far"))
    >>> found.better
    'near'
    """
    a, b = _numbers(losses_a, "losses_a"), _numbers(losses_b, "losses_b")
    if len(a) != len(b):
        raise BadInput("losses_b", f"{len(b)} numbers", f"there are {len(a)} losses of a: give one for each round")
    d = a - b
    limits, assumption = _limits(d, bound, sizes)
    over = np.abs(d) > limits * (1.0 + 1e-9) + 4e-16 * (np.abs(a) + np.abs(b))
    if over.any():
        place = int(np.argmax(over))
        raise BadInput(f"losses[{place}]", float(d[place]), f"the losses differ by more than the {limits[place]:g} that was given")
    d = np.clip(d, -limits, limits)
    n = np.arange(1, len(d) + 1)
    total = np.cumsum(d)
    widest = 2.0 * np.maximum.accumulate(limits) if len(d) else limits
    guess = np.clip(np.concatenate([[0.0], total[:-1]]) / n, -limits, limits)  # of the rounds before, and within this one's range
    variation = np.cumsum((d - guess) ** 2)
    some = np.flatnonzero(widest > 0.0)
    first = np.full(len(d), widest[some[0]] if len(some) else 0.0)
    half = margin(variation * (1.0 + 1e-9), widest, first, checked_alpha(alpha)) / n + 4e-16 * n * widest
    mean = total / n
    return Comparison(mean - half, mean + half, mean, float(alpha), (assumption,), (str(names[0]), str(names[1])))


def _numbers(values: Any, argument: str) -> np.ndarray:
    try:
        out = np.array(values, dtype=float).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise BadInput(argument, values, "give one loss a round") from None
    good = np.abs(out) <= 1e150
    if not good.all():
        place = int(np.argmin(good))
        raise BadInput(f"{argument}[{place}]", float(out[place]), "give finite numbers of size at most 1e150")
    return out


def _limits(d: np.ndarray, bound: float | None, sizes: Any) -> tuple[np.ndarray, Assumption]:
    if sizes is not None:
        if bound is not None:
            raise BadInput("bound", bound, "give either bound or sizes")
        limits = _numbers(sizes, "sizes")
        if len(limits) != len(d) or (limits < 0.0).any():
            raise BadInput("sizes", sizes, f"give {len(d)} numbers ≥ 0")
        return limits, Assumption("sizes", "each difference is within a size known before its label", None, float(limits.max(initial=0.0)))
    if bound is not None:
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not 0.0 <= bound <= 1e150:
            raise BadInput("bound", bound, "give a number ≥ 0")
        return np.full(len(d), float(bound)), Assumption("bound", f"no difference is larger than {bound:g}", float(bound))
    largest = float(np.abs(d).max(initial=0.0))
    said = f"no difference is larger than {largest:g}, the largest seen here (give bound= or sizes= to know it beforehand)"
    return np.full(len(d), largest), Assumption("bound", said, largest)
