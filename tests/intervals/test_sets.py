"""Prediction sets: coverage on every path, also against labels chosen to be missed, and everything a learner owes."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.storage import pack, unpack


def stream(n: int, seed: int = 0) -> tuple[list[dict[str, float]], list[str]]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet([0.4] * 4, n)
    return [dict(zip("abcd", row)) for row in p.tolist()], ["abcd"[rng.choice(4, p=row)] for row in p]


@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_coverage_on_honest_and_hostile_streams(coverage: float) -> None:
    X, y = stream(1500)
    run = bk.PredictionSets(coverage).run(X, y)
    seen = np.mean([label in held for label, held in zip(y, run.predictions)])
    assert abs(seen - coverage) < 0.03 and run.certificate.coverage == seen
    sets, hit = bk.PredictionSets(coverage), 0
    for x in X:  # always a class outside the set, if there is one
        held = sets.predict(x)
        label = next((c for c in "abcd" if c not in held), held[0])
        hit += label in held
        sets.update(x, label)
    certificate = sets.certificate()
    assert certificate.coverage == hit / len(X)
    assert abs(certificate.coverage - coverage) <= certificate.coverage_bound < 0.1
    assert certificate.coverage > coverage - 0.05  # hostile labels only make the sets larger


def test_loop_run_play_and_copies_agree() -> None:
    X, y = stream(60, 3)
    whole, loop = bk.PredictionSets(0.8), bk.PredictionSets(0.8)
    run = whole.run(X, y, trace=3)
    for x, label, held in zip(X, y, run.predictions):
        assert loop.predict(x) == held
        ticket = loop.play(x)
        assert ticket.prediction == held
        loop.reveal(ticket.id, label)
    assert json.dumps(loop.certificate().to_dict()) == json.dumps(whole.certificate().to_dict())
    waiting = loop.play(X[0])
    copies = [copy.deepcopy(loop), unpack(pack(loop))]
    for other in (loop, *copies):
        other.update(X[1], y[1])
        other.reveal(waiting.id, y[0])
    assert len({json.dumps(one.certificate().to_dict()) for one in (loop, *copies)}) == 1
    assert all(one.predict(X[2]) == loop.predict(X[2]) for one in copies)
    realised, bound = whole.certificate().realised(), whole.certificate().bound()
    assert realised <= bound
    for u in (0.2, 0.5, 0.9):  # the regret against fixed thresholds, from the losses themselves
        scores = [1.0 - x[label] for x, label in zip(X, y)]
        theirs = sum(0.8 * (s - u) if s >= u else 0.2 * (u - s) for s in scores)
        assert math.fsum(run.losses) - theirs <= whole.certificate().realised([u]) <= realised


def test_a_class_nobody_listed_is_a_miss_that_is_charged() -> None:
    sets = bk.PredictionSets(0.9)
    for _ in range(20):
        sets.update({"a": 0.5, "b": 0.5}, "z")
    certificate = sets.certificate()
    assert certificate.coverage == 0.0 and certificate.coverage_bound >= 0.9


def test_bad_input_changes_nothing() -> None:
    sets = bk.PredictionSets()
    sets.update({"a": 0.5, "b": 0.5}, "a")
    before = pack(sets)
    for bad in ({}, [], {"a": -0.1}, {"a": 1.5}, {"a": "x"}, {"a": math.nan}, "row", None, [[0.5]]):
        with pytest.raises(BadInput):
            sets.predict(bad)
        with pytest.raises(BadInput):
            sets.update(bad, "a")
        with pytest.raises(BadInput, match=r"X\[1\]"):
            sets.run([{"a": 1.0}, bad], ["a", "a"])
    for bad in (None, math.nan, [1]):
        with pytest.raises(BadInput):
            sets.update({"a": 1.0}, bad)
    with pytest.raises(BadInput):
        sets.run([{"a": 1.0}], ["a", "a"])
    assert pack(sets) == before
    for coverage in (0.0, 1.0, True, "x", math.nan):
        with pytest.raises(BadInput):
            bk.PredictionSets(coverage)
