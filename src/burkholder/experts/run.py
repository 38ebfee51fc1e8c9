"""What a whole run of expert advice leaves behind: predictions, losses, weights over time, and a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.errors import MissingExtra
from burkholder.experts.certificate import ExpertsCertificate
from burkholder.experts.hindsight import Mixture, best_convex


@dataclass(frozen=True)
class ExpertsRun:
    """One pass over whole arrays. `weights[t]` played round t, over `names`."""

    predictions: np.ndarray
    losses: np.ndarray
    weights: np.ndarray
    names: tuple[str, ...]
    certificate: ExpertsCertificate
    loss: Any
    forecasts: np.ndarray
    targets: np.ndarray

    @property
    def mean_loss(self) -> float:
        return float(np.mean(self.losses)) if self.losses.size else math.nan

    def filled(self) -> np.ndarray:
        """The forecasts, with ŷ in place of every expert asleep: what regret is measured against."""
        return np.where(np.isnan(self.forecasts), self.predictions[:, None], self.forecasts)

    def best_convex(self) -> Mixture:
        """The best fixed mixture of the user's experts in hindsight, with its duality gap."""
        return best_convex(self.loss, self.filled(), self.targets)

    def plot(self, path: str | None = None) -> Any:
        """Weights over time (stacked) above the mean loss so far; saved when a path is given."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingExtra("matplotlib", "report") from None
        figure = Figure(figsize=(9, 6), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        rounds = np.arange(1, self.losses.size + 1)
        if self.weights.size:
            # a thousand columns are all a picture can show
            keep = np.unique(np.linspace(0, len(rounds) - 1, min(len(rounds), 1000)).astype(int))
            top.stackplot(rounds[keep], self.weights[keep].T, labels=self.names)
            top.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
        top.set(ylabel="weight", ylim=(0, 1))
        bottom.plot(rounds, np.cumsum(self.losses) / rounds, color="black")
        bottom.set(xlabel="round", ylabel="mean loss so far")
        if path is not None:
            figure.savefig(path)
        return figure
