"""Auto's certificate against brute force: no lane and no linear comparator beats what it promises."""

from __future__ import annotations

import json
import math

import cvxpy
import numpy as np
import pytest

import hindsight
from auto_streams import CLASSES, LOSSES, each_loss, stream
from burkholder import losses
from burkholder.auto import Auto
from burkholder.auto.plan import BETTING, RADII, lane_names, prior
from burkholder.auto.state import ETA, GAP, HAT_SQUARES, HIGH, LABEL_SQUARES, LABELS, LEARNT_LOSS, LEARNT_REST, LOW, RANGE, STEEPEST, UNIT
from burkholder.errors import BadInput


def scaled_rows(X: np.ndarray) -> np.ndarray:
    """x̂ with the constant first: each value over its running maximum, which grows ten times at most at once."""
    out = np.ones((len(X), X.shape[1] + 1))
    for i in range(X.shape[1]):
        height = 0.0
        for t, x in enumerate(X[:, i]):
            if abs(x) > height:
                height = abs(x) if height == 0.0 else min(abs(x), 10.0 * height)
            out[t, i + 1] = 0.0 if height == 0.0 else min(max(x / height, -1.0), 1.0)
    return out


def adversarial(loss: str, rounds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Jumping scales, and labels without any pattern."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 4)) * np.exp(rng.normal(size=(rounds, 4)))
    y = rng.choice([-1.0, 1.0], size=rounds) if loss in ("logistic", "hinge") else rng.standard_t(3, size=rounds)
    return X, y


@each_loss
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_lane_beats_the_aggregate_by_more_than_its_cost(loss, options, seed):
    X, y = adversarial(loss, 250, seed)
    learner = Auto(loss, **options)
    certificate = learner.run(X, y).certificate
    scalars = learner._scalars
    learnt = (scalars[LEARNT_LOSS] + scalars[LEARNT_REST]) * learner._loss_unit  # lanes are compared on the labels as they were learned
    for lane in certificate.lanes:
        assert learnt <= lane.loss + lane.cost + 1e-9 * (1 + lane.loss)
    assert certificate.rounds == 250
    cost, lost = certificate.others[:2]
    assert lost.value <= cost.value and lost.comparators == cost.comparators
    if certificate.valid:  # otherwise lanes are compared on the labels as they were learned
        ahead = learner.cumulative_loss - min(lane.loss for lane in certificate.lanes)
        assert lost.value == pytest.approx(ahead, abs=1e-9 * learner.cumulative_loss)


@each_loss
def test_lane_losses_are_what_the_lanes_really_lost(loss, options):
    X, y = stream(loss, rounds=120)
    learner = Auto(loss, effort="light", **options)
    record = losses.get(loss, **options)
    total = np.zeros(learner.plan.lanes)
    for x, label in zip(X, y):
        learner.predict(x)
        unit = learner.state.scalars[3]
        for k in range(learner.plan.lanes):
            total[k] += losses.value(record, learner.work.played[k] * unit, label)
        learner.update(x, label)
    claimed = np.array([lane.loss for lane in learner.certificate().lanes])
    assert np.allclose(claimed, total, rtol=1e-9)


@each_loss
@pytest.mark.parametrize("seed", [0, 1])
def test_no_linear_comparator_beats_the_regret_bound(loss, options, seed):
    X, y = adversarial(loss, 200, seed)
    learner = Auto(loss, **options)
    certificate = learner.run(X, y).certificate
    record = losses.get(loss, **options)
    rows = scaled_rows(X)
    rng = np.random.default_rng(seed)
    for tangent in certificate.linear[:-1]:
        bound = certificate.bound(radius=tangent.radius)
        best = math.inf
        for _ in range(300):
            u = rng.choice([-1.0, 0.0, 1.0], size=5) * rng.random(5) ** rng.integers(0, 3) * tangent.radius
            best = min(best, sum(losses.value(record, float(p), float(label)) for p, label in zip(rows @ u, y)))
        assert learner.cumulative_loss <= best + bound + 1e-9


def best_loss(record, rows: np.ndarray, y: np.ndarray, radius: float) -> float:
    """The least total loss of a linear u with |u_i| ≤ radius, by a convex solver."""
    u = cvxpy.Variable(rows.shape[1])
    problem = cvxpy.Problem(cvxpy.Minimize(hindsight._total(record, rows @ u, y)), [cvxpy.abs(u) <= radius])
    problem.solve(solver=cvxpy.CLARABEL)
    found = np.clip(u.value, -radius, radius)
    return sum(losses.value(record, float(p), float(label)) for p, label in zip(rows @ found, y))


@each_loss
@pytest.mark.parametrize("make", [adversarial, lambda loss, rounds, seed: stream(loss, rounds, 4, seed)], ids=["any", "signal"])
def test_realised_covers_the_true_regret_and_stays_below_the_bound(loss, options, make):
    X, y = make(loss, 150, 4)
    learner = Auto(loss, **options)
    certificate = learner.run(X, y).certificate
    assert certificate.valid
    record, rows = losses.get(loss, **options), scaled_rows(X)
    largest = certificate.linear[2].radius
    for radius in (0.0, 0.03 * largest, 0.3 * largest, 3.0 * largest):
        regret = learner.cumulative_loss - best_loss(record, rows, y, radius)
        assert certificate.realised(radius=radius) >= regret - 1e-7 * (1 + abs(regret))
    for tangent in certificate.linear[:-1]:
        assert certificate.realised(radius=tangent.radius) <= certificate.bound(radius=tangent.radius) < math.inf
    assert certificate.bound(radius=2.0 * largest) == math.inf > certificate.realised(radius=2.0 * largest)


@each_loss
def test_realised_is_what_the_tangent_lanes_show(loss, options):
    """Round by round: Auto's loss less a lane's (as played, clipped), plus Σδŷ + r·Σ_i|Σδx̂_i|, the least over the lanes."""
    X, y = stream(loss, rounds=80, features=4)
    learner, record, rows = Auto(loss, **options), losses.get(loss, **options), scaled_rows(X)
    first = learner.plan.tangents
    total, bias, g = np.zeros(4), np.zeros(4), np.zeros((4, rows.shape[1]))
    for x, row, label in zip(X, rows, y):
        learner.predict(x)
        unit = learner.state.scalars[UNIT]
        for k in range(4):
            out = learner.work.out[first + k] * unit
            delta = losses.derivative(record, out, label)
            total[k] += losses.value(record, learner.work.played[first + k] * unit, label)
            bias[k] += delta * out
            g[k] += delta * row
        learner.update(x, label)
    for radius in (0.0, 0.5, 40.0):
        shown = min(learner.cumulative_loss - total + bias + radius * np.abs(g).sum(axis=1))
        # predictions are rounded to a millionth and clipped; what that may cost is included
        slack = 1e-4 * (1 + np.abs(g).sum()) + float(learner.state.clip_cost.max()) * unit**record.degree
        assert shown - 1e-6 * abs(shown) - 1e-6 <= learner.certificate().realised(radius=radius) <= shown + slack


@pytest.mark.parametrize("radius", [-1.0, math.nan, math.inf, "wide"])
def test_realised_refuses_what_is_no_radius(radius):
    certificate = Auto("logistic").run(np.eye(3), [1, 0, 1]).certificate
    with pytest.raises(BadInput, match="radius"):
        certificate.realised(radius=radius)


def test_the_potential_of_the_tangent_lanes_never_rises_in_classification():
    X, y = adversarial("logistic", 150, 3)
    learner = Auto("logistic")
    before = [0.0] * len(RADII)
    for x, label in zip(X, y):
        learner.update(x, label)
        now = [lane.potential for lane in learner.certificate().linear[:-1]]
        assert all(b <= a + 1e-9 for a, b in zip(before, now))
        before = now


@each_loss
def test_the_costs_are_those_of_the_theory(loss, options):
    X, y = adversarial(loss, 99, 0)
    learner = Auto(loss, effort="light", **options)
    certificate = learner.run(X, y).certificate
    weights, scalars = prior(learner.plan), learner.state.scalars
    assert sum(weights) == pytest.approx(1.0)
    assert len(lane_names(learner.plan)) == learner.plan.lanes == len(weights)
    unit = scalars[UNIT] ** (2 if loss in ("squared", "huber") else 1)
    if loss == "logistic":
        assert (scalars[ETA], scalars[GAP]) == (1.0, 0.0)
    else:  # η follows ln K/GAP, and is lowered when it is due to fall by a twentieth
        due = math.log(learner.plan.lanes) / max(scalars[GAP], 0.1 * scalars[RANGE])
        assert due <= scalars[ETA] <= due / 0.95
    for lane, weight in zip(certificate.lanes, weights):
        cost = (math.log(1 / weight) + 0.3 * math.log(100)) / scalars[ETA] + scalars[GAP]
        assert lane.cost == pytest.approx(max(cost * unit, learner.cumulative_loss - lane.loss))


@each_loss
def test_the_mix_loss_and_the_gap_are_those_of_brute_force(loss, options):
    """Weights, rate and gap again from the lanes' predictions alone, by the formulas of the aggregation."""
    X, y = adversarial(loss, 60, 4)
    learner, record = Auto(loss, effort="light", **options), losses.get(loss, **options)
    start = np.array(prior(learner.plan))
    w, eta, gap, spread = start.copy(), 1.0 if loss == "logistic" else 0.0, 0.0, 0.0
    for t, (x, label) in enumerate(zip(X, y)):
        yhat, scale = learner.predict(x), learner.state.scalars[UNIT]
        lost = np.array([losses.value(record, p * scale, label) for p in learner.work.played[: learner.plan.lanes]])
        learner.update(x, label)
        paid = losses.value(record, yhat, label)
        if loss != "logistic":
            spread = max(spread, np.ptp(lost))
            if spread == 0.0:
                continue
            eta = eta or math.log(len(w)) / max(gap, 0.1 * spread)
        mixed = -math.log(w @ np.exp(-eta * (lost - paid))) / eta
        if loss == "logistic":
            assert mixed == pytest.approx(0.0, abs=1e-9)
        else:
            gap += max(0.0, -mixed)
        w = w * np.exp(-eta * (lost - lost.min()))
        w = (1 - 0.3 / (t + 2)) * w / w.sum() + 0.3 / (t + 2) * start
        if loss != "logistic" and math.log(len(w)) / max(gap, 0.1 * spread) < 0.95 * eta:
            lower = math.log(len(w)) / max(gap, 0.1 * spread)
            w, eta = start * (w / start) ** (lower / eta), lower
            w /= w.sum()
    assert learner.state.weight[: len(w)] == pytest.approx(w, rel=1e-6, abs=1e-12)
    unit = learner.state.scalars[UNIT] ** (2 if loss in ("squared", "huber") else 1)
    assert learner.state.scalars[GAP] * unit == pytest.approx(gap, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("loss", ["logistic", "absolute"])
def test_the_betting_lane_plays_the_slope_of_its_potential(loss):
    X, y = stream(loss)
    learner = Auto(loss)
    learner.run(X[:300], y[:300])
    place, told = lane_names(learner.plan).index("betting"), 0
    scalars, work, at = learner.state.scalars, learner.work, 16 * learner.plan.groups + BETTING
    steep = 1.0 if loss in CLASSES else scalars[STEEPEST]
    size = 1.0 if loss in CLASSES else math.sqrt(scalars[LABEL_SQUARES] / scalars[LABELS])
    low, high = (-30.0, 30.0) if loss in CLASSES else (scalars[LOW], scalars[HIGH])
    for x in X[300:]:
        learner.predict(x)
        slots = [0, *(1 + np.flatnonzero(x != 0.0))]
        count = next(k for k in range(len(work.slot)) if work.hat[k] == 0.0 and work.tilde[k] == 0.0)
        assert count >= len(slots)  # features that are mostly there are visited when absent, with x̂ = 0 or not
        g, s = (learner.state.lanes[work.slot[:count], at + shift] for shift in (0, 4))
        d = steep**2 + s
        pull = steep**2 * g * d**-1.5 * np.exp(np.minimum(g**2 / (2.0 * d), 50.0))
        expected = -size / math.sqrt(max(scalars[HAT_SQUARES], 1.0)) * float(pull @ work.hat[:count])
        told += low < expected < high and abs(expected) > 0.05 * size
        assert work.out[place] == pytest.approx(min(max(expected, low), high), rel=1e-6, abs=2.0**-20)
    assert told > 20


def test_a_clipped_label_is_counted_and_the_certificate_says_what_still_holds():
    X, y = stream("absolute", rounds=100)
    clean = Auto("absolute").run(X, y).certificate
    assert clean.valid and all(guarantee.holds for guarantee in clean.guarantees)
    y[50] = 1e12
    broken = Auto("absolute").run(X, y).certificate
    assert broken.assumptions[0].violations == 1 and broken.realised() == math.inf
    assert not broken.valid
    assert "those labels" in str(broken)


def test_heavy_weights_are_charged():
    X, y = adversarial("logistic", 200, 5)
    learner = Auto("logistic")
    weight = np.where(np.arange(200) % 3 == 0, 5.0, 1.0)
    learner.run(X, y, weight)
    certificate = learner.certificate()
    for lane in certificate.lanes:
        assert learner.cumulative_loss <= lane.loss + lane.cost
    assert any("weight above 1" in note for note in certificate.notes)


def test_the_certificate_is_plain_data():
    certificate = Auto("logistic").run(np.eye(3), [1, 0, 1]).certificate
    data = certificate.to_dict()
    assert {"lanes", "radii", "comparators", "guarantees", "mean_loss"} <= set(data) and json.dumps(data)
    assert len(data["lanes"]) == len(certificate.lanes)
    assert "regret" in str(certificate)


def test_every_registered_loss_is_covered():
    assert {name for name, _ in LOSSES} == set(losses.LOSSES)
