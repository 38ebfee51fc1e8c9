"""Learners merged into lanes of one aggregation: what is certified holds in exact arithmetic, and they go on, saved or not."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burkholder as bk

MAKERS: dict[str, Any] = {
    "auto": lambda: bk.Auto("absolute", effort="light", low=-5.0, high=5.0),
    "experts": lambda: bk.Experts(loss="absolute"),
}
# Auto's comparators are linear in features over their running heights: constants are the same there as here
COMPARATORS = {"auto": ([0.0, 0.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0], [-2.0, 0.0, 0.0, 0.0]), "experts": ([1.0, 0.0, 0.0], [0.5, 0.25, 0.25])}


def shard(n: int, seed: int, slope: float) -> tuple[list[list[float]], list[float]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(3)
    return X.tolist(), np.clip(slope * X[:, 0] - 0.5 * X[:, 1] + 0.1 * rng.normal(size=n), -5.0, 5.0).round(3).tolist()


def lost(predictions: Any, y: list[float]) -> Fraction:
    return sum((abs(Fraction(float(p)) - Fraction(t)) for p, t in zip(predictions, y)), Fraction(0))


def paid(name: str, w: list[float], X: list[list[float]], y: list[float]) -> Fraction:
    rows = [[1.0, *x] if name == "auto" else x for x in X]
    return sum((abs(sum(Fraction(a) * Fraction(b) for a, b in zip(w, x)) - Fraction(t)) for x, t in zip(rows, y)), Fraction(0))


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("slope", [1.0, -2.0])  # what comes after is like the shards, or their contrary
def test_the_certificate_of_merged_learners_is_true_and_they_go_on(name: str, slope: float, tmp_path: Path) -> None:
    shards = [shard(50, 1, 1.0), shard(30, 2, 0.3), shard(40, 3, 1.0)]
    learners = [MAKERS[name]() for _ in shards]
    total = sum((lost(learner.run(X, y, trace=0).predictions, y) for learner, (X, y) in zip(learners, shards)), Fraction(0))
    merged = bk.merge(*learners)
    assert type(merged).__name__ == "Merged" and merged.rounds == 120
    later = shard(60, 4, slope)
    bk.save(merged, tmp_path / "merged.bk")
    again = bk.load(tmp_path / "merged.bk")
    for moment in (merged.certificate(), None):
        if moment is None:
            said = merged.run(*later, trace=0).predictions
            assert np.array_equal(again.run(*later, trace=0).predictions, said)  # saved, loaded, and the same bits
            total += lost(said, later[1])
            shards.append(later)
        certificate = merged.certificate() if moment is None else moment
        assert certificate.rounds == sum(len(y) for _, y in shards)
        for w in COMPARATORS[name]:
            other = sum((paid(name, w, X, y) for X, y in shards), Fraction(0))
            assert total - other <= certificate.realised(w) <= certificate.corrected(w) <= certificate.bound(w)
        assert abs(float(total) - certificate.cumulative_loss) <= 1e-9 * float(total)
    assert merged.certificate().to_dict() == again.certificate().to_dict()


def test_completions_merge_go_on_and_are_saved(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    rows = [(f"u{a}", f"i{b}", float(r)) for a, b, r in zip(rng.integers(0, 6, 90), rng.integers(0, 5, 90), rng.integers(1, 6, 90))]
    parts = [bk.MatrixCompletion(low=1.0, high=5.0) for _ in range(2)]
    for k, (user, item, rating) in enumerate(rows[:60]):
        parts[k % 2].update((user, item), rating)
    merged = bk.merge(*parts)
    bk.save(merged, tmp_path / "merged.bk")
    again = bk.load(tmp_path / "merged.bk")
    for user, item, rating in rows[60:]:
        assert merged.predict((user, item)) == again.predict((user, item))
        for learner in (merged, again):
            learner.update((user, item), rating)
    assert merged.rounds == 90 and merged.cumulative_loss == again.cumulative_loss > 0.0
    certificate = merged.certificate()
    assert certificate.others[0].name == "cost of merging" and certificate.others[1].value <= certificate.others[0].value


def chosen(n: int, seed: int) -> tuple[list[tuple[str, int]], list[int]]:
    rng = np.random.default_rng(seed)
    return [(f"u{rng.integers(3)}", int(rng.integers(2))) for _ in range(n)], rng.integers(0, 2, n).tolist()


def log_loss(said: Any, labels: list[int]) -> float:
    return float(np.logaddexp(0.0, -np.array(said) * (2.0 * np.array(labels) - 1.0)).sum())


def test_yes_and_no_mean_the_same_to_merged_completions_as_to_each() -> None:
    """The loss of odds has labels ±1, the ratings are 0 and 1."""
    shards = [bk.MatrixCompletion(0, 1, loss="logistic") for _ in range(2)]
    total = sum(log_loss(one.run(*chosen(20, k)).predictions, chosen(20, k)[1]) for k, one in enumerate(shards))
    merged = bk.merge(*shards)
    pairs, labels = chosen(30, 5)
    total += log_loss(merged.run(pairs[:20], labels[:20]).predictions, labels[:20])
    tickets = [merged.play(pair) for pair in pairs[20:]]
    total += log_loss([ticket.prediction for ticket in tickets], labels[20:])
    for ticket, label in zip(tickets, labels[20:]):
        merged.reveal(ticket, label)
    assert merged.cumulative_loss == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("pooled", [False, True])
def test_a_completion_a_key(loss: str, pooled: bool) -> None:
    """Helped by all keys or not, one by one, in blocks and late: what was lost is what the predictions lost."""
    keyed = bk.Keyed(bk.MatrixCompletion(0, 1, loss=loss), key="shop", pooled=pooled)
    pairs, labels = chosen(30, 7)
    rows = [("north" if t % 3 else "south", pair) for t, pair in enumerate(pairs)]
    said = []
    for row, label in zip(rows[:10], labels[:10]):
        said.append(keyed.predict(row))
        keyed.update(row, label)
    said += list(keyed.learn_many(rows[10:20], labels[10:20]))
    tickets = [keyed.play(row) for row in rows[20:]]
    for ticket, label in zip(tickets, labels[20:]):
        said.append(ticket.prediction)
        keyed.reveal(ticket, label)
    wanted = log_loss(said, labels) if loss == "logistic" else float(np.square(np.array(said) - labels).sum())
    assert keyed.certificate().cumulative_loss == pytest.approx(wanted, rel=1e-12)
    for key in ("north", "south"):
        certificate = keyed.certificate(key)
        assert certificate.realised() <= certificate.corrected() <= certificate.bound()
