"""Learners packed in shared arrays: the bits of a dict of learners, whatever rows come, in whatever blocks and order of keys."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.keyed.packed import PackedShelf

MAKERS: dict[str, Any] = {
    "adagrad": lambda: bk.Learner("adagrad", loss="absolute"),
    "constant": lambda: bk.Learner("adagrad", loss="absolute", intercept=True),
    "l2": lambda: bk.Learner("square-function", loss="squared", bound=60.0),
    "l4": lambda: bk.Learner("smoothness-l4", loss="logistic"),
    "mixture": lambda: bk.Learner("mixture", loss="absolute"),
    "parameter-free": lambda: bk.Learner("parameter-free", loss="absolute"),
    "auto squared": lambda: bk.Auto("squared", effort="light"),
    "auto absolute": lambda: bk.Auto("absolute", effort="light", full_features=0),
    "auto pinball": lambda: bk.Auto("pinball", quantile=0.8, effort="light", full_features=12),
    "auto logistic": lambda: bk.Auto("logistic", effort="light"),
    "auto hinge": lambda: bk.Auto("hinge", effort="light"),
    "auto in a range": lambda: bk.Auto("squared", low=-3.0, high=60.0, effort="light"),
}


def labels(maker: str, values: np.ndarray) -> np.ndarray:
    return np.sign(values) + (values == 0.0) if maker in ("l4", "auto logistic", "auto hinge") else np.clip(values, -3.0, 60.0)


def bits(learner: Any) -> tuple[str, dict[str, bytes]]:
    header, arrays = learner.state_dict()
    return repr(header), {name: array.tobytes() for name, array in arrays.items()}


def blocks(seed: int = 0) -> Any:
    """Blocks of (keys, matrix, labels), rows interleaved: some keys come late, some labels are 0, the first of a key too."""
    rng = np.random.default_rng(seed)
    for number, count in enumerate((1, 40, 3, 60, 25)):
        keys = rng.integers(0, 4 + 3 * number, count).tolist()
        X = rng.normal(size=(count, 5)) * np.array([1.0, 10.0, 1e-3, 1.0, 1.0])
        X[rng.random(X.shape) < 0.2] = 0.0
        y = 3.0 * X[:, 0] - X[:, 3] + np.array(keys) + 0.1 * rng.normal(size=count)
        y[rng.random(count) < 0.2] = 0.0
        yield keys, X, y


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("form", ["matrix", "dicts"])
def test_a_key_is_a_learner_of_its_own_to_the_last_bit(maker: str, form: str) -> None:
    make, alone = MAKERS[maker], {}
    shops = bk.Keyed(make(), pooled=False)
    assert isinstance(shops.shelf, PackedShelf)
    rng = np.random.default_rng(1)
    for keys, X, y in blocks():
        y = labels(maker, y)
        weight = rng.choice([0.0, 0.5, 1.0, 3.0], len(keys))
        rows: Any = X if form == "matrix" else [{f"f{k}": float(v) for k, v in enumerate(x)} for x in X]
        expected = []
        for t, key in enumerate(keys):
            learner = alone.setdefault(key, make())
            expected.append(learner.predict(rows[t]))
            learner.update(rows[t], float(y[t]), float(weight[t]))
        said = shops.learn_many(rows, y, weight, keys=keys)
        assert np.array_equal(said, expected)
        probe = rows[:1] * len(alone) if isinstance(rows, list) else np.repeat(X[:1], len(alone), 0)
        assert np.array_equal(shops.predict_many(probe, keys=list(alone)), [learner.predict(rows[0]) for learner in alone.values()])
    for other in (shops, copy.deepcopy(shops)):
        assert not other.shelf.loose
        for key, learner in alone.items():
            assert bits(other.learner(key)) == bits(learner)
    again = bk.Keyed.from_state(*shops.state_dict())
    assert bits(again) == bits(shops)
    assert sum(learner.cumulative_loss for learner in alone.values()) == pytest.approx(shops.cumulative_loss, rel=1e-12)


@pytest.mark.parametrize("maker", ["adagrad", "l2", "auto squared", "auto absolute"])
def test_features_that_come_late_and_differ_from_key_to_key(maker: str) -> None:
    """Words, missing values and a growing number of names: every key has its own memory of them, in its own order."""
    make, alone = MAKERS[maker], {}
    shops, rng = bk.Keyed(make(), pooled=False), np.random.default_rng(2)
    for number in range(6):
        keys, rows, y = [], [], []
        for _ in range(20):
            key = int(rng.integers(0, 4))
            names = rng.choice(40 + 30 * key, size=int(rng.integers(1, 6 + 5 * number)), replace=False)
            row: dict[str, Any] = {f"n{name}": float(rng.normal()) for name in names}
            row |= {"city": str(rng.choice(["Rome", "Oslo", "Bari"])), "gap": None if rng.random() < 0.2 else 1.0}
            keys.append(key), rows.append(row), y.append(float(rng.normal()))
        expected = []
        for key, row, label in zip(keys, rows, y):
            learner = alone.setdefault(key, make())
            expected.append(learner.predict(row))
            learner.update(row, label)
        assert np.array_equal(shops.learn_many(rows, y, keys=keys), expected)
    for key, learner in alone.items():
        mine, other = shops.learner(key), learner
        assert [mine.predict(row) for row in rows] == [other.predict(row) for row in rows]
        assert mine.rows.names == other.rows.names
        assert mine.certificate().to_dict() == other.certificate().to_dict()
    assert len(shops.shelf.slabs.rooms) > 1  # keys with few features have smaller rows


@pytest.mark.parametrize("maker", ["adagrad", "auto squared"])
@pytest.mark.parametrize("pooled", [False, True])
def test_plays_that_wait_do_not_keep_others_from_being_packed(maker: str, pooled: bool) -> None:
    make = MAKERS[maker]
    shops, alone = bk.Keyed(make(), pooled=pooled), {key: make() for key in range(3)}
    (keys, X, y), (more, Z, z) = list(blocks())[1:3]
    shops.learn_many(X, y, keys=keys)
    for key, x, label in zip(keys, X, y):
        alone.setdefault(key, make()).update(x, label)
    ticket, mine = shops.play((keys[0], X[0])), alone[keys[0]].play(X[0])
    assert list(shops.shelf.loose) == [shops.keys.index(keys[0])]
    shops.learn_many(Z, z, keys=more)
    for key, x, label in zip(more, Z, z):
        alone.setdefault(key, make()).update(x, label)
    shops.reveal(ticket.id, 1.5)
    alone[keys[0]].reveal(mine.id, 1.5)
    assert not shops.shelf.loose
    for key in shops.keys:
        assert bits(shops.learner(key)) == bits(alone[key])
    ticket = shops.play(("new", X[0]))
    shops.forget(ticket.id)
    assert not shops.shelf.loose and shops.learner("new").rounds == 0 and shops.learner("new")._tickets.issued == 1


@pytest.mark.parametrize("maker", ["adagrad", "l2", "auto squared", "auto logistic"])
def test_a_bad_row_leaves_every_array_as_it_was(maker: str) -> None:
    make = MAKERS[maker]
    shops = bk.Keyed(make(), pooled=False)
    (keys, X, y), (more, Z, z) = [block for block in blocks() if len(block[0]) > 30]
    y, z = labels(maker, y), labels(maker, z)
    shops.learn_many(X, y, keys=keys)
    before, words = bits(shops), dict(shops.shelf.words.ids)
    for row, column, value in ((59, 2, np.nan), (30, 0, 1e300)):
        spoiled = Z.copy()
        spoiled[row, column] = value
        with pytest.raises(BadInput) as caught:
            shops.learn_many(spoiled, z, keys=more)
        assert f"[{row}]" in caught.value.argument
        assert bits(shops) == before and shops.shelf.words.ids == words
        with pytest.raises(BadInput):
            shops.predict_many(spoiled, keys=more)
        assert bits(shops) == before
    with pytest.raises(BadInput):
        shops.learn_many(Z[:, :4], z, keys=more)
    assert bits(shops) == before
    # and a key that was refused may still come, in another form
    shops.learn_many(Z, z, keys=more)
    assert shops.rounds == len(y) + len(z)


@pytest.mark.parametrize("maker", ["adagrad", "auto squared"])
@pytest.mark.parametrize("pooled", [False, True])
def test_before_anything_was_learned_every_key_answers_as_a_fresh_learner(maker: str, pooled: bool) -> None:
    shops, fresh = bk.Keyed(MAKERS[maker](), pooled=pooled), MAKERS[maker]()
    assert shops.predict(("nobody", [1.0, 2.0])) == fresh.predict([1.0, 2.0])
    assert shops.predict_many(np.ones((2, 2)), keys=["nobody", "other"]).tolist() == [fresh.predict([1.0, 1.0])] * 2
    assert len(shops.predict_many(np.ones((0, 2)), keys=[])) == 0 and len(shops) == 0


def test_what_cannot_be_packed_is_not() -> None:
    for learner in (
        bk.Auto("huber", threshold=2.0, effort="light"),
        bk.Auto("squared"),
        bk.Learner("strongly-convex", loss="squared", bound=1.0),
    ):
        assert not isinstance(bk.Keyed(learner, pooled=False).shelf, PackedShelf)


def test_rows_go_back_to_their_room_and_keys_begin_small() -> None:
    shops = bk.Keyed(MAKERS["auto absolute"](), pooled=False)
    for keys, X, y in blocks():
        shops.learn_many(X, y, keys=keys)
    slabs = shops.shelf.slabs
    assert slabs.nbytes == len(shops) * slabs.rooms[0].bytes < len(shops) * 16_000
    assert slabs.rooms[0].shape == (8, 8)


@pytest.mark.parametrize("spread", [1, 10**12])
def test_whole_numbers_in_an_array_are_the_same_keys_as_in_a_list(spread: int) -> None:
    rng = np.random.default_rng(2)
    X, y, keys = rng.normal(size=(300, 3)), rng.normal(size=300), spread * rng.integers(-20, 20, size=300)
    told = []
    for given in (keys.tolist(), keys, keys.astype(np.int64)[::-1][::-1]):
        learner = bk.Keyed(bk.Learner("adagrad", loss="absolute"), pooled=False)
        told.append([learner.learn_many(X[part], y[part], keys=given[part]) for part in (slice(0, 100), slice(100, 300))])
        assert learner.keys == list(dict.fromkeys(keys.tolist())) and all(type(key) is int for key in learner.keys)
        assert learner.predict_many(X[:2], keys=np.array([keys[0], 7 * spread + 41]))[1] == 0.0
    for other in told[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(told[0], other))
