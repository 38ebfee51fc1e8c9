"""Labels and weights as Auto takes them: checked before anything is changed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.weights import checked_weight
from burkholder.losses.batch import labels as labels_of

TINY = 1e-140  # smaller labels are taken for 0
HUGE = 1e240  # to the power 1/degree: neither labels nor labels over the first one may be larger, lest losses overflow
HEAVIEST = 1e40  # of weights, for the same reason


class Targets:
    """What is known of the labels beforehand: the loss, and the range where one was given."""

    def __init__(self, loss: Any, low: float | None, high: float | None) -> None:
        self.loss = loss
        self.low, self.high = _checked_range(loss, low, high)
        self.largest = math.inf if loss.classes else HUGE ** (1.0 / loss.degree)

    def one(self, y: Any, weight: Any, unit: float | None) -> tuple[float, float]:
        """A label and its weight, as the loops take them."""
        label = losses.label(self.loss, y)
        importance = weight if type(weight) is float and 0.0 <= weight <= HEAVIEST else checked_weight(weight)
        if importance > HEAVIEST:
            raise BadInput("weight", weight, f"give weights of at most {HEAVIEST:g}")
        if self.low is not None and self.high is not None and not self.low <= label <= self.high:
            raise BadInput("y", y, self._outside())
        if abs(label) > self.largest * min(1.0, unit or 1.0):
            raise BadInput("y", y, self._too_large())
        return (0.0 if abs(label) < TINY else label), importance

    def many(self, y: Any, rows: int, unit: float | None) -> NDArray[np.float64]:
        """So many labels; an error names the first bad place."""
        labels = labels_of(self.loss, y)
        if len(labels) != rows:
            raise BadInput("y", f"{len(labels)} labels", f"there are {rows} rows: give one label for each")
        if self.loss.classes:
            return labels
        sizes = np.abs(labels)
        if unit is None and np.any(sizes >= TINY):
            unit = float(sizes[np.argmax(sizes >= TINY)])
        self.check(labels, unit or 1.0)
        return labels

    def check(self, labels: NDArray[np.float64], unit: Any) -> None:
        """Refuse labels beyond the range, or so large, also in their unit (one for all, or one each), that losses could overflow."""
        good, remedy = np.abs(labels) <= self.largest * np.minimum(1.0, unit), self._too_large()
        if self.low is not None and self.high is not None:
            good, remedy = (
                (labels >= self.low) & (labels <= self.high),
                f"targets must lie in [{self.low:g}, {self.high:g}], the range given",
            )
        if not good.all():
            place = int(np.argmin(good))
            raise BadInput(f"y[{place}]", float(labels[place]), remedy)

    def check_weights(self, weights: NDArray[np.float64] | None) -> None:
        """Refuse weights with which losses could overflow."""
        if weights is not None and len(weights) and weights.max() > HEAVIEST:
            place = int(np.argmax(weights > HEAVIEST))
            raise BadInput(f"weight[{place}]", float(weights[place]), f"give weights of at most {HEAVIEST:g}")

    def _outside(self) -> str:
        return f"targets must lie in [{self.low:g}, {self.high:g}], the range given"

    def _too_large(self) -> str:
        return f"its loss may overflow; targets must stay below {self.largest:g}, also in units of the first one that is not 0"


def _checked_range(loss: Any, low: float | None, high: float | None) -> tuple[float | None, float | None]:
    if low is None and high is None:
        return None, None
    if loss.classes:
        raise BadInput("low", low, "a range is for regression; classes are -1 and 1")
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadInput("low, high", (low, high), "give both, finite, low < high")
    return float(low), float(high)
