"""MatrixLearner: every kind of X, every rule, the exact and the Krylov path, bounds by brute force."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.sparse import coo_matrix

from burkholder.errors import BadInput
from burkholder.matrix import inputs
from burkholder.matrix.learner import MatrixLearner
from burkholder.potentials import spectral as potential

KINDS = ["dense", "low-rank", "sparse", "entry"]
RULES = [("sign-flip", 0.1), ("sign-flip", "lowering"), ("sign-flip", "doubling"), ("sign-flip", "mixture"),
         ("tangent", 0.05), ("tangent", "lowering"), ("tangent", "doubling")]  # fmt: skip
SHAPES = [(3, 5), (12, 18)]


def matrices(kind, shape, rounds, seed=0):
    """(X as given, X dense, y) with ‖X‖ of order one."""
    rng = np.random.default_rng(seed)
    d1, d2 = shape
    W = rng.normal(size=(d1, 1)) @ rng.normal(size=(1, d2))
    W *= 3.0 / np.linalg.norm(W, "nuc")
    for _ in range(rounds):
        dense = np.zeros(shape)
        if kind == "dense":
            X = dense = rng.normal(size=shape) / (math.sqrt(d1) + math.sqrt(d2))
        elif kind == "low-rank":
            U, V = rng.normal(size=(d1, 1)) / math.sqrt(d1), rng.normal(size=(d2, 1)) / math.sqrt(d2)
            X, dense = (U, V), U @ V.T
        elif kind == "sparse":
            at = (rng.integers(0, d1, 3), rng.integers(0, d2, 3))
            X = coo_matrix((rng.normal(size=3), at), shape=shape)
            dense = X.toarray()
        else:
            X = (int(rng.integers(d1)), int(rng.integers(d2)), float(rng.normal()))
            dense[X[0], X[1]] = X[2]
        yield X, dense, float(np.clip(np.sum(W * dense) + 0.1 * rng.normal(), -1, 1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strategy, rate", RULES)
def test_exact_and_krylov_agree_and_the_bound_holds(strategy, rate, kind, shape):
    rounds = 20
    options = {"radius": 3.0, "rate": rate, "strategy": strategy, "tol": 1e-9}
    exact = MatrixLearner(*shape, method="dense", **options)
    krylov = MatrixLearner(*shape, method="krylov", **options)
    auto = MatrixLearner(*shape, **options)
    stream = list(matrices(kind, shape, rounds))
    values, played = [], []
    for X, _, y in stream:
        played.append((exact.predict(X), auto.predict(X)))
        assert krylov.predict(X) == pytest.approx(played[-1][0], abs=1e-6)
        for learner in (exact, krylov, auto):
            learner.update(X, y)
        values.append(exact.engine.value)
        assert krylov.engine.value == pytest.approx(exact.engine.value, abs=1e-6)
    played = np.array(played)
    assert np.abs(played[:, 0] - played[:, 1]).max() <= 1e-6
    assert max(values) <= 1e-9
    if rate != "doubling":
        assert np.diff(values).max() <= 1e-9
    c = exact.certificate()
    assert c.valid and auto.certificate().valid
    rng = np.random.default_rng(1)
    loss = sum(abs(yhat - y) for yhat, (_, _, y) in zip(played[:, 0], stream))
    assert c.cumulative_loss == pytest.approx(loss)
    for _ in range(20):
        W = rng.normal(size=(shape[0], 1)) @ rng.normal(size=(1, shape[1]))
        W *= 3.0 * rng.uniform() / np.linalg.norm(W, "nuc")
        regret = loss - sum(abs(np.sum(W * dense) - y) for _, dense, y in stream)
        assert regret <= c.realised(W) + 1e-9  # the loss above is a plain sum
        assert c.realised(W) <= c.realised(radius=3.0) <= c.corrected(radius=3.0) <= c.bound(radius=3.0)
        assert c._realised((None, 3.0)) <= c._promised((None, 3.0)) + 1e-6  # not only by construction


@pytest.mark.parametrize("strategy", ["sign-flip", "tangent"])
def test_the_fixed_rate_bound_is_the_closed_one(strategy):
    learner = MatrixLearner(4, 3, radius=2.0, rate=0.05, strategy=strategy)
    for X, _, y in matrices("dense", (4, 3), 30):
        learner.update(X, y)
    M = learner.engine.M
    if strategy == "sign-flip":
        want = potential.bound(M, 0.05, 2.0, 1.0)
    else:
        want = potential.tangent_bound(M, 0.05, 2.0)
    assert learner.certificate().bound() == pytest.approx(float(want), rel=1e-12)


def test_the_lowering_bound_is_below_its_closed_form():
    learner = MatrixLearner(4, 3, radius=2.0)
    for X, _, y in matrices("dense", (4, 3), 60):
        learner.update(X, y)
    ceiling = learner.engine.scalars[0]
    assert ceiling <= 2.0 * potential.largest(learner.engine.M)
    assert learner.certificate().bound() <= float(potential.lowering_bound(ceiling, 7, 2.0, 1.0)) + 1e-9


def test_a_large_learner_turns_compiled_for_entries_and_back_for_anything_else():
    rng = np.random.default_rng(2)
    shape = (40, 50)
    exact = MatrixLearner(*shape, radius=5.0, method="dense")
    auto = MatrixLearner(*shape, radius=5.0, tol=1e-9)
    entries = [(int(rng.integers(40)), int(rng.integers(50))) for _ in range(60)]
    y = rng.uniform(-1, 1, 61)
    compiled = auto.run(entries, y[:60]).predictions
    assert type(auto.engine).__name__ == "SignFlipEntries"
    np.testing.assert_allclose(compiled, exact.run(entries, y[:60]).predictions, atol=1e-7)
    X = (rng.normal(size=(40, 2)) / 10, rng.normal(size=(50, 2)) / 10)
    before = auto.predict(X)
    assert type(auto.engine).__name__ == "SignFlipEntries"
    assert before == pytest.approx(exact.predict(X), abs=1e-7)
    auto.update(X, y[60])
    exact.update(X, y[60])
    assert type(auto.engine).__name__ == "GeneralEngine"
    assert auto.certificate().bound() == pytest.approx(exact.certificate().bound(), rel=1e-6)


def test_beyond_dense_storage_sparse_matrices_are_kept_sparse():
    learner = MatrixLearner(1500, 1600, radius=5.0, rate=0.2)
    rng = np.random.default_rng(3)
    # on 6 rows and 8 columns of the large one; the other eigenvalues of A stay 0
    for _ in range(8):
        block = coo_matrix((rng.normal(size=3), (rng.integers(0, 6, 3), rng.integers(0, 8, 3))), shape=(6, 8))
        X = coo_matrix((block.data, (block.row, block.col)), shape=(1500, 1600))
        y = float(rng.uniform(-1, 1))
        learner.update(X, y)
    assert not isinstance(learner.engine.H, np.ndarray)
    rest = 3100 - 14
    where = np.r_[0:6, 1500:1508]
    H, M = (Z.toarray()[np.ix_(where, where)] for Z in (learner.engine.H, learner.engine.M))
    want = np.log(np.exp(float(potential.log_trace_exp(potential.exponent(H, M, 0.2)))) + rest)
    assert float(learner.engine.log_trace[0]) == pytest.approx(want, abs=1e-8)


@pytest.mark.parametrize("loss", ["squared", "huber", "pinball", "logistic", "hinge"])
def test_other_losses(loss):
    learner = MatrixLearner(4, 3, radius=2.0, loss=loss)
    for X, _, y in matrices("entry", (4, 3), 40):
        learner.update(X, (1 if y > 0 else -1) if loss in ("logistic", "hinge") else y)
    c = learner.certificate()
    assert c.valid and c._realised((None, 2.0)) <= c._promised((None, 2.0)) + 1e-6


def test_factors_reproduce_every_kind_of_input():
    for kind in KINDS:
        for X, dense, _ in matrices(kind, (7, 5), 5):
            found = inputs.Row(X, (7, 5)).factors
            np.testing.assert_allclose(found.dense(), dense, atol=1e-12)
            assert found.norm == pytest.approx(np.linalg.norm(dense, 2))
            assert (found.sizes > 0).all()
    assert inputs.Row(np.zeros((2, 2)), (2, 2)).factors.norm == 0.0


@pytest.mark.parametrize("X", [
    np.zeros((2, 2)), (3, 0), (0, 9), (0, 0, math.nan), (0.5, 1), (np.ones((3, 1)), np.ones((2, 1))), "cat",
    np.full((3, 4), np.nan), coo_matrix((2, 2)), (True, 1), (1, 2, 3, 4),
    np.full((3, 4), 1e80), (0, 0, 1e80), (["a"], ["b"]), None,
])  # fmt: skip
def test_bad_x_changes_nothing(X):
    learner = MatrixLearner(3, 4, radius=1.0)
    learner.update((0, 0), 1.0)
    before = learner.engine.H.copy(), learner.engine.scalars.copy()
    for act in (learner.predict, lambda x: learner.update(x, 0.5)):
        with pytest.raises(BadInput):
            act(X)
    np.testing.assert_array_equal(before[0], learner.engine.H)
    np.testing.assert_array_equal(before[1], learner.engine.scalars)


def test_bad_y_and_options():
    learner = MatrixLearner(3, 4, radius=1.0)
    for y in (2.0, math.nan, "high"):
        with pytest.raises(BadInput):
            learner.update((0, 0), y)
    assert learner.rounds == 0
    for options in ({"rows": 0}, {"rate": -1.0, "radius": 1.0}, {}, {"radius": math.inf},
                    {"radius": 1.0, "strategy": "guess"}, {"radius": 1.0, "method": "slow"},
                    {"rate": "mixture", "strategy": "tangent"}, {"radius": 1.0, "bound": 0.0}):  # fmt: skip
        with pytest.raises(BadInput):
            MatrixLearner(options.pop("rows", 3), 4, **options)
    tangent = MatrixLearner(3, 4, radius=1.0, rate=0.5, strategy="tangent")
    with pytest.raises(BadInput, match="lower the rate"):
        tangent.update((0, 0, 3.0), 0.5)
    with pytest.raises(BadInput, match=r"X\[1\].*lower the rate"):
        tangent.run([(0, 0), (0, 0, 3.0)], [0.5, 0.5])
    assert tangent.rounds == 0 and not tangent.engine.H.any()
    assert learner.certificate().bound(radius=2.0) == math.inf > learner.certificate().realised(radius=2.0)
    for call in (lambda: learner.update((0, 0), 0.5, 2.0), lambda: learner.run([(0, 0)], [0.5], [3.0]), lambda: learner.run([(0, 0)], [])):
        with pytest.raises(BadInput):
            call()
    for w in (np.zeros((2, 2)), "cat", np.full((3, 4), math.nan)):
        with pytest.raises(BadInput):
            learner.certificate().realised(w)


@pytest.mark.parametrize("kind, shape", [("entry", (40, 50)), ("low-rank", (40, 50)), ("dense", (3, 4))])
@pytest.mark.parametrize("strategy, rate", RULES)
def test_a_saved_learner_resumes_bit_for_bit(strategy, rate, kind, shape):
    learner = MatrixLearner(*shape, radius=3.0, rate=rate, strategy=strategy)
    stream = list(matrices(kind, shape, 12))
    if strategy == "tangent" and not isinstance(rate, str):
        stream = [(X, dense, y) for X, dense, y in stream if np.linalg.norm(dense, 2) < 5.0]
    for X, _, y in stream[:6]:
        learner.update(X, y)
    header, arrays = learner.state_dict()
    other = MatrixLearner.from_state(json.loads(json.dumps(header)), arrays)
    for X, _, y in stream[6:]:
        assert other.predict(X) == learner.predict(X)
        for one in (other, learner):
            one.update(X, y)
    assert other.certificate().to_dict() == learner.certificate().to_dict()


def test_zero_x_plays_zero():
    learner = MatrixLearner(2, 2, radius=1.0)
    assert learner.predict(np.zeros((2, 2))) == 0.0
    learner.update(np.zeros((2, 2)), 1.0)
    assert learner.certificate().valid
