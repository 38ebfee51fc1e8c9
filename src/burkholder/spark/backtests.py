"""Many ways to learn the same rows, one task each: a table of losses and certificates."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T

from burkholder.errors import BadInput, BurkholderError
from burkholder.spark import columns as parts
from burkholder.spark.sharded import learn
from burkholder.storage import pack, unpack

_TABLE = T.StructType(
    [
        T.StructField("configuration", T.StringType()),
        T.StructField("loss", T.StringType()),
        T.StructField("rounds", T.LongType()),
        T.StructField("mean_loss", T.DoubleType()),
        T.StructField("cumulative_loss", T.DoubleType()),
        T.StructField("promised", T.DoubleType()),
        T.StructField("corrected", T.DoubleType()),
        T.StructField("realised", T.DoubleType()),
        T.StructField("certificate", T.StringType()),
        T.StructField("model", T.BinaryType()),
        T.StructField("problem", T.StringType()),
    ]
)


def backtest(
    df: Any, configurations: Mapping[str, Any], *, target: str, order: str, weight: str | None = None, features: Sequence[str] | None = None
) -> Any:
    """A row for every configuration: its progressive loss over the rows in their order, its certificate, its model.

    configurations: name → learner. Each runs in a task of its own, on all the rows: they pass through the driver once, packed as
    Arrow, so they must fit in a worker's memory. Rows without a target are left out. `promised`, `corrected` and `realised` bound the
    regret against the comparators named in the certificate; they are empty where a learner has no such number, and `promised` where
    an assumption was violated. One that cannot learn these rows says why in `problem`, and does not stop the others.
    """
    if not isinstance(configurations, Mapping) or not configurations:
        raise BadInput("configurations", configurations, 'give a dict, such as {"auto": bk.Auto(loss="absolute")}')
    found = parts.settle(df, None, target, order, None, weight, features)
    if df.isStreaming:
        raise BadInput("df", "a stream", "a backtest is over rows that are known; give a table")
    jobs = [(str(name), parts.packed(learner)) for name, learner in configurations.items()]
    table = parts.prepared(df, found).orderBy(parts._quoted(order)).toArrow()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    spark = df.sparkSession
    rows = spark.sparkContext.broadcast(sink.getvalue().to_pybytes())

    def run(part: Iterator[tuple[str, bytes]]) -> Iterator[tuple[Any, ...]]:
        for name, template in part:
            yield _result(name, unpack(template), pa.ipc.open_stream(rows.value).read_all(), found)

    done = spark.sparkContext.parallelize(jobs, len(jobs)).mapPartitions(run)
    return spark.createDataFrame(done.collect(), _TABLE)


def _result(name: str, learner: Any, table: pa.Table, found: parts.Columns) -> tuple[Any, ...]:
    problem = None
    try:
        learn(learner, table, found)
    except BurkholderError as error:
        problem = str(error)
    told = learner.certificate()
    values = {line.name: line.value for line in told.guarantees if line.holds and line.comparators == told.comparators}
    regret = [values.get(f"{word} regret") for word in ("promised", "corrected", "realised")]
    mean = told.mean_loss if told.rounds else None
    text = json.dumps(told.to_dict(), ensure_ascii=False)
    return (name, told.loss, told.rounds, mean, told.cumulative_loss, *regret, text, pack(learner), problem)
