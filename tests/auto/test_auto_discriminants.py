"""The lane of discriminants, against its formulas in plain arrays."""

from __future__ import annotations

import numpy as np

from burkholder.auto import AutoMulticlass
from burkholder.auto.discriminants import MOST, RIDGE
from burkholder.auto.several import LINEAR, LOOKS, POOL, START


def ellipses(rounds: int, features: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three Gaussian classes of one covariance, in features that go together and have scales of their own."""
    rng = np.random.default_rng(seed)
    turn, centres = rng.normal(size=(features, features)), 1.5 * rng.normal(size=(3, features))
    y = rng.integers(0, 3, rounds)
    return (centres[y] + rng.normal(size=(rounds, features))) @ turn * 10.0 ** rng.integers(-3, 4, features) + 300.0, y


def test_scores_are_those_of_gaussians_of_one_covariance():
    X, y = ellipses(160)
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0], 160, p=[0.1, 0.3, 0.6])
    learner = AutoMulticlass(range(3))
    d = X.shape[1]
    mean, squares, total = np.zeros(d), np.zeros(d), 0.0
    counts, means, leans, halves, scatter = np.zeros(3), np.zeros((3, d)), np.zeros((3, d)), np.zeros(3), RIDGE * np.eye(d)
    for t in range(160):
        learner.predict_proba(X[t])
        if t >= START:
            spread = np.sqrt(squares / total) if total else np.ones(d)
            z = np.where(spread > 0.0, (X[t] - mean) / np.where(spread > 0.0, spread, 1.0), 0.0)
            raw = (total + RIDGE) * (leans @ z - halves)
            several = learner._several
            np.testing.assert_allclose(several._view.raw[1:4], raw, rtol=1e-7, atol=1e-7)
            scores = np.log(counts + 0.5) + several.looks.warmth[0] * raw
            wanted = np.exp(scores - scores.max())
            np.testing.assert_allclose(several._desk.ways[LOOKS, 1:4], wanted / wanted.sum(), rtol=1e-6, atol=1e-9)
        learner.update(X[t], int(y[t]), float(weight[t]))
        if t >= START and weight[t]:
            total += weight[t]
            before = X[t] - mean
            mean += weight[t] / total * before
            squares += weight[t] * before * (X[t] - mean)
            z = np.where(squares > 0.0, (X[t] - mean) / np.sqrt(np.where(squares > 0.0, squares / total, 1.0)), 0.0)
            gap, old = z - means[y[t]], counts[y[t]]
            counts[y[t]] += weight[t]
            scatter += weight[t] * old / counts[y[t]] * np.outer(gap, gap)
            means[y[t]] += weight[t] / counts[y[t]] * gap
            drawn = counts[y[t]] / (counts[y[t]] + 1.0) * means[y[t]]
            leans[y[t]] = np.linalg.solve(scatter, drawn)
            halves[y[t]] = 0.5 * drawn @ leans[y[t]]
    np.testing.assert_allclose(several.looks.inverse[1 : d + 1, 1 : d + 1], np.linalg.inv(scatter), rtol=1e-7, atol=1e-12)


def test_such_classes_are_told_apart_better_than_by_the_linear_lanes():
    X, y = ellipses(4000, features=20)
    learner = AutoMulticlass(range(3))
    learner.run(X, y)
    lost, certificate = learner._several.meeting.lost, learner.certificate()
    assert lost[POOL] < 0.8 * lost[LINEAR] and learner.cumulative_loss < 0.8 * lost[LINEAR]
    assert learner.cumulative_loss - lost[LOOKS] <= certificate.realised() <= certificate.bound()


def test_more_features_than_it_takes_leave_it_to_the_linear_lanes():
    X, y = ellipses(60, features=MOST + 1)
    learner = AutoMulticlass(range(3))
    learner.run(X, y)
    learner.predict_proba(X[0])
    ways = learner._several._desk.ways
    assert (ways[LOOKS, 1:4] == ways[LINEAR, 1:4]).all()
    back = AutoMulticlass.from_state(*learner.state_dict())
    assert back.predict_proba(X[1]) == learner.predict_proba(X[1])


def test_a_class_that_comes_late_and_a_feature_that_comes_late_are_taken_in():
    X, y = ellipses(400, features=12, seed=3)
    X[:200, 6:] = 0.0
    one, other = AutoMulticlass(), AutoMulticlass()
    labels = [int(label) if t >= 100 else int(label) % 2 for t, label in enumerate(y)]
    said = one.run(X, labels).losses
    for x, label in zip(X, labels):
        other.update(x, label)
    assert one.cumulative_loss == other.cumulative_loss and np.isfinite(said).all()
    for name, array in one._several.arrays().items():
        if name in ("moments", "means", "lean", "inverse", "warmth"):
            again = other._several.arrays()[name]
            cut = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, again.shape))
            assert (array[cut] == again[cut]).all()
