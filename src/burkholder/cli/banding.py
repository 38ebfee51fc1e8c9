"""The work behind `burkholder intervals` and `burkholder learn --intervals`: batches in, low and high out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from burkholder.cli.console import counted
from burkholder.errors import BadInput, BadLine, printable
from burkholder.intervals.learner import Intervals
from burkholder.storage import save as store
from burkholder.storage.tables import give
from burkholder.streams.readers import open_reader
from burkholder.streams.readers.columns import NUMERIC
from burkholder.streams.readers.reading import Reading


def banded(
    data: Any,
    name: str,
    yhat: str | None,
    coverage: float,
    reading: dict[str, Any],
    predictions: Path | None,
    save: Path | None,
    report: Path | None,
    details: bool = False,
) -> tuple[dict[str, Any], str]:
    """Everything of the run: as plain data, and as text. Without `yhat`, around a forecast of our own."""
    learner: Any = None if yhat is not None else Intervals(coverage)
    parts: list[np.ndarray] = []
    targets: list[np.ndarray] = []
    weights: list[np.ndarray] = []
    began = time.perf_counter()
    reading = dict(reading)
    with open_reader(data, reading.pop("format"), classes=False, **reading) as reader:
        if yhat is not None:
            learner = Intervals(coverage, model=_place(reader, yhat, name))
        for batch in reader:
            centre, bands = _learned(learner, batch, name, yhat)
            parts.append(np.column_stack([centre, bands]))
            targets.append(np.array(batch.y))
            weights.append(np.array(batch.weight))
        skipped, format, features = reader.bad_lines, reader.format, reader.features
        give(learner, Reading.of(reader))  # saved, it takes new rows as these were
    seconds = time.perf_counter() - began
    table, y = np.concatenate(parts), np.concatenate(targets)
    certificate = learner.certificate()
    result = {
        "data": name,
        "format": format,
        "features": features,
        **certificate.to_dict(),
        "bad_lines": skipped,
        "seconds": seconds,
        "rounds_per_second": len(y) / seconds if seconds > 0.0 else None,
    }
    if predictions is not None:
        _write(predictions, table)
    if save is not None:
        store(learner, str(save))
    if report is not None:
        from burkholder.report.bands import write_bands

        write_bands(str(report), result, table, y, np.concatenate(weights))
    return result, "\n".join(_told(result, certificate, details))


def _told(result: dict[str, Any], certificate: Any, details: bool) -> list[str]:
    """For people: what was covered and how widely, then one line of guarantee; the whole certificate on request."""
    level, off = result["coverage_target"], result["coverage_bound"]
    lines = [
        f"{printable(result['data'])}: {result['rounds']:,} rows, {counted(result['features'], 'column')}, intervals",
        f"  {'coverage':<21}{certificate.coverage:<12.2%}asked for {level:.2%}",
        f"  {'mean width':<21}{certificate.mean_width:<12.6g}interval score {certificate.interval_score:.6g}",
        f"  {'guaranteed':<21}coverage within {off:.2%} of what was asked for, whatever the targets",
    ]
    lines += [f"  {counted(result['bad_lines'], 'malformed line')} skipped"] if result["bad_lines"] else []
    rate = result["rounds_per_second"] or 0.0
    lines.append(f"  {result['seconds']:.2f} s, {rate:,.0f} rows/s{'' if details else '; --details shows the certificate'}")
    return [*lines, str(certificate)] if details else lines


def _place(reader: Any, yhat: str, name: str) -> int:
    """Where the column of predictions is among the features."""
    if not hasattr(reader, "plan"):
        raise BadInput("path", name, f"intervals need a table with a column of predictions, not {reader.format}")
    column = reader.plan.find("yhat", yhat)
    if reader.plan.kind[column] != NUMERIC:
        raise BadInput("yhat", yhat, "this column holds no predictions: it is the target, dropped, or text")
    return int(reader.plan.slot[column]) + reader.plan.offset


def _learned(learner: Intervals, batch: Any, name: str, yhat: str | None) -> tuple[np.ndarray, np.ndarray]:
    """(point forecasts, both ends) of a batch; what is refused gets the line it came from."""
    try:
        run = learner.run_rows(batch.indptr, batch.indices, batch.values, batch.y, batch.weight)
    except BadInput as error:
        head, _, rest = error.argument.partition("[")
        number = rest.partition("]")[0]
        if not number.isdigit():
            raise
        what = f"the prediction {yhat!r} is missing" if head == "X" and yhat is not None else str(error)
        raise BadLine(name, int(batch.line[int(number)]), what) from None
    return run.details["centre"], run.predictions


def _write(path: Path, table: np.ndarray) -> None:
    try:
        np.savetxt(path, table, delimiter=",", header="prediction,low,high", comments="", fmt="%.17g")
    except OSError as error:
        raise BadInput("predictions", str(path), error.strerror or "it cannot be written") from None


def learned(
    data: str | None,
    coverage: float,
    reading: dict[str, Any],
    refused: dict[str, Any],
    learner: str,
    passes: int,
    predictions: Path | None,
    save: Path | None,
    report: Path | None,
    details: bool,
) -> tuple[dict[str, Any], str]:
    """`burkholder learn … --intervals`: around a forecast of our own. What is told of it, for programs and for people."""
    if learner != "auto" or passes != 1:
        raise BadInput("intervals", coverage, "intervals are learned in one pass around Auto's forecast: leave out --learner and --passes")
    for key, value in {**refused, "positive": reading["positive"], "intercept": reading["intercept"]}.items():
        if value not in (None, False, []):
            raise BadInput(f"--{key}", value, "intervals have losses of their own: leave it out, or leave out --intervals")
    if data is None:
        raise BadInput("data", None, "the shipped stream has classes for targets: give a file with numbers")
    reading = {key: value for key, value in reading.items() if key not in ("positive", "intercept")}
    return banded(data, data, None, coverage, reading, predictions, save, report, details)
