"""Ids: one prediction, one label, whatever is sent how often. And what is refused changes nothing."""

from __future__ import annotations

import math

import pytest

import burkholder as bk
from burkholder.storage import pack
from serving import LEARNERS, OTHERS, Logged, asked, created


@pytest.fixture
def logged(tmp_path):
    service = Logged(tmp_path)
    service.one(created(LEARNERS["l2"]()))
    yield service
    service.store.close()


def test_the_same_label_twice_is_one_label(logged):
    logged.one(asked("predict", {"x": [1.0, 2.0], "id": "a"}))
    answers = logged.group(*[asked("label", {"id": "a", "y": 1})] * 3)
    assert [answer.status for answer in answers] == [200] * 3
    assert logged.service.models["default"].learner.rounds == 1


@pytest.mark.parametrize("second", [{"y": 0}, {"y": 1, "weight": 2.0}])
def test_another_label_is_refused(logged, second):
    logged.one(asked("predict", {"x": [1.0, 2.0], "id": "a"}))
    first, other = logged.group(asked("label", {"id": "a", "y": 1}), asked("label", {"id": "a", **second}))
    assert (first.status, other.status) == (200, 409)
    assert logged.service.models["default"].learner.rounds == 1


def test_the_same_row_under_an_id_is_the_same_prediction_and_another_row_is_refused(logged):
    first = logged.one(asked("predict", {"x": [1.0, 2.0], "id": "a"}))
    logged.one(asked("predict", {"x": [1.0, 5.0], "id": "b"}))
    logged.one(asked("label", {"id": "b", "y": 1}))  # the model has moved on
    assert logged.one(asked("predict", {"x": [1.0, 2.0], "id": "a"})) == first
    assert logged.one(asked("predict", {"x": [1.0, 2.5], "id": "a"})).status == 409
    assert len(logged.service.models["default"].waiting) == 1


def test_an_unknown_id_is_404_and_a_forgotten_one_410(logged):
    logged.one(asked("predict", {"x": [1.0], "id": "old"}), moment=1.0)
    logged.one(asked("predict", {"x": [1.0], "id": "new"}), moment=2.0)
    logged.one(asked("forget", 2.0), moment=3.0)
    answers = logged.group(*(asked("label", {"id": id, "y": 1}) for id in ("old", "new", "never")))
    assert [answer.status for answer in answers] == [410, 200, 404]
    assert logged.service.models["default"].learner.pending == 0


def test_too_many_plays_are_429_until_a_label_comes(logged):
    answers = logged.group(*(asked("predict", {"x": [1.0], "id": f"i{k}"}) for k in range(6)))
    assert [answer.status for answer in answers] == [200] * 5 + [429]
    assert logged.one(asked("label", {"id": "i0", "y": 1})).status == 200
    assert logged.one(asked("predict", {"x": [1.0], "id": "i5"})).status == 200


@pytest.mark.parametrize(
    ("event", "argument"),
    [
        (asked("predict", {"x": [1.0, 2.0, 3.0]}), "x"),
        (asked("predict", {"x": {"a": 1.0}}), "x"),
        (asked("predict", {"x": [1e200, 0.0]}), "x"),
        (asked("predict", {"x": [1.0, 2.0], "id": "#9"}), "id"),
        (asked("label", {"id": "a", "y": 3}), "y"),
        (asked("label", {"id": "a", "y": 1, "weight": -1.0}), "weight"),
        (asked("learn", [{"x": [1.0, 2.0], "y": 1}, {"x": [1.0, 2.0], "y": 5}]), "y[1]"),
        (asked("learn", [{"x": [1.0, 2.0], "y": 1}, {"x": [1.0], "y": 1}]), "X"),
    ],
)
def test_what_cannot_be_used_is_422_with_a_remedy_and_changes_nothing(logged, event, argument):
    logged.one(asked("predict", {"x": [1.0, 2.0], "id": "a"}))
    logged.one(asked("learn", [{"x": [1.0, 2.0], "y": 1}]))
    before = logged.bits()
    answer = logged.one(event)
    assert (answer.status, answer.body.argument) == (422, argument)
    assert answer.body.remedy and answer.body.value
    assert logged.bits()[1:] == before[1:]


def test_of_a_list_each_item_fares_by_itself(logged):
    logged.one(asked("predict", [{"x": [1.0], "id": "a"}, {"x": [2.0], "id": "b"}]))
    answer = logged.one(asked("label", [{"id": "a", "y": 1}, {"id": "zz", "y": 1}, {"id": "b", "y": 9}]))
    assert answer.status == 207
    assert [getattr(item, "status", 200) for item in answer.body] == [200, 404, 422]
    assert logged.service.models["default"].learner.rounds == 1


# --- several models -----------------------------------------------------------------------------------------------
def test_a_shadow_learns_every_round_and_answers_as_the_learner_alone_would(logged):
    logged.one(created(bk.Auto(loss="logistic"), "candidate", "default"))
    alone = bk.Auto(loss="logistic")
    for k in range(30):
        ticket = alone.play([1.0, k % 5.0])
        logged.one(asked("predict", {"x": [1.0, k % 5.0], "id": f"i{k}"}))
        alone.reveal(ticket.id, k % 2)
        logged.one(asked("label", {"id": f"i{k}", "y": k % 2}))
    candidate = logged.service.models["candidate"]
    assert candidate.learner.rounds == 30 and candidate.learner.cumulative_loss == alone.cumulative_loss
    comparison = logged.service.comparisons["candidate"]
    assert comparison.rounds == 30
    more, ys, before = [[2.0, k % 5.0] for k in range(20)], [k // 4 % 2 for k in range(20)], comparison.wins
    told = logged.one(asked("learn", [{"x": x, "y": y} for x, y in zip(more, ys)])).body.predictions
    others = alone.learn_many(more, ys)
    better = [_logistic(mine, y) > _logistic(other, y) for mine, other, y in zip(told, others, ys)]
    comparison = logged.restarted().service.comparisons["candidate"]
    assert comparison.rounds == 50 and comparison.wins == before + sum(better) and 0 < sum(better) < 20
    low, high = comparison.to_dict()["interval"]
    assert low <= comparison.wins / 50 <= high


def _logistic(prediction, y):
    return math.log1p(math.exp(-prediction if y else prediction))


def test_models_of_other_names_learn_apart(logged):
    logged.one(created(LEARNERS["auto"](), "second"))
    logged.one(asked("learn", [{"x": [1.0], "y": 1}], model="second"))
    rounds = {name: model.learner.rounds for name, model in logged.service.models.items()}
    assert rounds == {"default": 0, "second": 1}


def test_a_name_is_taken_once_and_ids_begin_anew_with_a_new_model(logged):
    assert logged.one(created(LEARNERS["l2"]())).status == 409
    logged.one(asked("predict", {"x": [1.0], "id": "a"}))
    logged.one(asked("label", {"id": "a", "y": 1}))
    logged.tidy()
    from burkholder.serve.events import Event

    assert logged.one(Event("drop", "default", "bytes", b"")).status == 200
    assert logged.one(asked("predict", {"x": [1.0], "id": "a"})).status == 404
    logged.one(created(LEARNERS["l2"]()))
    assert logged.one(asked("label", {"id": "a", "y": 1})).status == 404
    assert logged.one(asked("predict", {"x": [3.0], "id": "a"})).status == 200


def test_a_shadow_follows_a_model_that_answers(logged):
    assert logged.one(created(LEARNERS["l2"](), "ghost", "nobody")).status == 422


def test_only_learners_of_rows_are_served(logged):
    from burkholder.serve.events import Event

    other = Event("create", "movies", "bytes", pack(bk.MatrixCompletion(low=1, high=5)), "")
    assert logged.one(other).status == 422
    assert logged.one(Event("create", "rubbish", "bytes", b"no model", "")).status == 422


def test_the_model_that_is_downloaded_predicts_the_same(logged):
    from burkholder.serve.model import downloaded
    from burkholder.storage import unpack

    logged.one(asked("learn", [{"x": [1.0, -1.0], "y": 1}] * 5))
    logged.one(asked("predict", {"x": [1.0, 2.0], "id": "waits"}))
    model = logged.service.models["default"]
    copy = unpack(downloaded(*model.file()))
    assert copy.pending == 0 and model.learner.pending == 1
    assert copy.predict([1.0, 2.0]) == model.learner.predict([1.0, 2.0])


@pytest.mark.parametrize("name", ["l2", "adagrad", "auto"])
def test_a_group_of_rounds_is_the_same_rounds_one_by_one(name, tmp_path):
    whole, single = Logged(tmp_path / "whole"), Logged(tmp_path / "single")
    made = LEARNERS[name]()
    made._tickets.limit = 100
    rows = [[float(k % 5), float(k % 3) - 1.0] for k in range(60)]
    for logged in (whole, single):
        logged.one(created(made))
        logged.one(asked("learn", [{"x": [1.0, 2.0], "y": 1}, {"x": [0.0, 1.0], "y": 0}]))
    for start in range(0, 60, 20):
        plays = [asked("predict", {"x": x, "id": f"{start}-{k}"}) for k, x in enumerate(rows[start : start + 20])]
        labels = [asked("label", {"id": f"{start}-{k}", "y": k % 2}) for k in range(20)]
        mixed = [event for pair in zip(plays, labels) for event in pair]  # each label after its own prediction, as they may come
        answers = whole.group(*mixed)
        assert answers[::2] == [single.one(event) for event in plays]
        assert answers[1::2] == [single.one(event) for event in labels]
    one, other = (logged.service.models["default"].learner for logged in (whole, single))
    assert one.rounds == other.rounds == 62 and one.cumulative_loss == pytest.approx(other.cumulative_loss, rel=1e-12)
    assert one.predict([0.3, 0.7]) == other.predict([0.3, 0.7])


def test_in_a_group_each_fares_by_itself(tmp_path):
    logged = Logged(tmp_path)
    logged.one(created(LEARNERS["l2"]()))
    logged.one(asked("learn", [{"x": [1.0, 2.0], "y": 1}]))
    before = logged.bits()
    bad = [asked("predict", {"x": [1.0]}), asked("predict", {"x": [1e300, 1.0]}), asked("label", {"id": "nobody", "y": 1})]
    assert [answer.status for answer in logged.group(*bad)] == [422, 422, 404]
    assert logged.bits()[1:] == before[1:]
    events = [asked("predict", {"x": [1.0, 3.0], "id": "a"}), bad[0], asked("predict", {"x": [1.0, 3.0], "id": "a"})]
    events += [asked("predict", {"x": [2.0, 3.0], "id": "a"}), asked("label", {"id": "a", "y": 1}), asked("label", {"id": "a", "y": 0})]
    assert [answer.status for answer in logged.group(*events)] == [200, 422, 200, 409, 200, 409]
    assert logged.service.models["default"].learner.rounds == 2


@pytest.mark.parametrize("kind", OTHERS)
def test_learners_of_every_kind_of_row_and_label_are_served_and_restarted(kind, tmp_path):
    make, row, labels = OTHERS[kind]
    logged, alone = Logged(tmp_path), make()
    logged.one(created(make()))
    for k, y in enumerate(labels):
        ticket = alone.play(row)
        answer = logged.one(asked("predict", {"x": row, "id": f"i{k}"}))
        said, numbers = answer.body, kind in ("intervals", "quantiles", "two quantiles")
        if said.interval is not None:
            assert said.interval == list(ticket.prediction) and said.prediction == sum(ticket.prediction) / 2.0
        elif numbers:
            assert said.prediction == list(ticket.prediction)
        elif said.probabilities is not None:
            known = alone.predict_proba(row) if hasattr(alone, "predict_proba") else ticket.prediction
            assert said.probabilities == {str(name): p for name, p in known.items()}
            assert not known or known[said.prediction] == max(known.values())
        else:
            assert said.prediction == (list(ticket.prediction) if type(ticket.prediction) is tuple else ticket.prediction)
        logged = logged.restarted()
        assert logged.one(asked("predict", {"x": row, "id": f"i{k}"})) == answer
        alone.reveal(ticket.id, y)
        assert logged.one(asked("label", {"id": f"i{k}", "y": y})).status == 200
    learned = logged.one(asked("learn", [{"x": row, "y": y} for y in labels], key="all"))
    assert (learned.status, learned.body.learned) == (200, 3)
    alone.learn_many([row] * 3, labels)
    before = logged.bits()
    logged.tidy()
    logged = logged.restarted()
    assert logged.bits() == before and logged.one(asked("learn", [{"x": row, "y": y} for y in labels], key="all")) == learned
    learner = logged.service.models["default"].learner
    assert (learner.rounds, learner.cumulative_loss) == (6, alone.cumulative_loss) and not logged.service.faults
    logged.store.close()


def test_of_intervals_and_sets_it_is_counted_how_many_held_their_label(tmp_path):
    for kind, y in (("intervals", 1e9), ("sets", "green")):
        make, row, labels = OTHERS[kind]
        logged = Logged(tmp_path / kind)
        logged.one(created(make()))
        held = 0
        for k, label in enumerate([*labels, *labels, y]):
            said = logged.one(asked("predict", {"x": row, "id": f"i{k}"})).body
            held += label in said.prediction if kind == "sets" else said.interval[0] <= label <= said.interval[1]
            logged.one(asked("label", {"id": f"i{k}", "y": label}))
        tally = logged.service.models["default"].tally
        assert (tally.asked, tally.inside) == (logged.service.models["default"].learner.rounds, held) and 0 < held < 7
        logged.store.close()


def test_models_made_in_one_group_share_no_rounds(logged):
    logged.group(*(created(LEARNERS["l2"](), name) for name in ("one", "two")))
    for name in ("one", "two"):
        logged.one(asked("predict", {"x": [1.0, 2.0], "id": "a"}, name))
    assert logged.one(asked("label", {"id": "a", "y": 1}, "one")).status == 200
    assert logged.one(asked("label", {"id": "a", "y": 0}, "two")).status == 200
    logged.tidy()
    assert logged.one(asked("label", {"id": "a", "y": 0}, "two")).status == 200
    assert len({model.number for model in logged.service.models.values()}) == 3


def test_keys_and_ids_are_no_ones_namesakes(logged):
    logged.one(asked("predict", {"x": [1.0, 2.0], "id": "learn k"}))
    logged.one(asked("label", {"id": "learn k", "y": 1}))
    first = logged.one(asked("learn", [{"x": [1.0, 2.0], "y": 1}], key="k"))
    assert first.status == 200 and logged.one(asked("learn", [{"x": [1.0, 2.0], "y": 1}], key="k")) == first
    for id in ("#learn k", "#learn other", "#9", ""):
        answer = logged.one(asked("predict", {"x": [1.0, 2.0], "id": id}))
        assert answer.status in (409, 422) and logged.one(asked("label", {"id": id, "y": 1})).status in (404, 409)
    assert logged.service.models["default"].learner.rounds == 2


def test_the_same_model_twice_is_one_model_and_another_is_refused(logged):
    content = pack(bk.Auto(loss="logistic"))

    def put(origin, shadow_of="default"):
        from burkholder.serve.events import Event

        return logged.one(Event("create", "other", "bytes", content, f"{shadow_of}\n{origin}")).status

    assert [put("a file"), put("a file"), put("another file"), put("a file", ""), put("")] == [201, 200, 409, 409, 409]
    assert list(logged.service.models) == ["default", "other"]
