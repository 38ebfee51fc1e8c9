"""Choices without ratings, and snapshots that only answer."""

from __future__ import annotations

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.matrix.implicit import Negatives


def chosen(seed: int = 0, n: int = 1500) -> tuple[list[int], list[int]]:
    """Two kinds of rows and two kinds of columns; each kind chooses its own nine times in ten."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 40, n)
    own = rng.random(n) < 0.9
    return rows.tolist(), (2 * rng.integers(0, 30, n) + np.where(own, rows % 2, 1 - rows % 2)).tolist()


def test_what_is_sampled_was_met_and_not_chosen() -> None:
    rows, columns = chosen()
    who, what, labels = bk.clicks(rows, columns, negatives=2, seed=4)
    met: set[int] = set()
    mine: dict[int, set[int]] = {}
    positives = 0
    for row, column, label in zip(who, what, labels):
        if label == 1.0:
            assert (row, column) == (rows[positives], columns[positives])
            positives += 1
            met.add(column)
            mine.setdefault(row, set()).add(column)
        else:
            assert label == 0.0 and column in met and column not in mine[row]
    assert positives == len(rows) and 2.8 * positives < len(who) <= 3 * positives
    assert bk.clicks(rows, columns, 2, 4) == (who, what, labels) != bk.clicks(rows, columns, 2, 5)


def test_choices_teach_who_chooses_what() -> None:
    learner = bk.MatrixCompletion(0, 1)
    run = learner.run(*bk.clicks(*chosen(), negatives=2))
    for row in (0, 1, 2, 3):
        top = [column for column, _ in learner.top(row, 10, seen=True)]
        assert np.mean([column % 2 == row % 2 for column in top]) >= 0.8
    assert run.certificate.rounds == len(run.losses) and run.certificate.realised(radius=0.0) < 0.0


def test_bad_choices_are_refused() -> None:
    with pytest.raises(BadInput):
        bk.clicks([1, 2], [1])
    for bad in (-1, 1.5, True):
        with pytest.raises(BadInput, match="count"):
            Negatives(bad)
    for seed in (-1, 0.5, True, None):
        with pytest.raises(BadInput, match="seed"):
            bk.clicks(["a"], ["x"], seed=seed)  # type: ignore[arg-type]
    sampler = Negatives()
    with pytest.raises(BadInput):
        sampler.rounds("ann", None)
    assert sampler.rounds("ann", "a") == [("ann", "a", 1.0)]


def test_a_snapshot_stands_still_and_ranks_as_its_learner_did() -> None:
    learner = bk.MatrixCompletion(0, 1)
    learner.run(*bk.clicks(*chosen(1, 400)))
    expected = {row: learner.top(row, 5) for row in (0, 7, 99)}
    still, answer = learner.frozen(), learner.predict(0, 2)
    learner.run(*bk.clicks(*chosen(2, 400)))
    assert still.top_many([0, 7, 99], 5) == expected == {row: still.top(row, 5) for row in expected}
    assert still.predict(0, 2) == answer == still.predict_many([0], [2])[0] and still.certificate().rounds < learner.rounds
    for bad in (0, -1, 1.5, True):
        with pytest.raises(BadInput):
            still.top(0, bad)
    assert not hasattr(still, "update")
