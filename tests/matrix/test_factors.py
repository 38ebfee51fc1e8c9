"""The low-rank direction: fits are ridge regressions, saved learners go on bit for bit, and no promise is touched by it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.matrix import bet, factors, tangent

ROWS, COLUMNS, N = 40, 30, 2600


def stream(seed: int = 0, n: int = N) -> tuple[list[str], list[str], list[float]]:
    """Ratings in [1, 5] of a matrix of rank two with noise."""
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(ROWS, 2)) @ rng.normal(size=(2, COLUMNS))
    i, j = rng.integers(0, ROWS, n), rng.integers(0, COLUMNS, n)
    ratings = np.clip(3.0 + matrix[i, j] + 0.3 * rng.normal(size=n), 1.0, 5.0)
    return [f"r{a}" for a in i], [f"c{b}" for b in j], ratings.tolist()


def bits(learner: bk.MatrixCompletion) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in learner.state_dict()[1].items() if not name.startswith("graph.")}


def test_between_fits_the_factors_of_a_rating_are_the_ridge_solution() -> None:
    learner = bk.MatrixCompletion(1, 5, exact=0)
    learner.run(*stream())
    kept = learner.engine.factors
    n = int(kept.counts[0])
    assert n == N < kept.counts[1] <= int(n * factors.GROWTH) + 1
    for node, partners, own in ((kept.row[n - 1], kept.column, kept.row), (kept.column[n - 1], kept.row, kept.column)):
        mine = own[:n] == node
        F, e = kept.fitted[partners[:n][mine]], kept.residual[:n][mine]
        expected = np.linalg.solve(F.T @ F + factors.RIDGE * np.eye(factors.RANK), F.T @ e)
        np.testing.assert_allclose(kept.now[node], expected, rtol=1e-9, atol=1e-12)


def test_a_fit_lowers_the_ridge_objective_to_a_fixed_point_of_its_columns() -> None:
    learner = bk.MatrixCompletion(1, 5, exact=0)
    learner.run(*stream(1, factors.FIRST))  # the first fit was just made
    kept, n = learner.engine.factors, factors.FIRST
    for node in np.unique(kept.column[:n])[:10]:
        mine = kept.column[:n] == node
        F, e = kept.now[kept.row[:n][mine]], kept.residual[:n][mine]
        np.testing.assert_allclose(kept.now[node], np.linalg.solve(F.T @ F + factors.RIDGE * np.eye(factors.RANK), F.T @ e), rtol=1e-8)

    def objective(F: np.ndarray) -> float:
        error = kept.residual[:n] - (F[kept.row[:n]] * F[kept.column[:n]]).sum(1)
        return float(error @ error + factors.RIDGE * (F * F).sum())

    further = kept.now.copy()
    for _ in range(200):
        for own, partners in ((kept.row[:n], kept.column[:n]), (kept.column[:n], kept.row[:n])):
            for node in np.unique(own):
                F, e = further[partners[own == node]], kept.residual[:n][own == node]
                further[node] = np.linalg.solve(F.T @ F + factors.RIDGE * np.eye(factors.RANK), F.T @ e)
    assert objective(further) <= objective(kept.now) <= 1.02 * objective(further) < 0.7 * objective(np.zeros_like(further))


def test_the_low_rank_direction_pays_where_the_matrix_has_low_rank() -> None:
    without = bk.MatrixCompletion(1, 5, exact=0)
    run = without.run(*stream())
    ratings, late = np.array(stream()[2]), slice(factors.FIRST, N)
    error = float(np.mean((run.predictions[late] - ratings[late]) ** 2))
    bias = float(np.mean((run.details["bias"][late] - ratings[late]) ** 2))
    assert error < 0.6 * bias


@pytest.mark.parametrize("exact", [0, 700, 1500, 10**6])
def test_saved_midway_it_goes_on_with_the_same_bits(exact: int) -> None:
    rows, columns, ratings = stream(2, 1900)
    whole, half = bk.MatrixCompletion(1, 5, exact=exact, fast=True), bk.MatrixCompletion(1, 5, exact=exact, fast=True)
    whole.run(rows, columns, ratings)
    half.run(rows[:1300], columns[:1300], ratings[:1300])
    half = bk.MatrixCompletion.from_state(*half.state_dict())
    half.run(rows[1300:], columns[1300:], ratings[1300:])
    assert bits(half) == bits(whole)
    assert half.engine.scalars[tangent.UNSEEN] == max(0, 1900 - exact)


@pytest.mark.parametrize("exact", [0, 1200, 10**6])
def test_never_more_than_kappa_behind_the_bias_model_and_true_against_every_matrix(exact: int) -> None:
    rows, columns, ratings = stream(3)
    learner = bk.MatrixCompletion(1, 5, exact=exact, fast=True)
    run = learner.run(rows, columns, ratings)
    certificate = learner.certificate()
    y, b, p = (list(map(Fraction, map(float, part))) for part in (ratings, run.details["bias"], run.predictions))
    regret = sum((pt - yt) ** 2 for pt, yt in zip(p, y)) - sum((bt - yt) ** 2 for bt, yt in zip(b, y))
    never, corrected, realised = certificate.others
    assert regret <= realised.value <= corrected.value <= never.value and never.value == 8.0 * bet.KAPPA
    W = {(f"r{i}", f"c{j}"): 0.5 * (-1) ** (i + j) for i in range(3) for j in range(3)}
    moved = [bt + 2 * Fraction(W.get((r, c), 0.0)) for bt, r, c in zip(b, rows, columns)]
    against = sum((pt - yt) ** 2 for pt, yt in zip(p, y)) - sum((mt - yt) ** 2 for mt, yt in zip(moved, y))
    assert against <= certificate.realised(W) <= certificate.corrected(W) <= certificate.bound(W)
    assert math.isinf(certificate.bound(W)) == (exact < N)
    assert ("every direction" in str([a.name for a in certificate.assumptions if not a.held])) == (exact < N)


def test_ranking_says_what_predicting_says() -> None:
    for exact in (0, 10**6):
        learner = bk.MatrixCompletion(1, 5, exact=exact)
        learner.run(*stream(4, 1400))
        for column, score in learner.top("r3", 30, seen=True):
            assert score == pytest.approx(learner.predict("r3", column), abs=1e-6)


def test_spoiled_factors_are_refused() -> None:
    learner = bk.MatrixCompletion(1, 5, exact=0)
    learner.run(*stream(5, 1200))
    header, arrays = learner.state_dict()
    spoiled = {
        "factors.row": lambda a: a[:-1],
        "factors.column": lambda a: arrays["factors.row"],
        "factors.residual": lambda a: a + 3.0,
        "factors.counts": lambda a: a + np.array([0, 500]),
        "factors.now": lambda a: a + 1e9,
        "factors.fitted": lambda a: a * math.nan,
    }
    for name, spoil in spoiled.items():
        with pytest.raises(BadInput):
            bk.MatrixCompletion.from_state(header, {**arrays, name: spoil(arrays[name].copy())})
    for bad in (-1, 2.5, "many", True):
        with pytest.raises(BadInput, match="exact"):
            bk.MatrixCompletion(exact=bad)
    with pytest.raises(BadInput, match="exact"):
        bk.MatrixCompletion(strategy="sign-flip", radius=1.0, exact=5)
