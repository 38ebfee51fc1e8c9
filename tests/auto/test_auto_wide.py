"""Covariances of many features: room grows with the features, and nothing jumps where there are too many of them."""

from __future__ import annotations

import numpy as np
import pytest

from auto_streams import CLASSES
from burkholder.auto import Auto
from burkholder.auto.plan import GROUP
from burkholder.auto.state import DELAY, FEATURES, FULL_ON, UNIT, grown, side_of


def rows(features: int, rounds: int, loss: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features that go together, and labels of a linear function of them; the last third of the features are 0 at first."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 3)) @ rng.normal(size=(3, features)) + 0.3 * rng.normal(size=(rounds, features))
    X[: rounds // 2, 2 * features // 3 :] = 0.0
    z = X @ rng.normal(size=features) / np.sqrt(features) + 0.3 * rng.normal(size=rounds)
    return X, np.where(z > 0.0, 1.0, -1.0) if loss in CLASSES else z


@pytest.mark.parametrize("loss", ["logistic", "absolute"])
def test_room_that_grows_is_room_that_was_there(loss):
    X, y = rows(100, 4 * DELAY + 3, loss)
    growing, roomy = (Auto(loss, effort="light", full_features=90) for _ in range(2))
    roomy.state = grown(roomy.plan, roomy.state, 101, 101)
    roomy._ready()
    for x, label in zip(X, y):
        seen = np.flatnonzero(x)
        row = (seen, x[seen])
        assert growing.state.full_p.shape[-1] == side_of(growing.plan, len(growing.state.stat))
        assert growing.predict(row) == roomy.predict(row)
        growing.update(row, label)
        roomy.update(row, label)
        header, arrays = growing.state_dict()
    again = Auto.from_state(header, arrays)
    assert again.predict(row) == growing.predict(row) == roomy.predict(row)


def test_a_learner_of_few_features_keeps_small_covariances():
    assert Auto("squared").state.full_p.shape[-1] <= 64


@pytest.mark.parametrize("loss", ["logistic", "squared", "absolute"])
def test_a_feature_too_many_ends_covariances_but_not_what_they_learned(loss):
    features = 24
    X, y = rows(features, 400, loss)
    learner = Auto(loss, effort="light", full_features=features - 1, intercept=False)
    last = int(np.flatnonzero(X[:, -1])[0])
    for x, label in zip(X[:last], y[:last]):
        learner.update((np.arange(features - 1), x[:-1]), label)
    state = learner.state
    assert state.scalars[FULL_ON] == 1.0
    learned = state.full_w.copy()
    learner.update((np.arange(features), X[last]), y[last])
    state, gain = learner.state, learner.work.gain
    assert state.scalars[FULL_ON] == 0.0 and state.scalars[FEATURES] == features + 1.0
    for k, (_, _, _, twin, _) in enumerate(state.full_spec.astype(int).tolist()):
        group, place = divmod(twin, len(GROUP))
        taken = state.lanes[:features, 16 * group + place] * gain[place]
        assert np.allclose(taken, learned[k, :features], rtol=1e-12, atol=0.0)


def test_the_last_errors_are_averages_of_what_was_shown():
    rng = np.random.default_rng(2)
    X, noise = rng.normal(size=(300, 2)), np.cumsum(rng.normal(size=300))
    for loss, y in (("squared", X[:, 0] + noise), ("logistic", np.where(noise > 0.0, 1.0, -1.0))):
        run = Auto(loss).run(X, y, trace=1)
        shown = np.asarray(run.predictions)
        unit = float(run.learner.state.scalars[UNIT])
        error = (y - shown) / unit if loss == "squared" else (y > 0.0) - 1.0 / (1.0 + np.exp(-shown))
        blend = run.learner._nonlinear.blend
        low, high = np.minimum.accumulate(y), np.maximum.accumulate(y)
        inside = np.r_[y[0], np.clip(y[1:], low[:-1], high[:-1])]
        if loss == "squared":
            error = (inside - shown) / unit
        assert blend.errors[0] == pytest.approx(error[-1], rel=1e-9, abs=1e-12)
        mean = 0.0
        for t in range(32, 300):  # they are kept since there are trees
            mean += (error[t] - mean) / min(5.0, t + 1.0)
        assert blend.errors[1] == pytest.approx(mean, rel=1e-9, abs=1e-12)


def test_errors_that_repeat_are_foreseen():
    rng = np.random.default_rng(3)
    X, drift = rng.normal(size=(3000, 4)), np.zeros(3000)
    for t in range(1, 3000):
        drift[t] = 0.9 * drift[t - 1] + rng.normal()
    y = X @ [1.0, -1.0, 2.0, 0.5] + drift
    lanes = {lane.name: lane.loss for lane in Auto("squared").run(X, y).certificate.lanes}
    assert lanes["stack with trees squared"] < 0.9 * lanes["linear lanes"]
