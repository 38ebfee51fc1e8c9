"""`burkholder audit`: the realised certificate of any model, from its predictions."""

from __future__ import annotations

from typing import Annotated

import typer


def audit(
    file: Annotated[str, typer.Argument(help="Table with a column of predictions, one of targets, and features.")],
    yhat: Annotated[str, typer.Option(help="Column of the model's predictions.")] = "yhat",
    target: Annotated[str | None, typer.Option(help="Column of what happened; -1 is the last.")] = None,
    loss: Annotated[str, typer.Option(help="Which loss; for logistic, predictions are log-odds.")] = "squared",
    option: Annotated[list[str] | None, typer.Option(help="key=value for the loss. May be repeated.")] = None,
    radius: Annotated[float, typer.Option(help="Size of the linear comparators.", min=0.0)] = 1.0,
    geometry: Annotated[str, typer.Option(help="How comparators are measured: l2, l4, coordinates, …")] = "l2",
    intercept: Annotated[bool, typer.Option(help="Give comparators a constant feature.")] = True,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out. May be repeated.")] = None,
    format: Annotated[str | None, typer.Option(help="csv or parquet. Found out if not given.")] = None,
    skip_bad: Annotated[bool, typer.Option(help="Count malformed lines and go on.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """How far a model can be from the best linear one of this size, on this very stream."""
    from burkholder.cli.auditing import audited
    from burkholder.cli.console import emit, tell
    from burkholder.cli.options import parsed

    result, text = audited(
        file,
        yhat,
        target,
        loss,
        parsed(option or []),
        radius,
        geometry,
        {"format": format, "drop": tuple(drop or ()), "intercept": intercept or None, "skip_bad": skip_bad or None},
    )
    if json:
        emit(result)
    else:
        tell(text)
