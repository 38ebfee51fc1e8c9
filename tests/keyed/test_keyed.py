"""One learner a key: the bits of a plain loop, keys put away and back, keys that help each other and what is promised then."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.storage import BadFile, pack, unpack

KEYS = ("north", "south", 7)


def stream(n: int = 120, seed: int = 0) -> tuple[list[Any], list[list[float]], list[float]]:
    rng = np.random.default_rng(seed)
    keys = [KEYS[k] for k in rng.integers(0, 3, n)]
    X = rng.normal(size=(n, 3)).round(3)
    y = [float(x[0] - 0.5 * x[1] + KEYS.index(key) + 0.1 * rng.normal()) for x, key in zip(X, keys)]
    return keys, X.tolist(), y


MAKERS = {
    "adagrad": lambda: bk.Learner("adagrad", loss="absolute"),
    "l2": lambda: bk.Learner("square-function", loss="absolute"),
    "auto": lambda: bk.Auto("absolute", effort="light"),
    "quantiles": lambda: bk.Quantiles((0.1, 0.9)),
}


def bits(learner: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in learner.state_dict()[1].items()}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_without_help_a_key_is_a_learner_of_its_own(make: Any) -> None:
    keys, X, y = stream()
    shops, alone = bk.Keyed(make(), pooled=False), {key: make() for key in KEYS}
    run = shops.run(list(zip(keys, X)), y)
    expected = []
    for key, x, label in zip(keys, X, y):
        expected.append(alone[key].predict(x))
        alone[key].update(x, label)
    assert np.array_equal(np.asarray(run.predictions), np.asarray(expected))
    for key in KEYS:
        mine = shops.learner(key)
        assert np.array_equal(mine.predict_many(X), alone[key].predict_many(X))
        assert shops.certificate(key).to_dict() == mine.certificate().to_dict() == alone[key].certificate().to_dict()


@pytest.mark.parametrize("make", [MAKERS["adagrad"], MAKERS["auto"]], ids=["adagrad", "auto"])
@pytest.mark.parametrize("pooled", [False, True])
def test_keys_put_away_come_back_with_the_same_bits(make: Any, pooled: bool, tmp_path: Path) -> None:
    keys, X, y = stream(200)
    keys[60:160] = ["north"] * 100  # the others are idle
    here, away = bk.Keyed(make(), pooled=pooled), bk.Keyed(make(), pooled=pooled, idle=20, store=tmp_path)
    seen = 0
    for begin in range(0, 200, 10):
        part = list(zip(keys[begin : begin + 10], X[begin : begin + 10]))
        one, other = (learner.learn_many(part, y[begin : begin + 10]) for learner in (here, away))
        assert np.array_equal(one, other)
        seen = max(seen, len(list(tmp_path.iterdir())))
    assert seen > 0
    for key in KEYS:
        assert bits(here.learner(key)) == bits(away.learner(key))


@pytest.mark.parametrize("pooled", [False, True])
def test_keys_put_away_are_told_of_saved_and_copied_where_they_lie(pooled: bool, tmp_path: Path) -> None:
    keys, X, y = stream(120)
    keys[60:] = ["north"] * 60
    here, away = bk.Keyed(MAKERS["adagrad"](), pooled=pooled), bk.Keyed(MAKERS["adagrad"](), pooled=pooled, idle=20, store=tmp_path)
    for row, label in zip(zip(keys, X), y):
        here.update(row, label)
        away.update(row, label)
    lying = dict(away.idle.away)
    assert len(lying) > 1 and repr(away) == repr(here) and away.cumulative_loss == here.cumulative_loss
    assert away.certificate().to_dict() == here.certificate().to_dict()
    again = unpack(pack(away))
    assert away.idle.away == lying  # looking brings nothing back
    for key in KEYS:
        assert bits(again.learner(key)) == bits(here.learner(key)) == bits(away.learner(key))


@pytest.mark.parametrize("pooled", [False, True])
def test_a_folder_that_cannot_be_written_stops_a_round_before_it_begins(pooled: bool, tmp_path: Path) -> None:
    place = tmp_path / "a file"
    place.write_text("in the way")
    keyed = bk.Keyed(MAKERS["adagrad"](), pooled=pooled, idle=5, store=place)
    ticket, refused = keyed.play(("z", [0.5])), 0
    for t in range(20):
        before = pack(keyed)
        try:
            keyed.learn_many([[1.0], [0.5]], [1.0, 0.0], keys=[f"k{t}", "a"])
        except BadFile:
            refused += 1
            assert pack(keyed) == before
            with pytest.raises(BadFile):
                keyed.reveal(ticket.id, 1.0)
            assert pack(keyed) == before and keyed.pending == 1
    assert refused > 10
    place.unlink()  # and then it goes on
    keyed.reveal(ticket.id, 1.0)
    assert keyed.idle.away and keyed.pending == 0


def test_help_costs_no_more_than_is_told_and_the_sum_is_true() -> None:
    keys, X, y = stream(150)
    shops, alone = bk.Keyed(MAKERS["adagrad"]()), bk.Keyed(MAKERS["adagrad"](), pooled=False)
    mine, own = (learner.run(list(zip(keys, X)), y).predictions for learner in (shops, alone))
    zero = Fraction(0)
    for key in KEYS:
        paid = sum((abs(Fraction(float(p)) - Fraction(t)) for p, t, k in zip(mine, y, keys) if k == key), zero)
        for w in ([0.0, 0.0, 0.0], [1.0, -0.5, 0.0]):
            other = sum(
                (abs(sum(Fraction(a) * Fraction(b) for a, b in zip(w, x)) - Fraction(t)) for x, t, k in zip(X, y, keys) if k == key), zero
            )
            certificate = shops.certificate(key)
            assert paid - other <= certificate.realised(w) <= certificate.corrected(w) <= certificate.bound(w)
    whole = shops.certificate()
    total = sum((abs(Fraction(float(p)) - Fraction(t)) for p, t in zip(mine, y)), zero)
    zeros = sum((abs(Fraction(t)) for t in y), zero)
    assert whole.rounds == 150 and total - zeros <= whole.realised() <= whole.corrected() <= whole.bound()
    assert sum(shops.certificate(key).cumulative_loss for key in KEYS) == pytest.approx(whole.cumulative_loss, rel=1e-12)
    assert len(own) == 150


def test_a_bad_row_anywhere_leaves_every_key_as_it_was() -> None:
    keys, X, y = stream(60)
    shops = bk.Keyed(MAKERS["adagrad"]())
    shops.run(list(zip(keys[:40], X[:40])), y[:40])
    header, arrays = shops.state_dict()
    before = repr(header), {name: array.tobytes() for name, array in arrays.items()}
    for bad_X, bad_y in (([*X[40:59], [1.0, float("nan"), 0.0]], y[40:]), (X[40:], [*y[40:59], float("inf")])):
        with pytest.raises(BadInput):
            shops.run(list(zip(["new", *keys[41:60]], bad_X)), bad_y)
        header, arrays = shops.state_dict()
        assert (repr(header), {name: array.tobytes() for name, array in arrays.items()}) == before
    with pytest.raises(BadInput, match="no row had this key"):
        shops.certificate("new")


def test_a_late_label_that_the_helper_refuses_leaves_the_key_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key's own learner has learned by then: it is put back, and the play still waits."""
    keys, X, y = stream(12)
    shops = bk.Keyed(MAKERS["adagrad"]())
    shops.run(list(zip(keys, X)), y)
    ticket = shops.play((keys[0], X[0]))
    before = repr(shops.state_dict()[0]), bits(shops)
    assert shops.help is not None

    def refuse(*_: Any) -> None:
        raise BadInput("y", 0.5, "not this one")

    with monkeypatch.context() as patch:
        patch.setattr(shops.help, "reveal", refuse)
        with pytest.raises(BadInput, match="not this one"):
            shops.reveal(ticket.id, 0.5)
    assert (repr(shops.state_dict()[0]), bits(shops)) == before and shops.pending == 1
    shops.reveal(ticket.id, 0.5)
    assert shops.rounds == 13 and shops.pending == 0


def test_a_key_may_have_a_learner_of_ratings() -> None:
    shops = bk.Keyed(bk.MatrixCompletion(), pooled=False)
    alone = bk.MatrixCompletion()
    for t in range(6):
        shops.update(("north", (f"u{t % 2}", t % 3)), 1.0 + t % 5)
        alone.update(f"u{t % 2}", t % 3, 1.0 + t % 5)
    assert shops.predict(("north", ("u1", 2))) == alone.predict("u1", 2)
    assert shops.certificate("north").to_dict() == alone.certificate().to_dict()


def test_before_its_first_label_a_key_says_what_all_keys_say() -> None:
    keys, X, y = stream(90)
    shops = bk.Keyed(MAKERS["adagrad"]())
    shops.run(list(zip(keys, X)), y)
    assert shops.help is not None and shops.predict(("new", X[0])) == shops.help.predict(X[0]) != 0.0


def test_what_a_key_loses_before_its_first_label_is_told() -> None:
    """All keys teach 1; a new key's first labels are 0, which its own learner would have said."""
    shops = bk.Keyed(bk.Learner("adagrad", loss="absolute", radius=5.0))
    for t in range(60):
        shops.update((f"old {t % 3}", [1.0]), 1.0)
    paid = Fraction(0)
    for t in range(4):
        paid += abs(Fraction(shops.predict(("new", [1.0]))))
        if t == 2:
            ticket = shops.play(("new", [1.0]))
            shops.reveal(ticket.id, 0.0)
        else:
            shops.update(("new", [1.0]), 0.0)
        told = shops.certificate("new")
        assert Fraction(0) < paid <= told.realised([0.0]) <= told.corrected([0.0]) <= told.bound([0.0])
    cost, lost = (next(line for line in told.others if line.name == name).value for name in ("cost of aggregating", "lost to it"))
    assert cost >= lost >= float(paid)


@pytest.mark.parametrize("make", [lambda: bk.Learner("adagrad", loss="logistic", radius=5.0), lambda: bk.Auto("logistic", effort="light")])
def test_the_same_in_log_odds(make: Any) -> None:
    shops = bk.Keyed(make())
    for t in range(60):
        shops.update((f"old {t % 3}", [1.0]), 1)
    paid = []
    for t in range(4):
        paid.append(math.log1p(math.exp(shops.predict(("new", [1.0])))))  # the label is -1
        shops.update(("new", [1.0]), -1)
        told = shops.certificate("new")
        assert told.cumulative_loss == pytest.approx(math.fsum(paid), rel=1e-9)
        assert math.fsum(paid) - (t + 1) * math.log(2.0) <= told.realised([0.0]) <= told.corrected([0.0])
    assert paid[0] > 1.0 > math.log(2.0)
