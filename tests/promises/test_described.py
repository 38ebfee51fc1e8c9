"""Completion with features: regret ≤ realised ≤ corrected ≤ bound in exact arithmetic, and how the whole stands to each lane."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from exact import in_order, loss_of

import burkholder as bk
from burkholder import storage
from burkholder.errors import BadInput

ENDS = {"squared": (1.0, 5.0), "absolute": (-0.1, 0.7), "logistic": (0.0, 1.0)}


def stream(loss: str, seed: int, n: int = 40) -> tuple[list[Any], list[float]]:
    """Few rows and columns, features of any size, ratings that the features explain or not."""
    rng, (low, high) = np.random.default_rng(seed), ENDS[loss]
    x = [
        (f"u{rng.integers(4)}", int(rng.integers(3)), {"a": float(rng.normal() * 10.0 ** rng.integers(-3, 9)), "b": "xyz"[rng.integers(3)]})
        for _ in range(n)
    ]
    if loss == "logistic":
        return x, [float(one[2]["b"] == "x") for one in x]
    return x, [float(low + (high - low) * (rng.integers(5) / 4 if seed % 2 else one[2]["b"] == "x")) for one in x]


def bias(learner: Any, pair: Any) -> float:
    """What the bias model alone says of that pair now."""
    ratings = learner.ratings
    nodes = np.array([ratings._rows.get(pair[0], -1)]), np.array([ratings._columns.get(pair[1], -1)])
    return float(ratings._shown(ratings.engine.predict(*nodes)[:, 1])[0])


def told(learner: Any, x: Any) -> list[float]:
    """The whole, both lanes, the bias model."""
    said = learner.ratings.predict(x[:2])
    return [learner.predict(x), learner.features.predict({**x[2], "ratings say": said}), said, bias(learner, x[:2])]


@pytest.mark.parametrize("loss", ENDS)
@pytest.mark.parametrize("delivery", ["loop", "late", "saved"])
@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_printed_is_true(loss: str, delivery: str, seed: int) -> None:
    low, high = ENDS[loss]
    learner = bk.DescribedCompletion(low, high, loss=loss, effort="light")
    x, y = stream(loss, seed)
    said, waiting = [], []
    for t, (row, rating) in enumerate(zip(x, y)):
        said.append(told(learner, row))
        if delivery == "late":
            waiting.append((learner.play(row).id, rating))
            assert len(waiting) < 9
            if len(waiting) == 8 or t == len(y) - 1:
                for id, label in reversed(waiting):
                    learner.reveal(id, label)
                waiting.clear()
        else:
            learner.update(row, rating)
        if delivery == "saved" and t == 20:
            learner = storage.unpack(storage.pack(learner))
    record, odds = learner.loss, learner.loss.odds
    labels = [2.0 * rating - 1.0 if odds else rating for rating in y]
    lost = [sum((loss_of(record, one[k], label) for one, label in zip(said, labels)), Fraction(0)) for k in range(3)]
    certificate = learner.certificate()
    half = Fraction(1) if odds else (Fraction(high) - Fraction(low)) / 2
    for size in (0.0, 0.2, -1.0):
        W = {(f"u{i}", j): size * a * b for i, a in enumerate((1.0, -0.5, 0.25, 2.0)) for j, b in enumerate((1.0, -1.0, 0.5))}
        known = {pair: value for pair, value in W.items() if pair in {row[:2] for row in x}}
        others = [Fraction(one[3]) + half * Fraction(W[row[:2]]) for row, one in zip(x, said)]
        other = sum((loss_of(record, predicted, label) for predicted, label in zip(others, labels)), Fraction(0))
        in_order(lost[0] - other, certificate, w=known)
    by_lane = {str(item.comparators): [] for item in certificate.others}
    for item in certificate.others:
        by_lane[str(item.comparators)].append(item.value)
    for k, whom in ((2, "completion of the ratings alone"), (1, "the Auto on features and on what the ratings say")):
        promised, realised = by_lane[whom]
        assert lost[0] - lost[k] <= Fraction(realised) <= Fraction(promised)
    assert abs(certificate.cumulative_loss - float(lost[0])) <= 1e-9 * (1.0 + float(lost[0]))


def test_features_help_where_ids_are_new() -> None:
    """Every column is new; half of the ratings are explained by a feature alone."""
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 2, 200)
    rows = [(f"u{t % 5}", f"new{t}", {"kind": "ab"[kind]}) for t, kind in enumerate(kinds)]
    y = [2.0 + 2.0 * kind for kind in kinds.tolist()]
    whole = bk.DescribedCompletion(1, 5).run(rows, y)
    alone = bk.MatrixCompletion(1, 5).run([row[:2] for row in rows], y)
    assert whole.losses.mean() < 0.2 * alone.losses.mean()
    assert np.array_equal(whole.details["ratings"], alone.predictions)  # the lane is completion itself, to the bit
    columns = ([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    assert np.array_equal(bk.DescribedCompletion(1, 5).run(columns, y).predictions, whole.predictions)


def test_a_file_that_mixes_learners_is_refused() -> None:
    one, other = bk.DescribedCompletion(1, 5, effort="light"), bk.DescribedCompletion(1, 5, effort="light")
    one.update(("a", "b", {"c": 1.0}), 3.0)
    header, arrays = one.state_dict()
    strange = other.state_dict()
    mixed = {**arrays, **{key: array for key, array in strange[1].items() if key.startswith("features/")}}
    with pytest.raises(BadInput):
        bk.DescribedCompletion.from_state({**header, "parts": {**header["parts"], "features": strange[0]["parts"]["features"]}}, mixed)
