"""Learners inside other libraries' clothes: what the wrapper showed is what its certificate is about, in exact arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from exact import in_order, regret

import burkholder as bk
from burkholder import river, sklearn
from burkholder.auto import Auto

RNG = np.random.default_rng(2)
ROUNDS = 30
X = RNG.normal(size=(ROUNDS, 3)) * 10.0 ** RNG.integers(-2, 3, 3)
Y = X @ [0.01, 0.5, -0.2] / 10.0 + RNG.normal(size=ROUNDS)
WEIGHTS = RNG.choice([0.1, 1.0, 1.0, 7.0], ROUNDS)
COMPARATORS = np.vstack([np.zeros(3), RNG.uniform(-1, 1, (4, 3)), 0.57 * np.sign(X.T @ Y)])
LEARNERS = ("adagrad", "square-function", "adaptive-coordinates")


def true_of(certificate: Any, loss: Any, shown: Any, y: Any, named: bool = False) -> None:
    rounds = list(zip(X, shown, y, WEIGHTS))
    assert certificate.rounds == ROUNDS
    for w in COMPARATORS:
        w = w / max(1.0, float(np.linalg.norm(w)))
        in_order(regret(loss, rounds, w), certificate, w={f"f{i}": v for i, v in enumerate(w.tolist())} if named else w)


def as_dict(x: np.ndarray) -> dict[str, float]:
    return {f"f{i}": v for i, v in enumerate(x.tolist())}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_scikit_learn_regressor(name: str) -> None:
    model = sklearn.BurkholderRegressor(name, loss="absolute", intercept=False, shuffle=False)
    shown = [0.0]  # before the first row there is nothing to ask: every learner begins there
    for t in range(ROUNDS):
        if t:
            shown.append(float(model.predict(X[t : t + 1])[0]))
        model.partial_fit(X[t : t + 1], Y[t : t + 1], sample_weight=WEIGHTS[t : t + 1])
    true_of(model.certificate_, model.learner_.loss, shown, Y)
    whole = sklearn.BurkholderRegressor(name, loss="absolute", intercept=False, shuffle=False).fit(X, Y, sample_weight=WEIGHTS)
    alone = bk.Learner(name, loss="absolute")
    run = alone.run((X), Y, WEIGHTS)
    assert run.predictions == pytest.approx(shown, rel=1e-12, abs=1e-12)
    true_of(whole.certificate_, alone.loss, run.predictions, Y)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_a_scikit_learn_classifier(loss: str) -> None:
    model, labels = sklearn.BurkholderClassifier("adagrad", loss=loss, intercept=False), np.where(Y > 0, "up", "down")
    signs, shown = np.where(Y > 0, 1.0, -1.0), [0.0]  # classes in order: "up" is the second, and so +1
    for t in range(ROUNDS):
        if t:
            shown.append(float(model.decision_function(X[t : t + 1])[0]))
        model.partial_fit(X[t : t + 1], labels[t : t + 1], classes=["down", "up"], sample_weight=WEIGHTS[t : t + 1])
    true_of(model.certificate_, model.learner_.loss, shown, signs)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_river_regressor(name: str) -> None:
    model, shown = river.BurkholderRegressor(name, loss="absolute", intercept=False), []
    for t, x in enumerate(map(as_dict, X)):
        shown.append(model.predict_one(x))
        model.learn_one(x, float(Y[t]), w=float(WEIGHTS[t]))
    true_of(model.certificate(), model._learners[0].loss, shown, Y, named=True)


def test_a_river_classifier_of_two_and_then_three_classes() -> None:
    model, scores = river.BurkholderClassifier("adagrad", intercept=False), []
    labels = ["a" if y > 0 else "b" for y in Y]
    for t, x in enumerate(map(as_dict, X)):
        scores.append(model._learners[0].predict(x))
        model.learn_one(x, labels[t], w=float(WEIGHTS[t]))
    signs = [1.0 if label == labels[0] else -1.0 for label in labels]
    loss = model._learners[0].loss
    true_of(model.certificates()[labels[0]], loss, scores, signs, named=True)
    # a third class: what the mirrored learner has played so far counts with its sign turned
    other = next(label for label in labels if label != labels[0])
    model.learn_one(as_dict(np.zeros(3)), "c")
    second = model.certificates()[other]
    for w in COMPARATORS:
        rounds = [*zip(X, scores, signs, WEIGHTS), (np.zeros(3), model._learners[0].predict(as_dict(np.zeros(3))), 1.0, 1.0)]
        assert second.rounds == ROUNDS + 1
        in_order(regret(loss, rounds, w / 3.0), second, w=as_dict(w / 3.0))


@pytest.mark.parametrize("wrapper", ["scikit-learn", "river"])
def test_auto_in_either_is_the_auto_that_was_asked(wrapper: str) -> None:
    """Not one bit of its certificate is the wrapper's own; that of Auto is held to exact arithmetic elsewhere."""
    alone = Auto("absolute")
    if wrapper == "river":
        model = river.BurkholderRegressor(loss="absolute")
        for t, x in enumerate(map(as_dict, X)):
            assert model.predict_one(x) == alone.predict(x)
            model.learn_one(x, float(Y[t]), w=float(WEIGHTS[t]))
            alone.update(x, float(Y[t]), float(WEIGHTS[t]))
        assert model.certificate().to_dict() == alone.certificate().to_dict()
        return
    alone.run(X, Y, WEIGHTS)
    told = sklearn.BurkholderRegressor(loss="absolute", shuffle=False).fit(X, Y, sample_weight=WEIGHTS).certificate_
    assert told.to_dict() == alone.certificate().to_dict()
