"""Auto on hostile streams: nothing becomes NaN, nothing collapses for good, the loss recovers."""

from __future__ import annotations

import numpy as np
import pytest

from burkholder.auto import Auto

REGRESSION = ("squared", "absolute", "huber", "pinball")


def linear(rounds: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 3))
    return X, X @ [1.0, -2.0, 0.5] + 4.0 + 0.3 * rng.normal(size=rounds)


def late(loss: str, X: np.ndarray, y: np.ndarray) -> float:
    """Mean loss over the last quarter."""
    run = Auto(loss).run(X, y)
    assert np.isfinite(run.predictions).all()
    return float(run.losses[-len(y) // 4 :].mean())


@pytest.mark.parametrize("loss", REGRESSION)
def test_one_label_of_1e12_costs_its_round_only(loss):
    ratios = []
    for seed in range(1, 11):
        X, y = linear(1200, seed)
        clean = late(loss, X, y)
        y[600] = 1e12
        ratios.append(late(loss, X, y) / clean)
    assert np.mean(ratios) < 1.5


@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("value", [1e140, -1e150, 1e-300])
def test_one_absurd_feature_value_costs_a_round_not_the_feature(loss, value):
    X, y = linear(1600)
    clean = late(loss, X, y)
    X[600, 1] = value
    assert late(loss, X, y) < 1.5 * clean


@pytest.mark.parametrize("scale", [1e140, 1e-200])
def test_features_whose_fourth_powers_overflow_are_learned(scale):
    X, y = linear(800)
    assert late("squared", X * scale, y) == pytest.approx(late("squared", X, y), rel=1e-6)


def test_labels_that_overflow_when_squared_are_learned_by_the_absolute_loss():
    X, y = linear(800)
    assert late("absolute", X, y * 1e200) == pytest.approx(1e200 * late("absolute", X, y), rel=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("label", [0, 1])
def test_all_labels_equal(loss, label):
    X, _ = linear(500)
    assert late(loss, X, np.full(500, label)) < 0.01


@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("label", [0.0, 7.5, -1e9])
def test_all_targets_equal(loss, label):
    X, _ = linear(500)
    assert late(loss, X, np.full(500, label)) <= 1e-3 * abs(label)


@pytest.mark.parametrize("loss", REGRESSION)
def test_targets_equal_for_long_then_alive(loss):
    X, y = linear(1200)
    clean = late(loss, X, y)
    y[:600] = 0.0
    assert late(loss, X, y) < 2.0 * clean


@pytest.mark.parametrize("loss", REGRESSION)
def test_constant_and_duplicated_features(loss):
    X, y = linear(1200)
    clean = late(loss, X, y)
    crowded = np.column_stack([X, X[:, 0], X[:, 0], np.full(1200, 3e7), np.zeros(1200), X[:, 1]])
    assert late(loss, crowded, y) < 1.3 * clean


def test_a_feature_with_a_large_offset_is_standardised():
    X, y = linear(1500)
    clean = late("squared", X, y)
    assert late("squared", X + np.array([1e6, -1e7, 0.0]), y) < 1.5 * clean


def test_a_change_of_scale_for_good_is_followed():
    X, y = linear(2000)
    clean = late("absolute", X, y)
    X[1000:, 0] *= 1e9
    assert late("absolute", X, y) < 1.6 * clean


def test_a_change_of_target_scale_for_good_is_followed():
    X, y = linear(2000)
    clean = late("absolute", X, y)
    y[1000:] *= 1e6
    assert late("absolute", X, y) < 2e6 * clean


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_flipped_concept_is_relearned(loss):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(3000, 3))
    y = np.where(X @ [2.0, -1.0, 0.0] > 0, 1.0, -1.0)
    y[1500:] *= -1
    assert late(loss, X, y) < 0.25


def test_quantiles_have_the_right_coverage():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(4000, 2))
    y = X @ [1.0, 1.0] + rng.exponential(size=4000)
    for quantile in (0.1, 0.5, 0.9):
        run = Auto("pinball", quantile=quantile).run(X, y)
        below = np.mean(y[1000:] <= run.predictions[1000:])
        assert below == pytest.approx(quantile, abs=0.06)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_entries_that_cancel_are_an_absent_feature(loss):
    learner = Auto(loss)
    for t in range(30):
        learner.update(([3, 5, 3], [1.0, t % 2, -1.0]), t % 2)
    assert all(np.isfinite(array).all() for array in learner.state_dict()[1].values())
    assert learner.predict(([5], [1.0])) > learner.predict(([5], [0.0]))
