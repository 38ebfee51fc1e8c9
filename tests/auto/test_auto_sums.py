"""Predicting many rows changes nothing, and the sums that certificates rest on are right to the last digits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

from burkholder import losses
from burkholder.auto import Auto, AutoMulticlass
from burkholder.auto.plan import BETTING
from burkholder.auto.state import CLIPPED_LABELS, FEATURES, LEARNT_LOSS, LEARNT_REST, LOSS, LOSS_REST, WEIGHT_SUM
from burkholder.auto.sums import two_sum
from burkholder.machine.memory import table

LOSSES = sorted(losses.LOSSES)


def stream(loss: str, rounds: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rounds, 6)) * (rng.random((rounds, 6)) < 0.7) * [1, 1, 50, 1, 0.01, 1]
    score = X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=rounds)
    return X, np.where(score > 0, 1.0, -1.0) if losses.get(loss).classes else score


def bits(state) -> list[bytes]:
    return [array.tobytes() for array in state]


@pytest.mark.parametrize("loss", LOSSES)
def test_predicting_many_rows_is_predicting_each_and_changes_nothing(loss):
    X, y = stream(loss)
    learner = Auto(loss)
    learner.run(scipy.sparse.csr_matrix(X[:300]), y[:300])
    before = bits(learner.state)
    wide = np.hstack([X[300:], np.eye(100)])  # with columns never seen, and an empty row
    wide[7] = 0.0
    wide = scipy.sparse.csr_matrix(wide)
    many = learner.predict_many(wide)
    assert bits(learner.state) == before
    each = [learner.predict(wide[t]) for t in range(wide.shape[0])]
    assert many.tobytes() == np.array(each).tobytes()
    assert bits(learner.state) == before
    assert learner.predict_many(wide[:0]).shape == (0,)


def test_probabilities_of_many_rows_are_those_of_each_and_change_nothing():
    X, score = stream("squared")
    learner = AutoMulticlass()
    learner.run(X[:300], np.digitize(score[:300], [-0.5, 0.5]))
    before = bits(learner._many), learner.way_losses.tobytes()
    many = learner.probabilities(X[300:])
    each = [list(learner.predict_proba(X[t]).values()) for t in range(300, 400)]
    assert many.tobytes() == np.array(each).tobytes()
    assert np.allclose(many.sum(axis=1), 1.0, atol=1e-12)
    assert (bits(learner._many), learner.way_losses.tobytes()) == before


def test_two_sum_loses_nothing():
    rng = np.random.default_rng(0)
    for a, b in rng.normal(size=(1000, 2)) * 10.0 ** rng.integers(-30, 30, size=(1000, 2)):
        total, rest = two_sum(float(a), float(b))
        assert total == a + b
        assert Fraction(total) + Fraction(rest) == Fraction(float(a)) + Fraction(float(b))


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_are_summed_as_if_rounded_once(loss):
    X, y = stream(loss)
    learner = Auto(loss)
    run = learner.run(X, y)
    s = learner._scalars
    exact = math.fsum(run.losses / learner._loss_unit)
    terms = math.fsum(np.abs(run.losses)) / learner._loss_unit
    # the losses handed back were multiplied by the unit: one rounding each
    assert abs((s[LOSS] - exact) + s[LOSS_REST]) <= 3e-16 * terms
    assert s[CLIPPED_LABELS] > 0.0 or (s[LEARNT_LOSS], s[LEARNT_REST]) == (s[LOSS], s[LOSS_REST])


def test_the_rest_is_what_a_plain_sum_loses():
    X, y = stream("logistic")
    learner = Auto("logistic")
    run = learner.run(np.tile(X, (20, 1)), np.tile(y, 20))
    s, plain = learner._scalars, 0.0
    for paid in run.losses:
        plain += paid
    assert s[LOSS] == plain
    assert s[LOSS_REST] != 0.0
    assert s[LOSS] + s[LOSS_REST] == math.fsum(run.losses)
    assert s[WEIGHT_SUM] == 8000.0


def test_sizes_bound_what_they_are_sizes_of():
    X, y = stream("logistic")
    learner = Auto("logistic")
    last, strain = np.zeros(4), np.zeros(4)
    for x, label in zip(X, y):
        learner.update(x, label)
        g = learner.state.lanes[: int(learner.state.scalars[FEATURES]), 16:20]
        strain += np.abs(g).sum(axis=0)  # every feature, also those that the row did not touch
        last = np.abs(g).max(axis=0)
    state = learner.state
    assert np.all(np.abs(state.bias) <= state.bias_size) and np.all(state.bias_size > 0.0)
    assert np.all(state.push >= last)  # |g_i| ≤ Σ|δ||x̂_i|
    assert np.all(state.strain >= last) and np.all(state.strain <= strain * (1 + 1e-12))
    assert np.all(state.bias_rest != 0.0) and np.all(np.abs(state.bias_rest) <= 400 * 2.0**-53 * state.bias_size)
    assert BETTING == 3


def test_lane_losses_carry_their_rest():
    X, y = stream("absolute")
    learner, played = Auto("absolute"), []
    for x, label in zip(X, y):
        before = learner.state.lane_loss + learner.state.lane_rest
        learner.update(x, label)
        played.append((learner.state.lane_loss - before) + learner.state.lane_rest)
    lanes = learner.plan.lanes
    assert np.any(learner.state.lane_rest[:lanes] != 0.0)
    off = learner.state.lane_loss[0] + learner.state.lane_rest[0] - math.fsum(step[0] for step in played)
    assert abs(off) <= 1e-13 * learner.state.lane_loss[0]


def test_tables_refuse_what_the_loops_could_not_read():
    learner = Auto("logistic")
    for wrong in (learner.state.bias.astype(np.float32), learner.state.lanes, np.zeros(8)[::2]):
        with pytest.raises(TypeError):
            table(learner.state._replace(bias=wrong))
