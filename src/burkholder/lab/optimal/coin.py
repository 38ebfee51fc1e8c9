"""`prop:lb` for any pair: the features of the optimal martingale, played with fair labels against any learner.

Absolute loss, y = ±1 with a fair coin, x the worst feature of the table at the state that δ = −y has led to. No learner loses
less than 1 a round on average, and a comparator with |⟨w, x⟩| ≤ 1 gains y⟨w, x⟩ each round, so that

    E [regret − A] ≥ E V = U(0):    a bound A is within reach up to a slack Δ only where U(0) ≤ Δ.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.lab.expectation import interval
from burkholder.lab.optimal.function import Optimal
from burkholder.lab.optimal.table import name, rows

CONFIDENCE = 0.99


class Forced(NamedTuple):
    """Mean regret − A of a learner against the optimal process, beside the number that no learner can be below."""

    excess: float
    low: float
    high: float
    necessary: float  # E V: what the theory forces, exactly
    slack: float
    paths: int

    @property
    def achievable(self) -> bool:
        """Whether a bound A + slack is within reach of any learner on this game."""
        return self.necessary <= self.slack

    def __str__(self) -> str:
        told = "may be had" if self.achievable else "cannot be had by any learner"
        return (
            f"E V = {self.necessary:.6g}: regret ≤ A + {self.slack:g} {told} on this game\n"
            f"  this learner: mean regret − A = {self.excess:.6g}, [{self.low:.6g}, {self.high:.6g}] normal, 99 %, {self.paths} paths"
        )


def forced(learner: Any, best: Optimal, paths: int = 256, slack: float = 0.0, seed: int = 0) -> Forced:
    """Play the process of `best` against copies of a learner (anything with `predict` and `update`).

    >>> from burkholder import Learner
    >>> from burkholder.lab.optimal import optimal
    >>> best = optimal("square-function", features=[1.0], rounds=12)
    >>> found = forced(Learner("square-function", loss="absolute", bound=1.0), best, paths=64)
    >>> found.achievable, found.high >= found.necessary
    (True, True)
    """
    if best.lipschitz != 1.0:
        raise BadInput("best", best.lipschitz, "the absolute loss has L = 1: give a function with lipschitz=1")
    pair = best.pair
    for x in np.asarray(best.table.features, float):
        reach = max(pair.support(x, None), pair.support(-x, None))
        if reach > 1 + 1e-12:
            raise BadInput("features", x.tolist(), f"a comparator predicts {reach:g} there, and the argument needs |⟨w, x⟩| ≤ 1")
    rng = np.random.default_rng(seed)
    excess = np.empty(paths)
    for i in range(paths):
        excess[i] = _path(copy.deepcopy(learner), best, rng)
    mean = interval(excess, CONFIDENCE)
    return Forced(mean.value, mean.low, mean.high, float(best.price), slack, paths)


def _path(player: Any, best: Optimal, rng: np.random.Generator) -> float:
    """Regret − A on one path."""
    pair, table, dim = best.pair, best.table, int(best.dimension or 1)
    kind: Any = object if best.exact else float
    tau = tuple(np.asarray(part, kind)[None] for part in pair.zero(dim))
    earned, lost = np.zeros(dim), 0.0
    for t in range(best.rounds):
        place = table.levels[t].places[name(rows(tau, kind)[0])]
        feature = int(table.best[t][place][0])
        if feature < 0:
            break  # the optimal process stands still from here on
        x = np.asarray(table.features[feature], float)
        yhat, y = float(player.predict(x.copy())), float(rng.choice([-1.0, 1.0]))
        player.update(x.copy(), y)
        lost += abs(yhat - y) - 1.0
        earned += y * x
        tau = pair.advance(tau, table.features[feature][None], np.zeros(1), np.full(1, -y))
    floats = tuple(np.asarray(part[0], float) for part in tau)
    return lost + pair.unpaid(-earned, floats)
