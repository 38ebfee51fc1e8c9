"""The pieces of Auto's loops that work on eight numbers at once, each against its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

from burkholder import losses
from burkholder.auto import Auto
from burkholder.auto.features import CONSTANT, GROWTH
from burkholder.auto.state import DELAY, FEATURES, UNIT

RNG = np.random.default_rng(0)


def test_the_logistic_loss_of_a_run_is_the_loss_of_its_predictions():
    X = RNG.normal(size=(203, 3))
    y = np.where(RNG.random(203) < 0.3, 1.0, -1.0)
    run = Auto("logistic").run(X, y)
    paid = [losses.value(losses.Logistic(), float(p), float(label)) for p, label in zip(run.predictions, y)]
    assert np.allclose(run.losses, paid, rtol=1e-14)


def scaled_both_ways(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x̂ and x̃ of every entry, feature by feature, as features.py says in words."""
    hat, tilde = np.zeros_like(X), np.zeros_like(X)
    for i, column in enumerate(X.T):
        height, values, dense = 0.0, [], False
        for t, x in enumerate(column):
            if abs(x) > height:
                height = abs(x) if height == 0.0 else min(abs(x), GROWTH * height)
            if x != 0.0:
                values.append(min(max(x, -height), height))
            n, count = t + 1.0, len(values)
            dense = 2 * count >= n or (dense and 4 * count >= n)
            if height == 0.0:
                continue
            z = np.array(values) / height
            hat[t, i] = min(max(x / height, -1.0), 1.0)
            if dense:
                mean = z.sum() / n
                variance = (z**2).sum() / n - mean**2
                tilde[t, i] = (hat[t, i] - mean) / math.sqrt(variance) if variance > max(CONSTANT, 1e-14) else 0.0
            else:
                tilde[t, i] = hat[t, i] / math.sqrt((z**2).mean())
    return hat, tilde


@pytest.mark.parametrize("features", [1, 7, 8, 9, 30])
def test_features_are_scaled_as_defined(features):
    rng = np.random.default_rng(features)
    X = rng.normal(size=(120, features)) * rng.choice([0.0, 1.0], p=[0.5, 0.5], size=(120, features))
    X[:, 0] = 2.0
    X[60:, features // 2] *= 1e-3
    X[:, -1] *= np.exp(rng.normal(size=120))
    hat, tilde = scaled_both_ways(X)
    learner = Auto("squared", full_features=0)
    for t, x in enumerate(X):
        row = sp.csr_matrix(x[None])
        learner.predict(row)
        slots = {int(learner.state.slot_of[i]): i for i in range(features) if i < len(learner.state.slot_of)}
        for j in range(
            1 + sum(slot > 0 and (x[i] != 0 or slot in learner.state.dense[: learner.state.dense_count[0]]) for slot, i in slots.items())
        ):
            slot = int(learner.work.slot[j])
            if slot == 0:
                assert learner.work.hat[j] == learner.work.tilde[j] == 1.0
                continue
            assert learner.work.hat[j] == pytest.approx(hat[t, slots[slot]], abs=1e-14)
            assert learner.work.tilde[j] == pytest.approx(tilde[t, slots[slot]], rel=1e-7, abs=1e-7)
        learner.update(row, 1.0)


def test_full_lanes_are_kalman_filters_although_their_covariance_is_written_late():
    rng = np.random.default_rng(2)
    rounds, features = 61, 21
    X = rng.normal(size=(rounds, features)) * (rng.random((rounds, features)) < 0.7)
    X[:30, 15:] = 0.0  # features that appear late
    y = X @ rng.normal(size=features) + rng.normal(size=rounds)
    learner = Auto("squared", low=-1000.0, high=1000.0)
    plan, state = learner.plan, learner.state
    side = state.full_w.shape[1]
    w = np.zeros((plan.full_lanes, side))
    P = np.array([np.eye(side) * spec[1] for spec in state.full_spec])
    for t in range(rounds):
        learner.update(X[t], y[t])
        state, live = learner.state, int(learner.state.scalars[FEATURES])
        label, pending = y[t] / state.scalars[UNIT], (t + 1) % DELAY
        for k, (scaling, v0, q, _, _) in enumerate(state.full_spec):
            x = learner.work.spread[int(scaling)]
            low = np.flatnonzero(np.diag(P[k])[:live] < v0)
            P[k][low, low] += q
            column = P[k] @ x
            w[k] -= column * (w[k] @ x - label) / (1 + x @ column)
            P[k] -= np.outer(column, column) / (1 + x @ column)
            u, d = state.full_u[k, :pending], state.full_d[k, :pending]
            meant = state.full_p[k] + np.diag(state.full_drift[k]) - (u.T * d) @ u
            assert np.allclose(state.full_w[k], w[k], rtol=1e-9, atol=1e-12)
            assert np.allclose(meant, P[k], rtol=1e-9, atol=1e-9)
            assert np.allclose(state.full_variance[k], np.diag(P[k]), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("loss", ["logistic", "absolute"])
def test_with_many_features_the_loop_and_the_compiled_run_agree(loss):
    X = sp.random(250, 1500, density=0.02, random_state=4, format="csr")
    y = np.where(RNG.random(250) < 0.5, 1.0, -1.0)
    run, loop = Auto(loss).run(X, y), Auto(loss)
    predictions = []
    for t in range(250):
        predictions.append(loop.predict(X[t]))
        loop.update(X[t], y[t])
    assert np.array_equal(predictions, run.predictions)
    assert loop.cumulative_loss == pytest.approx(run.losses.sum(), rel=1e-12)
