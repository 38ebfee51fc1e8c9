"""Norms from above: never below the truth, hardly above it, at any scale."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.matrix import norms
from burkholder.matrix.gradient import collected


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=5),
    st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=5),
    st.sampled_from([1.0, 1e-120, 1e120]),
)
def test_rank_one_is_known_exactly(left, right, scale):
    """‖uvᵀ‖² = ‖u‖²‖v‖² in rational numbers, for the entries as they are rounded: one row, or one column."""
    for rows, columns in (([0] * len(right), range(len(right))), (range(len(right)), [0] * len(right))):
        values = scale * np.array(right)
        square = sum(Fraction(float(v)) ** 2 for v in values)
        for norm in (norms.spectral, norms.nuclear):
            found = norm(np.array(rows), np.array(columns), values)
            assert Fraction(found) ** 2 >= square
            assert Fraction(found) ** 2 <= square * (1 + Fraction(1, 10**9)) or found < 1e-300
        assert Fraction(norms.frobenius(values)) ** 2 >= square


@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (40, 90)])
def test_the_certain_bound_is_close(shape, monkeypatch):
    rng = np.random.default_rng(0)
    G = rng.normal(size=shape)
    rows, columns = np.nonzero(G)
    truth = float(np.linalg.norm(G, 2))
    assert truth * (1 - 1e-14) <= norms.spectral(rows, columns, G[rows, columns]) <= truth * (1 + 1e-9)
    truth = float(np.linalg.norm(G, "nuc"))
    assert truth * (1 - 1e-14) <= norms.nuclear(rows, columns, G[rows, columns]) <= truth * (1 + 1e-7)
    monkeypatch.setattr(norms, "DENSE", 0)  # as for matrices too large for eigenvalues
    crude = norms.spectral(rows, columns, G[rows, columns])
    assert float(np.linalg.norm(G, 2)) <= crude <= float(np.linalg.norm(np.abs(G), 2)) * (1 + 1e-3)
    assert norms.nuclear(rows, columns, G[rows, columns]) == pytest.approx(np.abs(G).sum())


def test_sums_of_entries_do_not_cancel_away():
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
    terms = rng.normal(size=300) * 10.0 ** rng.integers(-8, 17, 300)
    found = collected(i, j, terms)
    for row, column, value in zip(*found[:3]):
        want = sum(Fraction(t) for t in terms[(i == row) & (j == column)].tolist())
        assert abs(Fraction(float(value)) - want) <= abs(want) / 2**52 and abs(Fraction(float(value)) - want) <= found.error
    assert found.at(np.array([0, 9]), np.array([1, 0])).tolist() == [found.dense((3, 2))[0, 1], 0.0]
    assert norms.spectral(np.zeros(0, int), np.zeros(0, int), np.zeros(0)) == 0.0
