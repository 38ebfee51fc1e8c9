"""Merged learners: sums of statistics, losses and realised certificates; no promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import burkholder as bk
from burkholder import functions, storage
from burkholder.learning.merging import merge

MERGEABLE = [name for name, entry in functions.CATALOGUE.items() if entry.make().kind != "generalised" and not entry.make().in_expectation]


def _stream(rounds: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(rounds + dim)
    X = rng.uniform(-1.0, 1.0, (rounds, dim)) / math.sqrt(dim)
    return X, np.clip(X @ rng.standard_normal(dim) + 0.3 * rng.standard_normal(rounds), -1.0, 1.0)


def _shards(name: str, parts: int = 3, rounds: int = 45) -> tuple[list[Any], np.ndarray, np.ndarray, list[np.ndarray]]:
    entry = functions.CATALOGUE[name]
    X, y = _stream(rounds, entry.dims[-1])
    learners = [bk.Learner(name, loss="squared" if entry.curved else "absolute", bound=1.0) for _ in range(parts)]
    predictions = [one.run(X[k::parts], y[k::parts]).predictions for k, one in enumerate(learners)]
    return learners, X, y, predictions


@pytest.mark.parametrize("name", MERGEABLE)
def test_sums_add_up_and_bound_the_summed_regret(name: str) -> None:
    learners, X, y, predictions = _shards(name)
    whole = merge(*learners)
    assert whole.rounds == len(y)
    assert whole.cumulative_loss == pytest.approx(sum(one.cumulative_loss for one in learners), rel=1e-12)
    for k, part in enumerate(whole.state.tau()):
        assert np.allclose(part, sum(one.state.tau()[k] for one in learners), rtol=1e-12, atol=1e-12)
    certificate, curved = whole.certificate(), functions.CATALOGUE[name].curved
    for w in (np.zeros(X.shape[1]), np.linalg.lstsq(X, y, rcond=None)[0], np.ones(X.shape[1]) / X.shape[1]):
        residual = np.concatenate([yhat - y[k::3] for k, yhat in enumerate(predictions)])
        mine, other = (np.square, np.square) if curved else (np.abs, np.abs)
        regret = mine(residual).sum() - other(X @ w - y).sum()
        realised = certificate.realised(w)
        assert realised == pytest.approx(sum(one.certificate().realised(w) for one in learners), rel=1e-9, abs=1e-9)
        assert regret <= realised + 1e-9
        corrected, limit = (_or_none(certificate.corrected, w), certificate.bound(w) if _states(whole, w) else math.inf)
        assert corrected is None or realised <= corrected + 1e-9
        assert limit == math.inf and not certificate.valid
    assert "does not carry over" in certificate.notes[-1]


def _or_none(formula: Any, w: np.ndarray) -> float | None:
    try:
        return float(formula(w))
    except bk.BadInput:
        return None


def _states(learner: Any, w: np.ndarray) -> bool:
    return _or_none(lambda v: learner.function.bound(v, learner.state.tau()), w) is not None


@pytest.mark.parametrize("name", MERGEABLE)
def test_a_merged_learner_goes_on(name: str) -> None:
    """Its next moves are those of the summed ζ, its potential no longer rises, and it can be saved."""
    learners, X, y, _ = _shards(name)
    whole = merge(*learners)
    twin = storage.unpack(storage.pack(whole))
    before = whole.potential()
    for x, target in zip(X[:10], y[:10]):
        raw = whole.strategy.play(whole.state.tau(), x, 0.5)[0] if whole.strategy.name != "general" else None
        if raw is not None:
            assert whole.predict(x) == pytest.approx(min(max(raw, -1.0), 1.0), rel=1e-6, abs=1e-9)
        assert whole.predict(x) == twin.predict(x)
        whole.update(x, target)
        twin.update(x, target)
    if whole.strategy.name != "general":
        assert whole.potential() <= before + 1e-9 * (1.0 + abs(before))
    assert twin.certificate().to_dict() == whole.certificate().to_dict()
    assert merge(whole, learners[0]).parts == 4


@pytest.mark.parametrize("name", ["adagrad", "square-function", "adagrad-norm", "square-function-l4", "adaptive", "strongly-convex"])
def test_names_meet_in_any_order(name: str) -> None:
    entry = functions.CATALOGUE[name]
    one, two = (bk.Learner(name, loss="squared" if entry.curved else "absolute", bound=1.0, intercept=True) for _ in "ab")
    one.update({"a": 0.3, "b": -0.2}, 1.0)
    one.update({"b": 0.1, "c": 0.5}, -1.0)
    two.update({"c": 0.4}, 0.5)
    two.update({"d": 0.2, "a": 0.1}, -0.5)
    whole, other = merge(one, two), merge(two, one)
    w = {"a": 0.1, "b": -0.3, "c": 0.7, "d": 0.2}
    assert whole.certificate().realised(w) == pytest.approx(
        one.certificate().realised({k: w[k] for k in "abc"}) + two.certificate().realised({k: w[k] for k in "acd"})
    )
    x = {"d": 0.1, "b": 0.3}
    assert whole.predict(x) == pytest.approx(other.predict(x), rel=1e-9, abs=1e-12)
    assert whole.potential() == pytest.approx(other.potential(), rel=1e-9)


def test_the_promise_is_not_kept_by_merging() -> None:
    """Shards that learned the same pay its price each: U of the sum exceeds 0 though no shard's does."""
    parts = []
    for _ in range(2):
        learner = bk.Learner("adagrad", loss="absolute", radius=1.0)
        for _ in range(2):
            learner.update([1.0], 2.0)
        parts.append(learner)
    whole = merge(*(parts * 8))
    assert all(part.potential() <= 0.0 for part in parts) and whole.potential() > 0.0
    certificate = whole.certificate()
    assert certificate.realised([1.0]) <= certificate.corrected([1.0])
    assert certificate.realised([1.0]) > certificate.bound([1.0], nominal=True)


def test_audits_merge() -> None:
    one, two = bk.Audit(loss="squared"), bk.Audit(loss="squared")
    one.update({"a": 1.0}, 0.5, 1.0)
    two.update({"b": 2.0, "a": 1.0}, 0.1, 1.0)
    whole = merge(one, two)
    w = {"a": 0.5, "b": 0.25}
    assert whole.certificate().realised(w) == pytest.approx(one.certificate().realised({"a": 0.5}) + two.certificate().realised(w))
    assert whole.rounds == 2


def _learner(**options: Any) -> Any:
    return bk.Learner(options.pop("name", "adagrad"), loss=options.pop("loss", "absolute"), **options)


@pytest.mark.parametrize(
    "others",
    [
        [_learner(radius=2.0)],
        [_learner(loss="squared")],
        [_learner(intercept=True)],
        [_learner(name="adagrad-norm")],
        [_learner(bound=3.0)],
        [_learner(loss="hinge")],
        [bk.Audit(loss="absolute")],
        [{"a": 1}],
        [],
    ],
)
def test_what_does_not_fit_is_refused(others: list[Any]) -> None:
    with pytest.raises(bk.BadInput):
        merge(_learner(), *others)


def test_records_equal_as_tuples_are_told_apart() -> None:
    with pytest.raises(bk.BadInput, match="loss"):
        merge(_learner(loss="hinge"), _learner(loss="logistic"))
    with pytest.raises(bk.BadInput, match="geometry"):
        merge(bk.Audit(geometry="l2"), bk.Audit(geometry="coordinates"))


def test_states_that_are_no_sum_are_refused() -> None:
    for name in ("mixture", "zigzag"):
        with pytest.raises(bk.BadInput, match="cannot be merged"):
            merge(_learner(name=name), _learner(name=name))
    waiting = _learner()
    waiting.play([1.0])
    with pytest.raises(bk.BadInput, match="still to come"):
        merge(waiting, _learner())
