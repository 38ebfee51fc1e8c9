"""A model learned from a table: the next table is read as the first, and rows by hand mean what its lines meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import burkholder as bk
from burkholder import storage
from burkholder.cli.app import app
from burkholder.errors import BadInput
from burkholder.streams.readers.reading import Reading

LINES = [
    ("1.5", "Rome", "7", "yes"),
    ("", "Oslo", "3", "no"),
    ("-2", "Rome", "1", "yes"),
    ("0.25", "", "2", "no"),
    ("NA", "42", "5", "yes"),
]


def _table(path: Path, lines: Any = LINES, head: str = "size,city,code,label") -> Path:
    path.write_text("\n".join([head, *(",".join(line) for line in lines)]) + "\n")
    return path


def _learn(*arguments: Any) -> None:
    ran = CliRunner().invoke(app, ["learn", *map(str, arguments), "--quiet"])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    assert ran.exit_code == 0, ran.output


READ = ("--target", "label", "--positive", "yes", "--categorical", "code")


@pytest.fixture(params=["auto", "adagrad", "strongly-convex"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    data = _table(tmp_path / "one.csv", LINES * 5)
    loss = ("--loss", "squared", "--option", "bound=2") if request.param == "strongly-convex" else ()
    _learn(data, *READ, "--bits", "4", "--learner", request.param, *loss, "--save", tmp_path / "model.bk")
    return tmp_path / "model.bk"


# --- in Python -------------------------------------------------------------------------------------------------------
def test_rows_by_hand_are_lines_of_the_table(model: Path, tmp_path: Path) -> None:
    learner = storage.load(model)
    twin = storage.load(model)
    data = _table(tmp_path / "two.csv")
    _learn(data, "--load", model, "--predictions", tmp_path / "out.txt", "--save", tmp_path / "after.bk")
    predicted = np.loadtxt(tmp_path / "out.txt")
    named = list(bk.read(data, target="label", positive="yes", categorical=("code",)))
    kinds = (float, str, int, None)
    for t, line in enumerate(LINES):
        x = dict(zip(("size", "city", "code"), line))
        typed = {name: (kind(text) if text not in ("", "NA") or kind is str else None) for (name, text), kind in zip(x.items(), kinds)}
        assert learner.predict(x) == learner.predict(typed) == learner.predict(named[t][0]) == predicted[t]
        learner.update(typed, 1 if line[3] == "yes" else -1)
        twin.update(named[t][0], named[t][1])
    assert storage.pack(learner) == storage.pack(twin) == storage.pack(storage.load(tmp_path / "after.bk"))


@pytest.mark.parametrize(
    ("x", "says"),
    [
        ([1.0, 2.0, 3.0], "give a dict from column"),
        ((np.array([0]), np.array([1.0])), "give a dict from column"),
        ({"sise": 1.0}, "did you mean 'size'"),
        ({"size": "big"}, "finite numbers"),
        ({"size": float("inf")}, "finite numbers"),
    ],
)
def test_what_no_line_could_be_is_refused(model: Path, x: Any, says: str) -> None:
    learner = storage.load(model)
    before = storage.pack(learner)
    for act in (learner.predict, lambda row: learner.update(row, 1)):
        with pytest.raises(BadInput, match=says):
            act(x)
    with pytest.raises(BadInput, match="give a dict from column"):
        learner.run(np.ones((2, 3)), [1, -1])
    assert storage.pack(learner) == before


def test_missing_is_missing_however_it_is_said(model: Path) -> None:
    learner = storage.load(model)
    said = [{"city": "Rome"}, {"size": None, "city": "Rome"}, {"size": float("nan"), "city": "Rome"}, {"size?": 1, "city=Rome": 1},
            {"size": "NA", "city": " Rome", "label": "yes"}]  # fmt: skip
    assert len({learner.predict({**x, "code": 7}) for x in said}) == 1
    assert learner.predict({"size": 0.0, "city": "Rome", "code": 7}) != learner.predict({"city": "Rome", "code": 7})


def test_the_table_stays_with_a_model_saved_again(model: Path, tmp_path: Path) -> None:
    storage.save(storage.load(model), tmp_path / "again.bk")
    assert storage.inspect(tmp_path / "again.bk")["table"] == storage.inspect(model)["table"]
    storage.load(tmp_path / "again.bk").predict({"size": 1})


def test_plays_by_column_are_kept(tmp_path: Path) -> None:
    _learn(_table(tmp_path / "one.csv", LINES * 5), *READ, "--learner", "adagrad", "--save", tmp_path / "model.bk")
    learner = storage.load(tmp_path / "model.bk")
    ticket = learner.play({"size": 2.0, "city": "Rome"})
    twin = storage.unpack(storage.pack(learner))
    for one in (learner, twin):
        one.reveal(ticket.id, 1)
    assert storage.pack(learner) == storage.pack(twin)


def test_readings_are_checked() -> None:
    reading = Reading(("a", "y"), ("number", "target"), None, 18, True, True, ".")
    assert Reading.from_dict(reading.to_dict()) == reading
    for key, wrong in [
        ("columns", ["a"]),
        ("columns", ["a", "a"]),
        ("roles", ["number", "king"]),
        ("bits", 31),
        ("constant", 1),
        ("decimal", ""),
    ]:
        with pytest.raises(BadInput):
            Reading.from_dict({**reading.to_dict(), key: wrong})


# --- on the command line ---------------------------------------------------------------------------------------------
def test_the_next_table_is_read_as_the_first(model: Path, tmp_path: Path) -> None:
    """Its codes and cities look like numbers, its sizes are whole: the kinds of columns are those of the model."""
    lines = [("1", "10", "7", "no"), ("2", "20", "3", "yes")]
    _learn(_table(tmp_path / "two.csv", lines), "--load", model, "--predictions", tmp_path / "out.txt")
    learner = storage.load(model)
    expected = []
    for line in lines:
        x = dict(zip(("size", "city", "code"), line))
        expected.append(learner.predict(x))
        learner.update(x, 1 if line[3] == "yes" else -1)
    assert np.loadtxt(tmp_path / "out.txt").tolist() == expected


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--target", "size"], "target = 'size'"),
        (["--drop", "city"], "drop = 'city'"),
        (["--categorical", "size"], "categorical = 'size'"),
        (["--positive", "no"], "positive = 'no'"),
        (["--weight", "size"], "weight = 'size'"),
        (["--bits", "12"], "bits = 12"),
        (["--no-intercept"], "intercept = False"),
        (["--no-header"], "header = False"),
        (["--decimal", ","], "decimal = ','"),
    ],
)
def test_contradictions_are_refused(model: Path, tmp_path: Path, more: list[str], says: str) -> None:
    before = model.read_bytes()
    with pytest.raises(BadInput, match=says):
        _learn(_table(tmp_path / "two.csv"), "--load", model, "--save", model, *more)
    assert model.read_bytes() == before


def test_what_agrees_may_be_said_again(model: Path, tmp_path: Path) -> None:
    data = _table(tmp_path / "two.csv")
    _learn(data, "--load", model, "--save", tmp_path / "said.bk", "--target", "-1", *READ[2:], "--intercept")
    _learn(data, "--load", model, "--save", tmp_path / "silent.bk")
    assert storage.pack(storage.load(tmp_path / "said.bk")) == storage.pack(storage.load(tmp_path / "silent.bk"))


def test_another_kind_of_file_is_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "rows.svm").write_text("1 1:2\n-1 2:1\n")
    with pytest.raises(BadInput, match="libsvm"):
        _learn(tmp_path / "rows.svm", "--load", model)
    _learn(tmp_path / "rows.svm", "--save", tmp_path / "rows.bk", "--learner", "adagrad")
    (tmp_path / "three.csv").write_text("a,y\n1,1\n2,0\n")
    with pytest.raises(BadInput, match="it learned from libsvm"):
        _learn(tmp_path / "three.csv", "--load", tmp_path / "rows.bk")


@pytest.mark.parametrize("word", ["Yes", "maybe", "2,5"])
def test_a_word_that_is_neither_class_is_refused_when_learning_goes_on(tmp_path: Path, word: str) -> None:
    data = _table(tmp_path / "one.csv", [("1", "yes"), ("2", "no")] * 5, "size,label")
    _learn(data, "--target", "label", "--loss", "logistic", "--save", tmp_path / "model.bk")
    _learn(data, "--load", tmp_path / "model.bk")
    other = _table(tmp_path / "two.csv", [("1", "yes"), ("2", f'"{word}"')], "size,label")
    ran = CliRunner().invoke(app, ["learn", str(other), "--load", str(tmp_path / "model.bk")])
    assert "line 3" in str(ran.exception) and "third class" in str(ran.exception)
    one = _table(tmp_path / "rest.csv", [("1", "yes"), ("2", "no"), ("3", "maybe")] * 3, "size,label")
    _learn(one, "--target", "label", "--positive", "yes", "--loss", "logistic", "--save", tmp_path / "rest.bk")
    _learn(other, "--load", tmp_path / "rest.bk")  # one class against all others
