"""Predictable features for the adversary: from the plainest to the walk that makes Davis–Wang sharp."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

DESCRIPTIONS: dict[str, str] = {
    "constant": "one direction, every round",
    "cycle": "the coordinates in turn",
    "signs": "fixed random signs in every coordinate",
    "stopped-walk": "steps in proportion to √Σx², along one direction, until |Σεx| reaches 1.15·√Σx²",
}
PROCESSES = tuple(DESCRIPTIONS)

# The stopped walk spans this many e-folds of scale: more come nearer to the sharp constant, but then rare paths
# carry the mean and a few hundred of them cannot tell (at four e-folds the ratio of means is off by 0.05 or more).
FOLDS = 3.0
BOUNDARY = 1.15  # below the sharp constant: nearer to it the walk would hardly ever stop


class Directions:
    """Directions of unit size in the sense that matters: |⟨w, x⟩| ≤ 1 for every comparator."""

    def __init__(self, dim: int, size: Callable[[np.ndarray], float], rng: np.random.Generator) -> None:
        self.dim, self.size, self.rng = dim, size, rng
        self.axes = np.array([self.unit(row) for row in np.eye(dim)])

    def unit(self, x: np.ndarray) -> np.ndarray:
        size = self.size(x)
        return x / size if size > 0 else x

    def signs(self) -> np.ndarray:
        return self.unit(self.rng.choice([-1.0, 1.0], self.dim))


def process_features(name: str, directions: Directions, t: int, rounds: int, total: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Features of round t for every path, from what the path has seen: total = Σεx and squares = Σ‖x‖²."""
    paths = len(total)
    if name == "constant":
        return np.tile(directions.axes[0], (paths, 1))
    if name == "cycle":
        return np.tile(directions.axes[t % directions.dim], (paths, 1))
    if name == "signs":
        return np.tile(directions.signs(), (paths, 1))
    axis = directions.axes[0]
    size = float(np.linalg.norm(axis))
    # Sizes grow by a fixed factor and end at 1; the first is what the later ones are proportional to.
    growth = math.exp(FOLDS / rounds)
    step = growth ** (t - rounds + 1) / (math.sqrt(growth**2 - 1) if t == 0 else 1.0)
    alive = np.abs(total @ axis) / size < BOUNDARY * np.sqrt(squares) if t else np.ones(paths, bool)
    return alive[:, None] * (min(step, 1.0) * axis)[None, :]
