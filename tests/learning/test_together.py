"""Many plays and many labels at once are what `play` and `reveal` make one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import burkholder as bk

RNG = np.random.default_rng(3)
X = RNG.normal(size=(700, 4))
Y = np.sign(X[:, 0] + 0.5 * RNG.normal(size=700))
LEARNERS = {
    "l2": lambda: bk.Learner("square-function", loss="logistic", geometry="l2", intercept=True),
    "adagrad, clipped": lambda: bk.Learner("adagrad", loss="hinge", radius=2.0, bound=0.2),
    "sign flip": lambda: bk.Learner("square-function", loss="hinge", strategy="sign-flip"),
    "mixture": lambda: bk.Learner("mixture", loss="absolute"),
    "strongly convex": lambda: bk.Learner("strongly-convex", loss="squared", bound=3.0),
    "auto": lambda: bk.Auto(loss="logistic"),
    "auto, hinge": lambda: bk.Auto(loss="hinge"),
    "auto, absolute": lambda: bk.Auto(loss="absolute"),
}


def blocks(learner: Any, together: bool, weights: np.ndarray, rows: Any) -> list[float]:
    """Play in blocks, label each block one block late; every prediction."""
    shown, waiting = [], []
    ends = np.cumsum(np.random.default_rng(1).integers(1, 40, 60))
    for start, stop in zip([0, *ends[:-1]], ends):
        part = rows[start : min(stop, 700)]
        tickets = learner.play_many(part) if together else [learner.play(x) for x in part]
        shown += [ticket.prediction for ticket in tickets]
        for ids, at in waiting:
            y, w = Y[at : at + len(ids)].tolist(), weights[at : at + len(ids)].tolist()
            if together:
                learner.reveal_many(ids, y, w)
            else:
                for one in zip(ids, y, w):
                    learner.reveal(*one)
        waiting = [([ticket.id for ticket in tickets], start)]
        if stop >= 700:
            return shown
    raise AssertionError("700 rows are all of them")


def same(a: Any, b: Any, exact: bool) -> None:
    (header, arrays), (other, others) = a.state_dict(), b.state_dict()
    late, late_other = header.pop("late", None), other.pop("late", None)
    assert header == other
    assert late is None or (late[0] == late_other[0] > 0 and late[1] == pytest.approx(late_other[1], rel=1e-12))
    for name, array in arrays.items():
        if exact:
            np.testing.assert_array_equal(array, others[name], err_msg=name)
        else:  # sums of losses are added up in another order, and trees are given room for a whole block
            common = min(len(array), len(others[name]))
            np.testing.assert_allclose(array[:common], others[name][:common], rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("rows", ["lists", "matrix", "dicts"])
@pytest.mark.parametrize("name", LEARNERS)
def test_together_is_one_after_the_other(name: str, rows: str) -> None:
    if name == "strongly convex" and rows == "dicts":
        pytest.skip("it takes vectors of a length that is known")
    given = {"lists": X.tolist(), "matrix": X, "dicts": [dict(zip("abcd", x.tolist())) for x in X]}[rows]
    weights = RNG.choice([0.5, 1.0, 2.0], 700)
    many, single = LEARNERS[name](), LEARNERS[name]()
    assert blocks(many, True, weights, given) == blocks(single, False, weights, given)
    same(many, single, exact=not name.startswith("auto"))
    assert many.certificate().realised(radius=1.0) == pytest.approx(single.certificate().realised(radius=1.0), rel=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_all_or_none(name: str) -> None:
    learner = LEARNERS[name]()
    learner.run(X[:100], Y[:100])
    tickets = [ticket.id for ticket in learner.play_many(X[100:110])]
    header, arrays = learner.state_dict()
    bad: list[tuple[Any, Any]] = [
        (tickets, [1.0] * 9 + [float("nan")]), (tickets, [1.0] * 9), ([*tickets, 999], [1.0] * 11), (tickets[:1] * 2, [1.0, 1.0]),
    ]  # fmt: skip
    for ids, labels in bad:
        with pytest.raises(bk.BadInput):
            learner.reveal_many(ids, labels)
    with pytest.raises(bk.BadInput):
        learner.reveal_many(tickets, [1.0] * 10, [1.0] * 9 + [-1.0])
    for rows in ([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0]], [[1.0, 2.0, 3.0, float("inf")]]):
        with pytest.raises(bk.BadInput):
            learner.play_many(rows)
    again, others = learner.state_dict()
    assert again == header
    for key, array in arrays.items():
        np.testing.assert_array_equal(array, others[key])
    learner.reveal_many(tickets, [1.0] * 10)
    assert learner.rounds == 110 and not learner.pending


def test_no_more_wait_than_may() -> None:
    learner = bk.Auto(loss="logistic", max_pending=3)
    learner.play_many(X[:2])
    with pytest.raises(bk.BadInput, match="max_pending"):
        learner.play_many(X[:2])
    assert learner.pending == 2
