"""Shards, predictions, backtests, and what is said when something is wrong."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import burkholder as bk
from burkholder.spark import backtest, learn_keyed, learn_sharded, predict
from burkholder.storage import pack, unpack


def adagrad():
    return bk.Learner("adagrad", loss="absolute", radius=2.0)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    table = pd.DataFrame(rng.normal(size=(400, 3)), columns=["a", "b", "c"])
    table["y"] = np.clip(table @ [0.5, -0.2, 0.1], -1, 1)
    table["t"] = np.arange(400)
    return table


@pytest.mark.parametrize("shards", [1, 2, 5])
def test_shards_are_merged_as_on_one_machine(spark, frame, shards):
    df = spark.createDataFrame(frame).repartitionByRange(shards, "t")
    parts = [pd.DataFrame([row.asDict() for row in part]) for part in df.rdd.glom().collect() if part]
    whole = learn_sharded(df, target="y", learner=adagrad(), order="t", fan=2)
    layer = []
    for part in parts:
        part = part.sort_values("t")
        layer.append(adagrad())
        layer[-1].learn_many(part[["a", "b", "c"]], part["y"].to_numpy())
    while len(layer) > 1:
        layer = [pair[0] if len(pair) == 1 else bk.merge(*pair) for pair in (layer[k : k + 2] for k in range(0, len(layer), 2))]
    assert pack(whole) == pack(layer[0]) and whole.rounds == 400 and whole.parts == len(parts)


def test_the_certificate_of_shards_is_true_and_says_what_merging_cost(spark, frame):
    whole = learn_sharded(spark.createDataFrame(frame), target="y", learner=adagrad(), shards=4)
    certificate = whole.certificate()
    X, y = frame[["a", "b", "c"]].to_numpy(), frame["y"].to_numpy()
    for w in ([0.5, -0.2, 0.1], [0.0, 0.0, 0.0], [1.0, 1.0, -1.0]):
        regret = certificate.cumulative_loss - math.fsum(np.abs(X @ w - y))
        named = dict(zip("abc", w))
        assert regret <= certificate.realised(named) <= certificate.corrected(named)
    assert certificate.bound({"a": 0.5}) == math.inf  # nothing was promised to four that did not see each other
    assert any("4 learners merged" in note for note in certificate.notes)
    whole.update({"a": 1.0, "b": 0.0, "c": 0.0}, 0.5)  # and it goes on


def test_rows_without_a_label_are_left_out_of_shards(spark, frame):
    gaps = frame.assign(y=frame["y"].where(frame["t"] % 3 > 0, np.nan), w=2.0)
    whole = learn_sharded(spark.createDataFrame(gaps), target="y", learner=adagrad(), order="t", weight="w", shards=1)
    kept = gaps[gaps["t"] % 3 > 0]
    one = adagrad()
    one.learn_many(kept[["a", "b", "c"]], kept["y"].to_numpy(), kept["w"].to_numpy())
    assert pack(whole) == pack(one)


@pytest.mark.parametrize("make", [adagrad, lambda: bk.Auto(loss="absolute", effort="light")])
def test_predictions_are_the_models_own(spark, frame, make):
    model = make()
    model.run(frame[["a", "b", "c"]], frame["y"].to_numpy())
    out = predict(spark.createDataFrame(frame).repartition(3), model, features=["a", "b", "c"]).toPandas()
    assert list(out.columns) == [*frame.columns, "prediction"]
    told = dict(zip(frame["t"], model.predict_many(frame[["a", "b", "c"]])))
    assert {row.t: row.prediction for row in out.itertuples()} == told


def test_a_backtest_is_a_row_a_configuration(spark, frame):
    ways = {"tight": bk.Learner("adagrad", loss="absolute", radius=0.1), "wide": adagrad(), "auto": bk.Auto(loss="squared", effort="light")}
    ways["broken"] = bk.Learner("adagrad", loss="logistic")  # its labels are ±1
    rows = {row["configuration"]: row for row in backtest(spark.createDataFrame(frame), ways, target="y", order="t").collect()}
    assert set(rows) == set(ways)
    one = adagrad()
    run = one.run(frame[["a", "b", "c"]], frame["y"].to_numpy(), trace=0)
    assert rows["wide"]["cumulative_loss"] == one.cumulative_loss and bytes(rows["wide"]["model"]) == pack(one)
    assert rows["wide"]["mean_loss"] == run.certificate.mean_loss
    assert rows["wide"]["realised"] == run.certificate.realised() <= rows["wide"]["corrected"] <= rows["wide"]["promised"]
    assert json.loads(rows["wide"]["certificate"])["rounds"] == 400 and rows["wide"]["problem"] is None
    assert rows["broken"]["rounds"] == 0 and "y" in rows["broken"]["problem"]
    assert unpack(bytes(rows["tight"]["model"])).rounds == 400


# --- what is wrong is said before anything runs -----------------------------------------------------------------
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"target": "yy"}, r"target = 'yy' .* did you mean 'y'\? Columns: a, b, c, y, t"),
        ({"key": "tt"}, "did you mean 't'"),
        ({"order": "when"}, "order = 'when'"),
        ({"features": ["a", "bb"]}, "did you mean 'b'"),
        ({"features": ["a", "y"]}, "this is the target"),
        ({"target": "t"}, "the key is known before"),
        ({"learner": "auto"}, "give a learner"),
        ({"learner": bk.MatrixCompletion()}, "takes no rows of named features"),
        ({"output": "state"}, "did you mean 'states'"),
        ({"idle": 5}, "keys of a table are not idle"),
    ],
)
def test_wrong_words_are_refused_with_a_remedy(spark, frame, words, said):
    df = spark.createDataFrame(frame)
    with pytest.raises(bk.BadInput, match=said):
        learn_keyed(df, **({"key": "t", "target": "y", "learner": adagrad()} | words))


def test_columns_that_cannot_be_learned_from_are_named(spark):
    df = spark.createDataFrame([(1, [1.0, 2.0], 3.0)], "k int, list array<double>, y double")
    with pytest.raises(bk.BadInput, match=r"list.*array<double>"):
        learn_keyed(df, key="k", target="y", learner=adagrad())
    with pytest.raises(bk.BadInput, match="rename yours"):
        learn_keyed(df.withColumnRenamed("k", "event"), key="event", target="y", learner=adagrad(), features=["list"])


def test_a_bad_row_ends_the_job_or_is_told_of(spark):
    df = spark.createDataFrame([("s", 1, 1.0, 1.0), ("s", 2, math.inf, 1.0), ("s", 3, 1.0, 0.5)], "k string, t int, a double, y double")
    words = {"key": "k", "target": "y", "learner": adagrad(), "order": "t"}
    with pytest.raises(Exception, match=r"k = 's', t = 2; skip_bad=True"):
        learn_keyed(df, **words).collect()
    out = learn_keyed(df, **words, skip_bad=True).orderBy("t").collect()
    assert [row["event"].split(":")[0] for row in out] == ["learned", "refused", "learned"]
    after = learn_keyed(df, **words, skip_bad=True, output="states").collect()[0]
    one = adagrad()
    one.update({"a": 1.0}, 1.0)
    one.update({"a": 1.0}, 0.5)
    assert bytes(after["model"]) == pack(one)


def test_shards_begin_afresh(spark, frame):
    taught = adagrad()
    taught.update({"a": 1.0}, 1.0)
    with pytest.raises(bk.BadInput, match="count them again"):
        learn_sharded(spark.createDataFrame(frame), target="y", learner=taught)
    with pytest.raises(bk.BadInput, match="fan"):
        learn_sharded(spark.createDataFrame(frame), target="y", learner=adagrad(), fan=1)


def test_without_pyspark_the_extra_is_named():
    code = "import sys; sys.modules['pyspark'] = None\ntry:\n    import burkholder.spark\nexcept ImportError as error:\n    print(error)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "pip install 'burkholder[spark]'" in told
