"""Pictures of quantiles: how often labels lay below each, and between neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from burkholder.errors import MissingExtra


def calibration_figure(shares: dict[float, float]) -> Any:
    """Levels against shares, and the histogram of labels between quantiles over what there should be: level where all is well."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("matplotlib", "report") from None
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    levels = np.array(list(shares))
    left.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    left.plot(levels, list(shares.values()), marker="o")
    left.set(xlabel="level", ylabel="labels at or below its quantile", title="calibration of every level")
    edges = np.concatenate([[0.0], levels, [1.0]])
    right.stairs(between(shares), edges, fill=True, alpha=0.5)
    right.axhline(1.0, color="0.4", linewidth=1)
    right.set(xlabel="level", ylabel="labels between quantiles / asked for", title="PIT")
    return figure


def shares_below(levels: np.ndarray, quantiles: np.ndarray, y: np.ndarray, weights: np.ndarray | None = None) -> dict[float, float]:
    """For every level, the share of the labels, weighted, that lay at or below its quantile (a column each); nan where nothing weighs.

    >>> shares_below(np.array([0.5]), np.array([[1.0], [1.0]]), np.array([1.0, 2.0]), np.array([3.0, 1.0]))
    {0.5: 0.75}
    """
    weights = np.ones(len(y)) if weights is None else weights
    total = float(weights.sum())
    under = np.asarray(y)[:, None] <= quantiles
    return {level: float(weights @ under[:, k]) / total if total else math.nan for k, level in enumerate(levels.tolist())}


def between(shares: dict[float, float]) -> np.ndarray:
    """The share of labels between neighbouring quantiles, over the difference of their levels.

    >>> between({0.25: 0.25, 0.75: 0.5}).tolist()
    [1.0, 0.5, 2.0]
    """
    levels, seen = (np.concatenate([[0.0], part, [1.0]]) for part in (list(shares), list(shares.values())))
    return np.diff(seen) / np.diff(levels)
