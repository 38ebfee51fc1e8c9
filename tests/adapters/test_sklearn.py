"""The scikit-learn estimators: scikit-learn's own checks, and what they promise beyond them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_regression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import burkholder as bk
from burkholder.auto import AutoMulticlass
from burkholder.sklearn import BurkholderClassifier, BurkholderRegressor

# A stream learner sees rows in order, and a row of weight 2 is one steeper round, not two rounds: the checks
# compare with repeated and reordered rows.
WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": "a row of weight 2 is one round, not two; rows have an order",
    "check_sample_weight_equivalence_on_sparse_data": "a row of weight 2 is one round, not two; rows have an order",
}
ESTIMATORS = [
    BurkholderRegressor(),
    BurkholderClassifier(),
    BurkholderRegressor("adagrad", radius=300.0, passes=5),
    BurkholderClassifier("adagrad", radius=10.0, passes=10),
    BurkholderClassifier("mixture", loss="hinge", passes=3),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda _: WEIGHTS)
def test_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def iris() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]


@pytest.mark.parametrize("learner", ["auto", "adagrad", "mixture"])
def test_regression_learns(learner: str) -> None:
    X, y = make_regression(400, 6, noise=1.0, random_state=0)
    y = y / np.abs(y).max()
    options = {"bound": 1.0} if learner == "mixture" else {}
    model = BurkholderRegressor(learner, options=options, passes=3).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.9
    assert model.certificate_.rounds == 900 and model.certificate_.cumulative_loss > 0.0


@pytest.mark.parametrize("learner", ["auto", "adagrad"])
def test_many_classes(iris: Any, learner: str) -> None:
    X, y = iris
    options = {"radius": 5.0} if learner == "adagrad" else None
    model = make_pipeline(StandardScaler(), BurkholderClassifier(learner, passes=3, options=options)).fit(X[:100], y[:100])
    assert model.score(X[100:], y[100:]) > 0.85
    chances = model.predict_proba(X)
    assert chances.shape == (150, 3) and np.allclose(chances.sum(axis=1), 1.0) and chances.min() >= 0.0
    assert np.array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))
    assert set(model[-1].certificate_) == {"setosa", "versicolor", "virginica"}


def test_several_classes_by_auto_are_one_learner(iris: Any) -> None:
    X, y = iris
    model = BurkholderClassifier(shuffle=False).fit(X, y)
    alone = AutoMulticlass(range(3))
    alone.run(X, np.searchsorted(model.classes_, y))
    assert isinstance(model.learner_, AutoMulticlass) and alone.classes == [0, 1, 2]
    chances = alone.probabilities(X)
    assert np.allclose(model.predict_proba(X), chances, rtol=1e-12)
    for row, given in zip(X[:5], chances[:5], strict=True):
        assert list(alone.predict_proba(row).values()) == given.tolist()
    assert all(one.rounds == len(y) for one in model.certificate_.values())


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, pd.DataFrame, pl.DataFrame, np.asfortranarray, lambda X: X.tolist()])
@pytest.mark.parametrize("learner", ["auto", "adagrad"])
def test_every_shape_of_rows_gives_the_same(iris: Any, make: Any, learner: str) -> None:
    X, y = iris
    labels = y == "setosa"
    plain = BurkholderClassifier(learner).fit(X, labels)
    other = BurkholderClassifier(learner).fit(make(X), labels)
    assert np.array_equal(plain.decision_function(X), other.decision_function(make(X)))


@pytest.mark.parametrize("learner", ["auto", "adagrad", "adaptive-coordinates"])
def test_partial_fit_is_fit_in_pieces(iris: Any, learner: str) -> None:
    X, y = iris
    whole = BurkholderClassifier(learner, shuffle=False).fit(X, y)
    pieces = BurkholderClassifier(learner)
    for start in range(0, 150, 37):
        pieces.partial_fit(X[start : start + 37], y[start : start + 37], classes=np.unique(y))
    assert np.array_equal(whole.decision_function(X), pieces.decision_function(X))
    weight = np.linspace(0.5, 2.0, 150)
    one = BurkholderRegressor(learner, loss="absolute", shuffle=False).fit(X, X[:, 0], sample_weight=weight)
    two = BurkholderRegressor(learner, loss="absolute")
    for part in (slice(0, 70), slice(70, 150)):
        two.partial_fit(X[part], X[part, 0], sample_weight=weight[part])
    assert np.array_equal(one.predict(X), two.predict(X))
    assert not np.array_equal(one.predict(X), BurkholderRegressor(learner, loss="absolute", shuffle=False).fit(X, X[:, 0]).predict(X))


@pytest.mark.parametrize("learner", ["auto", "adagrad"])
def test_pickle_and_clone(iris: Any, learner: str) -> None:
    X, y = iris
    model = BurkholderClassifier(learner).partial_fit(X[:75], y[:75], classes=np.unique(y))
    twin = pickle.loads(pickle.dumps(model))
    for one in (model, twin):
        one.partial_fit(X[75:], y[75:])
    assert np.array_equal(model.decision_function(X), twin.decision_function(X))
    assert not hasattr(clone(model), "learner_") and clone(model).get_params() == model.get_params()


def test_predicting_changes_nothing(iris: Any) -> None:
    X, y = iris
    model = BurkholderClassifier().fit(X, y)
    before = pickle.dumps(model)
    model.predict(X), model.predict_proba(X), model.decision_function(X), model.certificate_
    assert pickle.dumps(model) == before


def test_search_and_cross_validation(iris: Any) -> None:
    X, y = iris
    search = GridSearchCV(BurkholderClassifier("adagrad"), {"radius": [1e-3, 5.0]}, cv=3).fit(X, y)
    assert search.best_params_["radius"] == 5.0
    assert BurkholderClassifier("adagrad", radius=2.0).get_params()["radius"] == 2.0
    assert cross_val_score(BurkholderRegressor("adagrad", options={"radius": 5.0}, passes=20), X, X @ [1, 2, 0, -1], cv=3).min() > 0.9


def test_linear_learners_have_weights(iris: Any) -> None:
    X, y = iris
    model = BurkholderRegressor("adagrad", options={"radius": 3.0}).fit(X, X[:, 0])
    assert np.allclose(model.predict(X), X @ model.coef_ + model.intercept_, rtol=1e-12)
    learner = model.learner_
    assert np.allclose(model.predict(X[:5]), [learner.predict((np.arange(4), x)) for x in X[:5]], rtol=1e-12)
    assert BurkholderClassifier("adagrad").fit(X, y).coef_.shape == (3, 4)
    assert not hasattr(BurkholderRegressor("square-function", options={"bound": 9.0}).fit(X, X[:, 0]), "coef_")


def test_certificate_is_the_learners() -> None:
    X, y = make_regression(50, 3, random_state=1)
    y /= np.abs(y).max()
    model = BurkholderRegressor("square-function", loss="absolute", intercept=False, shuffle=False, options={"radius": 2.0}).fit(X, y)
    certificate = model.certificate_
    w = np.linalg.lstsq(X, y, rcond=None)[0]
    learner = bk.Learner("square-function", loss="absolute", radius=2.0)
    yhat = learner.run(X, y).predictions
    regret = np.abs(yhat - y).sum() - np.abs(X @ w - y).sum()
    assert regret <= certificate.realised(w) <= certificate.bound(w)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y: BurkholderRegressor("adagrd").fit(X, y),
        lambda X, y: BurkholderRegressor(passes=0).fit(X, y),
        lambda X, y: BurkholderRegressor(shuffle="yes").fit(X, y),
        lambda X, y: BurkholderRegressor("adagrad", radius=1.0, options={"radius": 1.0}).fit(X, y),
        lambda X, y: BurkholderRegressor(effort="hard").fit(X, y),
        lambda X, y: BurkholderClassifier(class_weight="balanced").partial_fit(X, y > 0, classes=[False, True]),
        lambda X, y: BurkholderRegressor(options={"raduis": 1}, learner="adagrad").fit(X, y),
        lambda X, y: BurkholderClassifier().partial_fit(X, y > 0),
        lambda X, y: BurkholderClassifier().partial_fit(X, y > 0, classes=[0, 1]).partial_fit(X, np.full(len(y), 7)),
    ],
)
def test_bad_settings_are_named(call: Any) -> None:
    X, y = make_regression(20, 3, random_state=1)
    with pytest.raises(bk.BadInput):
        call(X, y)


def test_hinge_has_no_probabilities(iris: Any) -> None:
    X, y = iris
    model = BurkholderClassifier("adagrad", loss="hinge").fit(X, y)
    assert not hasattr(model, "predict_proba") and model.predict(X).shape == (150,)


# --- fitted, then only predicting ---------------------------------------------------------------------------------
@pytest.mark.parametrize("learner", ["auto", "adagrad"])
def test_shuffling_is_seeded_and_turned_off_by_name(iris: Any, learner: str) -> None:
    X, y = iris
    labels = y == "virginica"
    one, same, other, ordered = (
        BurkholderClassifier(learner, random_state=seed, shuffle=shuffle).fit(X, labels).decision_function(X)
        for seed, shuffle in ((0, True), (0, True), (1, True), (0, False))
    )
    assert np.array_equal(one, same) and not np.array_equal(one, other) and not np.array_equal(one, ordered)
    order = np.random.RandomState(0).permutation(len(y))
    assert np.array_equal(one, BurkholderClassifier(learner, shuffle=False).fit(X[order], labels[order]).decision_function(X))


def test_rows_sorted_by_class_are_no_trouble(iris: Any) -> None:
    X, y = iris
    order = np.argsort(y)
    assert BurkholderClassifier().fit(X[order], y[order]).score(X, y) > 0.9
    assert BurkholderClassifier().fit(X[order], y[order] == "setosa").score(X, y == "setosa") == 1.0


def test_class_weight_moves_predictions_towards_the_class() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = X[:, 0] + rng.normal(size=600) > 1.5
    plain, balanced, given = (BurkholderClassifier(class_weight=how).fit(X, y) for how in (None, "balanced", {True: 5.0, False: 1.0}))
    assert plain.predict(X).mean() < y.mean() < min(balanced.predict(X).mean(), given.predict(X).mean())
    weight = np.where(y, 5.0, 1.0)
    assert np.array_equal(given.decision_function(X), BurkholderClassifier().fit(X, y, sample_weight=weight).decision_function(X))
    pieces = BurkholderClassifier(class_weight={True: 5.0, False: 1.0}).partial_fit(X, y, classes=[False, True])
    assert np.array_equal(pieces.predict(X), BurkholderClassifier(shuffle=False).fit(X, y, sample_weight=weight).predict(X))


def test_importances_tell_what_matters(iris: Any) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3))
    found = BurkholderRegressor().fit(X, 3.0 * X[:, 1]).feature_importances_
    assert found.shape == (3,) and found[1] > 10.0 * max(found[0], found[2])
    X, y = iris
    assert BurkholderClassifier().fit(X, y).feature_importances_.shape == (4,)
    assert not hasattr(BurkholderRegressor("adagrad").fit(X, X[:, 0]), "feature_importances_")


def test_missing_values_have_an_indicator_of_their_own() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(800, 2))
    gone = rng.random(800) < 0.3
    y = np.where(gone, 4.0, X[:, 0])
    X[gone, 0] = np.nan
    model = BurkholderRegressor().fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.predict([[np.nan, 0.0]])[0] == pytest.approx(4.0, abs=0.3)
    assert np.array_equal(model.predict(sparse.csr_matrix(X)), model.predict(X))
    assert np.isfinite(model.predict([[0.0, np.nan]])).all()  # never missing before: left out
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(np.isnan(X), np.inf, X), y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_words_become_indicators(frame: Any) -> None:
    rng = np.random.default_rng(3)
    city, size = np.array(["Oslo", "Rome", "Bern"])[rng.integers(0, 3, 600)], rng.normal(size=600)
    y = np.select([city == "Oslo", city == "Rome"], [1.0, -2.0], 0.5) + 0.5 * size
    X = frame({"city": city.tolist(), "size": size})
    model = BurkholderRegressor().fit(X, y)
    assert model.score(X, y) > 0.98
    told = model.predict(frame({"city": ["Oslo", "Rome", "Lima"], "size": [0.0, 0.0, 0.0]}))
    assert told[:2] == pytest.approx([1.0, -2.0], abs=0.15) and np.isfinite(told[2])
    assert model.feature_importances_.shape == (2,) and model.n_features_in_ == 2
    twin = pickle.loads(pickle.dumps(model))
    assert np.array_equal(twin.predict(X), model.predict(X))
    if frame is pd.DataFrame:
        coded = X.assign(city=X["city"].astype("category"))
        assert np.array_equal(BurkholderRegressor().fit(coded, y).predict(coded), model.predict(X))
        with pytest.raises(ValueError):
            BurkholderRegressor(categorical_features=None).fit(X, y)
    with pytest.raises(bk.BadInput, match="categorical_features"):
        BurkholderRegressor(categorical_features="all").fit(X, y)


def test_words_that_are_missing_or_empty_are_two_things() -> None:
    """pandas' NA, None and NaN are one: nothing is there. An empty text is a category like any other."""
    kind = np.arange(300) % 3
    X = pd.DataFrame({"size": np.random.default_rng(2).normal(size=300), "word": np.array(["", "a", None], dtype=object)[kind]})
    y = np.array([5.0, 0.0, -5.0])[kind]
    model = BurkholderRegressor().fit(X, y)
    assert model.score(X, y) > 0.95
    for how in ("string", "category"):
        coded = X.assign(word=X["word"].astype(how))
        assert np.array_equal(BurkholderRegressor().fit(coded, y).predict(coded), model.predict(X))
    with pytest.raises(bk.BadInput, match="column 1"):
        model.fit(X.assign(word=[["a"]] * 300), y)
