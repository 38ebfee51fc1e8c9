"""Intervals at the edges: the command, the page, scikit-learn, river, anybody's model, and files."""

from __future__ import annotations

import copy
import json
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.testing import CliRunner

import burkholder as bk
from burkholder.cli.app import app
from burkholder.errors import BadInput
from burkholder.river import IntervalRegressor
from burkholder.sklearn import BurkholderRegressor
from burkholder.storage import pack

RNG = np.random.default_rng(4)
N = 300
X = RNG.uniform(0, 5, (N, 2))
Y = 2 * X[:, 0] + X[:, 0] * RNG.normal(size=N)
FORECAST = 2 * X[:, 0] + 0.3


def said(*arguments: Any) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("intervals") / "forecasts.csv"
    rows = [f"{a!r},{b!r},{m!r},{m + 2.0!r},{y!r}" for (a, b), m, y in zip(X.tolist(), FORECAST.tolist(), Y.tolist())]
    path.write_text("a,b,model,other,load\n" + "\n".join(rows) + "\n")
    return path


def test_the_command_is_the_learner(table: Path, tmp_path: Path) -> None:
    out, page, model = tmp_path / "out.csv", tmp_path / "page.html", tmp_path / "model.bk"
    told = json.loads(
        said("intervals", table, "--yhat", "model", "--target", "load", "--coverage", 0.8, "--drop", "other", "--json",
             "--predictions", out, "--report", page, "--save", model)
    )  # fmt: skip
    run = bk.Intervals(0.8, model=2).run(np.column_stack([X, FORECAST]), Y)
    written = np.loadtxt(out, delimiter=",", skiprows=1)
    assert np.array_equal(written[:, 1:], run.predictions) and np.array_equal(written[:, 0], FORECAST)
    for key in ("coverage", "coverage_target", "coverage_bound", "mean_width", "interval_score"):
        assert told[key] == run.certificate.to_dict()[key]
    assert abs(told["coverage"] - 0.8) <= told["coverage_bound"] and told["coverage_target"] == 0.8
    assert told["mean_width"] == pytest.approx(np.mean(run.high - run.low), rel=1e-12)
    text = page.read_text()
    assert all(word in text for word in ("Coverage", "Width", "Calibration of every level", "promised for all rounds"))
    assert bk.load(model).rounds == N


def test_learn_writes_both_ends_beside_the_prediction(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    told = json.loads(said("learn", table, "--target", "load", "--intervals", 0.9, "--predictions", out, "--json", "--quiet"))
    written = np.loadtxt(out, delimiter=",", skiprows=1)
    assert written.shape == (N, 3) and told["rounds"] == N and told["coverage_target"] == 0.9
    assert np.mean((written[:, 1] <= Y) & (written[:, 2] >= Y)) == told["coverage"]
    for more in (["--learner", "adagrad"], ["--passes", 2], ["--loss", "absolute"]):
        with pytest.raises(BadInput):
            said("learn", table, "--target", "load", "--intervals", 0.9, *more)


def test_compare_says_which(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    told = json.loads(said("compare", table, "--a", "other", "--b", "model", "--target", "load", "--report", page, "--json"))
    direct = bk.compare(np.abs(FORECAST + 2 - Y), np.abs(FORECAST - Y), sizes=np.full(N, 2.0))
    assert told["better"] == "model" and told["difference"] == pytest.approx(direct.difference) and told["decided"] == direct.decided
    assert told["low"] == pytest.approx(direct.interval[0], rel=1e-6)
    assert "model is better" in said("compare", table, "--a", "other", "--b", "model", "--target", "load")
    assert "Difference" in page.read_text()
    with pytest.raises(BadInput, match="another"):
        said("compare", table, "--a", "model", "--b", "model", "--target", "load")
    assert "largest seen" in said("compare", table, "--a", "other", "--b", "model", "--target", "load", "--loss", "squared")


def test_around_models_of_every_kind() -> None:
    fitted = LinearRegression().fit(X[:50], Y[:50])
    forest = RandomForestRegressor(3, random_state=0).fit(X[:50], Y[:50])
    ours = bk.Learner("adagrad", loss="absolute", radius=10.0)
    expected = {"linear": fitted.predict(X[:80]), "forest": forest.predict(X[:80]), "function": 2.0 * X[:80, 0]}
    for name, model in {"linear": fitted, "forest": forest, "function": lambda x: 2.0 * x[0], "ours": ours}.items():
        run = bk.Intervals(0.8, model=model).run(X[:80], Y[:80])
        column = run.details["centre"]
        if name in expected:
            assert column == pytest.approx(expected[name])
        same = bk.Intervals(0.8, model=2).run(np.column_stack([X[:80], column]), Y[:80])
        assert abs(np.mean(run.high - run.low) / np.mean(same.high - same.low) - 1) < 0.3
        loop = bk.Intervals(0.8, model=copy.deepcopy(model) if name != "ours" else bk.Learner("adagrad", loss="absolute", radius=10.0))
        for t in range(80):
            assert loop.predict(X[t]) == (run.low[t], run.high[t])
            loop.update(X[t], Y[t])
    assert ours.rounds == 80
    still = bk.Learner("adagrad", loss="absolute")
    bk.Intervals(0.8, model=still, learns=False).run(X[:9], Y[:9])
    assert still.rounds == 0
    with pytest.raises(BadInput, match="own tools"):
        bk.Intervals(0.8, model=fitted).state_dict()
    with pytest.raises(BadInput):
        bk.Intervals(0.8, model=object())
    with pytest.raises(BadInput, match="model"):
        bk.Intervals(0.8, model=lambda x: math.inf).predict(X[0])


@pytest.mark.parametrize("nothing", [None, math.nan, np.float32("nan"), pd.NA, np.array([math.nan])], ids=str)
def test_where_a_model_has_no_answer_the_last_label_stands_in(nothing: Any) -> None:
    def model(x: Any) -> Any:
        return nothing if x[1] > 4.0 else 2.0 * x[0]

    run = bk.Intervals(0.8, model=model).run(X[:80], Y[:80])
    silent = X[:80, 1] > 4.0
    assert silent.sum() > 5
    assert np.array_equal(run.details["centre"], np.where(silent, np.concatenate([[0.0], Y[:79]]), 2.0 * X[:80, 0]))
    loop = bk.Intervals(0.8, model=model)
    for t in range(80):
        assert loop.predict(X[t]) == (run.low[t], run.high[t])
        loop.update(X[t], Y[t])


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("words", [False, True])
def test_a_model_fitted_on_a_frame_is_asked_by_its_names(library: str, words: bool) -> None:
    frame = pd.DataFrame(X[:80], columns=["zeta", "alpha"])  # not in the order of their names
    model = LinearRegression()
    if words:
        frame["city"] = ["Rome", "Oslo"] * 40
        model = make_pipeline(make_column_transformer((OneHotEncoder(), ["city"]), remainder="passthrough"), model)
    model.fit(frame, Y[:80])
    given = frame if library == "pandas" else pl.DataFrame(frame.to_dict("list"))
    expected = model.predict(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = bk.Intervals(0.8, model=model).run(given, Y[:80])
        mixed = bk.ModelExperts({"fitted": lambda x: model.predict(pd.DataFrame([x]))}).run(given, Y[:80])
    np.testing.assert_allclose(run.details["centre"], expected, rtol=1e-12)
    np.testing.assert_allclose(mixed.details["forecasts"][:, 0], expected, rtol=1e-12)
    rows = frame.to_dict("records")
    assert bk.Intervals(0.8, model=model).point(rows[3]) == pytest.approx(expected[3], rel=1e-12)
    if not words:
        assert bk.Intervals(0.8, model=model).point(X[3]) == pytest.approx(expected[3], rel=1e-12)
        trained = SGDRegressor(random_state=0).partial_fit(frame, Y[:80])
        experts = bk.ModelExperts({"sgd": trained})
        assert experts.forecasts(rows[3])["sgd"] == pytest.approx(trained.predict(frame)[3], rel=1e-12)
    with pytest.raises(BadInput, match="alpha"):
        bk.Intervals(0.8, model=model).point({"zeta": 1.0, "city": "Rome"})


@pytest.mark.parametrize("answer", [np.array([1.5]), [1.5], pd.Series([1.5]), np.array([[1.5]]), np.float32(1.5), 1.5])
def test_a_model_may_answer_with_a_list_of_one(answer: Any) -> None:
    assert bk.Intervals(0.8, model=lambda x: answer).point(X[0]) == 1.5
    assert bk.ModelExperts([lambda x: answer]).forecasts(X[0]) == {"<lambda>": 1.5}
    with pytest.raises(BadInput, match="model"):
        bk.Intervals(0.8, model=lambda x: np.array([1.5, 1.5])).point(X[0])


def test_a_model_that_fails_in_the_middle_leaves_nothing_behind() -> None:
    class Failing:
        def __init__(self) -> None:
            self.seen = 0

        def predict(self, x: Any) -> float:
            return float(x[0])

        def update(self, x: Any, y: float) -> None:
            self.seen += 1
            if self.seen == 5:
                raise RuntimeError("full")

    intervals = bk.Intervals(0.8, model=Failing())
    with pytest.raises(RuntimeError):
        intervals.run(X[:9], Y[:9])
    assert intervals.rounds == 0 and intervals.centre.inner.model.seen == 0


def test_a_scikit_learn_regressor_says_intervals() -> None:
    model = BurkholderRegressor(interval=0.9).fit(X[:200], Y[:200])
    bands = model.predict_interval(X[200:])
    inside = np.mean((bands[:, 0] <= Y[200:]) & (Y[200:] <= bands[:, 1]))
    assert bands.shape == (100, 2) and 0.8 <= inside <= 1.0
    assert np.array_equal(BurkholderRegressor().fit(X[:200], Y[:200]).predict(X[200:]), model.predict(X[200:]))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_interval(X[200:]), bands)
    model.partial_fit(X[200:], Y[200:])
    assert model.bands_.rounds == N and model.certificate_.rounds == N
    with pytest.raises(BadInput, match="interval"):
        BurkholderRegressor().fit(X, Y).predict_interval(X)


def test_a_river_regressor_says_intervals() -> None:
    from river import linear_model

    model = IntervalRegressor(linear_model.LinearRegression(), coverage=0.8)
    inside = 0
    for x, y in zip(X.tolist(), Y.tolist()):
        row = {"a": x[0], "b": x[1]}
        found = model.predict_one(row, with_interval=True)
        assert found.lower <= found.upper and isinstance(model.predict_one(row), float)
        inside += y in found
        model.learn_one(row, y)
    assert inside / N == model.certificate().coverage and model.regressor.weights
    assert model.clone().certificate().rounds == 0


@pytest.mark.parametrize("make", [lambda: bk.Intervals(0.8), lambda: bk.Quantiles((0.2, 0.6))])
def test_a_learner_inside_that_refuses_late_leaves_no_trace(make: Any) -> None:
    learner, rng = make(), np.random.default_rng(6)
    X = rng.normal(size=(40, 3))
    learner.run(X, X[:, 0], trace=0)
    ticket = learner.play(X[0])
    played = learner._tickets.waiting[ticket.id]
    assert played.memo.asked.warm
    played.memo.asked.forecasts[0, 0] = 1.7e308  # of the mixtures, the last to learn
    before = pack(learner)
    with pytest.raises(BadInput):
        learner.reveal(ticket.id, 0.5)
    assert pack(learner) == before and learner.pending == 1


@pytest.mark.parametrize("around", [None, "model"])
def test_a_saved_model_of_intervals_predicts_new_rows(table: Path, tmp_path: Path, around: str | None) -> None:
    model, new, given = tmp_path / "model.bk", tmp_path / "new.csv", X[:20] + 0.1
    new.write_text("b,model,a\n" + "\n".join(f"{b!r},{m!r},{a!r}" for (a, b), m in zip(given.tolist(), FORECAST.tolist())) + "\n")
    if around is None:
        said("learn", table, "--target", "load", "--intervals", 0.8, "--drop", "other", "--save", model, "--quiet")
    else:
        said("intervals", table, "--yhat", around, "--target", "load", "--coverage", 0.8, "--drop", "other", "--save", model)
    lines = said("predict", model, new, "--intervals", 0.8).splitlines()
    assert lines[0] == "prediction,low,high" and said("predict", model, new).splitlines() == lines
    found = np.array([[float(part) for part in line.split(",")] for line in lines[1:]])
    learner = bk.Intervals(0.8, model=2 if around else None)
    learner.run(np.column_stack([X, FORECAST]), Y)
    rows = np.column_stack([given, FORECAST[:20]])
    np.testing.assert_allclose(found[:, 1:], learner.predict_many(rows), rtol=1e-12)
    np.testing.assert_allclose(found[:, 0], [learner.point(row) for row in rows], rtol=1e-12)
    wrong = CliRunner().invoke(app, ["predict", str(model), str(new), "--intervals", "0.9"])
    assert wrong.exit_code != 0


def test_calibration_of_every_level_is_counted_and_drawn(tmp_path: Path) -> None:
    weights = RNG.choice([0.0, 1.0, 3.0], N)
    run = bk.Quantiles((0.2, 0.5, 0.9)).run(X, Y, weights)
    for k, (level, share) in enumerate(run.calibration().items()):
        assert share == pytest.approx(np.average(run.quantiles[:, k] >= Y, weights=weights), rel=1e-12)
        assert abs(share - level) <= run.certificate.of(level).to_dict()["levels"][0]["coverage_bound"]
    figure = run.plot_calibration(str(tmp_path / "pit.png"))
    assert (tmp_path / "pit.png").stat().st_size > 1000
    drawn = figure.axes[1].patches[0].get_data().values
    assert np.sum(drawn * np.diff([0.0, 0.2, 0.5, 0.9, 1.0])) == pytest.approx(1.0)
