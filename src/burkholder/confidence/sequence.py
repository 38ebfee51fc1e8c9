"""Confidence: an interval for a mean that may be looked at as often as one likes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.confidence import wealth
from burkholder.errors import BadInput, MissingExtra
from burkholder.learning.rounding import UNIT

COUNT, SUM, SUM_REST, GUESS, GUESS_REST = 0, 1, 2, 3, 4  # rows of the state, in units of the range
UP, DOWN = 5, 5 + wealth.ATOMS  # where the logarithms of the bets begin, on more than the guesses and on less
SLOTS = 5 + 2 * wealth.ATOMS
LARGEST = 1e150  # of the ends of a range; its inverse is the least distance between them
AXES = 4  # of a shape of streams, at most
BLOCK = 512  # rounds of a run whose states are kept at once


class Confidence:
    """The mean of values in [low, high]: an interval that contains it at every moment at once with probability 1 − alpha.

    The mean is that of the values' expectations, each given the past: values may depend on each other, and their expectations may
    change. With constant=True they do not change, and an interval never grows again; where its low end is above its high one, none
    is left: they did change, or the error happened. `streams` may be a shape: as many means at once, each with its own error
    alpha. The state is a hundred numbers a stream, however many values come.

    >>> confidence = Confidence(low=0, high=1, alpha=0.05)
    >>> for value in [0.0, 1.0, 1.0, 0.0] * 250:
    ...     confidence.update(value)
    >>> low, high = confidence.interval()
    >>> bool(0.4 < low < 0.5 < high < 0.6)
    True
    """

    def __init__(
        self, low: float = 0.0, high: float = 1.0, alpha: float = 0.05, *, streams: int | tuple[int, ...] = (), constant: bool = False
    ) -> None:
        self.low, self.high = checked_range(low, high)
        self.alpha, self.constant = checked_alpha(alpha), bool(constant)
        try:
            self.state = np.zeros((SLOTS, *((streams,) if isinstance(streams, int) else tuple(streams))))
        except (TypeError, ValueError, OverflowError):
            raise BadInput("streams", streams, "give a whole number or a shape") from None
        if self.state.ndim > 1 + AXES:
            raise BadInput("streams", streams, f"give a shape of at most {AXES} axes")
        self._kept: Any = None  # the narrowest interval so far, where the mean is constant

    def __repr__(self) -> str:
        low, high = self.interval()
        return f"<Confidence: {self.rounds:,} values, the mean lies in [{low}, {high}] but for an error of {self.alpha:g}>"

    @property
    def rounds(self) -> int:
        """How many values were seen, by the stream that saw most."""
        return int(self.state[COUNT].max(initial=0.0))

    @property
    def mean(self) -> Any:
        """The mean of the values so far; NaN before the first."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return _plain(self.low + (self.high - self.low) * ((self.state[SUM] + self.state[SUM_REST]) / self.state[COUNT]))

    def update(self, value: Any) -> None:
        """One value, or one a stream; NaN where a stream has none."""
        self._learn(self._rows([value], "value", "give a number, or one a stream"))
        if self.constant:
            self._kept = self._narrowed()

    def _learn(self, x: np.ndarray) -> np.ndarray:
        """Take in these values, rounds first; the states after each, behind their rows. What happens is what would one after the other."""
        here = ~np.isnan(x)
        states = np.empty((SLOTS, *x.shape))
        states[COUNT] = self.state[COUNT] + np.add.accumulate(here, axis=0, dtype=float)
        total = self._added(states, SUM, SUM_REST, np.where(here, x, 0.0))
        # from the past alone, and within the range
        guess = np.clip((0.5 + total) / (states[COUNT] - here + 1.0), 0.0, 1.0)
        self._added(states, GUESS, GUESS_REST, np.where(here, guess, 0.0))
        states[UP:] = wealth.bets(np.where(here, x, guess), guess).reshape(-1, *x.shape)
        states[UP:, 0] += self.state[UP:]
        np.add.accumulate(states[UP:], axis=1, out=states[UP:])
        self.state = states[:, -1].copy()
        return states

    def _added(self, states: np.ndarray, place: int, rest: int, terms: np.ndarray) -> np.ndarray:
        """Enter a sum and its correction after every term; what the two were together before each."""
        sums = np.add.accumulate(np.concatenate([self.state[place][None], terms]), axis=0)
        before, after = sums[:-1], sums[1:]
        part = after - before
        lost = (before - (after - part)) + (terms - part)
        rests = np.add.accumulate(np.concatenate([self.state[rest][None], lost]), axis=0)
        states[place], states[rest] = after, rests[1:]
        return before + rests[:-1]

    def run(self, values: Any) -> Sequence:
        """Every value in turn (rounds first), with the interval after each."""
        rows = self._rows(values)
        low, high, mean = (np.empty(rows.shape) for _ in range(3))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            low[part], high[part], mean[part] = self._ends(self._learn(rows[part]))
        if self.constant:
            for ends, join, of in ((low, np.maximum, 0), (high, np.minimum, 1)):
                if self._kept is not None and len(rows):
                    ends[0] = join(ends[0], self._kept[of])
                join.accumulate(ends, axis=0, out=ends)
            self._kept = (low[-1].copy(), high[-1].copy()) if len(rows) else self._kept
        return Sequence(low, high, mean, self.alpha)

    def interval(self) -> tuple[Any, Any]:
        """(low, high): contains the mean, at this and at every other moment, but for an error of probability alpha."""
        low, high = self._narrowed() if self.constant else self._ends(self.state)[:2]
        return _plain(low), _plain(high)

    def _ends(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n, total, guesses = state[COUNT], state[SUM] + state[SUM_REST], state[GUESS] + state[GUESS_REST]
        below, above = wealth.reach(state[UP:DOWN], n, self.alpha), wealth.reach(state[DOWN:], n, self.alpha)
        span = self.high - self.low
        with np.errstate(divide="ignore", invalid="ignore"):
            mean, middle = self.low + span * (total / n), guesses / n
            least, most = self.low + span * (middle - below), self.low + span * (middle + above)
        slack = 64.0 * UNIT * (abs(self.low) + abs(self.high))  # of the last steps
        low = np.where(n > 0.0, np.maximum(least - slack, self.low), self.low)
        high = np.where(n > 0.0, np.minimum(most + slack, self.high), self.high)
        return low, high, mean

    def _narrowed(self) -> tuple[np.ndarray, np.ndarray]:
        low, high, _ = self._ends(self.state)
        return (low, high) if self._kept is None else (np.maximum(low, self._kept[0]), np.minimum(high, self._kept[1]))

    def _rows(self, values: Any, name: str = "values[{}]", remedy: str = "give numbers, rounds first") -> np.ndarray:
        """The values, rounds first, in units of the range."""
        try:
            x = np.array(values, dtype=float)
            rows = len(x)
        except (TypeError, ValueError, OverflowError):
            argument, _, several = name.partition("[")
            raise BadInput(argument, values if several else values[0], remedy) from None
        if rows and x.shape[1:] != self.state.shape[1:]:
            raise BadInput(name.format(0), x.shape[1:], f"give values of shape {self.state.shape[1:]}")
        x = x.reshape(rows, *self.state.shape[1:])
        fine = (x >= self.low) & (x <= self.high) | (np.isnan(x) & (x.ndim > 1))  # of several streams some may have none
        for t in np.flatnonzero(~fine.all(axis=tuple(range(1, fine.ndim))))[:1].tolist():
            raise BadInput(name.format(t), x[t].tolist(), f"values lie in [{self.low:g}, {self.high:g}]; give a wider range from the start")
        return np.clip((x - self.low) / (self.high - self.low), 0.0, 1.0)

    # --- saved ---------------------------------------------------------------------------------------------------
    def state_dict(self) -> Any:
        """(header, arrays): plain data, and numpy arrays."""
        header = {"low": self.low, "high": self.high, "alpha": self.alpha, "constant": self.constant}
        kept = {} if self._kept is None else {"kept": np.array(self._kept)}
        return header, {"state": self.state.copy(), **kept}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Confidence:
        """What `state_dict` described."""
        from burkholder.confidence.schema import check

        check(header, arrays)
        state = np.array(arrays["state"], float)
        self = cls(header["low"], header["high"], header["alpha"], streams=state.shape[1:], constant=header["constant"])
        self.state = state
        if "kept" in arrays:
            self._kept = tuple(np.array(arrays["kept"], float))
        return self


@dataclass(frozen=True)
class Sequence:
    """Intervals after every value."""

    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    alpha: float

    def plot(self, path: str | None = None) -> Any:
        """The interval and the mean over time; saved when a path is given."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtra("matplotlib", "report") from None
        figure = Figure(figsize=(8, 3.2), layout="constrained")
        axes = figure.subplots()
        rounds = np.arange(1, len(self.mean) + 1)
        keep = np.unique(np.linspace(0, len(rounds) - 1, min(len(rounds), 1000)).astype(int)) if len(rounds) else np.zeros(0, int)
        for low, high, mean in zip(
            *(part.reshape(len(part), math.prod(part.shape[1:]))[keep].T for part in (self.low, self.high, self.mean))
        ):
            (line,) = axes.plot(rounds[keep], mean)
            axes.fill_between(rounds[keep], low, high, alpha=0.2, color=line.get_color())
        axes.set(xlabel="values", ylabel="mean", title=f"contains the mean at all times, but for an error of {self.alpha:g}")
        if path is not None:
            figure.savefig(path, dpi=130)
        return figure


def checked_range(low: Any, high: Any) -> tuple[float, float]:
    """Ends between which places are numbers: their distance neither overflows nor is lost among the smallest doubles."""
    if not all(isinstance(end, (int, float, np.integer, np.floating)) and math.isfinite(end) for end in (low, high)) or not low < high:
        raise BadInput("low, high", (low, high), "give finite numbers, low < high")
    low, high = float(low), float(high)
    if not max(abs(low), abs(high)) <= LARGEST or not high - low >= 1.0 / LARGEST:
        raise BadInput(
            "low, high", (low, high), f"give ends of at most {LARGEST:g}, and at least {1.0 / LARGEST:g} apart: rescale the values"
        )
    return low, high


def checked_alpha(alpha: Any) -> float:
    """An error between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0.0 < alpha < 1.0:
        raise BadInput("alpha", alpha, "give a number strictly between 0 and 1")
    return float(alpha)


def _plain(x: np.ndarray) -> Any:
    return float(x) if np.ndim(x) == 0 else np.array(x)
