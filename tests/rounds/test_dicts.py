"""Dicts of named features, read by compiled code: the rows they name, whatever they hold, and nothing kept by accident."""

from __future__ import annotations

import copy
import math
import pickle
import sys
import weakref
from collections import OrderedDict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning import learner as learner_module
from burkholder.learning import ledger
from burkholder.learning.learner import Learner
from burkholder.learning.rows import Rows
from burkholder.machine.processor import PLAIN
from burkholder.rounds import LinearState
from burkholder.rounds.plain import KNOWN, plain

# one of each geometry and clock, and every kind of label
CASES = [
    ("adagrad", "logistic", {}),
    ("square-function", "absolute", {"bound": 1.0}),
    ("mixture", "hinge", {}),
    ("parameter-free-l3", "pinball", {"bound": 2.0}),
    ("adaptive-coordinates", "squared", {"bound": 1.0}),
]
FAST, BOUND = CASES[1], 1.0
MANY = [f"name {i}" for i in range(400)]


def make(case=FAST, **more) -> Learner:
    name, loss, options = case
    return Learner(name, loss=loss, **{**options, **more})


def snapshot(learner: Learner):
    arrays = {key: value.tobytes() for key, value in learner.state.arrays().items()}
    return arrays, learner.ledger.tobytes(), learner.rows.kind, list(learner.rows.names.items())


def slow(**more) -> Learner:
    """A learner that takes every dict the long way round."""
    learner = make(**more)
    learner._quick = False
    return learner


def stream(rng: np.random.Generator, rounds: int):
    """Rows of changing length and order, with zeros and new names on the way; every third like the first."""
    for t in range(rounds):
        chosen = rng.permutation(20 + 3 * t)[: rng.integers(1, 5 + 2 * t)] if t % 3 else np.arange(7)
        values = rng.standard_normal(len(chosen)) * (rng.random(len(chosen)) < 0.8)
        yield dict(zip([MANY[i] for i in chosen], values.tolist())), float(rng.choice([-1.0, 1.0]))


def test_dicts_are_read_by_compiled_code_here():
    assert KNOWN is not PLAIN
    learner = make()
    learner.predict({"a": 1.0})
    assert (learner._named is not None) is KNOWN


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_dicts_are_the_rows_they_name(case, intercept):
    """Bit for bit what the same rows give as compressed arrays; predicting names nothing."""
    learner = make(case, intercept=intercept)
    plain, book = LinearState(learner.function), ledger.empty()
    for x, y in stream(np.random.default_rng(5), 50):
        before = snapshot(learner)
        yhat = learner.predict(x)
        assert snapshot(learner) == before
        learner.update(x, y, weight=1.5)
        names = learner.rows.names
        assert set(names) == {*(name for name, _ in before[3]), *x} and [*names.values()] == [*range(len(names))]
        indices = np.array([*(names[key] for key in x), *[0] * intercept], np.int64)
        values = np.array([*x.values(), *[1.0] * intercept])
        expected = plain.run(Rows().compressed([0, len(indices)], indices, values), [y], [1.5], learner.loss, learner.bound, book)
        assert yhat == expected[0]
    ours, theirs = learner.state.arrays(), plain.arrays()
    assert all(np.array_equal(ours[key], theirs[key]) for key in ours) and np.array_equal(learner.ledger, book)
    assert len(names) > 130 and learner.rounds == 50


ODD_NUMBERS = [
    1, -3, True, False, 0.0, -0.0, 2**70, 10**400, np.float64(0.3), np.float32(0.3), np.int64(-1), np.int32(-1), np.int8(3),
    np.bool_(True), Fraction(1, 3), "0.5", "text", None, math.nan, math.inf, -math.inf, 1e149, 1e151, [1.0], np.ones(1), -1,
]  # fmt: skip
ODD_LABELS = [1, 0, -1, True, False, "1", "x", None, 0.5, 1.5, math.nan, math.inf, 1e308, np.float32(1.0), [1.0], 10**400]
ODD_WEIGHTS = [1, 0, 2.5, True, -1.0, math.nan, math.inf, 1e301, "2", "x", None]
NAMES = ["a", "b", "(intercept)", 0, 1, True, 1.0, ("a", 1), None, "é", "c" * 40]


def _result(work, *arguments):
    """What came of it, or the complaint."""
    try:
        return work(*arguments)
    except BadInput as error:
        return str(error)


@given(
    rows=st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from(NAMES), st.one_of(st.floats(-1, 1), st.sampled_from(ODD_NUMBERS)), max_size=5),
            st.one_of(st.sampled_from([1.0, -1.0]), st.sampled_from(ODD_LABELS)),
            st.one_of(st.just(1.0), st.sampled_from(ODD_WEIGHTS)),
        ),
        min_size=1, max_size=8,
    ),
    intercept=st.booleans(),
)  # fmt: skip
@pytest.mark.parametrize("case", [CASES[1], ("adagrad", "hinge", {})], ids=lambda case: case[1])
def test_whatever_a_dict_holds_the_long_way_agrees(case, rows, intercept):
    """Every value, name, label and weight: the same prediction or the same complaint, and the same state after it."""
    quick, long = make(case, intercept=intercept), make(case, intercept=intercept)
    long._quick = False
    for x, y, weight in rows:
        assert _result(quick.predict, x) == _result(long.predict, x)
        assert snapshot(quick) == snapshot(long)
        assert _result(quick.update, x, y, weight) == _result(long.update, x, y, weight)
        assert snapshot(quick) == snapshot(long)
    assert long._named is None


def test_each_odd_number_alone():
    """So that none of them hides behind another in the same row."""
    for value in ODD_NUMBERS:
        quick, long = make(), slow()
        for one in (quick, long):
            one.update({"a": 1.0, "b": 0.5}, 0.5)
        x = {"a": value, "b": 0.5}
        assert _result(quick.update, x, 1.0) == _result(long.update, x, 1.0), value
        assert _result(quick.predict, x) == _result(long.predict, x), value
        assert snapshot(quick) == snapshot(long), value


@pytest.mark.parametrize("loss", losses.LOSSES)
def test_labels_are_read_as_everywhere(loss):
    for y in ODD_LABELS:
        learner = make(("adagrad", loss, {"bound": BOUND}))
        expected = _result(losses.label, learner.loss, y, BOUND)
        got = _result(learner.update, {"a": 1.0}, y)
        assert got == (expected if isinstance(expected, str) else None), y
        if got is None:
            assert learner.cumulative_loss == pytest.approx(losses.value(learner.loss, 0.0, expected)), y


@pytest.mark.parametrize("bad", [b"text", [1.0], math.inf, 1e200, 10**400, -(10**400)])
def test_the_bad_feature_is_named(bad):
    learner = make()
    learner.update({"height": 1.0, "age": 2.0}, 0.5)
    before = snapshot(learner)
    for row in ({"height": 1.0, "age": bad}, {"new": 1.0, "age": bad}):
        for work, label in ((learner.predict, ()), (learner.update, (0.5,))):
            with pytest.raises(BadInput, match=r"x\['age'\]"):
                work(row, *label)
            assert snapshot(learner) == before
    assert learner.predict({"height": 1.0, "age": 2.0}) == learner.predict({"age": 2.0, "height": 1.0})


def test_names_at_the_address_of_others():
    """Names are told apart by where they lie; so one that was let go may not be mistaken for the next one there."""
    rng = np.random.default_rng(0)
    ours, theirs = make(), slow()
    for t in range(300):
        # strings of our own, freed after each round: the next ones lie where these lay
        x = {"".join(["n", str(i)]): float(v) for i, v in zip(rng.permutation(9)[:4], rng.standard_normal(4))}
        assert ours.predict(x) == theirs.predict(x)
        if t % 2:
            ours.update(x, 0.5)
            theirs.update(x, 0.5)
        del x
    assert snapshot(ours) == snapshot(theirs)


def test_names_are_held_no_longer_than_the_learner():
    name, value = "".join(["own", " name"]), 0.25
    before = sys.getrefcount(name), sys.getrefcount(value)
    learner = make()
    for t in range(200):
        x = {name: value, f"other {t % 3}": 1.0}
        learner.predict(x)
        learner.update(x, 0.5)
    del x
    assert sys.getrefcount(name) <= before[0] + 2 and sys.getrefcount(value) == before[1]
    state = weakref.ref(learner.state)
    del learner  # at once, not when the garbage collector comes by: states can be large
    assert state() is None and sys.getrefcount(name) == before[0]


def test_a_row_changed_between_predicting_and_learning():
    ours, theirs = make(), slow()
    for one in (ours, theirs):
        x = {"a": 0.5, "b": -0.5}
        one.update(x, 1.0)
        one.predict(x)
        x["a"] = 0.25
        one.update(x, 1.0)
        one.predict(x)
        del x["a"]
        x["c"] = 1.0
        x["a"] = -1.0
        one.update(x, -1.0)
    assert snapshot(ours) == snapshot(theirs)


def test_other_mappings_are_the_same_rows():
    ours, theirs = make(), make()
    for x, y in stream(np.random.default_rng(1), 12):
        assert ours.predict(x) == theirs.predict(OrderedDict(x))
        ours.update(OrderedDict(x), y)
        theirs.update(x, y)
    assert snapshot(ours) == snapshot(theirs)


@pytest.mark.parametrize("other", [[0.5, 0.5], (np.array([0, 3]), np.array([0.5, 0.5]))], ids=["vector", "sparse"])
def test_names_are_not_mixed_with_other_rows(other):
    learner = make()
    learner.predict({"a": 1.0})  # predicting decides nothing
    learner.update(other, 0.5)
    before = snapshot(learner)
    for work in (lambda: learner.predict({"a": 1.0}), lambda: learner.update({"a": 1.0}, 0.5)):
        with pytest.raises(BadInput, match="keep to one kind"):
            work()
    assert snapshot(learner) == before
    named = make()
    named.update({}, 0.5)  # a row without features has names all the same
    with pytest.raises(BadInput, match="keep to one kind"):
        named.update(other, 0.5)
    started = make()
    started.predict({"a": 1.0})
    started.run(np.ones((2, 2)), [0.5, 0.5])
    with pytest.raises(BadInput, match="keep to one kind"):
        started.update({"a": 1.0}, 0.5)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["copy", "pickle"])
def test_copies_go_their_own_way(duplicate):
    rows = list(stream(np.random.default_rng(2), 20))
    one = make()
    for x, y in rows[:10]:
        one.update(x, y)
    two, before = duplicate(one), snapshot(one)
    for x, y in rows[10:]:
        two.predict(x)
        two.update(x, y)
    assert snapshot(one) == before
    for x, y in rows[10:]:
        one.update(x, y)
    assert snapshot(one) == snapshot(two)


def test_late_labels_between_quick_rounds():
    ours, theirs = make(), slow()
    for one in (ours, theirs):
        one.update({"a": 0.5}, 1.0)
        ticket = one.play({"b": 1.0, "c": 0.5})
        one.update({"c": 0.25, "a": 0.5}, 1.0)
        one.reveal(ticket.id, -1.0)
        one.update({"b": 0.25, "a": 0.5, "d": 1.0}, 1.0)
    assert snapshot(ours) == snapshot(theirs)


def test_without_the_known_layout_everything_goes_the_long_way(monkeypatch):
    ours = make()
    monkeypatch.setattr(learner_module, "KNOWN", False)
    theirs = make()
    for x, y in stream(np.random.default_rng(3), 12):
        assert ours._named is None or ours.predict(x) == theirs.predict(x)
        theirs.update(x, y)
        monkeypatch.setattr(learner_module, "KNOWN", True)
        ours.update(x, y)
        monkeypatch.setattr(learner_module, "KNOWN", False)
    assert theirs._named is None and ours._named is not None and snapshot(ours) == snapshot(theirs)


def _is_plain(value) -> bool:
    if type(value) not in (float, int, bool, np.float64, np.float32, np.int64, np.int32):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


@given(st.dictionaries(st.sampled_from(NAMES), st.one_of(st.floats(), st.sampled_from(ODD_NUMBERS)), max_size=5))
def test_plain_rows_are_those_that_need_no_reading(x):
    assert plain(x) == (all(map(_is_plain, x.values())) and all(type(name) in (str, int) for name in x))
