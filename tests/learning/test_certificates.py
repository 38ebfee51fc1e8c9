"""Certificates: what they say when an assumption breaks, what clipping costs, and audits of other models."""

from __future__ import annotations

import json
import math

import cvxpy
import numpy as np
import pytest

from burkholder import Audit, BadInput, Learner, losses
from burkholder.losses.batch import values


def test_a_steep_derivative_is_counted_and_voids_the_promise_alone():
    learner = Learner("square-function", loss="absolute", bound=1.0, radius=1.0)
    for x, y in [([1.0, 0.0], 1.0), ([0.0, 1.0], -1.0)]:
        learner.update(x, y)
    assert learner.certificate().valid
    learner.update([1.0, 1.0], 0.5, weight=3.0)  # |δ| = 3 > L = 1
    certificate = learner.certificate()
    derivative = next(a for a in certificate.assumptions if a.name == "derivative")
    assert derivative.violations == 1 and derivative.worst == 3.0 and derivative.limit == 1.0
    assert "realised" in derivative.still_holds
    assert certificate.bound([0.1, 0.1]) == math.inf and certificate.bound([0.1, 0.1], nominal=True) < math.inf
    assert certificate.realised([0.1, 0.1]) <= certificate.corrected([0.1, 0.1])
    assert "VIOLATED 1 times" in str(certificate) and "VOID" in str(certificate)
    promised = next(g for g in certificate.guarantees if g.name == "promised regret")
    assert not promised.holds


@pytest.mark.parametrize("radius", [1e-3, 0.3, 1.0, 2.5, 40.0])
@pytest.mark.parametrize(("features", "rounds"), [(1, 60), (3, 200), (4, 2), (3, 0)])
def test_curvature_sharpens_the_realised_regret_over_a_ball_to_the_regret_itself(radius, features, rounds):
    """The squared loss is its own second-order expansion: with curvature nothing is lost against the best comparator."""
    rng = np.random.default_rng(features)
    X = rng.standard_normal((rounds, features))
    y = np.clip(X @ np.linspace(-0.8, 0.9, features) + 0.2 * rng.standard_normal(rounds), -1, 1)
    learner = Learner("strongly-convex", loss="squared", bound=1.0, intercept=False)
    predictions = np.zeros(rounds)
    for t in range(rounds):
        predictions[t] = learner.predict(X[t])
        learner.update(X[t], y[t])
    certificate = learner.certificate()
    realised = certificate.realised(radius=radius)
    if rounds == 0:
        assert realised == 0.0
        return
    w = cvxpy.Variable(features)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(X @ w - y)), [cvxpy.norm2(w) <= radius])
    problem.solve(solver=cvxpy.CLARABEL)
    paid = float(np.square(predictions - y).sum())
    assert realised == pytest.approx(paid - problem.value, abs=1e-6 * (1 + paid))
    plain = certificate.evidence.a + radius * float(np.linalg.norm(certificate.evidence.g))
    assert realised <= plain + 1e-12 * abs(plain) and realised <= certificate.corrected(radius=radius) + 1e-9 * (1 + paid)
    if features > 1 and radius >= 1.0:
        assert realised < 0.95 * plain
    for direction in rng.standard_normal((50, features)):
        inside = radius * rng.random() * direction / np.linalg.norm(direction)
        assert certificate.realised(inside) <= realised + 1e-9 * (1 + paid)


def test_large_features_are_counted():
    learner = Learner("parameter-free", loss="absolute", bound=1.0)
    learner.update([0.6, 0.8], 0.5)
    learner.update([3.0, 4.0], 0.5)
    features = next(a for a in learner.certificate().assumptions if a.name == "features")
    assert features.violations == 1 and features.worst == pytest.approx(5.0) and features.limit == 1.0


def test_tangent_rules_do_not_assume_a_lipschitz_constant():
    learner = Learner("adagrad", loss="squared")
    for _ in range(30):
        learner.update([1.0, 2.0], 50.0)
    certificate = learner.certificate()
    assert certificate.valid and all(a.name != "derivative" for a in certificate.assumptions)
    assert certificate.realised([0.5, 0.5]) <= certificate.bound([0.5, 0.5])


def test_clipping_a_loss_without_minimiser_is_charged():
    """Logistic at B = 1 on a separable stream: the true regret passes A, and A plus the slack covers it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 2))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    learner = Learner("adagrad", loss="logistic", bound=1.0, radius=8.0)
    run = learner.run(X, y)
    w = np.array([8.0, 0.0])
    regret = run.losses.sum() - values(losses.Logistic(), X @ w, y).sum()
    certificate = run.certificate
    assert certificate.slack > 0
    assert regret > certificate.bound(w) - certificate.slack  # A alone would be wrong
    assert regret <= certificate.realised(w) <= certificate.bound(w)
    assert any("clipping" in note for note in certificate.notes)


def test_clipping_is_free_when_the_minimiser_is_inside():
    rng = np.random.default_rng(0)
    X = 5 * rng.standard_normal((2000, 3))
    y = np.clip(X @ [0.2, 0.1, -0.3] + rng.standard_normal(2000), -1, 1)
    learner = Learner("adagrad", loss="absolute", bound=1.0, radius=5.0)
    learner.run(X, y)
    assert learner.ledger[11] > 0 and learner.certificate().slack == 0.0


@pytest.mark.parametrize("name", ["square-function", "adagrad", "adaptive-coordinates", "experts"])
def test_the_ball_is_the_supremum_over_comparators(name):
    rng = np.random.default_rng(1)
    learner = Learner(name, loss="absolute", bound=1.0)
    X = rng.uniform(-1, 1, (200, 3))
    learner.run(X, np.clip(X @ [0.5, 0.2, -0.4], -1, 1))
    certificate = learner.certificate()
    radius = None if name == "experts" else 1.0
    top = certificate.realised(radius=radius)
    w = learner.function.comparators(rng, 3000, 3)
    if name == "adaptive-coordinates":
        w = np.sign(w)
    found = max(certificate.realised(v) for v in w)
    assert found <= top + 1e-9
    assert found >= top - 0.05 * abs(top) - 0.5
    assert certificate.bound(radius=radius) >= max(certificate.bound(v) for v in w[:50]) - 1e-9


def test_questions_a_certificate_cannot_answer_are_refused():
    certificate = Learner("adaptive", loss="absolute", bound=1.0).certificate()
    for ask in (
        lambda: certificate.bound([1.0], radius=1.0),
        lambda: certificate.realised([1.0], radius=1.0),
        lambda: certificate.realised(radius=-1.0),
        lambda: certificate.realised([math.nan]),
    ):
        with pytest.raises(BadInput):
            ask()


def test_certificates_are_plain_data_too():
    learner = Learner("zigzag", loss="absolute", bound=1.0)
    learner.update({"a": 1.0}, 0.5)
    told = json.loads(json.dumps(learner.certificate().to_dict()))
    assert told["rounds"] == 1 and {g["name"] for g in told["guarantees"]} >= {"realised regret"}
    assert any("expectation" in note for note in told["notes"])


def test_names_that_came_later_are_not_in_an_earlier_certificate():
    learner = Learner("adagrad", loss="absolute", bound=1.0)
    learner.update({"a": 1.0}, 0.5)
    certificate = learner.certificate()
    learner.update({"b": 1.0}, 0.5)
    assert certificate.realised({"a": 0.3, "b": 0.0}) == certificate.realised({"a": 0.3})
    with pytest.raises(BadInput, match="never had"):
        certificate.realised({"b": 0.3})


def test_a_certificate_is_a_snapshot():
    learner = Learner("adagrad", loss="absolute", bound=1.0)
    learner.update([1.0], 0.5)
    certificate = learner.certificate()
    before = certificate.realised([0.3])
    for _ in range(10):
        learner.update([1.0], -0.5)
    assert certificate.realised([0.3]) == before


@pytest.mark.parametrize("loss", ["squared", "logistic", "absolute", "hinge"])
@pytest.mark.parametrize("kind", ["zero", "noise", "good"])
def test_audits_bound_the_regret_of_any_model(loss, kind):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((300, 3))
    truth = np.array([0.6, -0.3, 0.1])
    y = X @ truth + 0.2 * rng.standard_normal(300)
    if loss in ("logistic", "hinge"):
        y = np.where(y > 0, 1.0, -1.0)
    predictions = {"zero": np.zeros(300), "noise": rng.standard_normal(300), "good": X @ truth}[kind]
    audit = Audit(loss=loss)
    for x, p, label in zip(X, predictions, y):
        audit.update(x, p, label)
    certificate = audit.certificate()
    record = losses.get(loss)
    paid = values(record, predictions, y).sum()
    assert certificate.cumulative_loss == pytest.approx(paid)
    for w in [truth, np.zeros(3), *rng.standard_normal((20, 3))]:
        regret = paid - values(record, X @ w, y).sum()
        assert regret <= certificate.realised(w) + 1e-9
        assert certificate.realised(w) <= certificate.realised(radius=max(1e-9, float(np.linalg.norm(w)))) + 1e-9


def test_audits_agree_with_the_learners_own_certificate():
    rng = np.random.default_rng(3)
    learner, audit = Learner("adagrad", loss="logistic"), Audit(loss="logistic", geometry="coordinates")
    for _ in range(50):
        x, y = {"a": rng.normal(), "b": rng.normal()}, int(rng.integers(0, 2))
        audit.update(x, learner.predict(x), y)
        learner.update(x, y)
    assert audit.certificate().realised({"a": 0.4}) == pytest.approx(learner.certificate().realised({"a": 0.4}))
    assert audit.certificate().realised(radius=1.0) == pytest.approx(learner.certificate().realised(radius=1.0))


@pytest.mark.parametrize(
    "bad",
    [
        ([math.nan], 0.0, 0.0, 1.0),
        ([1.0], math.nan, 0.0, 1.0),
        ([1.0], 0.0, math.inf, 1.0),
        ([1.0, 2.0], 0.0, 0.0, 1.0),
        ([1.0], 0.0, 0.0, -1.0),
        ([1e150], 1e200, 0.0, 1e150),
    ],
)
def test_bad_rounds_leave_an_audit_as_it_was(bad):
    audit = Audit(loss="squared")
    audit.update([1.0], 0.5, 1.0)
    before = (audit.ledger.tobytes(), audit.certificate().realised([1.0]))
    with pytest.raises(BadInput):
        audit.update(*bad)
    assert (audit.ledger.tobytes(), audit.certificate().realised([1.0])) == before
