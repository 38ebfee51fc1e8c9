"""Claims of the paper that are false, each with the witness that refutes it, and what is true instead."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest

from burkholder.functions import ParameterFree, PrintedParameterFree, SquareFunction, StronglyConvex
from burkholder.functions.linear import Linear
from burkholder.functions.properties import draw, falls_on_signs
from burkholder.potentials import DavisWang, SquareRoot, harmonic


@pytest.mark.parametrize("horizon", [1, 2, 10, 1000, 10**7])
def test_the_printed_parameter_free_function_starts_above_zero(horizon):
    """1° fails: U_0(0) = e^{H_n/2}/√n − 1 > 0 for every horizon."""
    printed = PrintedParameterFree(horizon)
    with mpmath.workdps(30):
        exact = mpmath.exp(mpmath.harmonic(horizon) / 2) / mpmath.sqrt(horizon) - 1
    start = float(printed.value(printed.zero(1)))
    assert start == pytest.approx(float(exact), rel=1e-12)
    assert start > 0.33
    repaired = ParameterFree()
    assert float(repaired.value(repaired.zero(1))) == 0.0


def _mgf(n: int) -> float:
    """E exp((Σε)²/2n) over all signs."""
    return float(np.mean([math.exp(sum(signs) ** 2 / (2 * n)) for signs in itertools.product([-1, 1], repeat=n)]))


@pytest.mark.parametrize("n", [1, 2])
def test_the_printed_moment_bound_fails(n):
    assert _mgf(n) > math.sqrt(n)


@pytest.mark.parametrize("n", range(1, 13))
def test_the_repaired_moment_bound_holds(n):
    assert _mgf(n) <= math.exp(0.5 * harmonic(float(n)))


def test_smaller_constants_for_signs_are_refuted():
    """U_dw with constant 1.3 in place of ν stops falling on average; with ν it does not."""
    rng = np.random.default_rng(0)
    # the best height for a smaller constant: C¹ contact is lost whatever it is
    for height in np.linspace(0.3, 0.9, 13):
        lower = Linear("lower", DavisWang(constant=1.3, height=height), "coordinates", "square")
        points = draw(lower, rng, 20_000, 1)
        below = np.max(lower.target(points.tau) - lower.value(points.tau))
        rises = np.max(falls_on_signs(lower, points))
        assert max(rises, below) > 1e-6
    sharp = SquareFunction(geometry="coordinates")
    assert np.max(falls_on_signs(sharp, draw(sharp, rng, 200_000, 1))) <= 1e-12


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_strongly_convex_constant_below_half_is_refuted(share):
    """c < L²/(2ρ) fails already from ζ₀ with a small z; c = L²/(2ρ) holds, half of what was printed."""
    for steep, curved in [(1.0, 1.0), (4.0, 2.0)]:
        least = steep**2 / (2 * curved)
        low = StronglyConvex(curvature=curved, lipschitz=steep, constant=share * least)
        points = draw(low, np.random.default_rng(0), 50_000, 1)
        assert np.max(falls_on_signs(low, points)) > 1e-6
        enough = StronglyConvex(curvature=curved, lipschitz=steep)
        assert enough.constant == least
        assert np.max(falls_on_signs(enough, points)) <= 1e-9


def test_smooth_norms_need_their_constant():
    """f(‖g‖, s) without β is false: U_sq through l_4 with β left out rises on average."""
    right = SquareFunction(geometry="l4", version="paper")
    wrong = SquareFunction(geometry="l4", version="paper")
    wrong.root, wrong.potential = 1.0, SquareRoot(1.0)
    rng = np.random.default_rng(0)
    x = right.points(rng, 50_000, 3)[1]
    g = np.ones_like(x) + 0.1 * rng.standard_normal(x.shape)
    x = 0.3 * rng.choice([-1.0, 0.0, 1.0], x.shape)
    s = np.square(right.geometry.norm(g)) * rng.uniform(0.5, 2.0, len(x))
    points = draw(right, rng, len(x), 3)._replace(tau=(np.zeros(len(x)), g, s), x=x)
    assert np.max(falls_on_signs(right, points)) <= 1e-12
    assert np.max(falls_on_signs(wrong, points)) > 1e-3
