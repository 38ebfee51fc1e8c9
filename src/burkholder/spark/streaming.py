"""A learner a key on an endless stream: the state lies in Spark's store, and is committed with the offsets of the rows.

Spark runs a micro-batch again where it was cut off, from the states before it; what is learned depends on these and the rows
alone, so that the second run gives the bits of the first. Exactly once needs no more than a sink that keeps its promise (files,
Delta, or any that writes a batch by its number).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import Row
from pyspark.sql import types as T
from pyspark.sql.streaming import StatefulProcessor

from burkholder.errors import BadInput
from burkholder.spark import columns as parts
from burkholder.spark.keyed import _taken
from burkholder.spark.rounds import Book, in_order

_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def stream(
    rows: Any, found: parts.Columns, told: Any, template: bytes, start: Any, skip_bad: bool, idle: int | None, time: str | None
) -> Any:
    """The stream of predictions."""
    if time is not None and idle is None:
        raise BadInput("time", time, "it is for idle=…; give both or none")
    _keep_in_rocksdb(rows.sparkSession)
    if idle is not None:
        told = T.StructType([*told, T.StructField("model", T.BinaryType())])
    mode = "None" if idle is None else "ProcessingTime" if time is None else "EventTime"
    names = tuple(map(parts._quoted, found.keys))
    return rows.groupBy(*names).transformWithState(
        KeyedProcessor(found, tuple(told.names), template, skip_bad, idle, time),
        told,
        "append",
        mode,
        initialState=None if start is None else start.groupBy(*names),
    )


def _keep_in_rocksdb(spark: Any) -> None:
    """Spark's stateful streams with several variables and timers need this store; one that was chosen stays."""
    if "RocksDB" not in (spark.conf.get(_PROVIDER, "") or ""):
        spark.conf.set(_PROVIDER, ROCKSDB)


class KeyedProcessor(StatefulProcessor):
    """What Spark calls for every key that has rows, or whose timer has run out."""

    def __init__(self, found: parts.Columns, told: tuple[str, ...], template: bytes, skip_bad: bool, idle: int | None, time: str | None):
        self.found, self.template, self.skip_bad, self.idle, self.time = found, template, skip_bad, idle, time
        self.row = Row(*told)

    def init(self, handle: Any) -> None:
        self.handle = handle
        self.kept = handle.getValueState("book", "model binary, seen bigint")

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:
        now = self._now(timerValues)
        self.kept.update((bytes(initialState["model"]), now))
        if self.idle is not None:
            self.handle.registerTimer(now + self.idle)

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
        found, kept = self.found, self.kept.get()
        book = Book.read(self.template if kept is None else kept[0])
        take = book.take_or_tell if self.skip_bad else book.take
        ordered = in_order((row.asDict() for row in rows), found.order, found.id)
        farewell = () if self.idle is None else (None,)
        for row in ordered:
            event, prediction = _taken(take, row, found)
            yield self.row(*(row[name] for name in found.told), prediction, event, *farewell)
        seen = self._seen(ordered, timerValues, None if kept is None else kept[1])
        self.kept.update((book.bytes(), seen))
        if self.idle is not None and kept is None:
            self.handle.registerTimer(seen + self.idle)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:
        kept = self.kept.get()
        if kept is None or self.idle is None:
            return
        due = kept[1] + self.idle
        if due > expiredTimerInfo.getExpiryTimeInMs():
            self.handle.registerTimer(due)  # rows came since: look again when they will have been the last for so long
            return
        whose = dict(zip(self.found.keys, key if isinstance(key, tuple) else (key,)))
        self.kept.clear()
        yield self.row(*(whose.get(name) for name in self.found.told), None, "idle", bytes(kept[0]))

    def close(self) -> None:
        pass

    def _now(self, timers: Any) -> int:
        if self.idle is None:
            return 0
        return timers.getCurrentProcessingTimeInMs() if self.time is None else max(0, timers.getCurrentWatermarkInMs())

    def _seen(self, rows: list[dict[str, Any]], timers: Any, before: int | None) -> int:
        """When this key was last heard of, in milliseconds."""
        moments = [self._now(timers), *([] if before is None else [before])]
        if self.time is not None:
            moments += [int(1000 * row[self.time].timestamp()) for row in rows if row[self.time] is not None]
        return max(moments)
