"""The learner: predicting changes nothing, bad input changes nothing, late labels, names, repeatable runs."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE, Linear
from burkholder.learning.feature_maps import Parity
from burkholder.learning.learner import Learner
from burkholder.losses import Custom

NAMES = list(CATALOGUE)
COMPILED = [name for name, entry in CATALOGUE.items() if isinstance(entry.make(), Linear)]


def _make(name: str, **options) -> Learner:
    entry = CATALOGUE[name]
    return Learner(name, loss="squared" if entry.curved else "absolute", bound=1.0, **options)


def _rows(name: str, n: int = 25, seed: int = 0):
    rng = np.random.default_rng(seed)
    d = CATALOGUE[name].dims[-1]
    return rng.uniform(-0.5, 0.5, (n, d)), rng.uniform(-1, 1, n)


def _snapshot(learner: Learner):
    arrays = {key: value.tobytes() for key, value in learner.state.arrays().items()}
    rows = (learner.rows.kind, learner.rows.length, dict(learner.rows.names))
    return arrays, learner.ledger.tobytes(), rows, learner.pending


@pytest.mark.parametrize("name", NAMES)
def test_predicting_changes_nothing_and_runs_repeat(name):
    X, y = _rows(name)
    one, two = _make(name, seed=3), _make(name, seed=3)
    for x, label in zip(X, y):
        before = _snapshot(one)
        first = one.predict(x)
        assert one.predict(x) == first and abs(first) <= 1.0
        assert _snapshot(one) == before
        one.update(x, label)
        two.update(x, label)
    assert _snapshot(one)[:2] == _snapshot(two)[:2]


@pytest.mark.parametrize("name", NAMES)
def test_whole_arrays_equal_the_loop_bit_for_bit(name):
    X, y = _rows(name)
    loop, dense, csr = _make(name), _make(name), _make(name)
    predictions = []
    for x, label in zip(X, y):
        predictions.append(loop.predict(x))
        loop.update(x, label)
    assert dense.run(X, y, trace=3).predictions.tolist() == predictions
    assert csr.run(sparse.csr_matrix(X), y, trace=1).predictions.tolist() == predictions
    assert dense.cumulative_loss == loop.cumulative_loss == csr.cumulative_loss
    assert dense.potential() == loop.potential()


BAD_ROUNDS = {
    "nan feature": ([math.nan, 0.0], 0.5, 1.0),
    "inf feature": ([0.0, math.inf], 0.5, 1.0),
    "huge feature": ([1e200, 0.0], 0.5, 1.0),
    "too long": ([0.1, 0.2, 0.3], 0.5, 1.0),
    "too short": ([0.1], 0.5, 1.0),
    "text feature": (["a", "b"], 0.5, 1.0),
    "matrix": ([[0.1, 0.2]], 0.5, 1.0),
    "names after vectors": ({"a": 1.0}, 0.5, 1.0),
    "nan label": ([0.1, 0.2], math.nan, 1.0),
    "label outside": ([0.1, 0.2], 1.5, 1.0),
    "text label": ([0.1, 0.2], "x", 1.0),
    "negative weight": ([0.1, 0.2], 0.5, -1.0),
    "nan weight": ([0.1, 0.2], 0.5, math.nan),
}


@pytest.mark.parametrize("bad", BAD_ROUNDS)
@pytest.mark.parametrize("name", ["adagrad", "square-function", "adaptive-mahalanobis", "strongly-convex", "softmax"])
def test_bad_rounds_leave_the_learner_as_it_was(name, bad):
    options = {"geometry": "l2"} if name == "adaptive-mahalanobis" else {}
    loss = "squared" if CATALOGUE[name].curved else "absolute"
    learner = Learner(name, loss=loss, bound=1.0, **options)
    for x, y in [([0.3, -0.2], 0.5), ([0.1, 0.4], -0.5)]:
        learner.update(x, y)
    before = _snapshot(learner)
    x, y, weight = BAD_ROUNDS[bad]
    with pytest.raises(BadInput) as caught:
        learner.update(x, y, weight)
    assert "cannot be used" in str(caught.value)
    assert _snapshot(learner) == before


def test_a_bad_row_in_a_run_changes_nothing():
    learner = Learner("adagrad", loss="absolute", bound=1.0)
    learner.run(np.ones((3, 2)), [0.1, 0.2, 0.3])
    before = _snapshot(learner)
    for X, y in [
        (np.array([[1.0, 1.0], [np.nan, 1.0]]), [0.1, 0.2]),
        (np.ones((2, 2)), [0.1, 3.0]),
        (np.ones((2, 3)), [0.1, 0.2]),
        (np.ones((2, 2)), [0.1]),
    ]:
        with pytest.raises(BadInput):
            learner.run(X, y, trace=1)
        assert _snapshot(learner) == before


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("adagrad",), {"loss": "nope"}),
        (("adagrda",), {}),
        (("adagrad",), {"bound": 0.0}),
        (("adagrad",), {"bound": -1.0}),
        (("adagrad",), {"bound": math.nan}),
        (("adagrad",), {"radius": 0.0}),
        (("adagrad",), {"radius": math.inf}),
        (("adagrad",), {"geometry": "l1"}),
        (("adagrad",), {"wrong": 1}),
        (("square-function",), {"loss": "squared"}),  # no bound, so no Lipschitz constant
        (("strongly-convex",), {"loss": "absolute", "bound": 1.0}),
        (("strongly-convex",), {"loss": "logistic", "bound": 1.0}),
        (("mixture",), {"atoms": 0}),
        (("zigzag",), {"p": 1.0}),
        (("matrix",), {"shape": (0, 2)}),
        (("matrix",), {"version": "other"}),
        (("experts",), {"rate": None}),
        (("parameter-free",), {"geometry": "coordinates"}),
    ],
)
def test_bad_learners_are_refused(arguments, options):
    with pytest.raises(BadInput):
        Learner(*arguments, **options)


def test_late_labels_learn_from_what_was_played():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 2)), rng.uniform(-1, 1, 30)
    learner = Learner("adagrad", loss="absolute", bound=1.0)
    tickets = [learner.play(x) for x in X]
    assert all(ticket.prediction == 0.0 for ticket in tickets)  # nothing was learned yet
    order = rng.permutation(30)
    for k in order:
        learner.reveal(tickets[k].id, y[k])
    certificate = learner.certificate()
    assert certificate.cumulative_loss == pytest.approx(np.abs(y).sum())
    assert certificate.realised([0.3, 0.1]) == pytest.approx(-np.sign(-y) @ X @ [0.3, 0.1])
    delayed = next(a for a in certificate.assumptions if a.name == "labels in time")
    assert delayed.violations == 29 and not certificate.valid
    assert certificate.bound([0.3, 0.1]) == math.inf
    assert certificate.realised([0.3, 0.1]) <= certificate.corrected([0.3, 0.1]) + 1e-9
    regret = certificate.cumulative_loss - np.abs(X @ [0.3, 0.1] - y).sum()
    assert regret <= certificate.realised([0.3, 0.1]) + 1e-9


def test_labels_in_time_through_tickets_equal_updates():
    X, y = _rows("square-function")
    plain, late = _make("square-function"), _make("square-function")
    for x, label in zip(X, y):
        plain.update(x, label)
        ticket = late.play(x)
        assert late.pending == 1
        late.reveal(ticket.id, label)
    assert _snapshot(plain) == _snapshot(late)
    assert late.certificate().valid


@pytest.mark.parametrize("id", [1, 0, -3, 99, "a"])
def test_a_label_is_revealed_once(id):
    learner = _make("adagrad")
    ticket = learner.play([0.1, 0.2, 0.3])
    learner.reveal(ticket.id, 0.5)
    before = _snapshot(learner)
    with pytest.raises(BadInput, match="id"):
        learner.reveal(id, 0.5)
    assert _snapshot(learner) == before


def test_a_bad_label_keeps_the_ticket():
    learner = _make("adagrad")
    ticket = learner.play([0.1, 0.2, 0.3])
    with pytest.raises(BadInput):
        learner.reveal(ticket.id, math.nan)
    assert learner.pending == 1
    learner.reveal(ticket.id, 0.5)
    assert learner.rounds == 1


@pytest.mark.parametrize("name", [n for n in NAMES if CATALOGUE[n].make().growable])
def test_names_may_appear_at_any_time(name):
    """Named features in any order equal the vector with zeros in the places not yet seen."""
    if CATALOGUE[name].dims == (3,) or name in ("adaptive-schatten",):
        pytest.skip("this geometry fixes its dimension")
    named, vector = _make(name), _make(name)
    rows = [{"a": 0.5}, {"b": -0.3, "a": 0.2}, {"c": 0.4}, {"a": 0.1, "c": -0.5, "b": 0.2}]
    places = {"a": 0, "b": 1, "c": 2}
    for row in rows * 3:
        x = np.zeros(3)
        for key, value in row.items():
            x[places[key]] = value
        before = _snapshot(named)
        assert named.predict(row) == pytest.approx(vector.predict(x), rel=1e-12, abs=1e-15)
        assert _snapshot(named) == before
        named.update(row, 0.4)
        vector.update(x, 0.4)
    assert set(named.rows.names) == {"a", "b", "c"}
    assert named.certificate().realised({"a": 0.1}) == pytest.approx(vector.certificate().realised([0.1, 0, 0]))


def test_experts_cannot_appear_later():
    learner = Learner("experts", loss="absolute", bound=1.0)
    learner.update({"a": 0.5, "b": 0.1}, 0.3)
    before = _snapshot(learner)
    with pytest.raises(BadInput, match="cannot grow"):
        learner.update({"a": 0.5, "b": 0.1, "c": 0.2}, 0.3)
    assert _snapshot(learner) == before


@given(entries=st.lists(st.tuples(st.integers(0, 6), st.floats(-1, 1)), min_size=1, max_size=8), y=st.floats(-1, 1))
@pytest.mark.parametrize("name", ["adagrad", "square-function", "softmax", "strongly-convex"])
def test_repeated_indices_add_up(name, entries, y):
    merged, repeated = _make(name), _make(name)
    total = np.zeros(7)
    for index, value in entries:
        total[index] += value
    row = (np.array([index for index, _ in entries]), np.array([value for _, value in entries]))
    for _ in range(2):
        repeated.update(row, y)
        merged.update((np.arange(7), total), y)
    assert repeated.predict(row) == pytest.approx(merged.predict((np.arange(7), total)), abs=1e-12)


def test_an_intercept_is_a_feature_of_one():
    plain, own = _make("adagrad"), _make("adagrad", intercept=True)
    for x, y in zip(*_rows("adagrad")):
        plain.update(np.concatenate([[1.0], x]), y)
        own.update(x, y)
    x = np.array([0.1, 0.2, 0.3])
    assert own.predict(x) == plain.predict(np.concatenate([[1.0], x]))


def test_parities_compete_with_trees():
    """Depth-two trees over ±1 inputs are linear in the monomials of degree two: the loss goes to zero."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], (600, 4))
    y = np.where(X[:, 0] > 0, X[:, 1], -X[:, 2])  # a tree of depth 2
    learner = Learner("adagrad", loss="absolute", bound=1.0, features=Parity(2), radius=0.5)
    losses = []
    for x, label in zip(X, y):
        losses.append(abs(learner.predict(x) - label))
        learner.update(x, label)
    assert np.mean(losses[:20]) > 0.2 and np.mean(losses[-100:]) < 0.02
    tree = {"1": 0.5, "0*1": 0.5, "2": -0.5, "0*2": 0.5}  # ½x₁(1+x₀) − ½x₂(1−x₀)
    certificate = learner.certificate()
    assert certificate.cumulative_loss <= certificate.bound(tree) + 1e-9


def test_parity_counts_monomials():
    assert len(Parity(3)([1.0] * 5)) == 1 + 5 + 10 + 10
    assert Parity(2)((np.array([4, 2]), np.array([2.0, 3.0]))) == {"(one)": 1.0, "2": 3.0, "4": 2.0, "2*4": 6.0}
    with pytest.raises(BadInput):
        Parity(-1)
    with pytest.raises(BadInput):
        Parity(5, most=10)([1.0] * 10)


def test_weights_of_tangent_learners_predict():
    learner = Learner("adagrad", loss="logistic")
    for x, y in zip(*_rows("adagrad")):
        learner.update(x, 1 if y > 0 else -1)
    x = np.array([0.3, -0.1, 0.2])
    assert learner.predict(x) == pytest.approx(float(learner.weights() @ x), rel=1e-12)


def test_importance_weights_scale_loss_and_derivative():
    twice, weighted = (Learner("smoothness", loss="squared", bound=1.0, tangent=True) for _ in range(2))
    twice.update([0.5], 0.4)
    weighted.update([0.5], 0.4, weight=2.0)
    assert weighted.cumulative_loss == 2 * twice.cumulative_loss
    assert weighted.predict([1.0]) == pytest.approx(2 * twice.predict([1.0]))


def test_a_loss_of_ones_own():
    logcosh = Custom(lambda p, y: math.log(math.cosh(p - y)), lambda p, y: math.tanh(p - y), 1.0)
    learner = Learner("square-function", loss=logcosh, bound=2.0)
    X, y = _rows("square-function", 60)
    run = learner.run(X, y)
    assert run.losses.sum() == pytest.approx(learner.cumulative_loss)
    assert run.certificate.realised([0.1, 0.1, 0.1]) <= run.certificate.bound([0.1, 0.1, 0.1])


@pytest.mark.parametrize("name", COMPILED)
@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e149])
def test_features_of_every_size(name, scale):
    learner = _make(name)
    X, y = _rows(name, 12)
    for x, label in zip(X * scale, y):
        assert math.isfinite(learner.predict(x))
        learner.update(x, label)
        assert math.isfinite(learner.potential())
    assert all(np.all(np.isfinite(part)) for part in learner.state.tau())


def test_empty_rows_are_rounds():
    learner = Learner("square-function", loss="absolute", bound=1.0)
    learner.update({}, 0.5)
    learner.update({"a": 1.0}, 0.5)
    assert learner.rounds == 2 and learner.cumulative_loss >= 0.5


@pytest.mark.parametrize("name", ["adagrad", "square-function", "softmax", "strongly-convex"])
def test_copies_are_independent(name):
    """A copy goes its own way: learning with one leaves the other alone, names and quick rounds included."""
    one = _make(name)
    rows = [{"a": 0.5, "b": 0.1}, {"a": -0.2, "b": 0.4}, {"a": 0.3, "b": 0.3}]
    for row in rows:
        one.update(row, 0.4)
    two = copy.deepcopy(one)
    before = _snapshot(one)
    for row in rows:
        two.update(row, -0.7)
    assert _snapshot(one) == before and two.rounds == 6
    for row in rows:
        one.update(row, -0.7)
    assert _snapshot(one) == _snapshot(two)


@pytest.mark.parametrize(
    "x", [[1.0, 2.0, 3.0, 4.0, 5.0], {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}, (np.array([4]), np.array([1.0]))]
)
@pytest.mark.parametrize("name", ["parameter-free-linf", "adaptive-schatten"])
def test_functions_made_for_so_many_features_refuse_more(name, x):
    learner = Learner(name, loss="absolute", bound=1.0)
    for work in (lambda: learner.predict(x), lambda: learner.update(x, 0.5), lambda: learner.play(x)):
        with pytest.raises(BadInput, match="feature"):
            work()
    assert learner.rounds == 0 and learner.rows.kind is None


@pytest.mark.parametrize("name", ["adaptive-mahalanobis", "adaptive-group"])
@pytest.mark.parametrize("features", [1, 2, 3, 7])
def test_structured_norms_go_on_beyond_what_they_name(name, features):
    learner = Learner(name, loss="absolute", bound=1.0)
    X = np.random.default_rng(0).standard_normal((30, features))
    run = learner.run(X, np.sign(X[:, 0]))
    certificate = run.certificate
    assert certificate.valid and certificate.realised() <= certificate.bound() < np.inf
    geometry = learner.function.geometry
    for g, w in zip(X, X[::-1]):
        assert w @ g <= geometry.dual(w) * geometry.norm(g) * (1 + 1e-12)
