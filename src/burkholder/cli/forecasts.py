"""A table of forecasts for `burkholder experts`, through the same readers as every other command."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from burkholder.errors import BadInput
from burkholder.streams.readers import detect, open_reader
from burkholder.streams.readers.columns import CATEGORICAL, DROPPED, NUMERIC, Plan

TABLES = ("csv", "parquet")


class Forecasts(NamedTuple):
    """Rounds × experts (NaN: asleep), targets, and the group of each round ("" for all when there are none)."""

    names: list[str]
    values: np.ndarray
    y: np.ndarray
    groups: list[str]
    left_out: list[str]  # columns that are neither: text, or not asked for
    bad_lines: int


def read_forecasts(
    path: str, target: str | None, experts: Sequence[str] | None = None, by: str | None = None, format: str | None = None, **reading: Any
) -> Forecasts:
    """Every row of a table; without a list of experts, all columns of numbers beside target and group are forecasts.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "loads.csv"
    >>> _ = file.write_text("day,load,gfs,ecmwf\\nMon,3,2.5,3.5\\nTue,4,,4.5\\n")
    >>> found = read_forecasts(str(file), "load")
    >>> found.names, found.values.tolist(), found.y.tolist()
    (['gfs', 'ecmwf'], [[2.5, 3.5], [nan, 4.5]], [3.0, 4.0])
    """
    kind = format or detect.by_name(path)
    if kind not in (None, *TABLES):
        raise BadInput("path", path, f"forecasts come as the columns of a table (csv, parquet), not as {kind}")
    given = {"categorical": () if by is None else (by,), "named": by is not None or None, **reading}
    with open_reader(path, format, target=target, **given) as reader:
        chosen = _chosen(reader.plan, experts, by, reader.format)
        plan = reader.plan = _narrowed(reader.plan, chosen, by)
        slots = plan.slot[chosen]
        group = None if by is None else int(plan.slot[plan.find("by", by)])
        values, y, groups = [], [], []
        for batch in reader:
            # every column of a table gives exactly one feature, at another index where it has no value
            indices, numbers = (part.reshape(batch.rows, plan.count)[:, slots] for part in (batch.indices, batch.values))
            values.append(np.where(indices == slots, numbers, np.nan))
            y.append(batch.y.copy())
            if group is None:
                groups += [""] * batch.rows
            else:
                groups += [name.removeprefix(f"{by}=") for name in islice(reader.names(batch), group, None, plan.count)]
        skipped = reader.bad_lines
    left_out = [name for name, kind in zip(plan.names, plan.kind) if kind == DROPPED]
    return Forecasts([plan.names[column] for column in chosen], np.concatenate(values), np.concatenate(y), groups, left_out, skipped)


def _chosen(plan: Plan, experts: Sequence[str] | None, by: str | None, format: str) -> list[int]:
    """The columns of the forecasts, in the order they were asked for."""
    group = None if by is None else plan.find("by", by)
    if group == plan.target:
        raise BadInput("by", by, "this column is the target")
    if experts is None:
        columns = [column for column, kind in enumerate(plan.kind) if kind == NUMERIC]
        if not columns:
            raise BadInput("path", plan.file, "it has no column of numbers besides the target")
        return columns
    columns = [plan.find("experts", name) for name in dict.fromkeys(experts)]
    for column in columns:
        if column in (plan.target, group):
            role = "target" if column == plan.target else "group"
            raise BadInput("experts", plan.names[column], f"the {role} cannot be an expert as well")
        if plan.kind[column] == CATEGORICAL and format == "parquet":
            raise BadInput("experts", plan.names[column], "this column holds text, not forecasts")
    return columns


def _narrowed(plan: Plan, chosen: list[int], by: str | None) -> Plan:
    """The plan of forecasts, target and group alone: what stands in other columns is not looked at.

    A column of text that was asked for by name is read as numbers, so that the line at fault is named.
    """
    kept = {plan.target, *chosen, *(() if by is None else (plan.find("by", by),))}
    others = [name for column, name in enumerate(plan.names) if column not in kept]
    return Plan(plan.file, plan.names, (), plan.names[plan.target], drop=others, categorical=() if by is None else (by,))
