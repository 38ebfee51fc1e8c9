"""Runs of the command that save, stop, are killed, and go on: the same bytes as a run that never stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from burkholder import storage
from burkholder.cli.app import app
from burkholder.errors import BadInput, BurkholderError
from burkholder.storage.checkpoints import Checkpoints, part
from burkholder.streams.readers import open_reader


def _written(path: Path, rows: int = 900, seed: int = 0) -> Path:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + rng.standard_normal(rows) > 0, 1, -1)
    path.write_text(
        "\n".join(["a,b,colour,target", *(f"{x[0]:.5g},{x[1]:.5g},{'red' if x[2] > 0 else 'blue'},{t}" for x, t in zip(X, y))]) + "\n"
    )
    return path


def _run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _learn(data: Path, folder: Path, *more: Any, name: str = "model") -> tuple[bytes, bytes]:
    out, model = folder / f"{name}.txt", folder / f"{name}.bk"
    ran = _run("learn", data, "--learner", "adagrad", "--quiet", "--save", model, "--predictions", out, *more)
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    assert ran.exit_code == 0, ran.output
    return out.read_bytes(), model.read_bytes()


class _Killed(BaseException):
    """As sudden as a kill: nothing in between handles it."""


@pytest.mark.parametrize("stops", [1, 2, 5, 9])
@pytest.mark.parametrize("passes", [1, 2])
def test_stopped_anywhere_and_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stops: int, passes: int) -> None:
    data = _written(tmp_path / "stream.csv")
    options = ("--checkpoint-every", 100, "--passes", passes)
    truth = _learn(data, tmp_path, *options)
    for left in tmp_path.glob("model*"):
        left.unlink()
    original, calls = Checkpoints.learned, [0]

    def dying(self: Checkpoints, session: Any, rows: int) -> None:
        original(self, session, rows)
        calls[0] += 1
        if calls[0] == stops:
            session.predictions.write(["123.0"])  # more was predicted after the checkpoint
            raise _Killed

    monkeypatch.setattr(Checkpoints, "learned", dying)
    with pytest.raises(_Killed):
        _learn(data, tmp_path, *options)
    assert (tmp_path / "model.txt.partial").exists() and not (tmp_path / "model.txt").exists()
    assert storage.inspect(tmp_path / "model.bk")["rounds"] == 100 * stops
    assert _learn(data, tmp_path, *options, "--load", tmp_path / "model.bk") == truth
    assert _learn(data, tmp_path, *options, "--load", tmp_path / "model.bk") == truth  # finished: nothing more to do


def test_checkpoints_change_nothing(tmp_path: Path) -> None:
    data = _written(tmp_path / "stream.csv")
    plain = _learn(data, tmp_path, name="plain")
    often = _learn(data, tmp_path, "--checkpoint-every", 7, name="often")
    assert plain[0] == often[0]
    assert storage.pack(storage.load(tmp_path / "plain.bk")) == storage.pack(storage.load(tmp_path / "often.bk"))


def test_killed_for_real(tmp_path: Path) -> None:
    """SIGKILL to a process of its own, at whatever moment it is at."""
    data = _written(tmp_path / "stream.csv", 4000)
    truth = _learn(data, tmp_path, "--checkpoint-every", 50)
    for left in tmp_path.glob("model*"):
        left.unlink()
    command = [
        sys.executable,
        "-c",
        "from burkholder.cli import main; main()",
        "learn",
        str(data),
        "--learner",
        "adagrad",
        "--quiet",
        "--save",
        str(tmp_path / "model.bk"),
        "--predictions",
        str(tmp_path / "model.txt"),
        "--checkpoint-every",
        "50",
    ]
    source = str(Path(storage.__file__).parents[2])
    child = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": source})
    while child.poll() is None and not (tmp_path / "model.bk").exists():
        time.sleep(0.002)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert _learn(data, tmp_path, "--checkpoint-every", 50, "--load", tmp_path / "model.bk") == truth


def test_killed_before_the_first_checkpoint(tmp_path: Path) -> None:
    data = _written(tmp_path / "stream.csv")
    model = tmp_path / "model.bk"
    assert _learn(data, tmp_path, "--checkpoint-every", 100, "--load", model) == _learn(data, tmp_path, "--checkpoint-every", 100)
    with pytest.raises(BurkholderError, match="cannot be read"):
        _learn(data, tmp_path, "--load", tmp_path / "absent.bk")


def test_a_finished_model_learns_new_data(tmp_path: Path) -> None:
    first, second = _written(tmp_path / "one.csv"), _written(tmp_path / "two.csv", seed=1)
    both = tmp_path / "both.csv"
    both.write_text(first.read_text() + second.read_text().split("\n", 1)[1])
    whole = _learn(both, tmp_path, name="both")
    one = _learn(first, tmp_path, name="model")
    two = _learn(second, tmp_path, "--load", tmp_path / "model.bk", name="model")
    assert one[0] + two[0] == whole[0]
    assert storage.pack(storage.load(tmp_path / "both.bk")) == storage.pack(storage.load(tmp_path / "model.bk"))


def test_json_counts_all_rounds(tmp_path: Path) -> None:
    data, other = _written(tmp_path / "one.csv"), _written(tmp_path / "two.csv", 100, 1)
    _learn(data, tmp_path)
    ran = _run("learn", other, "--load", tmp_path / "model.bk", "--json", "--quiet")
    told = json.loads(ran.stdout.strip().splitlines()[-1])
    assert told["rounds"] == 1000 and told["life_mean_loss"] == pytest.approx(told["cumulative_loss"] / 1000)
    before = json.loads(_run("learn", data, "--json", "--quiet", "--learner", "adagrad").stdout.strip().splitlines()[-1])["cumulative_loss"]
    assert told["rounds_today"] == 100 and told["mean_loss"] == pytest.approx((told["cumulative_loss"] - before) / 100)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--loss", "hinge"], "leave --loss out"),
        (["--learner", "mixture"], "is 'adagrad'"),
        (["--option", "radius=7"], "radius"),
        (["--no-intercept"], "intercept"),
        (["--passes", "3"], "repeat its settings"),
        (["--checkpoint-every", "0"], "rows ≥ 1"),
    ],
)
def test_settings_must_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], says: str) -> None:
    data = _written(tmp_path / "stream.csv")

    def dying(self: Checkpoints, session: Any, rows: int) -> None:
        self.rows += rows
        self.store(session, complete=False)
        raise _Killed

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "learned", dying)
        with pytest.raises(_Killed):
            _learn(data, tmp_path, "--checkpoint-every", 100, "--option", "radius=2")
    before = (tmp_path / "model.bk").read_bytes()
    given = ["--load", tmp_path / "model.bk", *more]
    if "--option" not in more:
        given += ["--option", "radius=2"]
    with pytest.raises(BadInput, match=says):
        _learn(data, tmp_path, *given)
    assert (tmp_path / "model.bk").read_bytes() == before


def test_another_file_is_not_taken_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, other = _written(tmp_path / "one.csv"), _written(tmp_path / "two.csv", seed=1)
    with monkeypatch.context() as patch:
        original = Checkpoints.store
        patch.setattr(Checkpoints, "store", lambda self, session, complete: original(self, session, False))
        _learn(data, tmp_path, "--checkpoint-every", 100)
    with pytest.raises(BadInput, match="not finished"):
        _learn(other, tmp_path, "--load", tmp_path / "model.bk")
    os.utime(data, ns=(1, 1))
    with pytest.raises(BadInput, match="unchanged"):
        _learn(data, tmp_path, "--load", tmp_path / "model.bk")


def test_other_columns_are_refused(tmp_path: Path) -> None:
    _learn(_written(tmp_path / "one.csv"), tmp_path)
    wide = tmp_path / "wide.csv"
    wide.write_text("a,b,c,target\n1,2,3,1\n3,2,1,-1\n")
    with pytest.raises(BadInput, match="columns"):
        _learn(wide, tmp_path, "--load", tmp_path / "model.bk")


def test_inspect(tmp_path: Path) -> None:
    _learn(_written(tmp_path / "one.csv"), tmp_path)
    ran = _run("inspect", tmp_path / "model.bk")
    assert "900 rounds" in ran.stdout and "adagrad" in ran.stdout and "(checked)" in ran.stdout
    told = json.loads(_run("inspect", tmp_path / "model.bk", "--json", "--certificate").stdout)
    assert told["certificate"]["rounds"] == told["rounds"] == 900 and told["table"]["columns"] == ["a", "b", "colour", "target"]
    (tmp_path / "model.bk").write_bytes((tmp_path / "model.bk").read_bytes()[:-1])
    assert isinstance(_run("inspect", tmp_path / "model.bk").exception, BurkholderError)


def test_parts_of_batches(tmp_path: Path) -> None:
    for batch in open_reader(_written(tmp_path / "one.csv", 30), classes=True):
        pieces = [part(batch, start, min(start + 7, batch.rows)) for start in range(0, batch.rows, 7)]
        for name in ("indices", "values", "y", "weight", "line"):
            assert np.array_equal(np.concatenate([getattr(piece, name) for piece in pieces]), getattr(batch, name))
        assert all(piece.indptr[0] == 0 and piece.indptr[-1] == len(piece.values) for piece in pieces)
