"""Every norm: smoothness, duality, gradients, and that its constant is needed."""

from __future__ import annotations

import numpy as np
import pytest

from burkholder import geometries
from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE
from burkholder.functions.base import BurkholderFunction, wide
from burkholder.geometries import Euclidean, Group, Mahalanobis, PNorm, Schatten, Supremum

NORMS = [
    (Euclidean(), 4),
    (PNorm(2.0), 3),
    (PNorm(3.0), 3),
    (PNorm(4.0), 2),
    (PNorm(7.5), 5),
    (Supremum(6), 6),
    (Supremum(2), 2),
    (Mahalanobis(np.array([[2.0, 0.5], [0.5, 1.0]])), 2),
    (Group(((0, 2), (1,)), 3.0, 2.0), 3),
    (Group(((0, 1), (2, 3)), 2.0, 4.0), 4),
    (Schatten((2, 3), 4.0), 6),
    (Schatten((2, 2), 2.0), 4),
]


def _points(geometry, dim, count=40_000, seed=0):
    rng = np.random.default_rng(seed)
    g = wide(rng, count, dim, 3.0)
    h = wide(rng, count, dim, 0.0) * np.max(np.abs(g), axis=-1, keepdims=True) * 10.0 ** rng.uniform(-3, 2, (count, 1))
    return g, h


def _excess(geometry, g, h, smoothness):
    """½(‖g+h‖² + ‖g−h‖²)/2 − ½‖g‖² − (β/2)‖h‖², in units of ‖h‖²."""
    middle = 0.25 * (geometry.norm(g + h) ** 2 + geometry.norm(g - h) ** 2) - 0.5 * geometry.norm(g) ** 2
    size = geometry.size(h) ** 2
    good = size > 1e-9 * geometry.norm(g) ** 2
    return (middle[good] - 0.5 * smoothness * size[good]) / size[good]


@pytest.mark.parametrize(("geometry", "dim"), NORMS, ids=str)
def test_half_square_is_smooth(geometry, dim):
    g, h = _points(geometry, dim)
    assert np.max(_excess(geometry, g, h, geometry.smoothness)) <= 1e-6


@pytest.mark.parametrize(("geometry", "dim"), [pair for pair in NORMS if isinstance(pair[0], (Euclidean, PNorm, Schatten))], ids=str)
def test_the_constant_is_needed(geometry, dim):
    """With 5 % less the inequality fails somewhere: near g = (1, 1, …) along alternating signs."""
    rng = np.random.default_rng(1)
    g = np.ones((4000, dim)) + 0.3 * rng.standard_normal((4000, dim))
    h = 1e-3 * rng.choice([-1.0, 0.0, 1.0], (4000, dim))
    if isinstance(geometry, Schatten):
        g = np.tile(np.eye(*geometry.shape).reshape(-1), (4000, 1))
        h = 1e-3 * np.tile((np.eye(*geometry.shape) * np.array([1.0, -1.0])[:, None]).reshape(-1), (4000, 1))
    assert np.max(_excess(geometry, g, h, 0.95 * geometry.smoothness)) > 0


@pytest.mark.parametrize(("geometry", "dim"), NORMS, ids=str)
def test_duality(geometry, dim):
    rng = np.random.default_rng(2)
    w, g = rng.standard_normal((20_000, dim)), rng.standard_normal((20_000, dim))
    product = np.einsum("ij,ij->i", w, g)
    assert np.all(product <= geometry.dual(w) * geometry.norm(g) * (1 + 1e-12))
    if not isinstance(geometry, Supremum):
        # the gradient is the comparator that attains the norm
        best = geometry.gradient(g)
        assert np.allclose(geometry.dual(best), 1.0, rtol=1e-9)
        assert np.allclose(np.einsum("ij,ij->i", best, g), geometry.norm(g), rtol=1e-9)


@pytest.mark.parametrize(("geometry", "dim"), NORMS, ids=str)
def test_norms_scale_and_gradients_point_the_right_way(geometry, dim):
    rng = np.random.default_rng(3)
    g, h = rng.standard_normal((200, dim)), rng.standard_normal((200, dim))
    for scale in (1e-140, 1e140):
        assert np.allclose(geometry.norm(scale * g) / scale, geometry.norm(g), rtol=1e-12)
    slope = (geometry.norm(g + 1e-6 * h) - geometry.norm(g - 1e-6 * h)) / 2e-6
    assert np.allclose(np.einsum("ij,ij->i", geometry.gradient(g), h), slope, atol=1e-7)
    assert np.all(geometry.gradient(np.zeros((1, dim))) == 0.0)


@pytest.mark.parametrize("bad", ["l1", "l1.5", "linfinity", "q2", 3, PNorm(1.9), PNorm(np.inf), Supremum(0)])
def test_norms_that_are_not_smooth_are_refused(bad):
    with pytest.raises(BadInput):
        geometries.get(bad)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Mahalanobis(np.array([[1.0, 2.0], [2.0, 1.0]])),
        lambda: Mahalanobis(np.ones((2, 3))),
        lambda: Group(((0,), (0, 1))),
        lambda: Group(((0, 1),), p=1.0),
        lambda: Schatten((2, 2), 1.0),
        lambda: Schatten((0, 2), 2.0),
    ],
)
def test_bad_structures_are_refused(make):
    with pytest.raises(BadInput):
        make()


def test_names():
    assert geometries.get("l2") == Euclidean()
    assert geometries.get("l4") == PNorm(4.0)
    assert geometries.get(PNorm(3.0)) == PNorm(3.0)


@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.make().has_ball])
def test_the_longest_side_is_the_largest_coordinate_of_a_comparator(name):
    function, dim = CATALOGUE[name].make(), CATALOGUE[name].dims[-1]
    searched = BurkholderFunction.longest_side(function, dim)
    assert searched <= function.longest_side(dim) * (1 + 1e-12)
