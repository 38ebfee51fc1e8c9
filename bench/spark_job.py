"""One Spark driver for bench/spark.py, in a process of its own: it can be timed from its first row, and killed.

python bench/spark_job.py table   local[2] KEYS ROWS       a table: seconds, JSON on the last line
python bench/spark_job.py stream  local[2] KEYS ROWS       the same rows as a stream of micro-batches
python bench/spark_job.py plain   -        KEYS ROWS       a dict of learners, without Spark
python bench/spark_job.py play    local[2] FOLDER          a stream over FOLDER/in, from its checkpoint to its end
python bench/spark_job.py tell    local[2] FOLDER          what such a stream left: digests of outputs and states
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import burkholder as bk

FEATURES = [f"f{j}" for j in range(10)]
BATCHES = 4  # of a timed stream; the first is left out
LATE = "store long, t long, id string, a double, b double, c double, y double"


def learner() -> bk.Learner:
    return bk.Learner("adagrad", loss="absolute", radius=2.0)


def rows_of(keys: int, rows: int) -> pd.DataFrame:
    """Interleaved rows: every key in turn, in an order of its own."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(rows, len(FEATURES))), columns=FEATURES)
    frame.insert(0, "store", rng.permutation(np.arange(rows) % keys))
    frame.insert(1, "t", np.arange(rows))
    frame["y"] = np.clip(frame["f0"] - 0.5 * frame["f1"], -1, 1)
    return frame


def session(master: str):
    from pyspark.sql import SparkSession

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    cores = "".join(c for c in master.split(",")[0] if c.isdigit())
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": cores,
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master(master).appName("bench")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def plain(keys: int, rows: int) -> dict[str, float]:
    frame = rows_of(keys, rows)
    learner().update(dict.fromkeys(FEATURES, 1.0), 1.0)  # compiled
    began = time.perf_counter()
    learners: dict[int, bk.Learner] = {}
    out = []
    for row in frame.to_dict("records"):
        one = learners.get(row["store"])
        if one is None:
            one = learners[row["store"]] = learner()
        x = {name: row[name] for name in FEATURES}
        out.append(one.predict(x))
        one.update(x, row["y"])
    return {"seconds": time.perf_counter() - began, "sum": float(np.sum(np.abs(out)))}


def table(master: str, keys: int, rows: int) -> dict[str, float]:
    from burkholder.spark import learn_keyed

    spark, folder = session(master), tempfile.mkdtemp()
    rows_of(keys, rows).to_parquet(f"{folder}/rows.parquet")
    df = spark.read.parquet(f"{folder}/rows.parquet")

    def once(frame) -> tuple[float, float]:
        began = time.perf_counter()
        out = learn_keyed(frame, key="store", target="y", learner=learner(), order="t", features=FEATURES)
        total = out.selectExpr("sum(abs(prediction))").collect()[0][0]
        return time.perf_counter() - began, total

    once(df.limit(1000))  # workers started, code loaded
    seconds, total = once(df)
    began = time.perf_counter()  # the same shuffle and the same rows to Python and back, with nothing learned
    df.groupBy("store").applyInArrow(lambda t: t.select(["store", "t", "y", "f0"]), "store long, t long, y double, f0 double").selectExpr(
        "sum(f0)"
    ).collect()
    bare = time.perf_counter() - began
    shutil.rmtree(folder)
    return {"seconds": seconds, "bare": bare, "sum": total}


def stream(master: str, keys: int, rows: int) -> dict[str, float]:
    from burkholder.spark import learn_keyed

    spark, folder = session(master), tempfile.mkdtemp()
    os.mkdir(f"{folder}/in")
    frame = rows_of(keys, rows)
    for number, part in enumerate(np.array_split(frame, BATCHES)):
        part.to_parquet(f"{folder}/in/{number}.parquet")
        os.utime(f"{folder}/in/{number}.parquet", (number, number))
    read = spark.readStream.schema(spark.read.parquet(f"{folder}/in").schema).option("maxFilesPerTrigger", 1).parquet(f"{folder}/in")
    out = learn_keyed(read, key="store", target="y", learner=learner(), order="t", features=FEATURES)
    query = out.writeStream.format("parquet").option("path", f"{folder}/out").option("checkpointLocation", f"{folder}/checkpoint")
    running = query.trigger(availableNow=True).start()
    running.awaitTermination()
    progress = [one for one in running.recentProgress if one["numInputRows"]]
    last = progress[1:]
    total = spark.read.parquet(f"{folder}/out").selectExpr("sum(abs(prediction))").collect()[0][0]
    operators = [one["stateOperators"][0] for one in last]
    size = sum(path.stat().st_size for path in Path(folder, "checkpoint", "state").rglob("*") if path.is_file())
    shutil.rmtree(folder)
    return {
        "seconds": sum(one["batchDuration"] for one in last) / 1000,
        "rows": sum(one["numInputRows"] for one in last),
        "first": progress[0]["batchDuration"] / 1000,
        "commit": sum(one["commitTimeMs"] for one in operators) / 1000,
        "checkpoint": size,
        "touched": sum(one["numRowsUpdated"] for one in operators),
        "sum": total,
    }


def play(master: str, folder: Path) -> None:
    from burkholder.spark import learn_keyed

    spark = session(master)
    read = spark.readStream.schema(LATE).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    out = learn_keyed(read, key="store", target="y", learner=learner(), order="t", id="id")
    query = out.writeStream.format("parquet").option("path", str(folder / "out"))
    query.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start().awaitTermination()


def tell(master: str, folder: Path) -> dict[str, object]:
    from burkholder.spark import states

    spark = session(master)
    rows = spark.read.parquet(str(folder / "out")).orderBy("store", "t").collect()
    kept = states(spark, str(folder / "checkpoint")).orderBy("store").collect()
    events: dict[str, int] = {}
    for row in rows:
        events[row["event"]] = events.get(row["event"], 0) + 1
    outputs = hashlib.sha256(repr([tuple(row) for row in rows]).encode()).hexdigest()
    models = hashlib.sha256(b"".join(bytes(row["model"]) for row in kept)).hexdigest()
    return {"rows": len(rows), "keys": len(kept), "events": events, "outputs": outputs, "states": models}


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    if what == "plain":
        print(json.dumps(plain(int(rest[0]), int(rest[1]))))
    elif what == "play":
        play(where, Path(rest[0]))
    elif what == "tell":
        print(json.dumps(tell(where, Path(rest[0]))))
    else:
        print(json.dumps({"table": table, "stream": stream}[what](where, int(rest[0]), int(rest[1]))))
