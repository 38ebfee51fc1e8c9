"""`burkholder learn --key`: one learner a key, saved, resumed, asked; mistakes named."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import burkholder as bk
from burkholder.cli.app import app

RUNNER = CliRunner()


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng, lines = np.random.default_rng(0), ["store,warm,units"]
    for t in range(120):
        store, level = (("north", 1.0), ("south", 9.0), ("7", 4.0), ("west", 2.0))[t % 4]
        lines.append(f"{store},{t % 2},{level + t % 2 + 0.1 * rng.normal():.3f}")
    path = tmp_path / "sales.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*arguments: str) -> str:
    result = RUNNER.invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_keys_are_learned_saved_resumed_and_asked(table: Path, tmp_path: Path) -> None:
    model, out = tmp_path / "shops.bk", tmp_path / "p.txt"
    said = run("learn", table, "--key", "store", "--target", "units", "--loss", "absolute", "--predictions", out, "--save", model, "--json")
    told = json.loads(said.strip().splitlines()[-1])
    assert told["rounds"] == 120 and {one["key"] for one in told["keys"]} == {"north", "south", "7", "west"}
    losses = [one["mean_loss"] for one in told["keys"]]
    assert losses == sorted(losses, reverse=True)
    keyed = bk.Keyed(bk.Auto(loss="absolute", effort="light"), key="store")
    rows = list(bk.read(str(table), "units", categorical=("store",)))
    expected = []
    for x, y in rows:
        store = next(name for name in x if name.startswith("store="))
        row = {"store": store[6:], **{name: value for name, value in x.items() if name != store}}
        expected.append(keyed.predict(row))
        keyed.update(row, y)
    assert [float(line) for line in out.read_text().split()] == expected
    assert told["mean_loss"] == keyed.certificate().mean_loss
    more = json.loads(run("learn", table, "--key", "store", "--target", "units", "--load", model, "--json").strip().splitlines()[-1])
    assert more["rounds"] == 240
    answers = run("predict", model, table).split()
    assert len(answers) == 120 and float(answers[1]) > float(answers[0])


def test_a_model_of_keys_reads_the_next_table_as_it_read_its_own(table: Path, tmp_path: Path) -> None:
    """Columns by their names, the target and the weight need not be there, and a column of words stays one whatever stands in it."""
    model = tmp_path / "shops.bk"
    head, *lines = table.read_text().splitlines()
    weighed = [f"{line},{1 + t % 2},{'abc'[t % 3]},{t}" for t, line in enumerate(lines)]
    table.write_text("\n".join([f"{head},count,kind,junk", *weighed]) + "\n")
    run("learn", table, "--key", "store", "--target", "units", "--weight", "count", "--drop", "junk", "--save", model)
    keyed = bk.load(str(model))
    (tmp_path / "new.csv").write_text("kind,warm,store\n7,1,south\na,0,north\n")
    answers = [float(line) for line in run("predict", model, tmp_path / "new.csv").split()]
    assert answers == [
        keyed.predict({"store": "south", "warm": 1.0, "kind=7": 1.0}),
        keyed.predict({"store": "north", "warm": 0.0, "kind=a": 1.0}),
    ]
    run("learn", table, "--key", "store", "--load", model, "--save", model)
    assert bk.load(str(model)).rounds == 2 * len(lines)
    again = bk.Keyed(bk.Auto(loss="squared", effort="light"), key="store")
    for x, y in [*bk.read(str(table), "units", categorical=("store",), drop=("junk",))] * 2:
        store = next(name for name in x if name.startswith("store="))
        row = {"store": store[6:], **{name: value for name, value in x.items() if name not in (store, "count")}}
        again.update(row, y, weight=x["count"])
    assert again.certificate().mean_loss == bk.load(str(model)).certificate().mean_loss
    result = RUNNER.invoke(app, ["learn", str(table), "--key", "store", "--load", str(model), "--target", "warm"])
    assert result.exit_code != 0 and "target" in str(result.exception)


def test_three_worst_and_three_best_keys_are_shown(table: Path) -> None:
    said = run("learn", table, "--key", "store", "--target", "units", "--loss", "absolute")
    assert said.count("  worst  ") == 3 and said.count("  best   ") == 3


def test_mistakes_are_named(table: Path, tmp_path: Path) -> None:
    for arguments, words in (
        (["--key", "stor", "--target", "units"], ["key", "Did you mean 'store'"]),
        (["--key", "units", "--target", "units"], ["key", "the target"]),
        (["--key", "store", "--target", "units", "--report", str(tmp_path / "r.html")], ["report"]),
        (["--key", "store", "--target", "units", "--load", str(tmp_path / "none.bk")], ["none.bk"]),
    ):
        result = RUNNER.invoke(app, ["learn", str(table), *arguments])
        assert result.exit_code != 0 and all(word in result.output + str(result.exception) for word in words), result.output
