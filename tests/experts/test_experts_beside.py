"""The experts beside the user's: what they say, what they are good for, and what an absurd forecast may cost."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.experts import Experts
from burkholder.experts.beside import DRIFTS, LANES, LEVEL, PRIOR, SPEEDS


def reference(x, y, cut):
    """Debiased means and corrections word for word, with matrices; every expert awake, every label in time."""
    n, d = x.shape
    said = np.full((n, len(LANES)), np.nan)
    bias, errors, stretch = np.zeros(len(SPEEDS)), 0.0, []
    size = 2 + len(SPEEDS) + d
    w, noise, covs = np.zeros((len(DRIFTS), size)), [0.0] * len(DRIFTS), [None] * len(DRIFTS)
    prior = np.array([1.0, LEVEL, *[1.0] * (size - 2)]) / d
    for t in range(n):
        mean = x[t].mean()
        z = np.array([1.0, mean, *(bias if t else 0.0 * bias), *(x[t] - mean)])
        if t:
            said[t] = mean + np.array([*bias, *(w @ z)])
        error = y[t] - mean
        unit = max(abs(error), np.max(np.abs(x[t] - mean))) ** 2
        for f in range(len(DRIFTS)):
            if noise[f] == 0.0:
                noise[f], covs[f], w[f] = unit, np.diag(PRIOR * prior * [unit, *[1.0] * (size - 1)]), 0.0
            pull = covs[f] @ z
            total = noise[f] + pull @ z
            surprise = error - w[f] @ z
            w[f] += pull * np.clip(surprise, -cut * math.sqrt(noise[f]), cut * math.sqrt(noise[f])) / total
            covs[f] = covs[f] - np.outer(pull, pull) / total + np.diag(DRIFTS[f] * prior * [noise[f], *[1.0] * (size - 1)])
            noise[f] += max(0.01, 1 / (t + 2)) * (min(surprise**2, 9 * noise[f]) - noise[f])
        limit = 2 * errors / t if t else math.inf
        bias = bias + np.maximum(SPEEDS, 1 / (t + 2)) * np.clip(error - bias, -limit, limit)
        errors += abs(error)
        stretch.append(abs(error))
        if (t + 2).bit_count() == 1:  # stretches of 1, 2, 4, … rounds: what one did not come near is forgotten
            worst, stretch = max(stretch), []
            errors, bias = min(errors, worst * (t + 1)), np.clip(bias, -worst, worst)
            for f in np.flatnonzero(np.sqrt(noise) > 1024.0 * worst):
                noise[f], w[f] = 0.0, 0.0
    return said


@pytest.mark.parametrize("absurd", [1.0, 1e6])
@pytest.mark.parametrize("loss, cut", [("absolute", 1.0), ("squared", 2.0)])
def test_lanes_say_what_the_formulas_say(loss, cut, absurd):
    rng = np.random.default_rng(0)
    y = rng.normal(size=80)
    x = 0.3 + 1.2 * y[:, None] + rng.normal(size=(80, 3))
    x[0, 0] *= absurd
    run = Experts(loss).run(x, y)
    np.testing.assert_allclose(run.details["lanes"], reference(x, y, cut), rtol=1e-9, atol=1e-12)
    assert run.certificate.names[3:] == LANES and run.details["weights"].shape == (80, 3 + len(LANES))


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_what_all_experts_share_is_corrected(loss):
    """No mixture can: a bias, a wrong scale, one expert that should count negatively."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=1500)
    noise = rng.normal(size=1500)
    for x in (
        y[:, None] + 2.0 + 0.3 * rng.normal(size=(1500, 3)),
        0.5 * y[:, None] + 0.2 * rng.normal(size=(1500, 3)),
        np.column_stack([y + noise, y + 2.0 * noise + 0.1 * rng.normal(size=1500)]),
    ):
        mixed = Experts(loss, lanes=False).run(x, y).mean_loss
        assert Experts(loss).run(x, y).mean_loss < 0.75 * mixed


def test_lanes_cost_little_where_they_are_of_no_use():
    rng = np.random.default_rng(2)
    y = rng.normal(size=1500)
    x = y[:, None] + rng.normal(size=(1500, 3)) * [0.2, 1.0, 1.0]
    for loss in ("absolute", "squared"):
        assert Experts(loss).run(x, y).mean_loss < 1.02 * Experts(loss, lanes=False).run(x, y).mean_loss


@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("absurd", [59_820.0, 6.5e10, -1e150])
def test_an_absurd_forecast_costs_what_the_labels_explain(loss, absurd):
    rng = np.random.default_rng(3)
    y = 40.0 + rng.normal(size=400)
    x = y[:, None] + rng.normal(size=(400, 3))
    spoiled = x.copy()
    spoiled[100, 1] = absurd
    calm, hurt = Experts(loss).run(x, y), Experts(loss).run(spoiled, y)
    reach = 6.0 * np.ptp(y[:100])
    taken = hurt.details["forecasts"][100]
    assert abs(taken[1] - 40.0) < reach and taken[[0, 2]].tolist() == x[100, [0, 2]].tolist()
    assert abs(hurt.predictions[100] - y[100]) < reach
    assert hurt.losses[101:].mean() < 1.1 * calm.losses[101:].mean()
    assert hurt.certificate.bound() < 20.0 * calm.certificate.bound()  # and so does its promise


def test_forecasts_that_agree_are_believed():
    """Labels stood still, and then they do not: nobody is cut because the past was narrow."""
    rng = np.random.default_rng(4)
    y = np.r_[np.zeros(20), 1e-3, 50.0 + rng.normal(size=50)]
    x = y[:, None] + 0.1 * rng.normal(size=(71, 2))
    run = Experts().run(x, y)
    np.testing.assert_array_equal(run.details["forecasts"], x)
    alone = Experts()
    alone.run(np.full((20, 1), 3.0), 3.0 + rng.normal(size=20))
    assert (
        alone.predict([6.5e10]) < 1e5 and alone.predict([6.0]) > 4.0
    )  # a hundred times the largest label, and then some, is nobody's range


@settings(max_examples=25, deadline=None)
@given(st.floats(-12, 12), st.sampled_from(["absolute", "squared"]))
def test_the_first_round_s_scale_is_forgotten(power, loss):
    """A first spread 10¹² times too small, or a thousand times too large, changes the rounds that follow little."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=300)
    x = y[:, None] + rng.normal(size=(300, 4)) * [0.3, 1.0, 1.0, 1.0]
    usual = Experts(loss, lanes=False).run(x, y)
    x[0] = y[0] + (x[0] - y[0]) * 10.0 ** min(power, 3.0 if loss == "absolute" else 0.0)  # slopes grow with a large one
    odd = Experts(loss, lanes=False).run(x, y)
    assert odd.losses[50:].mean() < 1.1 * usual.losses[50:].mean()


@pytest.mark.parametrize("loss", ["absolute", "squared"])
@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("what", [59_820.0, 6.5e10, -1e150, "label"])
def test_an_absurd_beginning_is_forgotten(loss, lanes, what):
    """A forecast or a label that nothing explains, before labels can tell: some hundred rounds later it was never there."""
    rng = np.random.default_rng(8)
    y = 40.0 + 5.0 * np.sin(np.arange(1200) / 20.0) + rng.normal(size=1200)
    x = np.column_stack([y + rng.normal(size=1200), y + 3.0 + 2.0 * rng.normal(size=1200), np.full(1200, 38.0)])
    calm = Experts(loss, lanes=lanes).run(x, y).losses[600:].mean()
    for when in (0, 1, 2):
        spoiled, labels = x.copy(), y.copy()
        if what == "label":
            labels[when] = 1e9
        else:
            spoiled[when, 2] = what
        run = Experts(loss, lanes=lanes).run(spoiled, labels)
        assert run.losses[600:].mean() < 1.05 * calm
        assert run.certificate.realised() <= run.certificate.bound() < math.inf


def test_lanes_are_off_where_they_would_mean_nothing():
    assert not any(Experts(loss).lanes for loss in ("logistic", "hinge", "pinball"))
    assert not Experts("squared", method="boa").lanes and Experts("squared", method="boa", lanes=True).lanes
    with pytest.raises(ValueError, match="lanes"):
        Experts(lanes=1)


def test_many_experts_have_lanes_too():
    rng = np.random.default_rng(6)
    y = rng.normal(size=60)
    x = y[:, None] + 1.0 + rng.normal(size=(60, 200))
    learner = Experts("squared")
    run = learner.run(x, y)
    assert learner._beside.w.shape == (len(DRIFTS), 2 + len(SPEEDS) + 128) and np.isfinite(run.predictions).all()
    assert run.losses[20:].mean() < 0.5 * Experts("squared", lanes=False).run(x, y).losses[20:].mean()
    header, arrays = learner.state_dict()
    again = Experts.from_state(header, arrays)
    assert again.predict(x[0]) == learner.predict(x[0])
