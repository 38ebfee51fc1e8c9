"""`burkholder compare`: which of two columns of predictions is better, with an interval that may be looked at every day."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def compare(
    file: Annotated[str, typer.Argument(help="Table with two columns of predictions and one of targets.")],
    a: Annotated[str, typer.Option(help="Column of the first predictions.")] = "a",
    b: Annotated[str, typer.Option(help="Column of the second predictions.")] = "b",
    target: Annotated[str | None, typer.Option(help="Column of what happened; -1 is the last.")] = None,
    loss: Annotated[str, typer.Option(help="absolute, squared, pinball, huber, …")] = "absolute",
    option: Annotated[list[str] | None, typer.Option(help="key=value for the loss. May be repeated.")] = None,
    bound: Annotated[
        float | None, typer.Option(help="No two losses differ by more. Not needed where the loss has slopes of bounded size.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="The probability of an error, ever.")] = 0.05,
    format: Annotated[str | None, typer.Option(help="csv or parquet. Found out if not given.")] = None,
    skip_bad: Annotated[bool, typer.Option(help="Count malformed lines and go on.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write a page with the picture here (.html).")] = None,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Say which predictions are better, by how much, and since when one can tell."""
    import numpy as np

    from burkholder import losses
    from burkholder.cli.console import emit, tell
    from burkholder.cli.forecasts import read_forecasts
    from burkholder.cli.options import parsed
    from burkholder.confidence.compare import compare as compared
    from burkholder.errors import BadInput
    from burkholder.losses.batch import values

    if a == b:
        raise BadInput("b", b, "give the column of another prediction")
    chosen = losses.get(loss, **parsed(option or []))
    found = read_forecasts(file, target, [a, b], None, format, skip_bad=skip_bad or None, classes=losses.is_classification(chosen))
    both = np.isfinite(found.values).all(axis=1)  # a round in which one of them says nothing compares nothing
    first, second, y = found.values[both, 0], found.values[both, 1], found.y[both]
    slope = float(chosen.lipschitz(np.inf))
    how: dict[str, Any] = {"bound": bound} if bound is not None or not np.isfinite(slope) else {"sizes": slope * np.abs(first - second)}
    result = compared(values(chosen, first, y), values(chosen, second, y), alpha=alpha, names=(a, b), **how)
    told = {"data": file, "loss": loss, **result.to_dict(), "left_out": int((~both).sum()), "bad_lines": found.bad_lines}
    if report is not None:
        from burkholder.report.bands import write_comparison

        write_comparison(str(report), told, result)
    if json:
        emit(told)
    else:
        tell(str(result) + (f"\n  {told['left_out']:,} rounds in which one of them is missing were left out" if told["left_out"] else ""))
