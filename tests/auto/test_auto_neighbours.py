"""The lane of neighbours, against a search over all rows."""

from __future__ import annotations

import math

import numpy as np

from burkholder.auto import Auto
from burkholder.auto.knots import FIRST
from burkholder.auto.neighbours import NAME, NEAREST, WINDOW


def islands(rounds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Forty islands of either class, in features of different scales."""
    rng = np.random.default_rng(seed)
    centres, sides = rng.uniform(-3.0, 3.0, size=(40, 5)), rng.choice([-1.0, 1.0], size=40)
    which = rng.integers(0, 40, rounds)
    return (centres[which] + 0.3 * rng.normal(size=(rounds, 5))) * [1.0, 100.0, 1e-3, 1.0, 7.0], sides[which]


def test_the_votes_are_those_of_the_nearest_rows():
    X, y = islands(WINDOW + 600)
    learner = Auto("logistic")
    learner.run(X[:FIRST], y[:FIRST])
    for t in [*range(FIRST, FIRST + 60), *range(WINDOW + 400, WINDOW + 440)]:
        if learner.rounds < t:
            learner.run(X[learner.rounds : t], y[learner.rounds : t])
        learner.predict(X[t])
        beyond = learner._nonlinear
        cut = max(at for at in (FIRST, 512, 2048) if at <= t)
        shown = beyond._desk.out[beyond.plan.stacks - 1]
        first = max(32, t - WINDOW)
        far = (((X[first:t] - X[t]) / X[32:cut].std(axis=0)) ** 2).sum(axis=1)
        votes = 2.0 / np.arange(1, NEAREST + 1)
        one = votes[y[first:t][np.argsort(far, kind="stable")[:NEAREST]] > 0.0].sum()
        assert math.isclose(shown, math.log((one + 0.5) / (votes.sum() - one + 0.5)), rel_tol=1e-9, abs_tol=1e-12)
        learner.update(X[t], y[t])


def test_islands_are_learned_and_regression_has_no_such_lane():
    X, y = islands(3000)
    learner = Auto("logistic")
    learner.run(X, y)
    lanes = {lane.name: lane for lane in learner.certificate().lanes}
    assert learner.cumulative_loss < 0.25 * lanes["linear lanes"].loss
    assert lanes[NAME].loss < 0.5 * lanes["linear lanes"].loss
    assert learner.cumulative_loss <= lanes[NAME].loss + lanes[NAME].cost
    numbers = Auto("squared")
    numbers.run(X[:200], y[:200])
    assert NAME not in {lane.name for lane in numbers.certificate().lanes}
