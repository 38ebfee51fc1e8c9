"""The lanes of neighbours, against searches over all rows and over the rows of the leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from burkholder.auto import Auto
from burkholder.auto.forest import HELD, ROUND
from burkholder.auto.knots import FIRST
from burkholder.auto.neighbours import ERRORS, LAST, LEAVES, NEAREST, SAME, WINDOW


def islands(rounds: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Forty islands of either class, in features of different scales."""
    rng = np.random.default_rng(seed)
    centres, sides = rng.uniform(-3.0, 3.0, size=(40, 5)), rng.choice([-1.0, 1.0], size=40)
    which = rng.integers(0, 40, rounds)
    return (centres[which] + 0.3 * rng.normal(size=(rounds, 5))) * [1.0, 100.0, 1e-3, 1.0, 7.0], sides[which]


def in_leaves(learner: Any, x: np.ndarray) -> np.ndarray:
    """The rounds of the rows that lie in a leaf this row falls into, each once; leaves are found here by their cuts."""
    forest, trees, found = learner._nonlinear.forest, len(learner._nonlinear.forest.used), set()
    slots = learner.state.slot_of
    for k in range(1, trees, 2):
        node = 0
        while (child := int(forest.nodes[node * trees + k, 7])) > 0:
            _, _, _, _, _, cut, feature, _ = forest.nodes[node * trees + k]
            value = x[int(np.flatnonzero(slots == int(feature))[0])]
            node = child + int(value > cut)
        held = forest.held[node * trees + k]
        found |= set(held[1 : 1 + int(held[0])].astype(int).tolist())
    return np.array(sorted(found))


def scales(X: np.ndarray, t: int) -> np.ndarray:
    cut = max(at for at in (FIRST, 512, 2048) if at <= t)
    return X[32:cut].std(axis=0)


def vote(sides: np.ndarray) -> float:
    votes = 2.0 / np.arange(1, len(sides) + 1)
    one = votes[sides > 0.0].sum()
    return math.log((one + 0.5) / (votes.sum() - one + 0.5))


def test_the_votes_are_those_of_the_nearest_rows():
    X, y = islands(WINDOW + 600)
    learner = Auto("logistic")
    learner.run(X[:FIRST], y[:FIRST])
    for t in [*range(FIRST, FIRST + 60), *range(WINDOW + 400, WINDOW + 440)]:
        if learner.rounds < t:
            learner.run(X[learner.rounds : t], y[learner.rounds : t])
        first, second = learner.predict(X[t]), learner.predict(X[t])
        assert first == second  # a search leaves nothing behind
        beyond = learner._nonlinear
        shown = beyond._desk.out[beyond.plan.stacks - 2 : beyond.plan.stacks]
        rows = in_leaves(learner, X[t]), np.arange(max(32, t - WINDOW), t)
        assert NEAREST < len(rows[0]) <= 6 * HELD
        for lane, among in zip(shown, rows):
            far = (((X[among] - X[t]) / scales(X, t)) ** 2).sum(axis=1)
            nearest = among[np.argsort(far, kind="stable")[:NEAREST]]
            assert math.isclose(lane, vote(y[nearest]), rel_tol=1e-9, abs_tol=1e-12)
        learner.update(X[t], y[t])


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_numbers_are_means_of_the_labels_and_of_the_errors_nearby(loss):
    X, sides = islands(900)
    y = 20.0 + 3.0 * sides + 0.01 * X[:, 1]
    learner = Auto(loss)
    learner.run(X[:700], y[:700])
    unit = float(learner._unit)
    usual = y.copy()  # a label is remembered as it lies within those before it
    usual[1:] = np.clip(y[1:], np.minimum.accumulate(y)[:-1], np.maximum.accumulate(y)[:-1])
    for t in range(700, 760):
        learner.predict(X[t])
        beyond = learner._nonlinear
        linear, ring = float(beyond._desk.out[0]), beyond.forest.ring
        among = in_leaves(learner, X[t])
        far = (((X[among] - X[t]) / scales(X, t)) ** 2).sum(axis=1)
        order = np.argsort(far, kind="stable")[:NEAREST]
        share, rows = (far[order[0]] + SAME) / (far[order] + SAME), ring[among[order] % len(ring)]
        assert (rows[:, ROUND] == among[order]).all()
        shown = beyond._desk.out[beyond.plan.stacks - 2 : beyond.plan.stacks]
        for lane, base in zip(shown, (linear, rows[:, 0])):
            wanted = linear + (share * (usual[among[order]] / unit - base)).sum() / (0.25 + share.sum())
            assert math.isclose(lane, wanted, rel_tol=1e-9)
        learner.update(X[t], y[t])


def test_islands_are_learned():
    X, y = islands(3000)
    learner = Auto("logistic")
    learner.run(X, y)
    lanes = {lane.name: lane for lane in learner.certificate().lanes}
    assert learner.cumulative_loss < 0.25 * lanes["linear lanes"].loss
    for name in (LEAVES, LAST):
        assert lanes[name].loss < 0.5 * lanes["linear lanes"].loss
        assert learner.cumulative_loss <= lanes[name].loss + lanes[name].cost
    numbers = Auto("squared")
    numbers.run(X, y)
    lanes = {lane.name: lane for lane in numbers.certificate().lanes}
    assert LAST not in lanes
    for name in (LEAVES, ERRORS):
        assert lanes[name].loss < 0.5 * lanes["linear lanes"].loss
