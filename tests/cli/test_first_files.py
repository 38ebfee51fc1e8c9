"""Files as people have them, and what is said of them: numbers in disguise, places among forecasts, intervals of a saved model, dates in
frames, and the pages that errors name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import burkholder as bk
from burkholder.cli.app import app
from burkholder.errors import PAGES, BadInput, page_of

DOCS = Path(__file__).parents[2] / "docs"


def said(*arguments: str, text: str | None = None) -> str:
    done = CliRunner().invoke(app, list(arguments), input=text)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_page_that_an_error_names_is_there(page):
    assert (DOCS / f"{page}.md").exists()
    for argument in PAGES[page]:
        assert page_of(argument) in PAGES  # an argument of two pages has one of them
        assert BadInput(f"--{argument}", 1, "no").more == f"More: docs/{page_of(argument)}.md"


def test_an_error_of_another_argument_names_no_page():
    error = BadInput("nothing of the kind", 1, "no")
    assert error.page is None and error.more == "" and not getattr(error, "__notes__", [])


@pytest.mark.parametrize("shape", ["1'{0:03d}.5", "${0}.50", "{0}%", "{0} km"])
def test_numbers_in_disguise_are_no_classes(shape, tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("a;y\n" + "".join(f"{t % 7};{shape.format(t)}\n" for t in range(60)))
    with pytest.raises(BadInput, match="plain numbers"):
        said("learn", str(path), "--target", "y")


def test_classes_that_hold_numbers_stay_classes(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("a,y\n" + "".join(f"{t % 3},size {t % 3}\n" for t in range(60)))
    assert json.loads(said("learn", str(path), "--target", "y", "--json", "--quiet").splitlines()[-1])["classes"] == [
        "size 0",
        "size 1",
        "size 2",
    ]


def test_places_and_constants_are_no_forecasts(tmp_path):
    path = tmp_path / "weather.csv"
    rows = "".join(f"2024-01-{t + 1:02d},52.1,10361,7,{t % 5},{t % 5 + 1},{t % 5 - 1}\n" for t in range(20))
    path.write_text("date,lat,stationID,fixed,obs,a,b\n" + rows)
    told = json.loads(said("experts", str(path), "--target", "obs", "--json").splitlines()[-1])
    assert told["experts"] == ["a", "b"] and told["left_out"] == ["date", "lat", "stationID", "fixed"]
    asked = json.loads(said("experts", str(path), "--target", "obs", "--experts", "a,fixed", "--json").splitlines()[-1])
    assert asked["experts"] == ["a", "fixed"]


@pytest.fixture(scope="module")
def banded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bands")
    rng = np.random.default_rng(0)
    lines = [f"{x:.4f},{'Rome' if t % 2 else 'Oslo'},{3.0 * x + rng.normal():.4f}" for t, x in enumerate(rng.uniform(1, 5, 300))]
    (folder / "load.csv").write_text("\n".join(["temp,town,load", *lines]) + "\n")
    (folder / "new.jsonl").write_text('{"town": "Rome", "temp": 2.0}\n{"town": "Oslo", "temp": null}\n')
    text = said("learn", str(folder / "load.csv"), "--target", "load", "--intervals", "0.9", "--save", str(folder / "load.bk"), "--json")
    return folder, json.loads(text.splitlines()[-1])


def test_intervals_of_a_saved_model_are_those_it_says_in_python(banded):
    folder, _ = banded
    lines = said("predict", str(folder / "load.bk"), str(folder / "new.jsonl"), "--intervals", "0.9", "--json").splitlines()
    learner = bk.load(folder / "load.bk")
    found = [json.loads(line) for line in lines]
    assert len(found) == 2 and all(one["low"] <= one["prediction"] <= one["high"] for one in found)
    row = {"temp": 2.0, "town": "Rome"}  # learned from a table: rows are named as its columns
    assert (found[0]["low"], found[0]["high"]) == tuple(learner.predict(row)) and found[0]["prediction"] == learner.point(row)


def test_another_coverage_than_the_models_is_refused(banded):
    with pytest.raises(BadInput, match=r"learned to cover 0\.9"):
        said("predict", str(banded[0] / "load.bk"), str(banded[0] / "new.jsonl"), "--intervals", "0.5")


def test_a_model_of_numbers_says_how_to_have_intervals(banded):
    folder, _ = banded
    said("learn", str(folder / "load.csv"), "--target", "load", "--save", str(folder / "plain.bk"), "--quiet")
    with pytest.raises(BadInput, match=r"learn it with --intervals 0\.9"):
        said("predict", str(folder / "plain.bk"), str(folder / "new.jsonl"), "--intervals", "0.9")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_dates_of_a_frame_are_features_in_scikit_learn(library):
    pd = pytest.importorskip("pandas")
    pytest.importorskip(library)
    from burkholder.sklearn import BurkholderRegressor

    when = pd.date_range("2024-01-01", periods=480, freq="h").to_series().reset_index(drop=True)
    frame, hours = pd.DataFrame({"when": when}), when.dt.hour.to_numpy(float)
    frame.loc[7, "when"] = pd.NaT
    X = frame if library == "pandas" else __import__("polars").from_pandas(frame)
    model = BurkholderRegressor(passes=3).fit(X, hours)
    assert model.score(X, hours) > 0.95  # the hour of the day is all there is to know
    assert (0, "hour 13") in model.columns_.places and (0, None) in model.columns_.places
    assert model.n_features_in_ == 1 and len(model.feature_importances_) == 1


@pytest.fixture
def prices(tmp_path):
    """Forecasts of two days of hours a file, with a column that is told by no rule; `tomorrow` has no labels."""
    rng = np.random.default_rng(5)
    for name, days in (("prices", 6), ("tomorrow", 2)):
        hours = [(f"2024-01-{d + 1:02d}", h, d * 24.0 + h + rng.normal()) for d in range(days) for h in range(4)]
        lines = [f"{d},{h},{'N' if h % 2 else 'S'},{y if name == 'prices' else ''},{y + rng.normal()},{y - 2},{y + 3}" for d, h, y in hours]
        (tmp_path / f"{name}.csv").write_text("\n".join(["date,hour,side,price,a,b,c", *lines]) + "\n")
    return tmp_path


@pytest.mark.parametrize("by", [[], ["--by", "side"]])
def test_expert_advice_goes_on_with_the_columns_it_was_told(prices, by):
    columns = ["--target", "price", "--together", "date", "--experts", "a,b", *by]
    file, model = str(prices / "prices.csv"), str(prices / "m.bk")
    said("experts", file, *columns, "--save", model)
    told = said("experts", file, *columns, "--load", model, "--json")
    bare = said("experts", file, "--load", model, "--json", "--save", model)
    without_time = [{key: value for key, value in json.loads(text).items() if key != "seconds"} for text in (told, bare)]
    assert without_time[0] == without_time[1] and without_time[0]["experts"] == ["a", "b"] and without_time[0]["together"]
    again = json.loads(said("experts", str(prices / "tomorrow.csv"), "--load", model, "--json"))  # and once more, from what went on
    assert again["predicted_only"] == 8


@pytest.mark.parametrize("more", [["--loss", "squared"], ["--method", "boa"], ["--rate", "0.1"], ["--quantile", "0.9"]])
def test_expert_advice_refuses_what_its_model_is_not(prices, more):
    file, model = str(prices / "prices.csv"), str(prices / "m.bk")
    said("experts", file, "--target", "price", "--save", model)
    with pytest.raises(BadInput):
        said("experts", file, "--load", model, *more)
    assert said("experts", file, "--load", model, "--loss", "absolute", "--method", "huber-root")


def test_groups_without_a_model_are_no_groups_that_begin_anew(prices):
    with pytest.raises(bk.BadFile, match=r"none\.bk"):
        said("experts", str(prices / "prices.csv"), "--target", "price", "--by", "side", "--load", str(prices / "none.bk"))


def test_truths_are_no_forecasts(tmp_path):
    path = tmp_path / "loads.csv"
    path.write_text("load,holiday,a,b\n" + "".join(f"{t % 5},{t % 2 == 0},{t % 5 + 1},{t % 5 - 1}\n" for t in range(20)))
    assert json.loads(said("experts", str(path), "--target", "load", "--json"))["experts"] == ["a", "b"]


ODD = {"{0}/{1}/2024": "write the year first", "${1}.50": "plain numbers", "{1}%": "plain numbers", "{0}'2{1}.5": "plain numbers"}


@pytest.mark.parametrize("shape", [*ODD, "A{1}", "{0}-{1}"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_columns_that_look_like_something_else_are_remarked_on(shape, form, tmp_path):
    path = tmp_path / f"sales.{form}"
    words = [shape.format(1 + t % 12, 10 + t % 17) for t in range(60)]
    if form == "csv":
        path.write_text("odd;kind;y\n" + "".join(f"{word};{'ab'[t % 2]};{t % 7}\n" for t, word in enumerate(words)))
    else:
        path.write_text("".join(json.dumps({"odd": word, "kind": "ab"[t % 2], "y": t % 7}) + "\n" for t, word in enumerate(words)))
    told = json.loads(said("learn", str(path), "--target", "y", "--json", "--quiet"))["remarks"]
    assert [remark for remark in told if ODD.get(shape, "?") in remark] == told and len(told) == (shape in ODD)
    assert CliRunner().invoke(app, ["learn", str(path), "--target", "y"]).stderr.count("'odd'") == len(told)
    assert json.loads(said("learn", str(path), "--target", "y", "--json", "--quiet", "--categorical", "odd"))["remarks"] == []


@pytest.mark.parametrize("learned", [".", ","])
def test_a_model_reads_the_next_file_with_the_decimal_mark_it_has(learned, tmp_path):
    rows = [(k * 0.5, k % 3, k * 0.25) for k in range(40)]
    point = "a;b;y\n" + "".join(f"{a};{b};{y}\n" for a, b, y in rows)
    (tmp_path / "point.csv").write_text(point)
    (tmp_path / "comma.csv").write_text(point.replace(".", ","))
    (tmp_path / "english.csv").write_text(point.replace(";", ","))
    model = str(tmp_path / "m.bk")
    said("learn", str(tmp_path / ("point.csv" if learned == "." else "comma.csv")), "--target", "y", "--save", model, "--quiet")
    told = {said("predict", model, str(tmp_path / f"{name}.csv")) for name in ("point", "comma", "english")}
    assert len(told) == 1 and told.pop().count("\n") == 40
    (tmp_path / "thousand.csv").write_text("a;b\n1,500;2\n2,500;1\n")  # nothing tells: as the model's own
    if learned == ",":
        (tmp_path / "same.csv").write_text("a;b\n1.5;2\n2.5;1\n")
        assert said("predict", model, str(tmp_path / "thousand.csv")) == said("predict", model, str(tmp_path / "same.csv"))
    else:
        with pytest.raises(bk.BadLine):
            said("predict", model, str(tmp_path / "thousand.csv"))


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_an_audit_takes_dates_and_says_where_a_prediction_is_missing(form, tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(
        {"when": pandas.date_range("2024-01-01", periods=50, freq="h"), "a": rng.normal(size=50), "yhat": rng.normal(size=50)}
    )
    frame.loc[3, "when"] = pandas.NaT
    frame["y"] = frame["a"] + 0.1
    path = tmp_path / f"p.{form}"
    write = (lambda: frame.to_csv(path, index=False)) if form == "csv" else (lambda: frame.to_parquet(path))
    write()
    told = json.loads(said("audit", str(path), "--yhat", "yhat", "--target", "y", "--loss", "absolute", "--json"))
    audit = bk.Audit(loss="absolute")
    rows = [(x, y) for x, y in bk.read(path, target="y")]
    for x, y in rows:
        yhat = x.pop("yhat")
        audit.update({**x, "": 1.0}, yhat, y)  # the command adds a constant
    assert told["realised_regret_bound"] == pytest.approx(audit.certificate().realised(radius=told["radius"]), rel=1e-9)
    frame.loc[7, "yhat"] = np.nan
    write()
    with pytest.raises(bk.BadLine, match="line 9" if form == "csv" else "line 8"):
        said("audit", str(path), "--yhat", "yhat", "--target", "y", "--loss", "absolute")
