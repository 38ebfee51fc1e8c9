"""The river models: river's own checks, and what they promise beyond them."""

from __future__ import annotations

import pickle
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd
import pytest
from river import checks, compose, datasets, dummy, evaluate, linear_model, metrics, preprocessing, stats

import burkholder as bk
from burkholder.river import BurkholderClassifier, BurkholderRecommender, BurkholderRegressor, ExpertRegressor
from burkholder.storage import pack

AUTO = [BurkholderRegressor(), BurkholderClassifier()]
MODELS = [
    *AUTO,
    BurkholderRegressor(options={"effort": "light"}),
    BurkholderClassifier(options={"effort": "light"}),
    BurkholderRegressor("adagrad", loss="absolute", options={"radius": 20.0}),
    BurkholderClassifier("adagrad", loss="hinge"),
    BurkholderClassifier("mixture"),
    BurkholderRecommender(),
    ExpertRegressor(**next(iter(ExpertRegressor._unit_test_params()))),
]


def _rated() -> list[tuple[str, str, float]]:
    rng = np.random.default_rng(3)
    return [(f"u{rng.integers(6)}", f"i{rng.integers(7)}", float(rng.integers(0, 6))) for _ in range(60)]


def _all_checks() -> Any:
    for model in MODELS:
        for place, check in enumerate(checks.yield_checks(model)):
            if check.__name__ not in model._unit_test_skips():
                name = f"{type(model).__name__}-{getattr(model, 'learner', '')}-{check.__name__}-{place}"
                yield pytest.param(model, check, id=name)


@pytest.mark.parametrize(("model", "check"), list(_all_checks()))
def test_conventions(model: Any, check: Any) -> None:
    check(model.clone())


def test_our_models_skip_what_rivers_own_skip() -> None:
    for model in MODELS:
        own = {"check_emerging_features", "check_disappearing_features"} if isinstance(model, BurkholderRecommender) else set()
        own = {"check_shuffle_features_no_impact"} if model in AUTO else own  # as river's own forests
        assert model._unit_test_skips() == own  # river's own, for every ranker


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'learner', '')}")
def test_predicting_changes_nothing(model: Any) -> None:
    """Not one bit of the state, over rows with features it has never seen."""
    model = model.clone()
    if isinstance(model, BurkholderRecommender):
        for user, item, y in _rated():
            before = pickle.dumps(model)
            (model.predict_one(user, item), model.predict_one("new", item), model.rank(user, {"i0", "i1", "never"}))
            assert pickle.dumps(model) == before
            model.learn_one(user, item, y)
        return
    data = datasets.Phishing() if isinstance(model, BurkholderClassifier) else datasets.TrumpApproval()

    def state() -> bytes:
        # the aggregated models are black boxes, and river's own do change when they predict
        return pack(model._experts) if isinstance(model, ExpertRegressor) else pickle.dumps(model)

    for x, y in islice(data, 25):
        before = state()
        model.predict_one(x)
        model.predict_one({**x, "never seen": 3.0})
        model.predict_one({})
        if isinstance(model, BurkholderClassifier) and model.loss == "logistic":
            model.predict_proba_one(x)
        assert state() == before
        model.learn_one(x, y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'learner', '')}")
def test_learn_many_is_the_loop_bit_for_bit(model: Any) -> None:
    one, many = model.clone(), model.clone()
    if isinstance(model, BurkholderRecommender):
        rows = _rated()
        for user, item, y in rows:
            one.learn_one(user, item, y)
        X = pd.DataFrame([(user, item) for user, item, _ in rows], columns=["user", "item"])
        many.learn_many(X, [y for *_, y in rows])
        assert many.predict_many(X).tolist() == [one.predict_one(user, item) for user, item, _ in rows]
        return
    data = list(islice(datasets.Phishing() if isinstance(model, BurkholderClassifier) else datasets.TrumpApproval(), 40))
    for x, y in data:
        one.learn_one(x, y)
    X = pd.DataFrame([x for x, _ in data])
    many.learn_many(X, pd.Series([y for _, y in data]))
    assert many.predict_many(X).tolist() == [one.predict_one(x) for x, _ in data]
    if isinstance(model, BurkholderClassifier) and model.loss == "logistic":
        assert many.predict_proba_many(X).to_dict("records") == [one.predict_proba_one(x) for x, _ in data]


def test_progressive_validation_in_pipelines() -> None:
    model = preprocessing.StandardScaler() | BurkholderRegressor()
    assert evaluate.progressive_val_score(datasets.TrumpApproval().take(500), model, metrics.MAE()).get() < 1.0
    classes = preprocessing.StandardScaler() | BurkholderClassifier()
    assert evaluate.progressive_val_score(datasets.Phishing().take(600), classes, metrics.Accuracy()).get() > 0.85
    many = compose.Pipeline(preprocessing.StandardScaler(), BurkholderClassifier("adagrad", options={"radius": 10.0}))
    assert evaluate.progressive_val_score(datasets.ImageSegments().take(600), many, metrics.Accuracy()).get() > 0.6


def test_third_class_takes_over_what_two_knew() -> None:
    """For symmetric losses the learner of two classes, mirrored, is the second class against the rest."""
    rows = [({"a": np.cos(t), "b": np.sin(3 * t)}, "xy"[t % 3 == 0]) for t in range(40)]
    model, direct = BurkholderClassifier("adagrad"), bk.Learner("adagrad", loss="logistic", intercept=True)
    for x, y in rows:
        model.learn_one(x, y)
        direct.update(x, 1 if y == "y" else -1)
    model.learn_one(rows[0][0], "z")
    direct.update(rows[0][0], -1)
    second = model._classes.index("y")
    assert model._signs[second] * model._learners[second].predict(rows[1][0]) == direct.predict(rows[1][0])
    assert set(model.predict_proba_one(rows[2][0])) == {"x", "y", "z"}


def test_text_and_missing_values_are_features() -> None:
    model = BurkholderClassifier("adagrad")
    for t in range(40):
        model.learn_one({"city": "Rome" if t % 2 else "Oslo", "age": None if t % 3 else 30.0}, t % 2 == 1)
    assert model.predict_one({"city": "Rome"}) is True and model.predict_one({"city": "Oslo"}) is False
    assert "age?" in model._learners[0].rows.names


def test_experts_follow_the_best_model() -> None:
    models = [preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1), dummy.StatisticRegressor(stats.Mean())]
    model, total, alone = ExpertRegressor(models, loss="absolute"), 0.0, np.zeros(2)
    for x, y in datasets.TrumpApproval().take(400):
        alone += [abs(member.predict_one(x) - y) for member in model.models]
        total += abs(model.predict_one(x) - y)
        model.learn_one(x, y)
    certificate = model.certificate()
    assert certificate.rounds == 400 and abs(certificate.cumulative_loss - total) < 1e-6 * total
    assert total <= alone.min() + certificate.guarantees[0].value
    assert sum(model.weights().values()) == pytest.approx(1.0)
    assert model.clone().models[0].predict_one({}) == models[0].clone().predict_one({})


@pytest.mark.parametrize(
    "call",
    [
        lambda: BurkholderRegressor(loss="logistic", learner="adagrad"),
        lambda: BurkholderClassifier("adagrad", loss="squared"),
        lambda: BurkholderRegressor("adagrd"),
        lambda: ExpertRegressor([]),
        lambda: BurkholderRecommender().learn_one("a", "b", 7.0),
        lambda: BurkholderRecommender().learn_one(("a",), "b", 1.0),
        lambda: BurkholderRegressor("adagrad").learn_one({"a": object()}, 1.0),
    ],
)
def test_bad_input_is_named(call: Any) -> None:
    with pytest.raises(bk.BadInput):
        call()
