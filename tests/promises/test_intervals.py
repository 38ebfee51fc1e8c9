"""Intervals and quantiles against exact arithmetic: coverage promised and counted, pinball regret against every shift."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import burkholder as bk
from burkholder.intervals import tracker
from burkholder.storage import pack, unpack

ROUNDS = 160
RNG = np.random.default_rng(8)
X = RNG.normal(size=(ROUNDS, 2))
STREAMS = {
    "plain": X[:, 0] + RNG.normal(size=ROUNDS),
    "heavy": X[:, 0] + RNG.standard_cauchy(size=ROUNDS),
    "drifting": np.where(np.arange(ROUNDS) < 80, X[:, 0], 1e4 + 300 * X[:, 1]),
    "constant": np.full(ROUNDS, 3.0),
    "tiny, then huge": np.where(np.arange(ROUNDS) % 40 == 39, 1e30, 1e-30 * X[:, 0]),
}
WEIGHTS = RNG.choice([0.0, 0.25, 1.0, 3.0], ROUNDS)


def pinball(level: float, played: float, y: Fraction) -> Fraction:
    gap, tau = y - Fraction(played), Fraction(level)
    return tau * gap if gap >= 0 else (tau - 1) * gap


def coverage_is(account_total: Fraction, weight: Fraction, level: float, told: dict[str, Any]) -> None:
    exact = account_total / weight - Fraction(level)
    assert abs(exact) <= Fraction(told["coverage_bound"])
    assert told["coverage"] == pytest.approx(float(account_total / weight), abs=1e-12)


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_hold_what_they_promise(stream: str, weighted: bool) -> None:
    y, weight = STREAMS[stream], WEIGHTS if weighted else np.ones(ROUNDS)
    run = bk.Intervals(0.8).run(X, y, weight)
    certificate = run.certificate
    inside = sum((Fraction(w) for w, low, high, v in zip(weight, run.low, run.high, y) if low <= v <= high), Fraction(0))
    coverage_is(inside, sum(map(Fraction, weight), Fraction(0)), 0.8, certificate.to_dict())
    levels, unit = certificate.levels.tolist(), Fraction(certificate.unit)
    for shifts in ([0.0, 0.0], [-1.0, 1.0], [-certificate.radius, certificate.radius], [0.5, -0.25]):
        regret = Fraction(0)
        for low, high, centre, v, w in zip(run.low, run.high, run.details["centre"], y, weight):
            for level, played, shift in ((levels[0], low, shifts[0]), (levels[1], high, shifts[1])):
                label = Fraction(v)
                theirs = label - Fraction(centre) - Fraction(shift)
                tau = Fraction(level)
                regret += Fraction(w) * (pinball(level, played, label) - (tau * theirs if theirs >= 0 else (tau - 1) * theirs))
        assert unit * regret <= Fraction(certificate.realised(shifts)) <= Fraction(certificate.realised(radius=certificate.radius))


@pytest.mark.parametrize("stream", STREAMS)
def test_every_level_of_quantiles_holds_what_it_promises(stream: str) -> None:
    y = STREAMS[stream]
    run = bk.Quantiles((0.1, 0.5, 0.9)).run(X, y)
    assert (np.diff(run.quantiles, axis=1) >= 0).all()
    for k, level in enumerate((0.1, 0.5, 0.9)):
        own = run.certificate.of(level)
        below = Fraction(int(np.sum(y <= run.quantiles[:, k])))
        coverage_is(below, Fraction(ROUNDS), level, own.coverages[0])
        paid = sum((pinball(level, p, Fraction(v)) for p, v in zip(run.quantiles[:, k], y)), Fraction(0))
        assert own.cumulative_loss == pytest.approx(float(paid), rel=1e-12)
        for shift in (0.0, -0.5, own.radius):
            theirs = [Fraction(v) - Fraction(c) - Fraction(shift) for v, c in zip(y, run.details["centre"])]
            tau = Fraction(level)
            regret = paid - sum((tau * gap if gap >= 0 else (tau - 1) * gap for gap in theirs), Fraction(0))
            assert regret <= Fraction(own.realised([shift])) <= Fraction(own.realised())


@pytest.mark.parametrize("horizon", [1, 6])
def test_labels_that_come_late(horizon: int) -> None:
    y, waiting = STREAMS["drifting"], []
    learner, inside = bk.Intervals(0.9), 0
    for t in range(ROUNDS):
        waiting.append((learner.play(X[t]), y[t]))
        if len(waiting) > horizon:
            ticket, label = waiting.pop(0)
            learner.reveal(ticket.id, label)
            inside += int(ticket.prediction[0] <= label <= ticket.prediction[1])
    told = learner.certificate().to_dict()
    coverage_is(Fraction(inside), Fraction(ROUNDS - horizon), 0.9, told)
    assert any("late" in note for note in told["notes"])


@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize("aim", ["miss", "hit", "turn"])
def test_labels_chosen_against_the_intervals(coverage: float, aim: str) -> None:
    """Just outside, just inside, or first the one and then the other: within a range, and the promise holds at every moment."""
    learner, inside = bk.Intervals(coverage, model=lambda x: 0.0), 0
    for t in range(250):
        low, high = learner.predict(X[t % ROUNDS])
        missing = aim == "miss" or (aim == "turn" and t < 120)
        if missing:
            y = np.nextafter(high, np.inf) if high < 5.0 else (np.nextafter(low, -np.inf) if low > -5.0 else 0.0)
        else:
            y = min(max(0.5 * (low + high), -5.0), 5.0)
        inside += int(low <= y <= high)
        learner.update(X[t % ROUNDS], float(y))
        certificate = learner.certificate()
        assert abs(Fraction(inside, t + 1) - Fraction(coverage)) <= Fraction(certificate.coverage_bound)


@pytest.mark.parametrize("kind", [lambda: bk.Intervals(0.8), lambda: bk.Quantiles((0.1, 0.8))])
@pytest.mark.parametrize("tiny", [5e-324, 1e-300])
def test_no_score_of_a_stream_that_begins_below_every_scale_voids_the_promise(kind: Any, tiny: float) -> None:
    learner = kind()
    begun = np.where(np.arange(ROUNDS) < 20, tiny * np.arange(ROUNDS), 1e60 * np.sign(X[:, 0]))
    learner.run(X, begun)
    loaded = unpack(pack(learner))
    assert np.array_equal(loaded.accounts, learner.accounts) and np.isfinite(learner.accounts).all()
    assert 1e120 < learner.accounts[:, tracker.HIGH].max() <= tracker.LARGEST
