"""Models as experts, and the experts command."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from burkholder.cli.experts import experts as command
from burkholder.cli.forecasts import read_forecasts
from burkholder.errors import BadInput, BadLine, BurkholderError
from burkholder.experts import Experts, ModelExperts, best_mixture
from burkholder.experts.beside import LANES


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    return x, 3 * x[:, 0] - x[:, 1] + 0.1 * rng.normal(size=n)


class Mean:
    """A model of our own shape: the running mean."""

    def __init__(self):
        self.total, self.count = 0.0, 0

    def predict(self, x):
        return self.total / self.count if self.count else None

    def update(self, x, y):
        self.total, self.count = self.total + y, self.count + 1


def test_models_of_every_kind_are_aggregated():
    linear = pytest.importorskip("river.linear_model")
    sgd = pytest.importorskip("sklearn.linear_model")
    models = ModelExperts(
        {
            "mean": Mean(),
            "river": linear.LinearRegression(),
            "scikit": sgd.SGDRegressor(),
            "rule": lambda x: 3 * x["a"] - x["b"],
            "silent": lambda x: None,
            "mad": lambda x: math.inf,
        },
        loss="squared",
    )
    x, y = rows()
    paid = []
    for t in range(len(y)):
        line = {"a": x[t, 0], "b": x[t, 1]}
        paid.append((models.predict(line) - y[t]) ** 2)
        models.update(line, y[t])
    certificate = models.certificate()
    assert {name for name, met in zip(certificate.names, certificate.met) if met} == {"mean", "river", "scikit", "rule", *LANES}
    assert np.mean(paid) == pytest.approx(models.certificate().mean_loss)
    assert np.mean(paid[150:]) < 0.1
    weights = models.experts.weights(models.forecasts(line))
    assert max(models.models, key=weights.get) == "rule" and weights["silent"] == weights["mad"] == 0.0
    assert models.certificate().realised("rule") >= sum(paid) - sum((3 * x[:, 0] - x[:, 1] - y) ** 2) - 1e-9


def test_classifiers_answer_in_log_odds():
    linear = pytest.importorskip("river.linear_model")
    sgd = pytest.importorskip("sklearn.linear_model")
    bayes = pytest.importorskip("sklearn.naive_bayes")
    models = ModelExperts([linear.LogisticRegression(), sgd.SGDClassifier(), bayes.GaussianNB(), lambda x: 20.0 * x[0]], loss="logistic")
    x, y = rows(200)
    for t in range(len(y)):
        models.update(x[t], bool(y[t] > 0))
    assert models.certificate().mean_loss < 0.4
    assert models.predict([3.0, 0.0]) > 1.0 > -1.0 > models.predict([-3.0, 0.0])


def test_models_learn_nothing_from_a_bad_target_and_bad_models_are_refused():
    mean = Mean()
    models = ModelExperts([mean], loss="absolute")
    models.update(0, 1.0)
    with pytest.raises(BadInput):
        models.update(0, math.nan)
    assert mean.count == 1 and models.certificate().rounds == 1
    with pytest.raises(BadInput):
        ModelExperts([3.0])
    with pytest.raises(BadInput):
        ModelExperts([])


app = typer.Typer()
app.command()(command)
RUNNER = CliRunner()


def write(path, text):
    path.write_text(text)
    return str(path)


def table(n=200):
    rng = np.random.default_rng(1)
    y = rng.normal(size=n)
    x = y[:, None] + rng.normal(size=(n, 2))
    lines = ["day,group,load,a,b"]
    for t in range(n):
        a = "" if t % 7 == 3 else repr(float(x[t, 0]))
        lines.append(f"d{t},{t % 2},{y[t]!r},{a},{x[t, 1]!r}".replace("np.float64(", "").replace(")", ""))
    return "\n".join(lines) + "\n", x, y


def test_command_prints_what_the_library_computes(tmp_path):
    text, x, y = table()
    file = write(tmp_path / "f.csv", text)
    with gzip.open(tmp_path / "f.csv.gz", "wt") as packed:
        packed.write(text)
    x[np.arange(len(y)) % 7 == 3, 0] = np.nan
    learner = Experts("squared")
    run = learner.run({"a": x[:, 0], "b": x[:, 1]}, y)
    best = best_mixture(run)
    for name in (file, str(tmp_path / "f.csv.gz")):
        answer = RUNNER.invoke(app, [name, "--target", "load", "--experts", "a,b", "--loss", "squared", "--json"])
        assert answer.exit_code == 0, answer.output
        data = json.loads(answer.stdout)
        assert data["rounds"] == 200 and data["loss"] == "squared" and data["seconds"] > 0
        assert data["mean_loss"] == pytest.approx(run.mean_loss)
        assert data["best_expert_loss"] == pytest.approx(min(learner.expert_losses()[name] for name in "ab"))
        assert data["average_loss"] == pytest.approx(learner.average_loss)
        assert data["best_convex_loss"] == pytest.approx(best.loss)
        assert data["bound"] == pytest.approx(run.certificate.bound(best.weights))
        assert 200 * (data["mean_loss"] - data["best_convex_loss"]) <= data["bound"]
    shown = RUNNER.invoke(
        app, [file, "--target", "load", "--experts", "a,b", "--weights", str(tmp_path / "w.csv"), "--plot", str(tmp_path / "w.png")]
    )
    assert shown.exit_code == 0 and "best fixed mixture" in shown.stdout
    assert data["experts"] == ["a", "b"] and data["left_out"] == ["day", "group"]
    assert "Columns left out: day." in RUNNER.invoke(app, [file, "--target", "load"]).stdout
    saved = np.loadtxt(tmp_path / "w.csv", delimiter=",", skiprows=1)
    assert saved.shape == (200, 2 + len(LANES)) and np.allclose(saved.sum(axis=1), 1.0)
    assert (tmp_path / "w.png").stat().st_size > 1000


def test_command_reads_parquet_and_agrees_with_csv(tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import csv, parquet

    file = write(tmp_path / "f.csv", table()[0])
    parquet.write_table(csv.read_csv(file), tmp_path / "f.parquet")
    answers = [
        json.loads(RUNNER.invoke(app, [name, "--target", "load", "--experts", "a,b", "--json"]).stdout)
        for name in (file, str(tmp_path / "f.parquet"))
    ]
    assert answers[0]["mean_loss"] == answers[1]["mean_loss"]


def test_command_by_group_runs_one_learner_each(tmp_path):
    text, x, y = table()
    file = write(tmp_path / "f.csv", text)
    answer = RUNNER.invoke(app, [file, "--target", "load", "--experts", "b", "--by", "group", "--json"])
    data = json.loads(answer.stdout)
    assert data["learners"] == 2
    alone = [Experts("absolute").run({"b": x[g::2, 1]}, y[g::2]).losses.mean() for g in (0, 1)]
    assert data["mean_loss"] == pytest.approx(np.mean(alone))


@pytest.mark.parametrize(
    "text, options, error, words",
    [
        ("y,a\n1,2\n", ["--target", "z"], BurkholderError, "no column 'z'"),
        ("amount,a\n1,2\n", ["--target", "amout"], BurkholderError, "Did you mean 'amount'"),
        ("y,a\n1,2\n3,oops\n", ["--target", "y", "--experts", "a"], BadLine, "line 3"),
        ("y,a\n1,2\n3\n", ["--target", "y"], BadLine, "line 3"),
        ("y,a\n1,inf\n", ["--target", "y", "--experts", "a"], BadLine, "line 2"),
        ("y,a\n1,2\n1,1e999\n", ["--target", "y"], BadLine, "line 3"),
        ("", ["--target", "y"], BadInput, "no row"),
        ("y,a\n", ["--target", "y"], BadInput, "no row"),
        ("y,a\n1,2\n", ["--target", "y", "--by", "y"], BadInput, "target"),
        ("y,a,g\n1,2,3\n", ["--target", "y", "--by", "g", "--experts", "g"], BadInput, "group"),
        ("y,a\n1,2\n3,4\n", ["--target", "y", "--loss", "logistic"], BadLine, "line 3"),
        ("1 3:1 4:2\n", ["--target", "y", "--format", "libsvm"], BadInput, "columns of a table"),
        ("y,a\n1,x\n", ["--target", "y"], BadInput, "no column of numbers"),
        ("y,a\n1,2\n", ["--target", "y", "--experts", "a,y"], BadInput, "target"),
        ("y,a\n1,2\n", ["--target", "y", "--method", "nope"], BadInput, "Methods"),
    ],
)
def test_command_says_what_is_wrong(tmp_path, text, options, error, words):
    answer = RUNNER.invoke(app, [write(tmp_path / "f.csv", text), *options])
    assert isinstance(answer.exception, error) and words in str(answer.exception)


def test_command_counts_malformed_lines_and_goes_on(tmp_path):
    lines = table()[0].splitlines()
    clean = write(tmp_path / "clean.csv", "\n".join(lines))
    lines[3:3] = ["d,0,1.0,2.0", "d,0,oh,1.0,2.0", "d,0,1.0,2.0,oops", "d,0,1.0,2.0,inf"]
    broken = write(tmp_path / "broken.csv", "\n".join(lines))
    told = ["--target", "load", "--experts", "b,a", "--json"]
    stopped = RUNNER.invoke(app, [broken, *told]).exception
    assert isinstance(stopped, BadLine) and broken in str(stopped) and "line 4" in str(stopped)
    whole, rest = (json.loads(RUNNER.invoke(app, [name, *told, "--skip-bad"]).stdout) for name in (clean, broken))
    assert whole.pop("bad_lines") == 0 and rest.pop("bad_lines") == 4
    assert {**whole, "seconds": 0} == {**rest, "seconds": 0}
    assert "4 malformed lines" in RUNNER.invoke(app, [broken, *told[:-1], "--skip-bad"]).stdout


def test_forecasts_are_read_alike_from_every_kind_of_table(tmp_path, monkeypatch):
    text, x, y = table()
    x[np.arange(len(y)) % 7 == 3, 0] = np.nan
    (tmp_path / "f.xz").write_bytes(lzma.compress(text.encode()))
    (tmp_path / "f.csv.bz2").write_bytes(bz2.compress(text.encode()))
    tabs = text.replace(",", "\t").replace("\t\t", "\tN/A\t")
    write(tmp_path / "f.tsv", "\ufeff" + tabs)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
    for path in [*map(str, tmp_path.iterdir()), "-"]:
        found = read_forecasts(path, "load", by="group")
        assert found.names == ["a", "b"] and found.groups == [str(t % 2) for t in range(200)]
        assert np.array_equal(found.values, x, equal_nan=True) and np.array_equal(found.y, y)
    reordered = read_forecasts(str(tmp_path / "f.tsv"), "load", ["b", "a"])
    assert reordered.names == ["b", "a"] and np.array_equal(reordered.values, x[:, ::-1], equal_nan=True)


def test_columns_that_were_not_asked_for_may_hold_anything(tmp_path):
    rows = "".join(f"{t},{t}.5,{'odd' if t > 90_000 else t}\n" for t in range(90_010))
    file = write(tmp_path / "late.csv", "y,a,note\n" + rows)  # the text comes long after columns were looked at
    assert read_forecasts(file, "y", ["a"]).values.shape == (90_010, 1)
    with pytest.raises(BadLine, match="line 90003"):
        read_forecasts(file, "y")


def test_text_in_a_parquet_column_of_forecasts(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"y": [1.0], "a": ["x"], "g": ["u=v"], "b": [2]}), tmp_path / "f.parquet")
    with pytest.raises(BadInput, match="'a'"):
        read_forecasts(str(tmp_path / "f.parquet"), "y", ["a"])
    found = read_forecasts(str(tmp_path / "f.parquet"), "y", by="g")
    assert found.names == ["b"] and found.groups == ["u=v"]


def test_command_without_a_file():
    answer = RUNNER.invoke(app, ["nowhere.csv", "--target", "y"])
    assert isinstance(answer.exception, BadInput)


def test_frames_whose_columns_are_called_by_text_and_by_numbers() -> None:
    pandas = pytest.importorskip("pandas")
    x, y = np.array([[1.0, 2.0], [2.0, 3.0]]), [1.0, 2.0]
    run = Experts().run(pandas.DataFrame(x, columns=["gfs", 0]), y)
    assert run.learner.names == ("gfs", "0")  # type: ignore[attr-defined]
    assert np.array_equal(run.predictions, Experts().run({"gfs": x[:, 0], "0": x[:, 1]}, y).predictions)
    from burkholder.auto import Auto

    frame, rows = pandas.DataFrame(x, columns=["gfs", 0]), [{"gfs": 1.0, "0": 2.0}, {"gfs": 2.0, "0": 3.0}]
    assert np.array_equal(Auto("squared").run(frame, y).predictions, Auto("squared").run(rows, y).predictions)
