"""exp, expm1 and log1p against fifty digits, alone, in a vectorised loop, and in Python."""

import mpmath
import numpy as np
import pytest

from burkholder.machine import elementary
from burkholder.machine.cells import gather8, gather_pairs8, scatter8, scatter_pairs8
from burkholder.machine.compiling import compiled
from burkholder.machine.prefetch import prefetch, prefetch_near
from burkholder.machine.vectors import all8, fused, least, least8, load8, store, total8

ULP = 2.0**-52


@compiled
def _exp(x, out):
    for k in range(x.size):
        out[k] = elementary.exp(x[k])


@compiled
def _expm1(x, out):
    for k in range(x.size):
        out[k] = elementary.expm1(x[k])


@compiled
def _log1p(x, out):
    for k in range(x.size):
        out[k] = elementary.log1p(x[k])


RNG = np.random.default_rng(0)
WIDE = np.r_[RNG.uniform(-700, 700, 500), RNG.uniform(-1, 1, 500), 10.0 ** RNG.uniform(-30, 0, 200), 0.0, 700.0, -700.0, np.log(2) / 2]
UNIT = np.r_[RNG.random(500), 10.0 ** RNG.uniform(-30, 0, 200), 0.0, 1.0]


@pytest.mark.parametrize(
    ("loop", "plain", "exact", "points"),
    [
        (_exp, elementary.exp, mpmath.exp, WIDE),
        (_expm1, elementary.expm1, mpmath.expm1, WIDE),
        (_log1p, elementary.log1p, mpmath.log1p, UNIT),
    ],
    ids=["exp", "expm1", "log1p"],
)
def test_within_a_few_units_of_the_last_place(loop, plain, exact, points):
    out = np.empty(points.size)
    loop(points, out)
    with mpmath.workdps(50):
        truth = [exact(mpmath.mpf(float(x))) for x in points]
        for x, vector, right in zip(points, out, truth, strict=True):
            for number in (vector, plain(float(x))):
                assert abs(mpmath.mpf(float(number)) - right) <= 2.0 * ULP * abs(right), x


def test_beyond_the_range_they_stay_finite():
    far = np.array([-1e308, -746.0, -701.0, 701.0, 1e308])
    out = np.empty(far.size)
    _exp(far, out)
    assert out[:3].tolist() == [0.0, 0.0, 0.0]
    assert np.isfinite(out).all() and (out[3:] > 1e304).all()
    _expm1(far, out)
    assert out[:3].tolist() == [-1.0, -1.0, -1.0] and np.isfinite(out).all()


@compiled
def _lanes(x):
    v = load8(x, 1)
    return total8(v), least8(v), total8(fused(v, v, all8(1.0))), least8(least(v, all8(-2.0)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_eight_lanes_read_both_kinds_of_numbers(dtype):
    x = np.array([9.0, 1.5, -0.25, 3.0, 4.0, 5.0, -6.0, 7.0, 8.0, 9.0], dtype)
    part = x[1:9].astype(float)
    assert _lanes(x) == (part.sum(), part.min(), (part**2 + 1.0).sum(), -6.0)


@compiled
def _move(cells, indices, out):
    store(out, 0, gather8(cells, indices, 1, 1, 0))
    first, second = gather_pairs8(cells, indices, 1)
    store(out, 8, first)
    store(out, 16, second)
    scatter8(cells, indices, 1, 1, 0, load8(out, 0) + all8(100.0))
    scatter_pairs8(cells, indices, 1, first + all8(1000.0), second + all8(2000.0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("whole", [np.uint32, np.uint64])
def test_eight_cells_are_read_and_written_at_their_indices(dtype, whole):
    cells = np.arange(80.0).astype(dtype)
    indices = np.array([0, 3, 33, 5, 12, 29, 7, 38, 19], whole)
    at, out, expected = indices[1:].astype(int), np.zeros(24), cells.copy()
    expected[at] += 100.0  # where the two writings meet, the second is seen
    expected[2 * at], expected[2 * at + 1] = cells[2 * at] + 1000.0, cells[2 * at + 1] + 2000.0
    _move(cells, indices, out)
    assert out.tolist() == [*map(float, at), *map(float, 2 * at), *map(float, 2 * at + 1)]
    assert cells.tolist() == expected.tolist()


@compiled
def _hints(x):
    prefetch(x, 10**9)
    prefetch_near(x, -(10**9))
    return x[0]


def test_hints_may_point_anywhere():
    x = np.arange(3.0)
    assert _hints(x) == 0.0 and x.tolist() == [0.0, 1.0, 2.0]
