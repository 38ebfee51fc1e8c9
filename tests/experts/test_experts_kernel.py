"""Huber-root's kernels against high precision, against brute force, and at the ends of the floats."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import mpmath
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder import losses
from burkholder.experts import huber_root
from burkholder.experts.scale import rate


@numba.njit
def predict(state, x):
    return huber_root.predict(state, x)


@numba.njit
def update(state, x, yhat, delta):
    huber_root.update(state, x, yhat, delta)


@numba.njit
def sweep(state, loss, forecasts, y):
    predictions = np.empty(y.size)
    for t in range(y.size):
        predictions[t] = huber_root.predict(state, forecasts[t])
        huber_root.update(state, forecasts[t], predictions[t], losses.derivative(loss, predictions[t], y[t]))
    return predictions


def lately(rounds):
    """Of n rounds those of the stretch that runs, and of the one before it; stretches are of 1, 2, 4, … rounds."""
    return rounds[2 ** ((len(rounds) + 1).bit_length() - 2) - 1 :]


def reference(x, slope, lipschitz, rates, shares):
    """Theory 2.1 word for word in 50 digits: roots by bisection, W itself, no units factored out.

    Rates are those of all whole numbers: a window of them is remembered, and W = 1 outside. Hands back W and the window's first.
    """
    mpmath.mp.dps = 50
    n, d = x.shape
    W, start = defaultdict(lambda: mpmath.mpf(1)), 0
    L = first_L = mpmath.mpf(lipschitz) if lipschitz else None
    h, born, played, spreads, slopes = None, set(), [], [], []
    for t in range(n):
        awake = [j for j in range(d) if not math.isnan(x[t, j])]
        born |= set(awake)
        row = {j: mpmath.mpf(float(x[t, j])) for j in awake}
        mean = sum(row.values()) / len(row)
        widest = max(abs(entry - mean) for entry in row.values())
        if h is None and widest > 0:
            h = widest
        moves = h is not None and L is not None

        def first_of_use(L=L, first_L=first_L, h=h):
            typical = L * sum(lately(spreads)) / len(lately(spreads)) if spreads else first_L * h
            return int(mpmath.ceil(mpmath.log(1024 * typical / (16 * first_L * h), 2) - mpmath.mpf(10) ** -30))

        first = min(max(first_of_use(), start), start + rates - 1) if moves else None

        def z(k, j, yhat, row=row, L=L, first_L=first_L, h=h, first=first):
            clip = mpmath.mpf(1) / 2 / L
            eta = 1024 * mpmath.mpf(2) ** (-k) / (first_L * h)
            if not first <= k < first + 16:
                return mpmath.mpf(0)  # too large or too small for the mean spread of late: asleep
            return min(max(eta * (yhat - row[j]), -clip), clip)

        if not moves:
            yhat = mean
        else:
            low, high = min(row.values()), max(row.values())
            for _ in range(170):
                yhat = (low + high) / 2
                f = sum(W[k, a, j] * z(k, j, yhat) for k in range(start, start + rates) for a in shares for j in awake)
                low, high = (yhat, high) if f < 0 else (low, yhat)
        played.append(yhat)
        delta = mpmath.mpf(slope(float(yhat), t))
        if moves:
            seen = min(max(delta, -L), L)
            for k in range(start, start + rates):
                for a in shares:
                    for j in awake:
                        W[k, a, j] *= 1 + seen * z(k, j, yhat)
                    level = sum(W[k, a, j] for j in born) / len(born)
                    for j in born:
                        W[k, a, j] = (1 - mpmath.mpf(a)) * W[k, a, j] + mpmath.mpf(a) * level
        if widest > 0:
            spreads.append(widest)
        if not lipschitz and abs(delta) > 0:
            first_L = abs(delta) if first_L is None else first_L
            L = abs(delta) if L is None else max(L, min(abs(delta), 2 * L))
        slopes.append(abs(delta))
        if widest > 0 and (len(spreads) + 1).bit_count() == 1:  # the end of a stretch, of (len(spreads) + 1)/2 rounds
            if not lipschitz and 4 * max(slopes) < L:
                L = max(*slopes, L / 2 ** ((len(spreads) + 1) // 2))
            slopes = []
        if h is not None and L is not None:
            first, room = first_of_use(L, first_L, h), min(16, rates)
            start = min(start, first) if first < start else max(start, first + room - rates)
            for key in [key for key in W if not start <= key[0] < start + rates]:
                del W[key]  # forgotten
    return played, W, start


@pytest.mark.parametrize("lipschitz", [0.0, 1.0])
@pytest.mark.parametrize("asleep", [0.0, 0.3])
def test_predictions_and_weights_equal_fifty_digits(lipschitz, asleep):
    rng = np.random.default_rng(3)
    n, d, rates, shares = 14, 3, 13, (0.0, 0.1)
    y = rng.normal(size=n)
    x = 3 + y[:, None] + rng.normal(size=(n, d)) * np.exp(rng.normal(size=(n, 1)))
    holes = rng.random((n, d)) < asleep
    holes[:, 0] = False
    x[holes] = np.nan
    y[0] *= 1e6 if asleep else 1.0  # the first slope is an absurd one, and forgotten

    def slope(yhat, t):  # absolute when L is known, else squared: slopes that grow past any limit
        return float(np.sign(yhat - y[t])) if lipschitz else 2 * (yhat - y[t])

    state = huber_root.start(d, lipschitz, rates, shares)
    played, W, start = reference(x, slope, lipschitz, rates, shares)
    for t in range(n):
        yhat = predict(state, x[t])
        assert yhat == pytest.approx(float(played[t]), rel=1e-11)
        update(state, x[t], yhat, slope(yhat, t))
    assert state.window[0] == start
    for k, a, j in itertools.product(range(rates), shares, range(d)):
        assert state.log_w[k, shares.index(a), j] == pytest.approx(float(mpmath.log(W[start + k, a, j])), abs=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from([0.1, 1.0, 7.0]), st.booleans(), st.floats(-9, 9))
def test_mean_weight_stays_one_and_hull_is_kept(seed, d, limit, known, scale):
    rng = np.random.default_rng(seed)
    state = huber_root.start(d, limit if known else 0.0, 24 if known else 48)
    for _ in range(120):
        x = math.exp(scale) * rng.standard_cauchy(d)
        x[rng.random(d) < 0.2] = np.nan
        if np.isnan(x).all():
            continue
        yhat = predict(state, x)
        assert np.nanmin(x) <= yhat <= np.nanmax(x)
        update(state, x, yhat, limit * rng.choice([-1.0, 1.0, rng.uniform(-1, 1)]))
    assert abs(huber_root.log_mean(state)) < 1e-10


@pytest.mark.parametrize("factor", [1e-6, 2.0**-40, 1e3, 2.0**60])
@pytest.mark.parametrize("name", ["absolute", "squared"])
def test_scale_and_shift_invariance(factor, name):
    rng = np.random.default_rng(5)
    loss = losses.get(name)
    x, y = rng.normal(size=(300, 4)), rng.normal(size=300)

    def predictions(x, y):
        return sweep(huber_root.start(4, 1.0 if name == "absolute" else 0.0, 30), loss, x, y)

    base = predictions(x, y)
    np.testing.assert_allclose(predictions(factor * x, factor * y) / factor, base, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(predictions(x + 5, y + 5) - 5, base, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("size", [1e-150, 1e150])
@pytest.mark.parametrize("name", ["absolute", "squared"])
def test_forecasts_at_the_ends_of_the_floats(size, name):
    rng = np.random.default_rng(6)
    x, y = size * rng.uniform(-1, 1, size=(200, 3)), size * rng.uniform(-1, 1, size=200)
    state = huber_root.start(3, 1.0 if name == "absolute" else 0.0, 48)
    p = sweep(state, losses.get(name), x, y)
    assert np.isfinite(p).all() and (p >= x.min(axis=1)).all() and (p <= x.max(axis=1)).all()
    assert np.isfinite(state.log_w).all() and abs(huber_root.log_mean(state)) < 1e-10
    bound = huber_root.promise(state, np.zeros(3)).promised(np.array([1.0, 0.0, 0.0]))
    assert 0 < bound < math.inf


def test_scale_that_jumps_by_three_hundred_decades_stays_finite():
    rng = np.random.default_rng(7)
    x = np.concatenate([1e-150 * rng.normal(size=(20, 3)), 1e149 * rng.uniform(-1, 1, size=(200, 3))])
    y = x[:, 0] * (1 + 1e-3 * rng.normal(size=220))
    state = huber_root.start(3, 1.0, 48)
    p = sweep(state, losses.get("absolute"), x, y)
    assert np.isfinite(p).all() and np.isfinite(state.log_w).all()
    bound = huber_root.promise(state, np.zeros(3)).promised(np.array([1.0, 0.0, 0.0]))
    assert bound >= np.abs(p - y).sum() - np.abs(x[:, 0] - y).sum()
    # every rate is clipped by then, and it still finds the good expert
    assert np.abs(p - y)[-50:].mean() < 0.2 * np.abs(x[-50:, 1] - y[-50:]).mean()


def test_rates_halve():
    assert [rate(k) for k in (0, 1, 10)] == [1024.0, 512.0, 1.0]
