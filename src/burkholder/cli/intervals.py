"""`burkholder intervals`: low and high around a column of predictions, with the coverage promised on every path."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def intervals(
    file: Annotated[str, typer.Argument(help="Table with a column of predictions, one of targets, and features if there are any.")],
    yhat: Annotated[str, typer.Option(help="Column of the model's predictions.")] = "yhat",
    target: Annotated[str | None, typer.Option(help="Column of what happened; -1 is the last.")] = None,
    coverage: Annotated[float, typer.Option(help="The share of targets that shall lie in their intervals.")] = 0.9,
    weight: Annotated[str | None, typer.Option(help="Column of importance weights.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out. May be repeated.")] = None,
    format: Annotated[str | None, typer.Option(help="csv or parquet. Found out if not given.")] = None,
    header: Annotated[bool | None, typer.Option(help="Whether the first line names the columns.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the columns.")] = None,
    skip_bad: Annotated[bool, typer.Option(help="Count malformed lines and go on.")] = False,
    predictions: Annotated[Path | None, typer.Option(help="Write prediction, low and high of every row here.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the learner to this file when the data end.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with charts here (.html).")] = None,
    details: Annotated[bool, typer.Option("--details", help="The whole certificate.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Intervals around anybody's predictions: each row's before its target is learned."""
    from burkholder.cli.banding import banded
    from burkholder.cli.console import emit, tell

    reading = {"format": format, "target": target, "weight": weight, "drop": tuple(drop or ()), "header": header, "delimiter": delimiter}
    result, text = banded(file, file, yhat, coverage, {**reading, "skip_bad": skip_bad or None}, predictions, save, report, details)
    if json:
        emit(result)
    else:
        tell(text)
