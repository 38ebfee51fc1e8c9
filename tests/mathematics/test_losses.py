"""Every loss: its derivative, its constants, its kinks, and what it refuses."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.losses.batch import labels, values

RECORDS = [
    losses.Absolute(),
    losses.Squared(),
    losses.Huber(0.7),
    losses.Pinball(0.9),
    losses.EpsilonInsensitive(0.3),
    losses.Logistic(),
    losses.Hinge(),
    losses.Custom(lambda p, y: math.log(math.cosh(p - y)), lambda p, y: math.tanh(p - y), 1.0),
]
BOUND = 1.5
number = st.floats(-BOUND, BOUND)


def _label(loss, y: float) -> float:
    return (1.0 if y >= 0 else -1.0) if losses.is_classification(loss) else y


@pytest.mark.parametrize("loss", RECORDS, ids=losses.name)
@given(p=number, q=number, y=number)
def test_derivative_is_a_subgradient_within_the_constants(loss, p, q, y):
    y = _label(loss, y)
    here, there = losses.value(loss, p, y), losses.value(loss, q, y)
    slope = losses.derivative(loss, p, y)
    curvature = loss.curvature(BOUND)
    assert there >= here + slope * (q - p) + 0.5 * curvature * (q - p) ** 2 - 1e-12
    assert abs(slope) <= loss.lipschitz(BOUND) + 1e-12
    assert abs(there - here) <= loss.lipschitz(BOUND) * abs(q - p) + 1e-12


@pytest.mark.parametrize("loss", RECORDS[:-1], ids=losses.name)  # a user's constants are the user's word
def test_the_constants_are_reached(loss):
    """Neither the Lipschitz constant nor the curvature could be stated better."""
    grid = np.linspace(-BOUND, BOUND, 301)
    answers = [-1.0, 1.0] if losses.is_classification(loss) else grid
    slopes = np.array([[losses.derivative(loss, p, y) for p in grid] for y in answers])
    steepest = np.max(np.abs(slopes))
    assert steepest >= loss.lipschitz(BOUND) * (0.8 if losses.name(loss) == "logistic" else 0.999)
    bend = np.min(np.diff(slopes, axis=1)) / (grid[1] - grid[0])
    assert bend <= loss.curvature(BOUND) * 1.02 + 1e-9


@pytest.mark.parametrize(
    ("loss", "yhat", "y", "value", "slope"),
    [
        (losses.Absolute(), 2.0, 2.0, 0.0, 0.0),
        (losses.Absolute(), 2.5, 2.0, 0.5, 1.0),
        (losses.Squared(), 3.0, 1.0, 4.0, 4.0),
        (losses.Huber(0.7), 0.5, 0.0, 0.125, 0.5),
        (losses.Huber(0.7), -3.0, 0.0, 0.7 * (3 - 0.35), -0.7),
        (losses.Pinball(0.9), 0.0, 1.0, 0.9, -0.9),
        (losses.Pinball(0.9), 1.0, 0.0, 0.1, 0.1),
        (losses.Pinball(0.9), 1.0, 1.0, 0.0, 0.0),
        (losses.EpsilonInsensitive(0.3), 0.2, 0.0, 0.0, 0.0),
        (losses.EpsilonInsensitive(0.3), -1.0, 0.0, 0.7, -1.0),
        (losses.Hinge(), 1.0, 1.0, 0.0, 0.0),
        (losses.Hinge(), 0.5, -1.0, 1.5, 1.0),
        (losses.Logistic(), 0.0, 1.0, math.log(2), -0.5),
    ],
)
def test_values_at_chosen_points(loss, yhat, y, value, slope):
    assert losses.value(loss, yhat, y) == pytest.approx(value, abs=1e-15)
    assert losses.derivative(loss, yhat, y) == pytest.approx(slope, abs=1e-15)


@pytest.mark.parametrize("yhat", [-1e4, -745.0, -40.0, -1e-9, 0.0, 1e-9, 3.3, 37.0, 800.0, 1e308])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_logistic_agrees_with_fifty_digits(yhat, y):
    with mpmath.workdps(60):
        margin = mpmath.mpf(y) * mpmath.mpf(yhat)
        value = mpmath.log1p(mpmath.exp(-margin)) if margin > -1e5 else -margin
        slope = -mpmath.mpf(y) / (1 + mpmath.exp(min(margin, mpmath.mpf(10) ** 6)))
    assert losses.value(losses.Logistic(), yhat, y) == pytest.approx(float(value), rel=1e-14, abs=1e-320)
    assert losses.derivative(losses.Logistic(), yhat, y) == pytest.approx(float(slope), rel=1e-14, abs=1e-320)


@pytest.mark.parametrize("loss", RECORDS, ids=losses.name)
def test_compiled_and_plain_are_the_same_formula(loss):
    rng = np.random.default_rng(0)
    yhat = rng.standard_normal(50)
    y = np.array([_label(loss, v) for v in rng.standard_normal(50)])
    assert values(loss, yhat, y).tolist() == [losses.value(loss, p, t) for p, t in zip(yhat, y)]


def test_labels():
    assert [losses.label(losses.Hinge(), y) for y in (0, 1, -1, True, False)] == [-1, 1, -1, 1, -1]
    assert labels(losses.Logistic(), [0, 1, 1]).tolist() == [-1, 1, 1]
    assert labels(losses.Squared(), [0.5, -2]).tolist() == [0.5, -2]


@pytest.mark.parametrize(
    ("loss", "y", "bound"),
    [
        ("logistic", 2, math.inf),
        ("hinge", 0.5, math.inf),
        ("squared", math.nan, 1),
        ("absolute", math.inf, math.inf),
        ("absolute", 1.5, 1.0),
        ("squared", "x", 1.0),
        ("logistic", None, 1.0),
    ],
)
def test_bad_labels_are_refused(loss, y, bound):
    with pytest.raises(BadInput, match="y = "):
        losses.label(losses.get(loss), y, bound)


@pytest.mark.parametrize("y", [[-1, 0, 1], [0, 1, 3]])
def test_bad_streams_of_labels_are_refused(y):
    with pytest.raises(BadInput):
        labels(losses.Logistic(), y)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sqared", {}),
        ("huber", {"threshold": 0}),
        ("huber", {"threshold": math.inf}),
        ("pinball", {"quantile": 1.0}),
        ("pinball", {"quantile": 0}),
        ("epsilon-insensitive", {"epsilon": -0.1}),
        ("absolute", {"quantile": 0.5}),
        (3, {}),
    ],
)
def test_bad_losses_are_refused(name, options):
    with pytest.raises(BadInput):
        losses.get(name, **options)


def test_only_losses_with_a_finite_minimiser_clip_for_free():
    assert [losses.has_minimiser(loss) for loss in RECORDS] == [True] * 5 + [False, False, True]
