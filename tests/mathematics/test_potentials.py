"""Every potential against a reference in high precision, at hard points and at the ends of the range."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from burkholder import BadInput, potentials
from burkholder.functions.linear import Linear
from burkholder.potentials import NU, Adaptive, Anytime, DavisWang, Mixture, Quadratic, SquareRoot, batch, harmonic
from burkholder.potentials.mixture import SHARP

mp = mpmath.mpf
DIGITS = 120


def _kummer(z):
    return mpmath.hyp1f1(mp(-1) / 2, mp(1) / 2, z)


def _curve(p, behind):
    """c of the atom so many places behind the largest living one."""
    ratio = mp(2) ** -behind
    return mp(p.flat) + mp(p.rise) * ratio + mp(p.bend) * ratio**2


def _reference(p, g, s, top=0.0, dead=0.0):
    """f(g, s) straight from its definition."""
    g, s = mp(g), mp(s)
    if isinstance(p, Quadratic):
        return (g * g - s) / (2 * mp(p.strength))
    if isinstance(p, SquareRoot):
        root = mpmath.sqrt(s)
        return mp(p.radius) * (-mpmath.sqrt(2 * s - g * g) if g <= root else g - 2 * root)
    if isinstance(p, DavisWang):
        root, nu = mpmath.sqrt(s), mp(p.constant)
        if g > nu * root:
            return mp(p.radius) * (g - nu * root)
        return -mp(p.radius) * mp(p.height) * root * _kummer(g * g / (2 * s) if s else mp(0))
    if isinstance(p, Adaptive):
        d = mp(p.start) + s
        return mp(p.scale) * (mpmath.sqrt(p.start / d) * mpmath.exp(g * g / (2 * d)) - 1)
    if isinstance(p, Anytime):
        grow = (g / mp(p.unit)) ** 2 / (2 * s) if s else mp(0)
        return mp(p.scale) * (mpmath.exp(grow - mpmath.harmonic(s) / 2 + mp(p.offset)) - 1)
    total = mp(0)
    for k in range(int(dead), p.atoms):
        rate = mp(top) * mp(2) ** -k
        total += mpmath.cosh(rate * g) * mpmath.exp(-_curve(p, k - int(dead)) * rate * rate * s)
    return mp(p.scale) * (total / p.atoms - 1) if top else mp(0)


CASES = {
    Quadratic(0.7): [(0, 0), (3, 2), (1e-150, 1e-300), (1e150, 1e300), (1e8, 1)],
    SquareRoot(2.0): [
        (0, 0),
        (1, 1),
        (0.99999999, 1),
        (1.00000001, 1),
        (3, 1),
        (1e-150, 1e-300),
        (1e150, 1e300),
        (1e157, 1e300),
        (0, 1e300),
        (5, 0),
    ],
    DavisWang(3.0): [(0, 0), (1, 1), (NU - 1e-9, 1), (NU + 1e-9, 1), (1e-150, 1e-300), (1.2e150, 1e300), (7, 0)],
    Adaptive(0.3, 2.0): [(0, 0), (1e-9, 0), (30, 1), (1, 1e-18), (50, 2e3), (1e-150, 1e-300), (1e150, 1e300), (37, 0)],
    Anytime(2.0, 3.0): [(0, 0), (0, 1), (3, 1), (20, 15), (20, 16), (20, 17), (1e4, 1e7), (5e4, 1e7), (1e-150, 10)],
}
SPOTS = [(p, g, s) for p, places in CASES.items() for g, s in places]
MIXED = [
    (p, g, s, top, dead)
    for p in (Mixture(0.5, 12), Mixture(0.5, 12, *SHARP))
    for g, s, top, dead in [
        (0, 0, 0.5, 0),
        (3, 9, 0.5, 0),
        (3, 9, 0.5, 4),
        (1e3, 1e6, 0.5, 2),
        (900, 900, 0.5, 0),
        (1e-9, 1e-18, 0.5, 0),
        (1e150, 1e300, 0.5e-150, 0),
        (1e-150, 1e-300, 0.5e150, 1),
        (5, 3, 0.5, 12),
        (7, 2, 0.0, 0),
    ]
]


def _close(computed, exact, size, relative=4e-15):
    assert math.isfinite(computed)
    assert abs(mp(computed) - exact) <= relative * abs(mp(size)) + mp("1e-305")


@pytest.mark.parametrize(("p", "g", "s"), SPOTS, ids=str)
def test_values(p, g, s):
    with mpmath.workdps(DIGITS):
        exact = _reference(p, g, s)
        # rounding is relative to the terms: exponents lose |exponent| ulps, differences lose what cancels
        size = max(abs(exact), getattr(p, "scale", 0)) * max(1, abs(float(mpmath.log(abs(exact) + 1))))
        if isinstance(p, Quadratic):
            size = (mp(g) ** 2 + mp(s)) / p.strength
        if p.radius is not None:
            size = p.radius * (mp(g) + mpmath.sqrt(mp(s)))
        _close(float(batch.value(p, g, s)), exact, size)
        assert potentials.value(p, float(g), float(s), 0.0, 0.0) == float(batch.value(p, g, s))


@pytest.mark.parametrize(("p", "g", "s", "top", "dead"), MIXED, ids=str)
def test_mixture_values_and_slopes(p, g, s, top, dead):
    with mpmath.workdps(DIGITS):
        exact = _reference(p, g, s, top, dead)
        size = max(abs(exact), mp(p.scale)) * max(1, abs(float(mpmath.log(abs(exact) + 1))))
        _close(float(batch.value(p, g, s, top, dead)), exact, size, 1e-14)
        if g and top:
            slope = (
                sum(
                    mp(top)
                    * mp(2) ** -k
                    * mpmath.sinh(mp(top) * mp(2) ** -k * mp(g))
                    * mpmath.exp(-_curve(p, k - int(dead)) * (mp(top) * mp(2) ** -k) ** 2 * mp(s))
                    for k in range(int(dead), p.atoms)
                )
                * mp(p.scale)
                / p.atoms
            )
            scale = abs(slope) * max(1, abs(float(mpmath.log(abs(slope / top) + 1))))
            _close(float(batch.slope(p, g, s, top, dead)), slope, scale, 2e-14)


def test_the_sharper_exponent_is_enough_for_every_atom_and_no_larger_than_it_must_be():
    """exp(λd − cλ²d²) ≤ 1 + λd for |d| ≤ h, with λh ≤ ρ/2; c is at most 1 % above Fan's ψ_h(λ)/λ², and equal at the largest atom."""
    p = Mixture(1.0, 12, *SHARP)
    with mpmath.workdps(30):
        for behind in range(12):
            c, z = _curve(p, behind), mp(2) ** -behind / 2  # z = λh
            fan = (-mpmath.log(1 - z) - z) / z**2
            assert fan <= c <= fan * mp("1.012")
            for share in [mp(k) / 50 for k in range(-50, 51)]:
                assert mpmath.exp(share * z - c * (share * z) ** 2) <= 1 + share * z
        assert abs(_curve(p, 0) / ((mpmath.log(2) - mp(0.5)) * 4) - 1) < 1e-13


@pytest.mark.parametrize("p", [Quadratic(0.7), SquareRoot(2.0), DavisWang(3.0), Adaptive(0.3, 2.0), Anytime(2.0, 3.0)], ids=str)
@pytest.mark.parametrize(("g", "d"), [(0.3, 1e-12), (1.0, 0.5), (2.0, 2.0), (5.0, 1e-6), (1e-7, 3.0), (0.0, 1.0)])
def test_gaps_do_not_cancel(p, g, d):
    """[f(|g+d|) − f(|g−d|)]/2 keeps its digits when d is tiny."""
    s = 16.0
    difference = 2.0 * min(g, d)
    computed = float(batch.gap(p, abs(g + d), abs(g - d), difference, s))
    with mpmath.workdps(DIGITS):
        high, low = mp(g) + mp(d), abs(mp(g) - mp(d))
        exact = (_reference(p, high, s) - _reference(p, low, s)) / 2
        _close(computed, exact, exact, 1e-13)


def test_a_slope_that_may_not_be_played_is_refused():
    assert potentials.has_slope(Adaptive())
    with pytest.raises(BadInput, match="no strategy for this clock"):
        Linear("no promise", Adaptive(), "l2", "gradient")


@pytest.mark.parametrize("p", [Quadratic(0.7), SquareRoot(2.0), Adaptive(0.3, 2.0)], ids=str)
@pytest.mark.parametrize(("g", "s"), [(0.0, 1.0), (0.5, 1.0), (1.0, 1.0), (3.0, 1.0), (1e150, 1e300), (0.0, 0.0)])
def test_slopes_are_derivatives(p, g, s):
    computed = float(batch.slope(p, g, s))
    with mpmath.workdps(4 * DIGITS):  # beside a constant the slope may be 1e-300
        if g == 0:
            assert computed == 0.0
            return
        step = mp(g) * mp(10) ** -50
        exact = (_reference(p, mp(g) + step, s) - _reference(p, mp(g) - step, s)) / (2 * step)
        _close(computed, exact, exact, 1e-14)


def test_davis_wang_constant_is_the_first_zero_of_kummers_function():
    with mpmath.workdps(40):
        zero = mpmath.findroot(lambda z: _kummer(z * z / 2), 1.3)
        assert abs(mp(NU) - zero) < mp("1e-15")
        height = 1 / (zero * mpmath.hyp1f1(mp(1) / 2, mp(3) / 2, zero * zero / 2))
        assert abs(mp(DavisWang().height) - height) < mp("1e-15")


@pytest.mark.parametrize("t", [0, 1, 2, 15, 16, 17, 100, 10**7])
def test_harmonic_numbers(t):
    with mpmath.workdps(30):
        assert harmonic(float(t)) == pytest.approx(float(mpmath.harmonic(t)), rel=1e-15, abs=0)


EXTREMES = np.array([0.0, 1e-300, 1e-150, 1e-9, 1.0, 1e9, 1e150, 1e157])


@pytest.mark.parametrize("p", [Quadratic(), SquareRoot(), DavisWang(), Adaptive(), Anytime(), Mixture()], ids=str)
def test_nothing_overflows_or_becomes_nan(p):
    g, r = (a.reshape(-1) for a in np.meshgrid(EXTREMES, np.minimum(EXTREMES, 1e153)))
    s = np.floor(np.minimum(r, 1e7)) if isinstance(p, Anytime) else r * r
    if isinstance(p, Quadratic):
        g = np.minimum(g, 1e153)
    for top in (0.0, 1e-150, 0.5, 1e150):
        found = batch.value(p, g, s, top, 3.0)
        assert np.all(np.isfinite(found))
        if potentials.has_slope(p):
            assert np.all(np.isfinite(batch.slope(p, g, s, top, 3.0)))
    if potentials.has_gap(p):
        assert np.all(np.isfinite(batch.gap(p, g, 0.5 * g, 0.5 * g, s)))


def test_bounds_are_the_stated_formulas():
    """A bound that is 10 % too generous would still cover every regret: pin each to its formula."""
    u, s = 1.7, 9.0
    with mpmath.workdps(40):
        m, q = mp(u), mp(s)
        stated = {
            Quadratic(0.7): mp(0.7) / 2 * m**2 + q / (2 * mp(0.7)),
            SquareRoot(2.0): 2 * mp(2) * mpmath.sqrt(q),
            DavisWang(3.0): mp(NU) * 3 * mpmath.sqrt(q),
            Adaptive(0.3, 2.0): mp(0.3) + m * mpmath.sqrt(2 * (2 + q) * mpmath.log(1 + (2 + q) * m / (mp(0.3) * mpmath.sqrt(2)))),
            Anytime(2.0, 3.0): 2
            * (1 + mp(1.5) * m * mpmath.sqrt(2 * q * mpmath.log(1 + mpmath.sqrt(q) * mpmath.exp(mpmath.harmonic(9) / 2) * mp(1.5) * m))),
        }
        for p, exact in stated.items():
            assert float(p.bound(u, s)) == pytest.approx(float(exact), rel=1e-12), p
        rates = [mp(0.25) * mp(2) ** -k for k in range(1, 12)]  # one atom of twelve is dead
        prices = [r * m * q + m / r * max(mpmath.log(2 * m * 12 / (mp(0.5) * r)) - 1, 0) for r in rates]
        assert float(Mixture(0.5, 12).bound(u, s, 0.25, 1.0)) == pytest.approx(float(mp(0.5) + min(prices)), rel=1e-12)
        p = Mixture(0.5, 12, *SHARP)
        prices = [_curve(p, k) * r * m * q + m / r * max(mpmath.log(2 * m * 12 / (mp(0.5) * r)) - 1, 0) for k, r in enumerate(rates)]
        assert float(p.bound(u, s, 0.25, 1.0)) == pytest.approx(float(mp(0.5) + min(prices)), rel=1e-12)
    assert float(SquareRoot(1.0).bound(1.01, s)) == math.inf  # outside the ball nothing is promised
