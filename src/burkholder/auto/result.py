"""What a run over whole arrays gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burkholder.errors import MissingExtra
from burkholder.learning.certificate import Certificate


@dataclass(frozen=True)
class Run:
    """Predictions and losses of every round, each predicted before it was learned, and the certificate after."""

    predictions: NDArray[np.float64]
    losses: NDArray[np.float64]
    labels: NDArray[np.float64]
    certificate: Certificate

    @property
    def mean_loss(self) -> float:
        """The progressive loss of this run."""
        return float(self.losses.mean())

    def plot(self, path: str | None = None) -> Any:
        """Mean progressive loss over time; saved when a path is given, else the matplotlib axes."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtra("matplotlib", "report") from None
        figure = Figure(figsize=(7, 4))
        axes = figure.subplots()
        rounds = np.arange(1, len(self.losses) + 1)
        axes.plot(rounds, np.cumsum(self.losses) / rounds)
        axes.set_xlabel("round")
        axes.set_ylabel("mean progressive loss")
        axes.grid(alpha=0.3)
        if path is not None:
            figure.savefig(path)
        return axes
