"""Bodies read together say what they say one by one; digests of many rows are those of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.serve import wire
from burkholder.serve.events import JSON, LINES, Event
from burkholder.serve.model import Model
from burkholder.storage import pack

ROWS = ["[1, 2.5]", "[0.1, -3e5]", "[]", "[-0.0]", '{"a": 1, "b": null, "c": "Bonn"}', '{"indices": [0, 7], "values": [1.0, 2.0]}', "{}"]
BODIES = {
    "predict": [f'{{"x": {x}, "id": {id}}}' for x in ROWS for id in ('"a"', "7", "null", '"\\u00e9"')] + ["[]"],
    "label": [f'{{"id": {id}, "y": {y}}}' for id in ('"a"', "7") for y in ("1", "true", '"red"', "0.5")]
    + ['[{"id": "z", "y": 1, "weight": 2}]'],
    "learn": [f'{{"x": {x}, "y": 1, "weight": 0.5}}' for x in ROWS] + [f'[{{"x": {ROWS[0]}, "y": 1}}, {{"x": {ROWS[1]}, "y": 0}}]'],
}


@given(st.data())
def test_bodies_read_together_say_what_they_say_one_by_one(data):
    verb = data.draw(st.sampled_from(list(BODIES)))
    form = data.draw(st.sampled_from([JSON, JSON, JSON, LINES]))
    some = data.draw(st.lists(st.sampled_from(BODIES[verb]), min_size=1, max_size=5))
    bodies = [body for body in some if form == JSON or not body.startswith("[")] or [BODIES[verb][0]]
    events = [Event(verb, "m", form, f" {body}\n".encode()) for body in bodies]
    found, expected = wire.together(events), [wire.read(event) for event in events]
    assert found.size == sum(request.size for request in expected)
    for column in ("ids", "rows", "labels", "weights"):
        assert list(getattr(found, column)) == [value for request in expected for value in getattr(request, column)]


@pytest.mark.parametrize("body", ['{"id": "a", "y": 1}, {"id": "b", "y": 0}', "", '{"id": "a", "y": 1}]', "1]["])
def test_what_cannot_be_read_alone_cannot_be_read_beside_others(body):
    good = Event("label", "m", JSON, b'{"id": "c", "y": 1}')
    with pytest.raises(wire.Malformed):
        wire.together([good, Event("label", "m", JSON, body.encode()), good])


@given(st.lists(st.lists(st.floats(allow_nan=False), min_size=1, max_size=4), min_size=1, max_size=5))
def test_digests_of_many_rows_are_those_of_each(rows):
    alike = [row[:1] for row in rows]
    assert wire.digests(rows)[1] == [wire.digest(row) for row in rows]
    assert wire.digests(np.array(alike))[1] == wire.digests(alike)[1] == [wire.digest(row) for row in alike]


@pytest.mark.parametrize("make", [lambda: bk.Learner("square-function", loss="logistic", geometry="l2"), lambda: bk.Auto(loss="logistic")])
def test_a_row_learned_alone_is_a_list_of_one(make):
    X = np.random.default_rng(0).normal(size=(60, 3)).tolist()
    one, listed = Model("one", 1, make()), Model("listed", 2, make())
    for model in (one, listed):
        model.learn(X[:35], [1.0, 0.0] * 17 + [1.0], [1.0] * 35)
    assert one.together
    for k, x in enumerate(X[35:]):
        before = listed.learner.cumulative_loss
        expected = listed.learner.learn_many([x], [float(k % 2)], [0.5]).tolist()
        listed.tally.count_many(expected, [float(k % 2)], [0.5], listed.learner.cumulative_loss - before)
        assert one.learn([x], [float(k % 2)], [0.5]) == expected
    for bad in (([1.0], 1.0, 1.0), ([1.0, 2.0, float("nan")], 1.0, 1.0), (X[0], 7.0, 1.0), (X[0], 1.0, -1.0)):
        with pytest.raises(BadInput):
            one.learn(*([value] for value in bad))
    assert (pack(one.learner), one.tally.to_list()) == (pack(listed.learner), listed.tally.to_list())
