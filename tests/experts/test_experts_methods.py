"""EWA, ML-Poly, BOA and Squint against their formulas written out in numpy, and at extreme rates."""

from __future__ import annotations

import numpy as np
import pytest

from burkholder.experts import Experts


def stream(n=80, d=3, scale=1.0):
    rng = np.random.default_rng(2)
    y = rng.normal(size=n)
    return scale * (y[:, None] + rng.normal(size=(n, d)) * np.linspace(0.3, 2, d)), scale * y


def rules(d):
    """Each method as its paper states it, for linearised absolute losses without sleeping."""
    R, S, reg, E = np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(d)

    def ewa(r):
        nonlocal R
        if r is not None:
            R = R + r
        w = np.exp(0.3 * (R - R.max()))
        return w / w.sum()

    def ml_poly(r):
        nonlocal R, S, E
        if r is not None:
            R, S, E = R + r, S + r**2, np.maximum(E, np.max(r**2))
        w = np.where(R > 0, R / np.where(E + S > 0, E + S, 1.0), 0.0)
        return w / w.sum() if w.sum() > 0 else np.full(d, 1 / d)

    def boa(r):
        nonlocal S, reg, E
        if r is None:
            return np.full(d, 1 / d)
        S, E = S + r**2, np.maximum(E, np.abs(r))
        eta = np.minimum(1 / (2 * E), np.sqrt(np.log(d) / S))
        reg = reg + r - eta * r**2
        w = np.log(eta) + eta * reg
        w = np.exp(w - w.max())
        return w / w.sum()

    return {"ewa": ewa, "ml-poly": ml_poly, "boa": boa}


@pytest.mark.parametrize("method", ["ewa", "ml-poly", "boa"])
def test_predictions_equal_the_formula(method):
    x, y = stream()
    rule = rules(3)[method]
    options = {"rate": 0.3} if method == "ewa" else {}
    run = Experts("absolute", method=method, **options).run(x, y)
    r = None
    for t in range(len(y)):
        yhat = rule(r) @ x[t]
        assert run.predictions[t] == pytest.approx(yhat, rel=1e-9, abs=1e-12)
        r = np.sign(yhat - y[t]) * (yhat - x[t])


def test_squint_equals_the_formula():
    x, y = stream()
    run = Experts("absolute", method="squint", rates=28).run(x, y)
    h = np.max(np.abs(x[0] - x[0].mean()))
    eta = 1024.0 * 2.0 ** -np.arange(28) / h
    alive = np.ones(28, bool)
    R, V = np.zeros(3), np.zeros(3)
    for t in range(len(y)):
        alive &= eta * np.ptp(x[t]) <= 0.5
        W = np.exp(np.outer(eta, R) - np.outer(eta**2, V))[alive] * eta[alive][:, None]
        yhat = W.sum(axis=0) @ x[t] / W.sum()
        assert run.predictions[t] == pytest.approx(yhat, rel=1e-9, abs=1e-12)
        r = np.sign(yhat - y[t]) * (yhat - x[t])
        R, V = R + r, V + r**2
    mass = np.exp(np.outer(eta, R) - np.outer(eta**2, V))[alive].sum() / 84
    assert run.certificate.potential == pytest.approx(mass - 1, rel=1e-6)
    assert mass <= 1


@pytest.mark.parametrize("rate", [1e-12, 1e12, 1e150])
def test_ewa_survives_any_rate(rate):
    x, y = stream(scale=1e100)
    run = Experts("absolute", method="ewa", rate=rate).run(x, y)
    assert np.isfinite(run.predictions).all() and np.isfinite(run.details["weights"]).all()


@pytest.mark.parametrize("method", ["ml-poly", "boa", "squint"])
@pytest.mark.parametrize("scale", [1e-150, 2.0**-30, 1e149])
@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_scale_free_methods_do_not_feel_the_scale(method, scale, loss):
    x, y = stream()
    base = Experts(loss, method=method).run(x, y).predictions
    moved = Experts(loss, method=method).run(scale * x, scale * y).predictions / scale
    np.testing.assert_allclose(moved, base, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["ewa", "ml-poly", "boa"])
def test_learning_from_losses_instead_of_slopes(method):
    """Then r_j = ℓ(ŷ) − ℓ(x_j): against single experts, and said so."""
    x, y = stream(400)
    options = {"rate": 0.3} if method == "ewa" else {}
    experts = Experts("absolute", method=method, linear=False, **options)
    run = experts.run(x, y)
    assert any("single experts" in note for note in run.certificate.notes)
    regret = run.losses.sum() - np.abs(x[:, 0] - y).sum()
    bound = run.certificate.bound("0")
    assert bound == np.inf if method == "boa" else regret <= bound


def test_a_jump_in_scale_is_survived_by_every_method():
    x, y = stream(200)
    x[:50] *= 1e-120
    y[:50] *= 1e-120
    x[150:] *= 1e120
    y[150:] *= 1e120
    for method in ("huber-root", "ml-poly", "boa", "squint"):
        assert np.isfinite(Experts("squared", method=method, lanes=True).run(x, y).predictions).all(), method
        run = Experts("squared", method=method, lanes=False).run(x, y)
        assert np.isfinite(run.predictions).all(), method
        assert (run.predictions >= x.min(axis=1)).all() and (run.predictions <= x.max(axis=1)).all()
