"""One learner a key: `learn_keyed` over a table or a stream, and the states that it left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import types as T

from burkholder.errors import BadInput
from burkholder.spark import columns as parts
from burkholder.spark.partitions import described, learned_partition
from burkholder.spark.rounds import Book, in_order
from burkholder.suggestions import choose

OWN = ("prediction", "event", "model")
_STATE = (("model", T.BinaryType()), ("rounds", T.LongType()), ("cumulative_loss", T.DoubleType()), ("certificate", T.StringType()))


def learn_keyed(
    df: Any,
    *,
    key: str | Sequence[str],
    target: str,
    learner: Any,
    order: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    features: Sequence[str] | None = None,
    start: Any = None,
    skip_bad: bool = False,
    output: str = "predictions",
    idle: float | timedelta | None = None,
    time: str | None = None,
) -> Any:
    """One learner for every key, on a table or on a stream of Spark's; predictions come before labels.

    key:      column, or columns, that say whose row it is.
    target:   the label. A row without one is predicted; with an `id`, it waits for its label.
    learner:  how every key begins; fresh, or taught already.
    order:    column that orders the rows of a key (in a stream: within a micro-batch). Without it they are taken as they come.
    id:       column that names a row, so that its label may come later: a row with this id, the label, and empty features.
    weight:   importance of a row.
    features: columns to learn from; otherwise all that have no other part.
    start:    frame of key and `model` (what `states` or `output="states"` gave): keys in it go on from there.
    skip_bad: a row that cannot be learned is told of in `event`, instead of ending the job.
    output:   "predictions": a row for every row. "states" (tables only): a row for every key, with its model and certificate.
    idle:     seconds after which a key of a stream that sends no rows is let go: its last row, of event "idle", holds its model.
    time:     column of event time for `idle` (the stream needs a watermark); otherwise the clock of the micro-batches.

    The result has the key, `order`, `id`, the target, `prediction` and `event`: learned, predicted (no label, no id), played (no
    label yet), revealed (the label of an earlier play; the prediction is the one made then), orphan (a label nobody waits for).
    """
    extra = () if time is None else (parts.known(df, "time", time),)
    found = parts.settle(df, key, target, order, id, weight, features, extra)
    parts.refuse_taken(found.told, OWN)
    choose("output", output, ("predictions", "states"), "Outputs")
    template = parts.packed(learner)
    answer = parts.prediction_type(learner, df.schema[target].dataType)
    beside = [df.schema[name] for name in found.told]
    told = T.StructType([*beside, T.StructField("prediction", answer), T.StructField("event", T.StringType())])
    rows = parts.prepared(df, found, extra)
    if start is not None:
        start = _models(start, found.keys)
    if df.isStreaming:
        from burkholder.spark.streaming import stream

        if output != "predictions":
            raise BadInput("output", output, "the states of a stream are in its checkpoint: burkholder.spark.states reads them")
        return stream(rows, found, told, template, start, skip_bad, _milliseconds(idle), time)
    if idle is not None or time is not None:
        raise BadInput("idle", idle if idle is not None else time, "keys of a table are not idle; leave out idle and time")
    if output == "states":
        told = T.StructType([*(df.schema[name] for name in found.keys), *(T.StructField(name, kind) for name, kind in _STATE)])
    names = list(map(parts._quoted, found.keys))
    learned = _learned_key(found, _arrow(told), template, skip_bad, output == "states")
    if start is None:
        within = [*names, *([] if order is None or order in found.keys else [parts._quoted(order)])]
        ready = rows.repartition(*names).sortWithinPartitions(*within)
        return ready.mapInArrow(learned_partition(found, _arrow(told), template, skip_bad, output == "states", learned), told)
    grouped, other = rows.groupBy(*names), start.groupBy(*names)
    return grouped.cogroup(other).applyInArrow(learned, told)


def states(spark: Any, checkpoint: str) -> Any:
    """The state of every key of a stream, from its checkpoint: the key and its `model`, as bytes that `unpack` reads."""
    read = spark.read.format("statestore").option("path", checkpoint).option("stateVarName", "book").load()
    return read.select("key.*", "value.model")


def _models(start: Any, keys: tuple[str, ...]) -> Any:
    for name in (*keys, "model"):
        parts.known(start, "start", name)
    return start.select(*map(parts._quoted, (*keys, "model")))


def _milliseconds(idle: Any) -> int | None:
    if idle is None:
        return None
    seconds = idle.total_seconds() if isinstance(idle, timedelta) else idle
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0.001 <= seconds < 1e12:
        raise BadInput("idle", idle, "give seconds, at least 0.001, or a timedelta")
    return round(1000 * seconds)


def _arrow(kind: Any) -> pa.Schema:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(kind)


def _learned_key(
    found: parts.Columns, schema: pa.Schema, template: bytes, skip_bad: bool, states_only: bool
) -> Callable[[pa.Table, pa.Table | None], pa.Table]:
    """All rows of one key, learned in their order, as Spark's workers call it."""

    def learned(table: pa.Table, start: pa.Table | None) -> pa.Table:
        begun = template if start is None or not start.num_rows else start.column("model")[0].as_py()
        book = Book.read(begun)
        take = book.take_or_tell if skip_bad else book.take
        out, rows = [], in_order(table.to_pylist(), found.order, found.id)
        for row in rows:
            event, prediction = _taken(take, row, found)
            if not states_only:
                out.append({name: row[name] for name in found.told} | {"prediction": prediction, "event": event})
        if states_only:
            whose = rows[0] if rows else start.to_pylist()[0]  # type: ignore[union-attr]
            out = [{name: whose[name] for name in found.keys} | described(book.learner, book.bytes())]
        return pa.Table.from_pylist(out, schema)

    return learned


def _taken(take: Callable[..., Any], row: dict[str, Any], found: parts.Columns) -> Any:
    """One row, read by the parts its columns play; an error names the key."""
    x = {name: row[name] for name in found.features}
    weight = None if found.weight is None else row[found.weight]
    try:
        return take(x, row[found.target], weight, None if found.id is None else row[found.id])
    except BadInput as error:
        whose = ", ".join(f"{name} = {row[name]!r}" for name in (*found.keys, *([found.order] if found.order else [])))
        raise BadInput(error.argument, error.value, f"{error.remedy} ({whose}; skip_bad=True tells of such rows and goes on)") from None
