"""1°, 2°, 3°/3′ and the strategies' lemmas for every function of the catalogue: a million points, extreme scales.

Sampling refutes or does not; it proves nothing. The ascent from the worst points is the laboratory's search.
"""

from __future__ import annotations

import numpy as np
import pytest

from burkholder.functions import CATALOGUE, REFUTED, MatrixPrediction
from burkholder.functions.properties import applicable, draw
from burkholder.lab.verify import verify

TOLERANCE = 1e-9
POINTS = 1_000_000
DENSE = 15_000  # an eigenvalue problem or twenty-four a point: the long version is marked slow


def _worst(function, dim: int, points: int, seed: int, chunk: int = 25_000) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    worst: dict[str, float] = {}
    for start in range(0, points, chunk):
        batch = draw(function, rng, min(chunk, points - start), dim)
        for claim, residual in applicable(function).items():
            found = residual(function, batch)
            assert not np.any(np.isnan(found)), (claim, "not a number")
            worst[claim] = max(worst.get(claim, -np.inf), float(np.max(found)))
    return worst


def _cases(points: int, dense: int):
    for name, entry in CATALOGUE.items():
        count = dense if isinstance(entry.make(), MatrixPrediction) else points
        for dim in entry.dims:
            for lipschitz in (0.1, 1.0, 7.0):
                yield pytest.param(name, dim, lipschitz, count // (3 * len(entry.dims)), id=f"{name}-{dim}-{lipschitz}")


def _check(name: str, dim: int, lipschitz: float, points: int) -> None:
    function = CATALOGUE[name].make(lipschitz=lipschitz)
    for claim, residual in _worst(function, dim, points, seed=dim).items():
        assert residual <= TOLERANCE, (claim, residual)


@pytest.mark.parametrize(("name", "dim", "lipschitz", "points"), list(_cases(POINTS, DENSE)))
def test_a_million_points_refute_nothing(name, dim, lipschitz, points):
    _check(name, dim, lipschitz, points)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dim", "lipschitz", "points"), [case for case in _cases(POINTS, POINTS) if "matrix" in str(case.id)])
def test_a_million_matrices_refute_nothing(name, dim, lipschitz, points):
    _check(name, dim, lipschitz, points)


@pytest.mark.parametrize("name", CATALOGUE)
def test_ascent_from_the_worst_points_refutes_nothing(name):
    report = verify(name, seconds=2.0, points=400_000)
    assert not report.refuted, str(report)
    assert sum(verdict.points for verdict in report.verdicts) > 200


@pytest.mark.parametrize("name", REFUTED)
def test_refuted_claims_are_refuted_with_a_witness(name):
    report = verify(name, seconds=2.0)
    assert report.refuted and all(verdict.witness is not None for verdict in report.refuted)


@pytest.mark.parametrize("name", CATALOGUE)
def test_states_start_at_zero_and_batches_agree_with_single_states(name):
    entry = CATALOGUE[name]
    function, dim = entry.make(), entry.dims[-1]
    assert float(function.value(function.zero(dim))) == 0.0
    points = draw(function, np.random.default_rng(0), 5, dim)
    values, targets = function.value(points.tau), function.target(points.tau)
    bounds = function.bound(points.w, points.tau)
    for k in range(5):
        tau = tuple(part[k] for part in points.tau)
        assert float(function.value(tau)) == pytest.approx(values[k], rel=1e-12, abs=1e-300)
        assert float(function.target(tau)) == pytest.approx(targets[k], rel=1e-12, abs=1e-300)
        assert float(function.bound(points.w[k], tau)) == pytest.approx(bounds[k], rel=1e-12)
