"""The command at its edges: what it is told wrongly, files that are odd, signals, and Auto as the library has it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import burkholder as bk
from burkholder import storage
from burkholder.cli.app import app
from burkholder.errors import BadInput, BadLine
from burkholder.streams.readers import batches

RUN = [sys.executable, "-c", "from burkholder.cli import main; main()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _learn(*arguments: Any) -> dict[str, Any]:
    ran = CliRunner().invoke(app, ["learn", *map(str, arguments), "--quiet", "--json"])
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return json.loads(ran.stdout.splitlines()[-1])


def _written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


# --- the command's Auto ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", ["logistic", "absolute"])
@pytest.mark.parametrize("constant", [True, False])
def test_auto_is_the_librarys(tmp_path: Path, loss: str, constant: bool) -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 4)) * [1.0, 100.0, 0.01, 1.0] + [5.0, 0.0, 0.0, -1.0], 3)
    X[::7, 2] = 0.0
    y = (X @ [1.0, 0.01, 3.0, 1.0] > 4.0).astype(int) if loss == "logistic" else np.round(X @ [1.0, 0.01, 3.0, 1.0] + 50.0, 3)
    lines = ["a,b,c,d,y", *(",".join(map(repr, [*row, label])) for row, label in zip(X.tolist(), y.tolist()))]
    data = _written(tmp_path / "data.csv", "\n".join(lines) + "\n")
    _learn(data, "--loss", loss, "--predictions", tmp_path / "out.txt", *([] if constant else ["--no-intercept"]))
    run = bk.Auto(loss, intercept=constant).run(X, y)
    assert np.loadtxt(tmp_path / "out.txt").tolist() == run.predictions.tolist()


def test_auto_is_the_librarys_on_words(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    lines = [f"{rng.normal():.3f},{rng.choice(['red', 'blue', ''])},{rng.choice([1, ''])},{rng.integers(2)}" for _ in range(200)]
    data = _written(tmp_path / "data.csv", "\n".join(["x,colour,n,y", *lines]) + "\n")
    _learn(data, "--predictions", tmp_path / "out.txt")
    parts = [batch.copy() for batch in batches(data, classes=True)]
    X = sp.vstack([sp.csr_matrix((part.values, part.indices, part.indptr), shape=(part.rows, 2**19)) for part in parts])
    run = bk.Auto("logistic").run(X, np.concatenate([part.y for part in parts]))
    assert np.loadtxt(tmp_path / "out.txt").tolist() == run.predictions.tolist()


# --- told wrongly ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "more", "says"),
    [
        ("a,y\n1,yes\n2,no\n", ["--positive", "ja"], "positive = 'ja'.*never has this value"),
        ("a,y\n1,yes\n2,yes\n", ["--positive", "yes"], "same class"),
        ("a,y\n1,1\n2,1\n", [], "same class"),
        ("a,y\n1,1\n2,0\n", ["--option", "raduis=2"], "did you mean 'radius'"),
        ("a,y\n1,1\n2,0\n", ["--option", "radius=2", "--learner", "auto"], "Options: effort, full_features"),
        ("a;y\n1,500;1\n2,500;2\n", [], "column 'a' have commas: say decimal"),
        ("a;y\n1;1,500\n2;2,500\n", [], "column 'y' have commas: say decimal"),
        ('a,y\n"1,5",1\n"2,5",2\n', [], "column 'a' have commas"),
    ],
)
def test_what_cannot_be_meant(tmp_path: Path, text: str, more: list[str], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        _learn(_written(tmp_path / "data.csv", text), *(["--learner", "adagrad"] if "--learner" not in more else []), *more)


@pytest.mark.parametrize(
    ("late", "says"),
    [
        ("inf,1", "'inf' in the numeric column 'a'"),
        ("big,1", "'big' in the numeric column 'a'"),
        ('"1,5",0', "for decimal commas say"),
        ("1,1e308", "too large"),
    ],
)
@pytest.mark.parametrize("rows", [3, 60_000])
def test_one_odd_field_does_not_change_what_a_column_means(tmp_path: Path, late: str, says: str, rows: int) -> None:
    body = "".join(f"{t % 7},{t % 5}\n" for t in range(rows))
    data = _written(tmp_path / "data.csv", f"a,y\n{body}{late}\n1,2\n")
    with pytest.raises(BadLine, match=f"line {rows + 2}.*{says}"):
        _learn(data, "--learner", "adagrad", "--loss", "absolute")


def test_decimal_commas_are_read_where_they_are_said(tmp_path: Path) -> None:
    comma = _written(tmp_path / "comma.csv", "a;y\n1,5;2,25\n-0,5;3\n,;1\n7;1e2\n".replace(",;", ";"))
    point = _written(tmp_path / "point.csv", "a;y\n1.5;2.25\n-0.5;3\n;1\n7;1e2\n")
    assert list(bk.read(comma, target="y", decimal=",")) == list(bk.read(point, target="y"))
    with pytest.raises(BadLine, match=r"line 2: text '1\.5'"):
        list(bk.read(point, target="y", decimal=",", header=True))


def test_lines_that_end_with_returns(tmp_path: Path) -> None:
    text = 'a,c,y\n1,"x,z",2\n3,w,4\n'
    plain, old = _written(tmp_path / "plain.csv", text), _written(tmp_path / "old.csv", text.replace("\n", "\r"))
    assert list(bk.read(plain)) == list(bk.read(old)) and len(list(bk.read(old))) == 2
    svm = _written(tmp_path / "old.svm", "1 1:2\r-1 3:4\r")
    assert [y for _, y in bk.read(svm)] == [1.0, -1.0]


def test_missing_is_never_a_class(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    classes = bk.AutoMulticlass()
    classes.update([1.0], "a")
    for nothing in (None, float("nan"), np.float64("nan"), pandas.NA, pandas.NaT):
        with pytest.raises(BadInput, match="a missing value is not a class"):
            classes.update([1.0], nothing)
        with pytest.raises(BadInput):
            bk.Auto("logistic").update([1.0], nothing)
    assert classes.classes == ["a"]
    pytest.importorskip("pyarrow")
    pandas.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, float("nan"), 2.0]}).to_parquet(tmp_path / "data.parquet")
    assert [y for _, y in bk.read(tmp_path / "data.parquet", target="y", positive="1")] == [1.0, -1.0]
    with pytest.raises(BadInput, match="never has this value"):
        list(bk.read(_written(tmp_path / "w.csv", "x,y\n1,a\n2,b\n"), target="y", positive="c"))


def test_feature_numbers_far_apart_take_no_room(tmp_path: Path) -> None:
    data = _written(tmp_path / "far.svm", "1 3:1 1500000000:2\n-1 7:1\n1 3:2 2000000000:1\n-1 7:2 1500000000:-1\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    far = _learn(data)
    near = _learn(_written(tmp_path / "near.svm", "1 3:1 10:2\n-1 7:1\n1 3:2 11:1\n-1 7:2 10:-1\n"))
    assert far["mean_loss"] == near["mean_loss"]
    assert far["realised_regret_bound"] == pytest.approx(near["realised_regret_bound"], rel=1e-14)  # summed in another order
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20  # KB
    with pytest.raises(BadInput, match="--learner auto keeps the features it meets"):
        _learn(data, "--learner", "adagrad")


# --- the terminal ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["ev\x1b[2Jil.csv", "ev\x9b31mil.csv", "ev\u202eil.csv"])
def test_nothing_from_a_file_steers_the_terminal(tmp_path: Path, name: str) -> None:
    data = tmp_path / name
    data.write_text("a\x1b]0;x\x07,b,y\n1,2,1\n2,3,0\n3,x\x1b[31m,1\n1,2\n", encoding="utf-8")
    for more in (
        [],
        ["--skip-bad"],
        ["--skip-bad", "--json"],
        ["--target", "\x1bz"],
        ["--learner", "adagrad", "--skip-bad", "--save", str(tmp_path / "m.bk")],
    ):
        done = subprocess.run([*RUN, "learn", str(data), *more], env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert all(line.isprintable() for line in (done.stdout + done.stderr).split("\n")), (more, done.stderr)
    done = subprocess.run([*RUN, "inspect", str(tmp_path / "m.bk")], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert all(line.isprintable() for line in done.stdout.split("\n")) and "\\x1b" in done.stdout


# --- signals ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_save(tmp_path: Path, number: int, code: int) -> None:
    model, out = tmp_path / "model.bk", tmp_path / "out.txt"
    command = [*RUN, "learn", "-", "--format", "csv", "--target", "y", "--learner", "adagrad", "--save", model, "--predictions", out]
    child = subprocess.Popen(list(map(str, command)), env=ENVIRONMENT, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdin is not None and child.stderr is not None
    child.stdin.write("a,y\n" + "".join(f"{t % 3},{t % 2}\n" for t in range(500)))
    child.stdin.flush()
    partial = Path(f"{out}.partial")
    while child.poll() is None and not (partial.exists() and partial.stat().st_size):
        time.sleep(0.01)
    child.send_signal(number)
    told = child.stderr.read()
    assert child.wait() == code and "INTERRUPTED" in told
    assert storage.load(model).rounds == len(partial.read_text().split()) > 0
