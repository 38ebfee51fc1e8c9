"""The matrix potentials: properties 1°, 2°, 3, the strategies, and mpmath at extreme scales."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from burkholder.potentials import spectral as pot
from burkholder.potentials import spectral_mixture as mix

SHAPES = [(1, 1), (1, 4), (3, 2), (4, 4)]
RATES = np.array([1.0, 0.5, 0.25, 0.125])
MASSES = np.array([0.4, 0.3, 0.2, 0.1])


def states(rng, shape, batch, scale=1.0, rounds=6):
    """Random reachable states (H, M, Mδ²), with the next X."""
    X = rng.normal(size=(batch, rounds + 1, *shape)) * scale
    delta = rng.uniform(-1, 1, size=(batch, rounds))
    H = (delta[..., None, None] * pot.hermitian(X[:, :rounds])).sum(1)
    M = pot.square(X[:, :rounds]).sum(1)
    Md = (delta[..., None, None] ** 2 * pot.square(X[:, :rounds])).sum(1)
    return H, M, Md, X[:, rounds]


def test_square_is_the_square_of_the_dilation():
    X = np.random.default_rng(0).normal(size=(5, 3, 2))
    np.testing.assert_allclose(pot.square(X), pot.hermitian(X) @ pot.hermitian(X), atol=1e-13)
    np.testing.assert_allclose(pot.largest(pot.hermitian(X)), np.linalg.norm(X, 2, axis=(-2, -1)))


@pytest.mark.parametrize("size", [1e-3, 1.0, 800.0])
def test_log_trace_exp_matches_mpmath(size):
    S = np.random.default_rng(1).normal(size=(4, 4)) * size
    S = S + S.T
    with mpmath.workdps(60):
        eigenvalues = mpmath.eigsy(mpmath.matrix(S.tolist()), eigvals_only=True)
        want = mpmath.log(sum(mpmath.exp(v) for v in eigenvalues))
    assert float(pot.log_trace_exp(S)) == pytest.approx(float(want), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lipschitz", [0.1, 1.0, 7.0])
def test_sign_flip_never_raises_the_value(shape, lipschitz):
    rng = np.random.default_rng(2)
    H, M, _, X = states(rng, shape, 200, scale=1.5)
    H = H * lipschitz
    rate = rng.choice([0.05, 0.3, 2.0], size=200)
    before = pot.value(0.0, H, M, rate, 1.7, lipschitz)
    yhat = pot.sign_flip(H, M, X, rate, 1.7, lipschitz)
    for fraction in (-1.0, -0.4, 0.0, 0.7, 1.0):
        delta = fraction * lipschitz
        after = pot.value(delta * yhat, H + delta * pot.hermitian(X), M + pot.square(X), rate, 1.7, lipschitz)
        assert (after <= before + 1e-9).all()
    # the two ends meet: this pins the constant of the strategy
    ends = [pot.value(d * yhat, H + d * pot.hermitian(X), M + pot.square(X), rate, 1.7, lipschitz) for d in (-lipschitz, lipschitz)]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_tangent_never_raises_its_value(shape):
    rng = np.random.default_rng(3)
    H, _, M, X = states(rng, shape, 300)
    norm = np.linalg.norm(X, 2, axis=(-2, -1))
    rate = 0.5 / norm  # the largest allowed
    before = pot.tangent_value(0.0, H, M, rate, 1.3)
    yhat = pot.tangent(H, M, X, rate, 1.3)
    for delta in (-1.0, -0.5, -0.01, 0.01, 0.3, 1.0):
        after = pot.tangent_value(delta * yhat, H + delta * pot.hermitian(X), M + delta**2 * pot.square(X), rate, 1.3)
        assert (after <= before + 1e-9).all()
    # tangency: the derivative at δ = 0 vanishes
    h = 1e-5
    up, down = (pot.tangent_value(d * yhat, H + d * pot.hermitian(X), M + d**2 * pot.square(X), rate, 1.3) for d in (h, -h))
    np.testing.assert_allclose((up - down) / (2 * h), 0.0, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lipschitz", [0.1, 1.0, 7.0])
def test_mixture_never_rises(shape, lipschitz):
    rng = np.random.default_rng(4)
    H, M, _, X = states(rng, shape, 200)
    H, rates = H * lipschitz, RATES / lipschitz
    before = mix.value(0.0, H, M, rates, MASSES, 0.7, lipschitz)
    yhat = mix.sign_flip(H, M, X, rates, MASSES, 0.7, lipschitz)
    ends = []
    for fraction in (-1.0, 0.2, 1.0):
        delta = fraction * lipschitz
        after = mix.value(delta * yhat, H + delta * pot.hermitian(X), M + pot.square(X), rates, MASSES, 0.7, lipschitz)
        assert (after <= before + 1e-9 * (1 + abs(before))).all()
        ends.append(after)
    np.testing.assert_allclose(ends[0], ends[2], rtol=1e-7, atol=1e-9)


def test_a_mixture_asked_for_again_is_the_same_and_one_changed_in_place_is_not():
    H, M, _, _ = states(np.random.default_rng(6), (2, 3), 30)
    asked = [mix.log_mixture(H, M, RATES, MASSES, 1.0) for _ in range(2)]
    slowly = [
        np.log(sum(mass / 5 * np.exp(np.linalg.eigvalsh(pot.exponent(h, m, rate))).sum() for rate, mass in zip(RATES, MASSES)))
        for h, m in zip(H, M)
    ]
    np.testing.assert_allclose(asked[0], slowly, rtol=1e-12)
    assert np.array_equal(*asked) and np.array_equal(mix.log_mixture(H, M, RATES, MASSES, 1), asked[0])
    for part, amount in ((H, 1.1), (M, 1.1)):
        part *= amount
        changed = mix.log_mixture(H, M, RATES, MASSES, 1.0)
        assert not np.isclose(changed, asked[0], rtol=1e-6).any()
        asked[0] = changed
    assert not np.isclose(mix.log_mixture(H, M, RATES, MASSES, 1.1), asked[0], rtol=1e-6).any()


@pytest.mark.parametrize("shape", SHAPES)
def test_values_start_at_zero_and_dominate_their_targets(shape):
    H, M, Md, _ = states(np.random.default_rng(5), shape, 100)
    Z = np.zeros((sum(shape), sum(shape)))
    assert float(pot.value(0.0, Z, Z, 0.3, 2.0, 1.0)) == pytest.approx(0.0, abs=1e-14)
    assert float(pot.tangent_value(0.0, Z, Z, 0.3, 2.0)) == pytest.approx(0.0, abs=1e-14)
    assert float(mix.value(0.0, Z, Z, RATES, MASSES, 2.0, 1.0)) == pytest.approx(0.0, abs=1e-14)
    assert (pot.value(1.0, H, M, 0.3, 2.0, 1.0) >= pot.target(1.0, H, M, 0.3, 2.0, 1.0)).all()
    assert (pot.tangent_value(1.0, H, Md, 0.3, 2.0) >= pot.tangent_target(1.0, H, Md, 0.3, 2.0)).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_bounds_close_the_argument_from_value_to_regret(shape):
    """Wherever U ≤ 0, the regret −⟨W, G⟩ + a against every W of the ball is at most the bound."""
    H, M, Md, _ = states(np.random.default_rng(6), shape, 200, scale=2.0)
    top = pot.largest(H)  # sup over ‖W‖_Σ ≤ 1 of −⟨W, ΣδX⟩
    for rate in (0.05, 0.4, 3.0):
        a = -pot.value(0.0, H, M, rate, 1.5, 1.0)
        assert (a + 1.5 * top <= pot.bound(M, rate, 1.5, 1.0) + 1e-9).all()
        a = -pot.tangent_value(0.0, H, Md, rate, 1.5)
        assert (a + 1.5 * top <= pot.tangent_bound(Md, rate, 1.5) + 1e-9).all()
    a = -mix.value(0.0, H, M, RATES, MASSES, 0.5, 1.0)
    for nuclear in (0.0, 1e-3, 0.1, 1.0, 30.0):
        limit = mix.bound(nuclear, M, RATES, MASSES, 0.5, 1.0)
        assert (a + nuclear * top <= limit + 1e-9).all()


def test_mixture_bound_is_the_exact_conjugate():
    """The term in W is attained: sup_z ρz − κπe^{ηz}/D, so a wrong constant would show."""
    rho, kappa, mass, rate, D = 3.0, 0.5, 0.4, 0.3, 5
    z = np.linspace(-50, 60, 2_000_001)
    sup = (rho * z - kappa * mass * np.exp(rate * z) / D).max()
    got = mix.bound(rho, np.zeros((D, D)), [rate], [mass], kappa, 1.0)
    assert float(got) == pytest.approx(kappa + sup, rel=1e-9)


def test_lowering_costs_bound_the_rise():
    rng = np.random.default_rng(7)
    H, M, Md, _ = states(rng, (3, 2), 300, scale=2.0)
    for rate, lower in ((1.0, 0.5), (0.3, 0.29), (2.0, 0.01)):
        rise = pot.value(0.0, H, M, lower, 1.5, 0.8) - pot.value(0.0, H, M, rate, 1.5, 0.8)
        assert (rise <= pot.lowering_cost(M, rate, lower, 1.5, 0.8) + 1e-9).all()
        rise = pot.tangent_value(0.0, H, Md, lower, 1.5) - pot.tangent_value(0.0, H, Md, rate, 1.5)
        assert (rise <= pot.tangent_lowering_cost(Md, rate, lower, 1.5) + 1e-9).all()


def test_nothing_overflows():
    H = pot.hermitian(np.array([[5e4]]))
    M = pot.square(np.array([[1.0]]))
    assert np.isfinite(pot.value(0.0, H, M, 1.0, 1.0, 1.0))
    assert float(mix.sign_flip(H, M, [[1.0]], RATES, MASSES, 1.0, 1.0, bound=1.0)) == -1.0
    assert mix.value(0.0, H, M, RATES, MASSES, 1.0, 1.0) == np.inf
