"""What the page and the metrics show of the rounds so far: recent loss, calibration, coverage. Counted as labels come."""

from __future__ import annotations

import math
from typing import Any

from burkholder.errors import BadInput

ODDS, BANDS, SETS = "log-odds", "intervals", "sets"
BINS = 10
MEMORY = 0.999  # of the recent loss: about a thousand rounds


class Tally:
    """Counts over the rounds learned.

    >>> tally = Tally(ODDS)
    >>> tally.count(prediction=0.0, label=1.0, weight=1.0, loss=0.7)
    >>> tally.calibration()
    [(0.5, 1.0, 1)]
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind  # of the predictions
        self.recent = self.weight = 0.0  # a fading mean of the loss, and the weight it rests on
        self.forgotten = self.asked = self.inside = 0  # plays never labelled; intervals, and those that held
        self.bins = [[0.0, 0.0, 0] for _ in range(BINS)]  # Σ probability, Σ labels that were 1, rounds

    def count(self, prediction: Any, label: Any, weight: float, loss: float) -> None:
        """One round."""
        self.recent = MEMORY * self.recent + (1.0 - MEMORY) * loss
        self.weight = MEMORY * self.weight + (1.0 - MEMORY) * weight
        self._judge([prediction], [label])

    def _judge(self, predictions: Any, labels: Any) -> None:
        """Whether what was said of the labels was so: how often, where it was a probability, an interval or a set of classes."""
        if self.kind == ODDS:
            self._calibrate(predictions, labels)
        elif len(predictions) and type(predictions[0]) is list and (self.kind == SETS or len(predictions[0]) == 2):
            self.asked += len(predictions)
            if self.kind == SETS:
                self.inside += sum(label in classes for classes, label in zip(predictions, labels))
            else:
                self.inside += sum(low <= float(label) <= high for (low, high), label in zip(predictions, labels))

    def _calibrate(self, predictions: Any, labels: Any) -> None:
        exp, bins = math.exp, self.bins
        for prediction, label in zip(predictions, labels):
            e = exp(-abs(prediction))
            p = (1.0 if prediction > 0.0 else e) / (1.0 + e)
            bin = bins[min(int(p * BINS), BINS - 1)]
            bin[0] += p
            bin[1] += float(label) == 1.0
            bin[2] += 1

    def count_many(self, predictions: Any, labels: Any, weights: Any, loss: float) -> None:
        """Rounds learned together, with the sum of their losses."""
        count = len(predictions)
        fade = MEMORY**count
        total = float(sum(weights))
        if count and total:
            self.recent = fade * self.recent + (1.0 - fade) * loss / count
            self.weight = fade * self.weight + (1.0 - fade) * total / count
        self._judge(predictions, labels)

    @property
    def recent_loss(self) -> float | None:
        """The mean loss of the last rounds, about a thousand."""
        return self.recent / self.weight if self.weight > 0.0 else None

    @property
    def coverage(self) -> float | None:
        """The share of intervals that held their label."""
        return self.inside / self.asked if self.asked else None

    def calibration(self) -> list[tuple[float, float, float]]:
        """(mean probability given, share of labels that were 1, rounds) of each bin met."""
        return [(p / n, hits / n, n) for p, hits, n in self.bins if n]

    def to_list(self) -> list[Any]:
        """Plain data."""
        return [self.recent, self.weight, self.forgotten, self.asked, self.inside, self.bins]

    @classmethod
    def from_list(cls, kind: str, kept: list[Any]) -> Tally:
        """The tally that was kept."""
        tally = cls(kind)
        tally.recent, tally.weight, tally.forgotten, tally.asked, tally.inside, bins = kept
        if len(bins) != BINS:
            raise BadInput("bins", len(bins), f"a tally has {BINS}")
        tally.bins = [list(bin) for bin in bins]
        return tally
