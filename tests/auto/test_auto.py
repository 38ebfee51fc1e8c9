"""Auto: one result whichever way rows arrive, invariance, saved states, bad input refused."""

from __future__ import annotations

import copy
import json
import math
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from auto_streams import CLASSES, each_loss, stream
from burkholder.auto import Auto, AutoMulticlass
from burkholder.errors import BadInput


def looped(learner: Auto, rows: list, y: np.ndarray) -> np.ndarray:
    predictions = []
    for x, label in zip(rows, y):
        predictions.append(learner.predict(x))
        learner.update(x, label)
    return np.array(predictions)


def same_state(a: Auto, b: Auto) -> bool:
    """Equal up to room kept for more features."""
    later = [[] if one._nonlinear is None else [*one._nonlinear.forest, *one._nonlinear.blend] for one in (a, b)]
    assert len(later[0]) == len(later[1])
    for left, right in zip([*a.state, *later[0]], [*b.state, *later[1]]):
        shared = tuple(slice(0, min(m, n)) for m, n in zip(left.shape, right.shape))
        if not np.array_equal(left[shared], right[shared]):
            return False
    return True


@each_loss
def test_the_loop_and_the_compiled_run_agree_bit_for_bit(loss, options):
    X, y = stream(loss)
    run = Auto(loss, **options).run(X, y)
    assert np.array_equal(looped(Auto(loss, **options), list(X), y), run.predictions)
    chunks = Auto(loss, **options)
    rows = sp.csr_matrix(X)
    parts = [rows[i : i + 90] for i in range(0, len(y), 90)]
    out = [chunks.run_batch(p.indptr, p.indices, p.data, y[90 * i : 90 * i + 90]) for i, p in enumerate(parts)]
    assert np.array_equal(np.concatenate(out), run.predictions)
    assert chunks.cumulative_loss == pytest.approx(run.losses.sum(), rel=1e-12)


@each_loss
def test_dense_sparse_and_named_rows_agree(loss, options):
    X, y = stream(loss, rounds=150)
    dense = looped(Auto(loss, **options), [row.tolist() for row in X], y)
    sparse = [(np.flatnonzero(row), row[row != 0]) for row in X]
    assert np.array_equal(looped(Auto(loss, **options), sparse, y), dense)
    named = [{f"f{i}": float(v) for i, v in zip(ids, values)} for ids, values in sparse]
    assert np.array_equal(looped(Auto(loss, **options), named, y), dense)


def test_more_features_than_the_full_lanes_take_and_the_loop_still_agrees():
    rng = np.random.default_rng(3)
    X = sp.random(200, 300, density=0.03, random_state=3, format="csr")
    y = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    run = Auto("logistic", full_features=16).run(X, y)
    loop = looped(Auto("logistic", full_features=16), [X[t] for t in range(200)], y)
    assert np.array_equal(loop, run.predictions)


def test_duplicate_indices_are_added_up_and_order_does_not_matter():
    a, b = Auto("squared"), Auto("squared")
    for t in range(50):
        a.update(([3, 7, 3], [1.0, float(t % 5), 2.0]), t % 3)
        b.update(([3, 7], [3.0, float(t % 5)]), t % 3)
    assert a.predict(([3, 7], [3.0, 1.0])) == b.predict(([3, 7], [3.0, 1.0]))


def test_huge_ids_and_new_names_cost_memory_for_features_seen_only():
    learner = Auto("logistic")
    for t in range(40):
        learner.update(([t % 3, 10**15 + t % 2], [1.0, 1.0]), t % 2)
    assert len(learner.state.stat) <= 128
    assert learner.predict(([10**15 + 1], [1.0])) > learner.predict(([10**15], [1.0]))
    assert learner.predict(([0, 10**16], [1.0, 1.0])) == learner.predict(([0], [1.0]))


@each_loss
def test_predict_changes_nothing(loss, options):
    X, y = stream(loss, rounds=100)
    learner = Auto(loss, **options)
    learner.run(X, y)
    before = learner.state_dict()
    first = [learner.predict(row) for row in [*X[:20], np.zeros(X.shape[1])]]
    assert first == [learner.predict(row) for row in [*X[:20], np.zeros(X.shape[1])]]
    after = learner.state_dict()
    assert before[0] == after[0]
    assert all(np.array_equal(before[1][name], after[1][name]) for name in before[1])


@each_loss
@pytest.mark.parametrize("power", [-6, 6])
def test_rescaling_features_and_target_changes_nothing(loss, options, power):
    X, y = stream(loss, rounds=300)
    scales = 10.0 ** (power * np.array([1, -1, 1, 0, 1, -1]))
    run = Auto(loss, **options).run(X, y)
    factor = 1.0 if loss in CLASSES else 1000.0
    scaled = {k: v * factor if k in ("threshold", "epsilon") else v for k, v in options.items()}
    again = Auto(loss, **scaled).run(X * scales, y * factor)
    assert np.allclose(again.predictions, factor * run.predictions, rtol=1e-6, atol=1e-6 * factor)


@each_loss
def test_a_saved_state_resumes_bit_for_bit(loss, options):
    X, y = stream(loss)
    whole, half = Auto(loss, **options), Auto(loss, **options)
    whole.run(X, y)
    half.run(X[:200], y[:200])
    header, arrays = half.state_dict()
    resumed = Auto.from_state(json.loads(json.dumps(header)), arrays)
    resumed.run(X[200:], y[200:])
    assert same_state(whole, resumed)
    assert resumed.cumulative_loss == whole.cumulative_loss


def test_names_survive_saving():
    learner = Auto("absolute")
    for t in range(30):
        learner.update({"a": t % 3, "day": "mon" if t % 2 else "tue"}, t % 2)
    header, arrays = learner.state_dict()
    resumed = Auto.from_state(json.loads(json.dumps(header)), arrays)
    assert resumed.predict({"day": "mon", "a": 1}) == learner.predict({"day": "mon", "a": 1})
    assert resumed.predict({"day": "mon"}) != resumed.predict({"day": "tue"})


@pytest.mark.parametrize("make", [lambda: Auto("logistic"), AutoMulticlass], ids=["two classes", "several"])
def test_kinds_of_rows_do_not_mix(make):
    kinds = {"names": [{"a": 1.0}, {}], "vector": [[1.0, 2.0], np.ones(2)], "sparse": [([0], [1.0]), sp.csr_matrix([[1.0, 0.0]])]}
    for kind, other in (("names", "vector"), ("vector", "sparse"), ("sparse", "names")):
        learner = make()
        for x in kinds["names"] + kinds["vector"] + kinds["sparse"]:
            learner.predict(x)  # before the first label any will do, and none is chosen
        for x in kinds[kind]:
            learner.update(x, 1)
        header, arrays = learner.state_dict()
        resumed = type(learner).from_state(json.loads(json.dumps(header)), arrays)
        for one in (learner, resumed):
            for x in kinds[other]:
                with pytest.raises(BadInput, match=f"started with {kind}"):
                    one.predict(x)
                with pytest.raises(BadInput, match=f"started with {kind}"):
                    one.update(x, 0)
            after = one.state_dict()
            assert after[0] == header and all(np.array_equal(after[1][name], arrays[name]) for name in arrays)
            one.update(kinds[kind][0], 0)


def test_whole_arrays_are_not_named_rows():
    learner = Auto("squared")
    learner.update({"a": 1.0}, 1.0)
    with pytest.raises(BadInput, match="started with names"):
        learner.run(np.eye(2), [1.0, 2.0])
    with pytest.raises(BadInput, match="started with names"):
        learner.run_batch([0, 1], [0], [1.0], [1.0])
    assert learner.rounds == 1


BAD_ROWS = [[1.0, math.nan], ([0], [math.inf]), ([-1], [1.0]), ([0.5], [1.0]), ([0, 1], [1.0]), [1e200, 0.0], ["text"], [[1.0], [2.0]]]


@pytest.mark.parametrize("x", BAD_ROWS, ids=str)
def test_a_bad_row_is_refused_and_changes_nothing(x):
    learner = Auto("squared")
    learner.update([1.0, 2.0], 3.0)
    before = learner.state_dict()
    for attempt in (lambda: learner.predict(x), lambda: learner.update(x, 1.0)):
        with pytest.raises(BadInput):
            attempt()
    after = learner.state_dict()
    assert before[0] == after[0]
    assert all(np.array_equal(before[1][name], after[1][name]) for name in before[1])


@pytest.mark.parametrize(("y", "weight"), [(math.nan, 1), ("a", 1), (1.0, -1), (1.0, math.inf), (math.inf, 1.0)])
def test_a_bad_label_or_weight_is_refused(y, weight):
    learner = Auto("squared")
    with pytest.raises(BadInput):
        learner.update([1.0], y, weight)
    assert learner.rounds == 0


@pytest.mark.parametrize(
    "options",
    [
        {"loss": "sqared"},
        {"loss": "logistic", "low": 0, "high": 1},
        {"loss": "squared", "low": 1, "high": 0},
        {"loss": "squared", "low": 1},
        {"loss": "squared", "full_features": -1},
        {"loss": "squared", "quantile": 0.5},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(BadInput):
        Auto(**options)


def test_labels_outside_a_given_range_are_refused():
    learner = Auto("squared", low=0.0, high=1.0)
    with pytest.raises(BadInput, match="range given"):
        learner.update([1.0], 2.0)


def test_weight_zero_teaches_nothing_and_weight_two_more_than_one():
    X, y = stream("squared", rounds=100)
    learner = Auto("squared")
    learner.run(X, y)
    x = X[0]
    error = abs(learner.predict(x) - 10.0)
    moved = []
    for weight in (0.0, 1.0, 2.0):
        header, arrays = learner.state_dict()
        copy = Auto.from_state(header, arrays)
        copy.update(x, 10.0, weight)
        moved.append(error - abs(copy.predict(x) - 10.0))
    assert abs(moved[0]) < 0.05 * moved[1]
    assert moved[1] < moved[2]


def test_without_an_intercept_no_constant_is_learned():
    learner = Auto("squared", intercept=False)
    for t in range(60):
        learner.update([1.0 + t % 3], 5.0 * (1.0 + t % 3))
    assert not learner.state.lanes[0, :8].any()
    assert learner.predict([2.0]) == pytest.approx(10.0, rel=0.05)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.lists(st.floats(-1e150, 1e150), min_size=3, max_size=3), st.floats(-1e9, 1e9)), min_size=1, max_size=40))
def test_no_input_makes_it_nan(rounds):
    for loss in ("squared", "absolute"):
        learner = Auto(loss)
        for x, y in rounds:
            assert math.isfinite(learner.predict(x))
            learner.update(x, y)
        assert all(np.isfinite(array).all() for array in learner.state_dict()[1].values())


def test_several_classes_are_learned_and_the_state_resumes():
    rng = np.random.default_rng(5)
    centres = np.array([[2.0, 0.0], [-2.0, 1.0], [0.0, -3.0]])
    labels = rng.integers(0, 3, size=300)
    X = centres[labels] + rng.normal(size=(300, 2))
    learner = AutoMulticlass()
    run = learner.run(X, np.array(["a", "b", "c"])[labels])
    predicted, paid = run.predictions, run.losses
    assert np.mean(np.array(predicted[150:]) == np.array(["a", "b", "c"])[labels[150:]]) > 0.85
    assert paid[150:].mean() < 0.4
    likely = learner.predict_proba(X[0])
    assert sum(likely.values()) == pytest.approx(1.0)
    assert run.mean_loss == pytest.approx(run.certificate.mean_loss, rel=1e-12)
    header, arrays = learner.state_dict()
    resumed = AutoMulticlass.from_state(json.loads(json.dumps(header)), arrays)
    learner.update(X[0], "b")
    resumed.update(X[0], "b")
    assert resumed.predict_proba(X[1]) == learner.predict_proba(X[1])


def test_a_class_may_appear_late():
    learner = AutoMulticlass(classes=["x", "y"])
    for t in range(100):
        learner.update({"v": t % 2}, "xy"[t % 2])
    for t in range(60):
        learner.update({"v": t % 2, "w": 1.0}, "z")
    assert learner.predict({"v": 1, "w": 1.0}) == "z"
    assert learner.predict({"v": 1}) == "y"


def test_classes_on_shared_statistics_are_what_separate_learners_would_be():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(120, 5)) * (rng.random((120, 5)) < 0.6) * [1.0, 1e-3, 1e3, 1.0, 1.0]
    labels = rng.integers(0, 3, size=120)
    together = AutoMulticlass(classes=[0, 1, 2])
    together.run(X, labels)
    for label, view in together.learners.items():
        alone = Auto("logistic", effort="light")
        alone.run(X, np.where(labels == label, 1, -1))
        for name, array in alone.state._asdict().items():
            same = getattr(view.state, name)
            shape = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, same.shape))
            assert same[shape] == pytest.approx(array[shape], rel=1e-9, abs=1e-12), name
        assert view.certificate().cumulative_loss == pytest.approx(alone.cumulative_loss)
    assert together.learners[0].state.stat is together.learners[1].state.stat


def test_the_loop_and_the_compiled_run_over_classes_agree_bit_for_bit():
    rng = np.random.default_rng(7)
    X, labels = rng.normal(size=(80, 3)), np.array(["u", "v", "w", "x", "y"])[rng.integers(0, 5, size=80)]
    batch, loop = AutoMulticlass(), AutoMulticlass()
    run = batch.run(X, labels)
    predicted, paid = run.predictions, run.losses
    for t in range(80):
        assert loop.predict(X[t]) == predicted[t]
        before = loop.cumulative_loss
        loop.update(X[t], str(labels[t]))
        assert loop.cumulative_loss - before == pytest.approx(paid[t], rel=1e-9)
    assert loop.predict_proba(X[0]) == batch.predict_proba(X[0])
    assert batch.predict_many(X[:9]) == [loop.predict(x) for x in X[:9]]
    assert batch.probabilities(X[:9]).tolist() == [list(loop.predict_proba(x).values()) for x in X[:9]]
    assert batch.classes == loop.classes == list(dict.fromkeys(labels.tolist()))


def test_the_ways_to_join_classes_are_those_of_the_formulas():
    rng = np.random.default_rng(8)
    X, labels = rng.normal(size=(60, 2)), rng.integers(0, 3, size=60)
    learner = AutoMulticlass(classes=[0, 1, 2], effort="light")
    lost, theta, precision = np.zeros(7), np.array([0.5, 0.5]), np.eye(2) * 10.0
    soft, squares = np.zeros((3, 3, 3)), np.full((3, 3, 3), 1e-300)  # lanes × classes × features, the constant first
    pooled, covariance, met = np.full(6, 1.0 / 6.0), np.eye(6) / 300.0, [np.zeros(2)]

    def centred(z):
        """x̃ less its mean over its standard deviation, of the rows before and sixteen of the usual kind; the constant stays."""
        before = np.array(met[1:]).reshape(-1, 2)
        mean, square = before.sum(axis=0) / (16.0 + len(before)), (16.0 + (before**2).sum(axis=0)) / (16.0 + len(before))
        return np.concatenate([[1.0], (z[1:] - mean) / np.sqrt(square - mean**2)])

    for x, label in zip(X, labels):
        margins = np.array([view.predict(x) for view in learner.learners.values()])
        likely = list(learner.predict_proba(x).values())
        z = learner._works.tilde[:3].copy()  # before the first row nothing is known of its features, and their weights are 0
        sigma = -np.logaddexp(0.0, -margins)
        scores = np.array([sigma, margins, theta[0] * margins + theta[1] * sigma, soft[0] @ centred(z), *(soft[1:] @ z)])
        logs = scores - np.logaddexp.reduce(scores, axis=1)[:, None]
        score = pooled @ logs
        logs = np.vstack([logs, score - np.logaddexp.reduce(score)])
        shares = np.array([*[1 / 12] * 6, 1 / 2]) * np.exp(lost.min() - lost)
        mixed = shares @ np.exp(logs) / shares.sum()
        assert likely == pytest.approx(mixed.tolist(), rel=1e-6)
        learner.update(x, int(label))
        lost -= logs[:, label]
        inputs, p = np.array([margins, sigma]), np.exp(logs[2])
        mean = inputs @ p
        precision += (inputs * p) @ inputs.T - np.outer(mean, mean)
        theta -= np.linalg.solve(precision, mean - inputs[:, label])
        p = np.exp(logs[6])
        mean = logs[:6] @ p
        apart = (logs[:6] * p) @ logs[:6].T - np.outer(mean, mean)
        covariance = np.linalg.inv(np.linalg.inv(covariance + 1e-5 * np.eye(6)) + apart)
        pooled = pooled - covariance @ (mean - logs[:6, label])
        z = learner._works.tilde[:3].copy()
        p, seen = np.exp(logs[3]), centred(z)
        scale = squares[0] + 3 / 6.0
        part = 1.0 / (1.0 + p * (1.0 - p) * (seen * seen / scale).sum(axis=1))
        soft[0] -= ((p - np.eye(3)[label]) * part)[:, None] * seen / scale
        squares[0] += (p * (1.0 - p) * part)[:, None] * seen * seen
        met.append(z[1:])
        g = (np.exp(logs[4:6]) - np.eye(3)[label])[:, :, None] * z
        squares[1:] += g * g
        soft[1:] -= np.array([0.2, 0.8])[:, None, None] * g / np.sqrt(squares[1:])
    assert learner.way_losses == pytest.approx(lost, rel=1e-6)


def test_bad_classes_and_lengths_are_refused():
    learner = AutoMulticlass()
    for nothing in (None, math.nan, np.float64("nan"), pd.NA, pd.NaT):
        with pytest.raises(BadInput, match="not a class"):
            learner.update({"a": 1.0}, nothing)
        with pytest.raises(BadInput, match=r"y\[1\]"):
            learner.run(np.eye(2), ["a", nothing])
        with pytest.raises(BadInput, match="classes"):
            AutoMulticlass(["a", nothing])
    with pytest.raises(BadInput, match="can be saved"):
        learner.update({"a": 1.0}, ["list"])
    with pytest.raises(BadInput, match="one label for each"):
        learner.run(np.eye(3), ["a"])
    with pytest.raises(BadInput, match="format"):
        AutoMulticlass.from_state({"learner": "auto-multiclass"}, {})
    assert learner.rounds == 0 and learner.predict({"a": 1.0}) is None and not learner.classes


def test_few_of_many_features_matter():
    """More features than rows, five of which matter: the betting lane finds them, the ridge lanes cannot."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(300, 600))
    y = X[:, :5] @ [3.0, -3.0, 3.0, -3.0, 3.0]
    run = Auto("absolute").run(X, y)
    losing = {lane.name: lane.loss for lane in run.certificate.lanes}
    assert losing["betting"] < 0.8 * min(loss for name, loss in losing.items() if name.startswith(("diagonal", "full")))
    assert run.mean_loss < 1.1 * losing["betting"] / 300


def test_text_and_missing_values_are_features_as_for_every_learner():
    learner = Auto("squared")
    for t in range(40):
        learner.update({"city": "Rome" if t % 2 else "Oslo", "age": None if t % 3 else 30.0}, float(t % 2))
    assert set(learner.rows.names) == {"city=Rome", "city=Oslo", "age", "age?"}
    assert learner.predict({"city": "Rome"}) > learner.predict({"city": "Oslo"})
    assert learner.predict({"age": math.nan}) == learner.predict({"age": pd.NA})


@each_loss
def test_predict_many_is_the_loop(loss, options):
    X, y = stream(loss, rounds=100)
    names = [f"f{i}" for i in range(X.shape[1])]
    dicts = [dict(zip(names, row)) for row in X.tolist()]
    learner = Auto(loss, **options)
    learner.run(dicts, y)
    rows = [*dicts[:30], {**dicts[0], "new": 3.0}, {}, {"f1": "text"}]
    assert learner.predict_many(rows).tolist() == [learner.predict(x) for x in rows]
    again = Auto(loss, **options)
    again.run(X, y)
    assert again.predict_many(X[:30]).tolist() == learner.predict_many(dicts[:30]).tolist()


BAD = {
    "label": lambda X, y: (X, [*y[:59], "?"], None),
    "mixed classes": lambda X, y: (X, [0.0, 1.0] * 29 + [-1.0, 1.0], None),
    "nan": lambda X, y: (X, [*y[:59], math.nan], None),
    "weight": lambda X, y: (X, y, [*np.ones(59), -1.0]),
    "heavy": lambda X, y: (X, y, [*np.ones(59), 1e60]),
    "feature": lambda X, y: (np.vstack([X[:59], np.full(X.shape[1], math.inf)]), y, None),
    "text": lambda X, y: ([*map(dict, map(enumerate, X[:59].tolist())), {"a": 1e200}], y, None),
    "length": lambda X, y: (X, y[:59], None),
    "interrupted": lambda X, y: (X, y, None),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("loss", ["logistic", "squared"])
@pytest.mark.parametrize("trace", [0, 10])
def test_a_run_is_all_or_nothing(loss, bad, trace, monkeypatch):
    if bad == "mixed classes" and loss == "squared":
        pytest.skip("not classes")
    X, y = stream(loss, rounds=60)
    first = [dict(enumerate(row)) for row in X[:20].tolist()] if bad == "text" else X[:20]
    learner = Auto(loss)
    learner.run(first, y[:20])
    before = learner.state_dict()
    given = BAD[bad](X, y)
    if bad == "interrupted":
        calls, ask = [], Auto.certificate

        def stop(self):
            calls.append(1)
            if len(calls) == 2:
                raise KeyboardInterrupt
            return ask(self)

        monkeypatch.setattr(Auto, "certificate", stop)
    with pytest.raises(KeyboardInterrupt if bad == "interrupted" else BadInput) as caught:
        learner.run(*given, trace=trace or 2 if bad == "interrupted" else trace)
    after = learner.state_dict()
    assert before[0] == after[0] and all(np.array_equal(before[1][name], after[1][name]) for name in before[1])
    if bad in ("nan", "weight", "heavy", "feature"):
        assert "[59]" in str(caught.value)
    monkeypatch.undo()
    learner.run(first, y[:20])


def test_late_labels_are_learned_from_what_was_played():
    X, y = stream("absolute", rounds=50)
    late, now = Auto("absolute"), Auto("absolute")
    tickets = []
    for x, label in zip(X, y):
        row = x.copy()
        tickets.append(late.play(row))
        row[:] = math.nan
        assert tickets[-1].prediction == now.predict(x)
        late.reveal(tickets[-1].id, label)
        now.update(x, label)
    assert same_state(late, now) and late.rounds == 50 and late.pending == 0
    first, second = late.play(X[0]), late.play(X[1])
    late.reveal(second.id, 1.0)
    with pytest.raises(BadInput):
        late.reveal(first.id, math.nan)
    before = late.cumulative_loss
    late.reveal(first.id, 7.0)
    assert late.cumulative_loss - before == pytest.approx(abs(first.prediction - 7.0), rel=1e-9)
    assert any("1 labels came late" in note for note in late.certificate().notes)
    gone = late.play(X[2])
    late.forget(gone.id)
    with pytest.raises(BadInput):
        late.reveal(gone.id, 1.0)
    with pytest.raises(BadInput, match="max_pending"):
        one = Auto("absolute", max_pending=1)
        one.play([1.0])
        one.play([1.0])


@pytest.mark.parametrize("named", [False, True])
def test_plays_survive_saving(named):
    X, y = stream("squared", rounds=30)
    rows = [{f"f{i}": v for i, v in enumerate(x)} if named else x for x in X.tolist()]
    for make, label in ((lambda: Auto("squared"), float), (AutoMulticlass, lambda value: "up" if value > 0.0 else "down")):
        learner = make()
        learner.run(rows[:20], [label(value) for value in y[:20]])
        ticket = learner.play(rows[20])
        learner.update(rows[21], label(y[21]))
        header, arrays = learner.state_dict()
        resumed = type(learner).from_state(json.loads(json.dumps(header)), arrays)
        for one in (learner, resumed):
            one.reveal(ticket.id, label(y[20]))
        assert resumed.cumulative_loss == learner.cumulative_loss and resumed.pending == 0
        assert list(resumed.predict_many(rows[:5])) == list(learner.predict_many(rows[:5]))
        assert resumed.play(rows[0]).id == ticket.id + 1


def test_late_classes_are_charged_with_what_was_shown():
    learner = AutoMulticlass()
    for t in range(30):
        learner.update({"v": t % 3}, "xyz"[t % 3])
    tickets = [learner.play({"v": t % 3}) for t in range(6)]
    shown = [learner.predict_proba({"v": t % 3}) for t in range(6)]
    for t in (3, 0, 5):
        before = learner.cumulative_loss
        learner.reveal(tickets[t].id, "xyz"[t % 3])
        assert learner.cumulative_loss - before == pytest.approx(-math.log(shown[t]["xyz"[t % 3]]), rel=1e-9)
    before = learner.cumulative_loss
    learner.reveal(tickets[1].id, "new")
    assert learner.cumulative_loss - before == pytest.approx(math.log(4.0))
    assert learner.certificate().realised() <= learner.certificate().bound()


def test_a_copy_goes_its_own_way():
    X, y = stream("squared", rounds=60)
    learner = Auto("squared")
    learner.run(X[:30], y[:30])
    for other in (copy.deepcopy(learner), pickle.loads(pickle.dumps(learner))):
        before = learner.state_dict()[1]
        other.run(X[30:], y[30:])
        assert all(np.array_equal(before[name], array) for name, array in learner.state_dict()[1].items())
        assert other.rounds == 60
    classes = AutoMulticlass([0, 1])
    classes.run(X, y > 0)
    other = copy.deepcopy(classes)
    before = classes.predict_proba(X[0])
    other.run(X, y < 0)
    assert classes.predict_proba(X[0]) == before and other.rounds == 120


def test_mean_losses_are_weighted_alike():
    X, y = stream("squared", rounds=80)
    weight = np.random.default_rng(0).random(80) * 3.0
    learner = Auto("squared")
    run = learner.run(X, y, weight)
    assert run.losses == pytest.approx((run.predictions - y) ** 2, rel=1e-9)
    mean = float(weight @ run.losses / weight.sum())
    assert run.mean_loss == pytest.approx(mean, rel=1e-12) == learner.mean_loss
    assert run.certificate.mean_loss == pytest.approx(mean, rel=1e-9)


@each_loss
def test_importances_are_the_slopes_of_the_prediction_per_spread(loss, options):
    """Move one feature by one of its standard deviations: the prediction moves by its importance, clipping and mixing aside."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 4)) * [1.0, 100.0, 0.01, 1.0]
    signal = X @ [1.0, 0.0, 100.0, 0.0]
    y = np.where(signal + rng.logistic(size=400) > 0.0, 1.0, -1.0) if loss in CLASSES else signal
    learner = Auto(loss, **options)
    learner.run(X, y)
    found = learner.importances()
    assert found.shape == (4,) and (found >= 0.0).all()
    assert found[[0, 2]].min() > 3.0 * found[[1, 3]].max()
    if loss == "squared":
        moved = [learner.predict(np.std(X, axis=0) * np.eye(4)[i] * 0.1) - learner.predict(np.zeros(4)) for i in range(4)]
        assert 10.0 * np.abs(moved) == pytest.approx(found, abs=0.1)


def test_threads_take_turns():
    X, y = stream("squared", rounds=200)
    learner, wrong = Auto("squared"), []

    def work(part):
        for x, label in zip(X[part], y[part]):
            try:
                learner.update(x, label)
                ticket = learner.play(x)
                learner.predict_many(X[:3])
                learner.forget(ticket.id)
                learner.certificate()
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(slice(k, None, 4),)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and learner.rounds == 200 and learner.pending == 0
    assert math.isfinite(learner.predict(X[0]))
