"""Vectors against their definitions: arithmetic, folding, memory; and that formulas for numbers are formulas for vectors."""

import math

import numpy as np
import pytest

from burkholder.machine import vectors
from burkholder.machine.cells import gather8, gather_pairs8, scatter8, scatter_pairs8
from burkholder.machine.columns import columns, put_columns
from burkholder.machine.compiling import compiled
from burkholder.machine.prefetch import prefetch, prefetch_near
from burkholder.machine.vectors import (
    all4,
    all8,
    any_above,
    element,
    fused,
    halves,
    least,
    least8,
    load4,
    load8,
    peek,
    poke,
    put,
    row4,
    row8,
    store,
    total8,
)  # fmt: skip

RNG = np.random.default_rng(0)


@compiled
def _folds(x):
    v = load8(x, 1)
    return total8(v), least8(v), total8(fused(v, v, all8(1.0))), least8(least(v, all8(-2.0)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_eight_folds_read_both_kinds_of_numbers(dtype):
    x = np.array([9.0, 1.5, -0.25, 3.0, 4.0, 5.0, -6.0, 7.0, 8.0, 9.0], dtype)
    part = x[1:9].astype(float)
    assert _folds(x) == (part.sum(), part.min(), (part**2 + 1.0).sum(), -6.0)


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


@compiled
def turn(table, slots, out):
    a, b, c, d = columns(table, slots, 0)
    store(out, 0, a)
    store(out, 8, b)
    store(out, 16, c)
    store(out, 24, d)
    put_columns(table, slots, 0, d, a, b, c)


def test_eight_rows_become_four_columns_and_go_back():
    table = RNG.normal(size=(20, 8))
    before = table.copy()
    slots = np.array([3, 19, 0, 7, 11, 5, 2, 13])
    out = np.empty(32)
    turn(table, slots, out)
    assert np.array_equal(out.reshape(4, 8), before[slots, :4].T)
    assert np.array_equal(table[slots, :4], before[slots][:, [3, 0, 1, 2]])
    untouched = np.setdiff1d(np.arange(20), slots)
    assert np.array_equal(table[untouched], before[untouched]) and np.array_equal(table[:, 4:], before[:, 4:])


@compiled
def _odd_formula(a, b, out):
    """Every operation, with numbers on either side."""
    out[0] = vectors.where_positive(a - 1.0, fused(a, 2.0, b) - 3, 1.0 / b) * 2.0 + vectors.most(b, 0.25) - vectors.least(1.5, a)
    out[1] = math.sqrt(abs(-a)) + min(a, b) + max(a, 0.5) - abs(b - a) / (1 + a * a)


def _vector_formula(width):
    load = load8 if width == 8 else load4

    @compiled
    def formula(a, b, out):
        a, b = load(a, 0), load(b, 0)
        put(
            out, 0, 0,
            vectors.where_positive(a - 1.0, fused(a, 2.0, b) - 3, 1.0 / b) * 2.0 + vectors.most(b, 0.25) - vectors.least(1.5, a),
        )  # fmt: skip
        put(out, 1, 0, math.sqrt(abs(-a)) + min(a, b) + max(a, 0.5) - abs(b - a) / (1 + a * a))

    return formula


@pytest.mark.parametrize("width", [4, 8])
def test_a_formula_for_numbers_is_one_for_vectors(width):
    a, b = RNG.uniform(-2, 2, width), RNG.uniform(0.1, 2, width)
    together, one = np.empty((2, width)), np.empty(2)
    _vector_formula(width)(a, b, together)
    for k in range(width):
        _odd_formula(a[k], b[k], one)
        assert together[:, k] == pytest.approx(one, rel=1e-15, abs=1e-15)
        _odd_formula.py_func(a[k], b[k], one)  # in Python `fused` rounds twice
        assert together[:, k] == pytest.approx(one, rel=1e-14, abs=1e-14)


@compiled
def _moves(table, out):
    store(out, 0, row8(table, 1, 2))
    store(out, 8, row4(table, 2, 1))
    store(out, 12, halves(out[0], out[1]))
    out[20] = element(load8(out, 0), 3)
    out[21] = peek(table, 2, 3)
    poke(table, 0, 4, out[20] + 0.5)
    put(table, 3, 1, all4(7.0))
    return any_above(load8(out, 0), all8(out[7])), any_above(load8(out, 0), all8(out[6]))


def test_rows_of_a_table_are_read_and_written_at_their_place():
    table = np.arange(40.0).reshape(4, 10)
    before, out = table.copy(), np.zeros(22)
    assert _moves(table, out) == (False, True)
    assert out.tolist() == [*before[1, 2:10], *before[2, 1:5], *[12.0] * 4, *[13.0] * 4, 15.0, 23.0]
    before[0, 4] = 15.5
    before[3, 1:5] = 7.0
    assert np.array_equal(table, before)
