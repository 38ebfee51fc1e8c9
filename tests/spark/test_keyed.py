"""Keyed learning on Spark gives the bits of a plain loop, on tables and on streams."""

from __future__ import annotations

import datetime
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import burkholder as bk
from burkholder.spark import learn_keyed, states
from burkholder.spark.rounds import Book
from burkholder.storage import pack, unpack

LEARNERS = {
    "adagrad": lambda: bk.Learner("adagrad", loss="absolute", radius=2.0),
    "parameter-free": lambda: bk.Learner("parameter-free", loss="absolute"),
    "light": lambda: bk.Auto(loss="absolute", effort="light"),
    "auto": lambda: bk.Auto(loss="squared"),
    "experts": lambda: bk.Experts(loss="absolute"),
    "quantiles": lambda: bk.Quantiles(levels=(0.1, 0.9)),
}


def sales(rows: int = 120, keys: int = 5, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "store": rng.choice([f"s{k}" for k in range(keys)], rows),
            "day": rng.permutation(rows),
            "a": rng.normal(size=rows),
            "b": np.where(rng.random(rows) < 0.2, np.nan, rng.normal(size=rows)),
            "units": rng.normal(size=rows),
        }
    )


def plain(frame: pd.DataFrame, make, names=("a", "b")):
    """The loop everybody writes: a dict of learners."""
    learners, told = {}, {}
    for row in frame.sort_values("day", kind="stable").to_dict("records"):
        learner = learners.setdefault(row["store"], make())
        x = {name: row[name] for name in names}
        told[row["day"]] = learner.predict(x)
        learner.update(x, row["units"])
    return told, {key: pack(learner) for key, learner in learners.items()}


def stream_of(spark, folder, frames, schema):
    """A stream whose micro-batches are these frames."""
    folder.mkdir(exist_ok=True)
    for number, frame in enumerate(frames):
        spark.createDataFrame(frame, schema).coalesce(1).write.mode("append").parquet(str(folder / "in"))
        time.sleep(1.05 if number + 1 < len(frames) else 0)  # files are taken by their times
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))


def finish(out, folder):
    query = (
        out.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return out.sparkSession.read.parquet(str(folder / "out")).toPandas()


SCHEMA = "store string, day bigint, a double, b double, units double"


@pytest.mark.parametrize("name", LEARNERS)
def test_a_table_gives_the_bits_of_a_plain_loop(spark, name):
    frame, make = sales(), LEARNERS[name]
    told, kept = plain(frame, make)
    df = spark.createDataFrame(frame, SCHEMA)
    out = learn_keyed(df, key="store", target="units", learner=make(), order="day").toPandas()
    assert list(out.columns) == ["store", "day", "units", "prediction", "event"]
    assert set(out["event"]) == {"learned"} and len(out) == len(frame)
    for row in out.itertuples():
        assert np.array_equal(np.asarray(row.prediction, float), np.asarray(told[row.day], float))
    after = learn_keyed(df, key="store", target="units", learner=make(), order="day", output="states").collect()
    assert {row["store"]: bytes(row["model"]) for row in after} == kept
    assert {row["store"]: row["rounds"] for row in after} == frame["store"].value_counts().to_dict()


@pytest.mark.parametrize("name", ["adagrad", "light"])
def test_plain_numbers_are_learned_together_with_the_same_bits(spark, name):
    """Many keys of a partition at once, in several goes, and one whose moments are not told apart."""
    frame, make = sales(400, 30, seed=4).fillna(0.5), LEARNERS[name]
    told, kept = plain(frame, make)
    df = spark.createDataFrame(frame, SCHEMA)
    words = {"key": "store", "target": "units", "learner": make(), "order": "day"}
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "37")
    try:
        out, after = learn_keyed(df, **words).toPandas(), learn_keyed(df, **words, output="states").collect()
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert {row.day: row.prediction for row in out.itertuples()} == told and set(out["event"]) == {"learned"}
    assert {row["store"]: bytes(row["model"]) for row in after} == kept


def test_a_partition_is_cut_between_keys_only():
    from burkholder.spark import partitions

    batch = pa.RecordBatch.from_pydict({"a": ["x"] * 5 + [None] * 4 + ["y"] * 30_000, "b": [1, 1, 2, 2, 2, 1, 1, 1, 1, *range(30_000)]})
    cut = list(partitions._whole_keys(iter([batch, batch.slice(0, 0), batch]), ("a",)))
    assert sum(table.num_rows for table in cut) == 2 * batch.num_rows
    assert partitions._ends(cut[0], ("a",)).tolist()[:2] == [5, 9] and partitions._ends(cut[0], ("a", "b")).tolist()[:4] == [2, 5, 9, 10]
    for one, two in zip(cut, cut[1:]):
        assert one.column("a")[-1].as_py() != two.column("a")[0].as_py()


@pytest.mark.parametrize("name", ["adagrad", "light"])
def test_a_stream_gives_the_bits_of_a_plain_loop(spark, tmp_path, name):
    frame, make = sales().sort_values("day"), LEARNERS[name]
    told, kept = plain(frame, make)
    parts = [frame[:50].sample(frac=1, random_state=1), frame[50:70], frame[70:].sample(frac=1, random_state=2)]
    out = finish(learn_keyed(stream_of(spark, tmp_path, parts, SCHEMA), key="store", target="units", learner=make(), order="day"), tmp_path)
    assert {row.day: row.prediction for row in out.itertuples()} == told and len(out) == len(frame)
    after = states(spark, str(tmp_path / "checkpoint")).collect()
    assert {row["store"]: bytes(row["model"]) for row in after} == kept


def test_late_labels_are_joined_by_id_through_the_state(spark, tmp_path):
    make = LEARNERS["adagrad"]
    schema = "store string, day bigint, row string, a double, b double, units double"
    first = pd.DataFrame(
        [("s", 1, "r1", 1.0, 0.5, 1.0), ("s", 2, "r2", 1.0, -1.0, None), ("s", 3, "r3", 0.5, 2.0, None), ("t", 1, "r9", 1.0, 1.0, None)],
        columns=["store", "day", "row", "a", "b", "units"],
    )
    later = pd.DataFrame(
        [
            ("s", 4, "r2", None, None, -1.0),  # the label of r2
            ("s", 5, "r4", 1.0, 1.0, 0.5),  # one that has its label
            ("s", 6, "r3", None, None, 2.0),  # the label of r3
            ("s", 7, "r3", None, None, 2.0),  # and again
            ("s", 8, "r8", None, None, 2.0),  # the label of nobody
        ],
        columns=first.columns,
    )
    learner, played = make(), {}
    learner.update({"a": 1.0, "b": 0.5}, 1.0)
    played["r2"] = learner.play({"a": 1.0, "b": -1.0})
    played["r3"] = learner.play({"a": 0.5, "b": 2.0})
    learner.reveal(played["r2"].id, -1.0)
    fresh = learner.predict({"a": 1.0, "b": 1.0})
    learner.update({"a": 1.0, "b": 1.0}, 0.5)
    learner.reveal(played["r3"].id, 2.0)

    stream = stream_of(spark, tmp_path, [first, later], schema)
    out = finish(learn_keyed(stream, key="store", target="units", learner=make(), order="day", id="row"), tmp_path)
    got = {(row.store, row.day): (row.event, row.prediction) for row in out.itertuples()}
    assert got["s", 2] == ("played", played["r2"].prediction) and got["s", 4] == ("revealed", played["r2"].prediction)
    assert got["s", 3] == ("played", played["r3"].prediction) and got["s", 6] == ("revealed", played["r3"].prediction)
    assert got["s", 5] == ("learned", fresh)
    assert got["s", 7][0] == got["s", 8][0] == "orphan" and np.isnan(got["s", 7][1])
    kept = {row["store"]: bytes(row["model"]) for row in states(spark, str(tmp_path / "checkpoint")).collect()}
    assert kept["s"] == pack(learner)
    assert unpack(kept["t"]).pending == 1 and Book.read(kept["t"]).waiting == {"r9": [1, 0.0]}
    # a table of both parts is learned alike
    both = spark.createDataFrame(pd.concat([first, later]), schema)
    after = learn_keyed(both, key="store", target="units", learner=make(), order="day", id="row", output="states").collect()
    assert {row["store"]: bytes(row["model"]) for row in after} == kept


def test_idle_keys_are_let_go_with_their_model_and_may_come_back(spark, tmp_path):
    make = LEARNERS["adagrad"]
    schema = "store string, day bigint, when timestamp, a double, units double"
    noon = datetime.datetime(2026, 1, 1, 12)

    def rows(*given):
        return pd.DataFrame(
            [(store, day, noon + datetime.timedelta(minutes=day), 1.0, 0.5) for store, day in given],
            columns=["store", "day", "when", "a", "units"],
        )

    parts = [rows(("gone", 0), ("stays", 0)), rows(("stays", 50)), rows(("stays", 100)), rows(("stays", 150)), rows(("gone", 151))]
    stream = stream_of(spark, tmp_path, parts, schema).withWatermark("when", "0 seconds")
    out = finish(
        learn_keyed(stream, key="store", target="units", learner=make(), order="day", idle=datetime.timedelta(hours=1), time="when"),
        tmp_path,
    )
    farewell = out[out["event"] == "idle"]
    assert farewell["store"].to_list() == ["gone"]
    once = make()
    once.update({"a": 1.0}, 0.5)
    assert bytes(farewell["model"].iloc[0]) == pack(once)
    kept = {row["store"]: bytes(row["model"]) for row in states(spark, str(tmp_path / "checkpoint")).collect()}
    assert unpack(kept["gone"]).rounds == 1 and unpack(kept["stays"]).rounds == 4  # gone came back, afresh


def test_the_clock_of_micro_batches_lets_keys_go(spark, tmp_path):
    make, schema = LEARNERS["adagrad"], "store string, day bigint, a double, units double"
    frame = pd.DataFrame([("s", 1, 1.0, 0.5)], columns=["store", "day", "a", "units"])
    stream = stream_of(spark, tmp_path, [frame], schema)
    out = learn_keyed(stream, key="store", target="units", learner=make(), order="day", idle=0.5)
    query = out.writeStream.format("memory").queryName("idling").option("checkpointLocation", str(tmp_path / "c")).start()
    try:
        for _ in range(120):
            got = [row["event"] for row in spark.table("idling").collect()]
            if "idle" in got:
                break
            time.sleep(0.25)
    finally:
        query.stop()
    assert got == ["learned", "idle"]


@pytest.mark.parametrize("streaming", [False, True])
def test_keys_go_on_from_states_that_are_given(spark, tmp_path, streaming):
    frame, make = sales().sort_values("day"), LEARNERS["adagrad"]
    told, kept = plain(frame, make)
    begin = spark.createDataFrame(frame[:60], SCHEMA)
    before = learn_keyed(begin, key="store", target="units", learner=make(), order="day", output="states").select("store", "model")
    words = {"key": "store", "target": "units", "learner": make(), "order": "day", "start": before}
    if streaming:
        out = finish(learn_keyed(stream_of(spark, tmp_path, [frame[60:]], SCHEMA), **words), tmp_path)
        after = states(spark, str(tmp_path / "checkpoint")).collect()
    else:
        rest = spark.createDataFrame(frame[60:], SCHEMA)
        out, after = learn_keyed(rest, **words).toPandas(), learn_keyed(rest, **words, output="states").collect()
    assert {row.day: row.prediction for row in out.itertuples()} == {day: told[day] for day in frame[60:]["day"]}
    assert {row["store"]: bytes(row["model"]) for row in after} == kept


def test_words_moments_and_several_keys(spark):
    make = LEARNERS["light"]
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "land": rng.choice(["it", "no"], 40),
            "shop": rng.integers(0, 2, 40),
            "t": np.arange(40),
            "city": rng.choice(["Rome", "Oslo", None], 40),
            "when": pd.date_range("2026-01-01", periods=40, freq="7h"),
            "units": rng.normal(size=40),
        }
    )
    out = learn_keyed(spark.createDataFrame(frame), key=["land", "shop"], target="units", learner=make(), order="t", output="states")
    learners = {}
    for row in frame.to_dict("records"):
        learners.setdefault((row["land"], row["shop"]), make()).update({"city": row["city"], "when": row["when"]}, row["units"])
    assert {(row["land"], row["shop"]): bytes(row["model"]) for row in out.collect()} == {
        key: pack(learner) for key, learner in learners.items()
    }


def test_rows_of_one_moment_are_ordered_by_their_content(spark):
    frame, make = sales(), LEARNERS["adagrad"]
    frame["day"] //= 10
    bits = []
    for seed in (1, 2):
        df = spark.createDataFrame(frame.sample(frac=1, random_state=seed), SCHEMA).repartition(3 + seed)
        out = learn_keyed(df, key="store", target="units", learner=make(), order="day", output="states").collect()
        bits.append({row["store"]: bytes(row["model"]) for row in out})
    assert bits[0] == bits[1]
