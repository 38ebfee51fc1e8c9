"""One learner a partition, merged in a tree: for data in which no key matters, and no order across machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from burkholder.errors import BadInput
from burkholder.learning.merging import merge
from burkholder.spark import columns as parts
from burkholder.storage import pack, unpack

_SHARD = "shard bigint, model binary"
_SCHEMA = pa.schema([("shard", pa.int64()), ("model", pa.binary())])


def learn_sharded(
    df: Any,
    *,
    target: str,
    learner: Any,
    order: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    shards: int | None = None,
    fan: int = 8,
) -> Any:
    """One learner with what all partitions taught: each partition runs a copy of `learner`, and `bk.merge` makes them one.

    order:  rows of a partition are taken in the order of this column; otherwise as they lie.
    shards: so many partitions; otherwise as many as the frame has.
    fan:    so many learners are merged in one step of the tree.

    The certificate of what comes back bounds the summed regret of the shards' own predictions; what was promised to one learner on one
    stream does not carry over to several that did not see each other, and it says so. Rows without a target are left out.
    """
    found = parts.settle(df, None, target, order, None, weight, features)
    if df.isStreaming:
        raise BadInput("df", "a stream", "shards are merged when they end; learn_keyed learns on streams")
    for argument, value, least in (("shards", shards, 1), ("fan", fan, 2)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise BadInput(argument, value, f"give a whole number ≥ {least}")
    if learner.rounds if hasattr(learner, "rounds") else 0:
        raise BadInput("learner", f"{learner.rounds} rounds", "every shard would count them again; give a fresh learner")
    template = parts.packed(learner)
    rows = parts.prepared(df, found)
    rows = rows if shards is None else rows.repartition(shards)
    rows = rows if order is None else rows.sortWithinPartitions(parts._quoted(order))
    layer = rows.mapInArrow(_learned_shard(found, template), _SHARD).localCheckpoint()  # each shard learns once
    count = layer.count()
    if not count:
        return unpack(template)
    while count > 1:
        paired = layer.withColumn("parent", (layer["shard"] / fan).cast("bigint"))
        layer = paired.groupBy("parent").applyInArrow(_merged, _SHARD).localCheckpoint()
        count = layer.count()
    return unpack(bytes(layer.collect()[0]["model"]))


def _learned_shard(found: parts.Columns, template: bytes) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def learned(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        learner = unpack(template)
        for batch in batches:
            learn(learner, pa.Table.from_batches([batch]), found)
        if learner.rounds:
            context = TaskContext.get()
            yield pa.RecordBatch.from_pylist([{"shard": context.partitionId() if context else 0, "model": pack(learner)}], _SCHEMA)

    return learned


def learn(learner: Any, table: pa.Table, found: parts.Columns) -> None:
    """The rows of the table that have a label, in turn, compiled."""
    table = table.filter(table.column(found.target).is_valid())
    if not table.num_rows:
        return
    target = table.column(found.target)
    y = target.to_numpy() if pa.types.is_floating(target.type) or pa.types.is_integer(target.type) else target.to_pylist()
    if isinstance(y, np.ndarray) and np.isnan(y).any():
        table, y = table.filter(pa.array(~np.isnan(y))), y[~np.isnan(y)]
    weights = None if found.weight is None else table.column(found.weight).fill_null(1.0).to_numpy().astype(float)
    learner.learn_many(table.select(list(found.features)), y, weights)


def _merged(key: tuple[pa.Scalar, ...], table: pa.Table) -> pa.Table:
    """Neighbours of one layer of the tree as one, in the order of their shards."""
    rows = sorted(table.to_pylist(), key=lambda row: row["shard"])
    learners = [unpack(row["model"]) for row in rows]
    whole = learners[0] if len(learners) == 1 else merge(*learners)
    return pa.Table.from_pylist([{"shard": key[0].as_py(), "model": pack(whole)}], _SCHEMA)
