"""A table of forecasts for `burkholder experts`, through the same readers as every other command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.streams.readers import detect, open_reader
from burkholder.streams.readers.columns import CATEGORICAL, CLASS, DATE, DROPPED, NUMERIC, TARGET, Plan

TABLES = ("csv", "parquet", "jsonl", "arrow")
_CLOCK = ("time", "date", "datetime", "timestamp", "ts", "day", "hour", "minute")
_CALENDAR = ("week", "weekday", "month", "year", "quarter", "season", "period")
TIMES = frozenset((*_CLOCK, *_CALENDAR, "index", "id", "row", "step"))
PLACES = frozenset(["lat", "lon", "latitude", "longitude", "station", "stationid", "region", "zone"])
ENOUGH = 10  # rows after which a column that never changed is no forecast


class Forecasts(NamedTuple):
    """Rounds × experts (NaN: asleep), targets (NaN: not known yet), the group and the moment of each round ("": none)."""

    names: list[str]
    values: np.ndarray
    y: np.ndarray
    groups: list[str]
    left_out: list[str]  # columns that are neither: text, dates, or not asked for
    bad_lines: int
    moments: list[str]  # what --together names, row by row
    shared: str | None  # a column of dates or times in which rows in a row share a value


def read_forecasts(
    path: str,
    target: str | None,
    experts: Sequence[str] | None = None,
    by: str | None = None,
    format: str | None = None,
    together: str | None = None,
    labels: str = "optional",
    **reading: Any,
) -> Forecasts:
    """Every row of a table; without a list of experts, all columns of numbers are forecasts, target and group apart, but for those
    that tell a time or a place, or never change.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "loads.csv"
    >>> _ = file.write_text("day,load,gfs,ecmwf\\nMon,3,2.5,3.5\\nTue,,,4.5\\n")
    >>> found = read_forecasts(str(file), "load")
    >>> found.names, found.values.tolist(), found.y.tolist()
    (['gfs', 'ecmwf'], [[2.5, 3.5], [nan, 4.5]], [3.0, nan])
    """
    kind = format or detect.by_name(path)
    if kind not in (None, *TABLES):
        raise BadInput("path", path, f"forecasts come as the columns of a table ({', '.join(TABLES)}), not as {kind}")
    words = tuple(dict.fromkeys(name for name in (by, together) if name is not None))
    with open_reader(path, format, target=target, categorical=words, named=True, labels=labels, **reading) as reader:
        whole = reader.plan
        chosen = _chosen(whole, experts, words, reader.format)
        times = [] if together is not None else [c for c in _times(whole) if c not in chosen and whole.names[c] not in words]
        plan = reader.plan = _narrowed(whole, chosen, (*words, *(whole.names[c] for c in times)), labels)
        found: dict[int, list[str]] = {column: [] for column in [*(plan.find("by", name) for name in words), *times]}
        values, y = [], []
        for batch in reader:
            # every column here gives exactly one feature, at another index where it has no value
            indices, numbers = (part.reshape(batch.rows, plan.count) for part in (batch.indices, batch.values))
            slots = plan.slot[chosen]
            values.append(np.where(indices[:, slots] == slots, numbers[:, slots], np.nan))
            y.append(batch.y.copy())
            if found:
                every = list(reader.names(batch))
                for column, kept in found.items():
                    prefix = f"{plan.names[column]}="
                    kept += [_field(name, prefix) for name in islice(every, int(plan.slot[column]), None, plan.count)]
        skipped = reader.bad_lines
    table, labels_seen = np.concatenate(values), np.concatenate(y)
    if experts is None and len(table) >= ENOUGH and len(np.unique(labels_seen[~np.isnan(labels_seen)])) > 1:
        moves = [len(np.unique(column[~np.isnan(column)])) > 1 for column in table.T]
        if any(moves):
            chosen, table = [column for column, does in zip(chosen, moves) if does], table[:, moves]
    names = [plan.names[column] for column in chosen]
    left_out = [n for c, n in enumerate(whole.names) if c not in chosen and c != whole.target and n not in words]
    blank = [""] * sum(map(len, y))
    groups = blank if by is None else found[plan.find("by", by)]
    moments = blank if together is None else found[plan.find("together", together)]
    shared = next((plan.names[c] for c in times if any(a == b for a, b in zip(found[c], found[c][1:]))), None)
    return Forecasts(names, table, labels_seen, groups, left_out, skipped, moments, shared)


def _field(name: str, prefix: str) -> str:
    return name.removeprefix(prefix) if name.startswith(prefix) else ""


def _times(plan: Plan) -> list[int]:
    """Columns that tell when: dates, and numbers whose name says so."""
    return sorted({*np.flatnonzero(plan.kind == DATE).tolist(), *_called(plan, TIMES)})


def _called(plan: Plan, words: frozenset[str]) -> list[int]:
    """Columns of numbers whose name has one of these words."""
    named = [bool(words & set(re.split(r"[^a-z]+", name.lower()))) for name in plan.names]
    return [c for c, kind in enumerate(plan.kind.tolist()) if kind == NUMERIC and named[c]]


def _chosen(plan: Plan, experts: Sequence[str] | None, words: Sequence[str], format: str) -> list[int]:
    """The columns of the forecasts, in the order they were asked for."""
    groups = [plan.find("by", name) for name in words]
    if plan.target in groups:
        raise BadInput("by", words[groups.index(plan.target)], "this column is the target")
    if experts is None:
        others = {*_times(plan), *_called(plan, PLACES), *plan.truths}
        columns = [column for column, kind in enumerate(plan.kind) if kind == NUMERIC and column not in others]
        if not columns:
            raise BadInput("path", plan.file, "it has no column of numbers besides the target; name the forecasts with --experts")
        return columns
    columns = [plan.find("experts", name) for name in dict.fromkeys(experts)]
    for column in columns:
        if column in (plan.target, *groups):
            role = "target" if column == plan.target else "group"
            raise BadInput("experts", plan.names[column], f"the {role} cannot be an expert as well")
        if plan.kind[column] == CATEGORICAL and format != "csv":
            raise BadInput("experts", plan.names[column], "this column holds text, not forecasts")
    return columns


def _narrowed(plan: Plan, chosen: list[int], words: Sequence[str], labels: str) -> Plan:
    """The plan of forecasts, target and groups alone: what stands in other columns is not looked at.

    A column of text that was asked for by name is read as numbers, so that the line at fault is named.
    """
    kind = [DROPPED] * len(plan.names)
    for column in chosen:
        kind[column] = NUMERIC
    for name in words:
        kind[plan.find("by", name)] = CATEGORICAL
    if plan.target >= 0 and labels != "ignored":
        kind[plan.target] = CLASS if plan.positive is not None else TARGET
    return Plan.again(plan.file, plan.names, kind, plan.positive, plan.bits, False)
