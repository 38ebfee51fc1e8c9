"""Elementary functions against fifty digits: of a number in Python, of numbers in a loop, of vectors."""

import mpmath
import numpy as np
import pytest

from burkholder.machine import elementary
from burkholder.machine.compiling import compiled
from burkholder.machine.vectors import load8, store

ULP = 2.0**-52
RNG = np.random.default_rng(0)
SMALL = np.r_[RNG.uniform(-1, 1, 392), 10.0 ** RNG.uniform(-30, 0, 200), 0.0, -0.5, np.log(2) / 2, -np.log(2) / 2, *[1.0] * 4]
WIDE = np.r_[RNG.uniform(-700, 700, 496), SMALL, 700.0, -700.0, *[0.0] * 6]
DOWN = -np.abs(WIDE)
UNIT = np.r_[RNG.random(500), 10.0 ** RNG.uniform(-30, 0, 200), 0.0, 1.0, np.sqrt(2) - 1, 0.4142135623730951]
POSITIVE = np.r_[np.exp(RNG.uniform(-600, 600, 400)), 1.0 + RNG.uniform(-1e-6, 1e-6, 200), np.exp(RNG.uniform(-0.7, 0.7, 200))]
# name, points (a multiple of eight), the exact function, the error allowed relative to it
CASES = [
    ("exp", WIDE, mpmath.exp, 2 * ULP),
    ("exp_up", WIDE, mpmath.exp, 2 * ULP),
    ("exp_down", DOWN, mpmath.exp, 2 * ULP),
    ("coarse_exp", DOWN, mpmath.exp, 3e-7),
    ("expm1", WIDE, mpmath.expm1, 2 * ULP),
    ("log", POSITIVE, mpmath.log, ULP),
    ("log1p", UNIT, mpmath.log1p, 2 * ULP),
    ("softplus", RNG.uniform(-60, 60, 800), lambda x: mpmath.log1p(mpmath.exp(x)), 3 * ULP),
    ("sigmoid", RNG.uniform(-60, 60, 800), lambda x: 1 / (1 + mpmath.exp(-x)), 3 * ULP),
    ("inverse_root", np.exp(RNG.uniform(-690, 690, 800)), lambda x: 1 / mpmath.sqrt(x), 2 * ULP),
]


def _loops(name):
    function = getattr(elementary, name)

    @compiled
    def one_by_one(x, out):
        for k in range(x.size):
            out[k] = function(x[k])

    @compiled
    def eight_by_eight(x, out):
        for k in range(0, x.size, 8):
            store(out, k, function(load8(x, k)))

    return one_by_one, eight_by_eight


@pytest.mark.parametrize(("name", "points", "exact", "tolerance"), CASES, ids=[case[0] for case in CASES])
def test_within_a_few_units_of_the_last_place(name, points, exact, tolerance):
    assert points.size % 8 == 0
    found = [np.array([getattr(elementary, name)(x) for x in points.tolist()])]
    for loop in _loops(name):
        out = np.empty(points.size)
        loop(points, out)
        found.append(out)
    with mpmath.workdps(50):
        for x, *numbers in zip(points.tolist(), *found, strict=True):
            right = exact(mpmath.mpf(x))
            for number in numbers:
                assert abs(mpmath.mpf(float(number)) - right) <= tolerance * abs(right), x


def test_a_coarse_logarithm_is_within_nine_hundredths():
    x = np.exp(RNG.uniform(-600, 600, 400))
    python = np.array([elementary.coarse_log2(number) for number in x.tolist()])
    for loop in _loops("coarse_log2"):
        out = np.empty(x.size)
        loop(x, out)
        assert np.abs(out - np.log2(x)).max() <= 0.09
        assert out == pytest.approx(python, rel=1e-12)


@pytest.mark.parametrize("which", [0, 1], ids=["numbers", "vectors"])
def test_beyond_the_range_they_stay_finite(which):
    far, out = np.array([-1e308, -746.0, -701.0, 701.0, 1e308, -800.0, 800.0, 0.0]), np.empty(8)
    _loops("exp")[which](far, out)
    assert out[[0, 1, 2, 5]].tolist() == [0.0] * 4
    assert np.isfinite(out).all() and (out[[3, 4, 6]] > 1e304).all()
    _loops("expm1")[which](far, out)
    assert out[[0, 1, 2, 5]].tolist() == [-1.0] * 4 and np.isfinite(out).all()
    _loops("exp_down")[which](np.minimum(far, 0.0), out)
    assert (out[[0, 1, 2, 5]] == out[1]).all() and 0.0 < out[1] < 1e-303
