"""Several classes: the pool of all ways, what it promises, late classes and hundreds of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burkholder.auto import AutoMulticlass
from burkholder.auto.classes import PRIOR
from burkholder.auto.softmax import FEW
from burkholder.errors import BadInput


def drawn(classes: int, rounds: int, features: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Classes from linear scores and Gumbel noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, features))
    scores = X @ rng.normal(size=(features, classes)) * 2.0 + rng.gumbel(size=(rounds, classes))
    return X, scores.argmax(axis=1)


def test_the_loss_is_at_most_the_pools_and_ln_2_and_every_other_ways_and_ln_12():
    X, y = drawn(5, 400)
    learner = AutoMulticlass(classes=range(5), effort="light")
    learner.run(X, y)
    assert list(PRIOR) == pytest.approx([1 / 12] * 6 + [1 / 2])
    assert (learner.cumulative_loss <= learner.way_losses - np.log(PRIOR) + 1e-9).all()
    assert learner.way_losses[6] < np.sort(learner.way_losses[:6])[1]  # here Newton steps are hard to beat; the pool beats all the others


def test_the_pool_begins_as_the_geometric_mean_of_the_ways():
    learner = AutoMulticlass(classes=range(3))
    X, y = drawn(3, 1)
    learner.run(X, y)
    learner._mixing.pool[0] = 1.0 / 6.0
    learner.predict_proba(X[0] + 1.0)
    ways = learner._mixing.ways[:, 1:4]
    mean = np.exp(np.log(ways[:6]).mean(axis=0))
    assert ways[6] == pytest.approx(mean / mean.sum(), rel=1e-9)


def test_a_first_appearance_teaches_the_pool_nothing():
    X, y = drawn(3, 60)
    learner = AutoMulticlass(classes=range(3))
    learner.run(X, y)
    pool, lost = learner._mixing.pool.copy(), learner.way_losses.copy()
    before = learner.cumulative_loss
    learner.update(X[0], 77)
    assert np.array_equal(learner._mixing.pool, pool) and np.array_equal(learner.way_losses, lost)
    assert learner.cumulative_loss - before == pytest.approx(math.log(4.0))
    learner.update(X[0], 77)
    assert not np.array_equal(learner._mixing.pool, pool)


def test_hundreds_of_classes_that_appear_one_after_another():
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(300, 6)) * 4.0
    order = np.concatenate([np.minimum(rng.integers(0, 300, 900), np.arange(900) // 2), rng.integers(0, 300, 600)])
    X = centres[order] + 0.3 * rng.normal(size=(1500, 6))
    learner = AutoMulticlass()
    run = learner.run(X, [f"class {c}" for c in order])
    assert len(learner.classes) == len(set(order)) > 250
    assert run.losses[-300:].mean() < 0.6 * math.log(300)
    certificate = learner.certificate()
    assert certificate.realised() <= certificate.bound() and certificate.valid


def test_more_features_than_are_centred():
    X, y = drawn(3, 200, features=FEW + 20)
    whole, loop = AutoMulticlass(), AutoMulticlass()
    run = whole.run(X, y)
    for t in range(200):
        assert loop.predict(X[t]) == run.predictions[t]
        loop.update(X[t], int(y[t]))
    assert np.array_equal(whole.probabilities(X[:9]), loop.probabilities(X[:9]))


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("pool", lambda a: a["pool"].__setitem__((1, 0), -1.0)),
        ("pool", lambda a: a["pool"].__setitem__((1, 2), 0.5)),
        ("pool", lambda a: a["pool"].__setitem__((0, 0), np.inf)),
        ("pool", lambda a: a.__setitem__("pool", a["pool"][:, :5].copy())),
        ("soft", lambda a: a["soft"].__setitem__((1, 1, 3), -1.0)),
    ],
)
def test_a_spoiled_pool_is_refused(name, spoil):
    X, y = drawn(3, 50)
    learner = AutoMulticlass()
    learner.run(X, y)
    header, arrays = learner.state_dict()
    again = AutoMulticlass.from_state(header, arrays)
    assert np.array_equal(again.probabilities(X), learner.probabilities(X))
    spoil(arrays)
    with pytest.raises(BadInput, match=name):
        AutoMulticlass.from_state(header, arrays)
