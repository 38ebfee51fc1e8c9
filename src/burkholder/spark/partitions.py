"""A partition of a table: its keys are learned together, in shared arrays, where their rows are plain numbers; one by one elsewhere.

Rows come sorted by key and order. What is learned is the same, bit for bit, either way.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from burkholder.errors import BadInput
from burkholder.keyed.learner import Keyed
from burkholder.keyed.packed import PackedShelf
from burkholder.spark import columns as parts
from burkholder.storage import pack, unpack

ROWS = 50_000  # learned in one go, at least: whole keys, and as many as come with them


def learned_partition(
    found: parts.Columns, schema: pa.Schema, template: bytes, skip_bad: bool, states_only: bool, one: Callable[[Any, None], pa.Table]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What Spark calls for every partition; `one` learns the rows of a single key, whatever they are."""

    def learned(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prototype = unpack(template)
        quick = not skip_bad and found.id is None and not prototype.rounds and not prototype.pending
        for table in _whole_keys(batches, found.keys):
            ends = _ends(table, found.keys)
            done = _together(table, ends, prototype, found, schema, states_only) if quick else None
            if done is not None:
                yield from done.to_batches()
                continue
            for start, stop in zip([0, *ends[:-1].tolist()], ends.tolist()):
                yield from one(table.slice(start, stop - start), None).to_batches()

    return learned


def _whole_keys(batches: Iterator[pa.RecordBatch], keys: tuple[str, ...]) -> Iterator[pa.Table]:
    """The batches of a partition as tables in which no key is cut in two."""
    held: list[pa.Table] = []
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(pa.Table.from_batches([batch]))
        if sum(table.num_rows for table in held) < ROWS:
            continue
        table = pa.concat_tables(held)
        ends = _ends(table, keys)
        if len(ends) > 1:
            cut = int(ends[-2])
            yield table.slice(0, cut).combine_chunks()
            held = [table.slice(cut)]
    if held:
        yield pa.concat_tables(held).combine_chunks()


def _ends(table: pa.Table, keys: tuple[str, ...]) -> np.ndarray:
    """Where the rows of each key end; nothing is a key too."""
    if not table.num_rows:
        return np.zeros(0, np.int64)
    changed = np.zeros(table.num_rows, bool)
    changed[-1] = True
    for name in keys:
        codes = table.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
        numbers = (codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes).indices.to_numpy(zero_copy_only=False)
        changed[:-1] |= numbers[1:] != numbers[:-1]
    return np.flatnonzero(changed) + 1


def _numbers(column: Any) -> np.ndarray | None:
    """A column of plain numbers, none missing; None for any other."""
    kind = column.type
    if column.null_count or not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
        return None
    values = column.to_numpy().astype(float)
    return None if np.isnan(values).any() else values


def _sorted(table: pa.Table, ends: np.ndarray, order: str | None) -> bool:
    """Whether the rows of each key stand in one order only: no two of a moment, none without."""
    if order is None or table.num_rows < 2:
        return True
    moments = table.column(order)
    if moments.null_count:
        return False
    rising = pc.less(moments.slice(0, table.num_rows - 1), moments.slice(1)).to_numpy()
    rising[ends[:-1] - 1] = True
    return bool(rising.all())


def _together(table: pa.Table, ends: np.ndarray, prototype: Any, found: parts.Columns, schema: pa.Schema, states_only: bool) -> Any:
    """All keys of the table at once; None where that would not be what one after another gives."""
    y = _numbers(table.column(found.target))
    X = {name: _numbers(table.column(name)) for name in found.features}
    weights = None if found.weight is None else _numbers(table.column(found.weight))
    if y is None or any(column is None for column in X.values()) or (found.weight is not None and weights is None):
        return None
    keyed = Keyed(prototype, pooled=False)
    if not isinstance(keyed.shelf, PackedShelf) or not _sorted(table, ends, found.order):
        return None
    whose = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    try:
        said = keyed.learn_many(pa.table(X), y, weights, keys=whose)
    except BadInput:
        return None  # one after another: the error then says whose row it was
    if states_only:
        rows = table.select(list(found.keys)).take(pa.array(ends - 1)).to_pylist()
        learners = (keyed.learner(k) for k in range(len(ends)))
        return pa.Table.from_pylist([row | described(learner, pack(learner)) for row, learner in zip(rows, learners)], schema)
    told = [*(table.column(name) for name in found.told), pa.array(said, pa.float64()), pa.repeat("learned", len(y))]
    return pa.Table.from_arrays(told, names=schema.names).cast(schema)


def described(learner: Any, model: bytes) -> dict[str, Any]:
    """A key's model, and what it says of itself."""
    certificate = learner.certificate()
    return {
        "model": model,
        "rounds": certificate.rounds,
        "cumulative_loss": certificate.cumulative_loss,
        "certificate": json.dumps(certificate.to_dict(), ensure_ascii=False),
    }
