"""The compiled rounds against the pure definition, for every potential, geometry and clock."""

from __future__ import annotations

import math

import numpy as np
import pytest

from burkholder import losses
from burkholder.functions.linear import Linear
from burkholder.geometries import Supremum
from burkholder.learning import ledger
from burkholder.learning.rows import Rows
from burkholder.potentials import Adaptive, Anytime, DavisWang, Mixture, Quadratic, SquareRoot
from burkholder.rounds import LinearState

LIPSCHITZ, DIM = 0.7, 6
NORMS = ("l2", "l3", "l2.5", Supremum(DIM))
FUNCTIONS = [
    *[(p, g, "square") for p in (Quadratic(3.0), SquareRoot(2.0), DavisWang(2.0), Adaptive(0.5, 2.0))
      for g in ("coordinates", *NORMS)],
    *[(p, g, "gradient") for p in (Quadratic(3.0), SquareRoot(2.0), Mixture(0.5, 12)) for g in ("coordinates", *NORMS)],
    *[(Anytime(LIPSCHITZ, 3.0 * LIPSCHITZ), g, "count") for g in NORMS],
]  # fmt: skip
HOMOGENEOUS = [f for f in FUNCTIONS if isinstance(f[0], (SquareRoot, DavisWang))]


def name(case) -> str:
    return f"{type(case[0]).__name__}-{case[1]}-{case[2]}"


def build(case, **options) -> Linear:
    return Linear(name(case), *case, lipschitz=LIPSCHITZ, **options)


def rows(rng: np.random.Generator, count: int, scale: float = 1.0) -> np.ndarray:
    x = rng.standard_normal((count, DIM)) * (rng.random((count, DIM)) < 0.6)
    return x * scale


def definition(function: Linear, tau, x) -> float:
    return float(function.tangent(tau, x) if function.clock == "gradient" else function.sign_flip(tau, x))


def close(left: float, right: float, relative: float = 1e-12) -> bool:
    return abs(left - right) <= relative * max(1.0, abs(right))


@pytest.mark.parametrize("case", FUNCTIONS, ids=name)
def test_rounds_agree_with_the_definition(case) -> None:
    rng = np.random.default_rng(1)
    function = build(case)
    state, tau = LinearState(function), function.zero(DIM)
    for t, x in enumerate(rows(rng, 150)):
        j = np.flatnonzero(x)
        raw = state.play(j, x[j])
        assert close(raw, definition(function, tau, x)), t
        # long runs of one sign, then noise: g far from 0 and close to it
        delta = LIPSCHITZ * (1.0 if t % 50 < 20 else rng.uniform(-1, 1))
        state.learn(j, x[j], raw, delta)
        tau = function.advance(tau, x, np.array(raw), np.array(delta))
        assert close(float(function.value(state.tau(DIM))), float(function.value(tau)))
    for mine, theirs in zip(state.tau(DIM), tau, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    assert state.a == pytest.approx(float(tau[0]))
    if case[2] == "gradient":
        x = 0.1 * rng.standard_normal(DIM)
        assert close(float(state.weights(DIM) @ x), state.play(np.arange(DIM), x))


@pytest.mark.parametrize("case", FUNCTIONS, ids=name)
def test_the_potential_never_rises(case) -> None:
    """3° as the state lives it: against random and greedy answers U(ζ) falls, up to rounding."""
    rng = np.random.default_rng(2)
    function = build(case)
    state = LinearState(function, DIM)
    before = float(function.value(state.tau()))
    assert before <= 1e-12
    for t, x in enumerate(rows(rng, 60)):
        x = x / max(1.0, 0.4 * float(np.linalg.norm(x)))  # within the unit of Anytime
        j = np.flatnonzero(x)
        raw = state.play(j, x[j])
        tau = state.tau()
        choices = LIPSCHITZ * np.array([1.0, -1.0, 0.3, -0.3, rng.uniform(-1, 1)])
        after = [float(function.value(function.advance(tau, x, np.array(raw), np.array(d)))) for d in choices]
        delta = choices[int(np.argmax(after))] if t % 3 else choices[4]
        state.learn(j, x[j], raw, float(delta))
        now = float(function.value(state.tau()))
        assert now <= before + 1e-10 * max(1.0, abs(before))
        before = now


@pytest.mark.parametrize("exponent", [-490, 480])
@pytest.mark.parametrize("case", HOMOGENEOUS, ids=name)
def test_square_functions_do_not_see_the_unit(case, exponent: int) -> None:
    """Features in another unit give predictions in that unit, from 1e-148 to 1e145."""
    rng = np.random.default_rng(3)
    unit = 2.0**exponent
    small, large = LinearState(build(case)), LinearState(build(case))
    for x in rows(rng, 40):
        j = np.flatnonzero(x)
        ours, theirs = large.play(j, x[j] * unit) / unit, small.play(j, x[j])
        assert close(ours, theirs)
        delta = LIPSCHITZ * rng.uniform(-1, 1)
        small.learn(j, x[j], theirs, delta)
        large.learn(j, x[j] * unit, ours, delta)


@pytest.mark.parametrize("case", FUNCTIONS, ids=name)
def test_features_of_every_size_at_once(case) -> None:
    """Each feature of its own size in 1e±150: finite, and still the definition where that is finite."""
    rng = np.random.default_rng(4)
    function = build(case)
    state, tau = LinearState(function), function.zero(DIM)
    sizes = 10.0 ** rng.uniform(-149, 149, DIM)
    compared = 0
    for x in rows(rng, 40) * sizes:
        j = np.flatnonzero(x)
        raw = state.play(j, x[j])
        assert math.isfinite(raw)
        with np.errstate(all="ignore"):
            expected = min(max(definition(function, tau, x), -1e300), 1e300)  # as predictions are held
        if not math.isnan(expected):
            top = float(np.abs(x).max(initial=0.0))
            assert abs(raw - expected) <= 1e-9 * max(abs(expected), 1e-6 * top, 1e-6)
            compared += 1
        delta = LIPSCHITZ * rng.uniform(-1, 1)
        state.learn(j, x[j], 0.0, delta)
        with np.errstate(all="ignore"):
            tau = function.advance(tau, x, np.array(0.0), np.array(delta))
    assert compared >= 10
    assert all(np.isfinite(part).all() for part in state.tau())


@pytest.mark.parametrize("loss", [losses.get(key) for key in losses.LOSSES], ids=losses.name)
def test_every_loss_settles_as_in_python(loss) -> None:
    """One compiled round = play, settle, learn with the very same functions in Python."""
    rng = np.random.default_rng(5)
    function = build((SquareRoot(2.0), "coordinates", "gradient"), feature_bound=1.0)
    one, three = LinearState(function), LinearState(function)
    ours, theirs = ledger.empty(), ledger.empty()
    for t, x in enumerate(rows(rng, 60)):
        j = np.flatnonzero(x)
        y = float(rng.choice([-1.0, 1.0])) if losses.is_classification(loss) else float(rng.uniform(-1, 1))
        weight = 1.0 if t % 4 else 2.5
        raw = three.play(j, x[j])
        yhat, delta = ledger.settle(theirs, loss, raw, y, weight, 1.0, LIPSCHITZ)
        ledger.measure(theirs, three.learn(j, x[j], yhat, delta), 1.0)
        table = Rows().compressed([0, len(j)], j, x[j])
        assert one.run(table, np.array([y]), np.array([weight]), loss, 1.0, ours)[0] == pytest.approx(yhat, abs=1e-14)
    np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    np.testing.assert_allclose(one.cells, three.cells, rtol=1e-12, atol=1e-14)
    assert ours[ledger.LARGE] > 0 and ours[ledger.STEEP] > 0 and ours[ledger.LARGEST_SIZE] > 1.0


@pytest.mark.parametrize("case", [c for c in FUNCTIONS if c[0] == SquareRoot(2.0) and c[1] in NORMS], ids=name)
def test_running_norms_stay_within_their_drift(case) -> None:
    rng = np.random.default_rng(6)
    state = LinearState(build(case))
    power = state.frame.geometry.p if hasattr(state.frame.geometry, "p") else 2.0
    worst = 0.0
    for t, x in enumerate(rows(rng, 600)):
        j = np.flatnonzero(x)
        # now and then everything is taken back, so that the norm falls a thousandfold
        delta = LIPSCHITZ * rng.uniform(-1, 1)
        state.learn(j, x[j], 0.0, delta)
        if t % 40 == 39:
            g = state.g
            state.learn(np.arange(len(g)), g * (1 - 1e-3), 0.0, -1.0)
        carried = state.scalars[4] * state.scalars[5] ** (1.0 / power)
        top = np.abs(state.g).max()
        exact = float(np.sum((np.abs(state.g) / top) ** power) ** (1.0 / power) * top)
        assert abs(carried / exact - 1.0) <= state.drift + 1e-15
        worst = max(worst, state.drift)
    assert 0.0 < worst <= 1e-10
    assert state.scalars[8] > 1  # summed afresh more than once
