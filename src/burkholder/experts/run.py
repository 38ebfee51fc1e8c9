"""What a whole run of expert advice can be asked besides: the best mixture in hindsight, and a picture of the weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts.beside import LANES
from burkholder.experts.hindsight import Mixture, best_convex
from burkholder.learning import drawing
from burkholder.learning.runs import Run


def filled(run: Run) -> np.ndarray:
    """The forecasts, with ŷ in place of every expert asleep: what regret is measured against."""
    forecasts = run.details["forecasts"]
    return np.where(np.isnan(forecasts), np.asarray(run.predictions)[:, None], forecasts)


def best_mixture(run: Run) -> Mixture:
    """The best fixed mixture of the user's experts in hindsight, with its duality gap; rounds weighted as in the run."""
    return best_convex(run.learner.loss, filled(run), run.details["targets"], run.weights)


def plot_weights(run: Run, path: str | None = None) -> Any:
    """Weights over time (stacked) above the mean loss so far; saved when a path is given."""
    if "weights" not in run.details:
        raise BadInput("run", "without weights", "let it keep them: run(…, weights=True)")
    figure = weights_figure(run.certificate.names, run.details["weights"], run.losses, run.weights)  # type: ignore[attr-defined]
    if path is not None:
        figure.savefig(path)
    return figure


def weights_figure(names: Any, used: np.ndarray, losses: np.ndarray, importance: np.ndarray | None = None) -> Any:
    """The picture of some rounds: a row of weights and a loss for each."""
    figure, (top, bottom) = drawing.sheet(9.6, 5.6, 2, 1, sharex=True, height_ratios=(2, 1))
    rounds = np.arange(1, losses.size + 1)
    counted = rounds if importance is None else np.cumsum(importance)
    paid = losses if importance is None else importance * losses
    keep = drawing.thinned(len(rounds))
    names = list(names)
    ours = [name for name in names if name in LANES]
    theirs = [name for name in names if name not in LANES]
    colours = {name: drawing.MANY[k % len(drawing.MANY)] for k, name in enumerate(theirs)}
    colours |= {name: drawing.OURS[k % len(drawing.OURS)] for k, name in enumerate(ours)}
    top.stackplot(rounds[keep], used[keep].T, labels=names, colors=[colours[name] for name in names], lw=0)
    handles, labels = top.get_legend_handles_labels()
    top.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9, frameon=False)
    top.set(ylabel="weight", ylim=(0, 1))
    bottom.plot(keep + 1, (np.cumsum(paid) / np.maximum(counted, 1e-300))[keep], color=drawing.INK)
    bottom.set(xlabel="round", ylabel="mean loss so far")
    return figure
