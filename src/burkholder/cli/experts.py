"""`burkholder experts`: aggregate the forecasts in the columns of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def experts(
    file: Annotated[str, typer.Argument(help="A table (csv, parquet, jsonl, arrow), compressed or not; - reads standard input.")],
    target: Annotated[str | None, typer.Option(help="The column to predict; -1 is the last. A row where it is empty is predicted.")] = None,
    experts: Annotated[
        str | None, typer.Option(help="Forecast columns, with commas. If not given: all numbers that change and tell no time or place.")
    ] = None,
    loss: Annotated[str | None, typer.Option(help="absolute (if not given), squared, pinball, huber, …")] = None,
    quantile: Annotated[float | None, typer.Option(help="Of the pinball loss.")] = None,
    method: Annotated[str | None, typer.Option(help="The rule: huber-root (if not given), ewa, ml-poly, boa, squint.")] = None,
    rate: Annotated[float | None, typer.Option(help="The learning rate, for ewa.")] = None,
    by: Annotated[str | None, typer.Option(help="A column: one learner for each of its values.")] = None,
    together: Annotated[
        str | None, typer.Option(help="A column: rows in a row that share its value get their labels at the same time.")
    ] = None,
    predictions: Annotated[Path | None, typer.Option(help="Write one prediction per row here, made before its label was learned.")] = None,
    weights: Annotated[Path | None, typer.Option(help="Write the weights over time to this csv file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the weights over time into this file; with --by, one for each group.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with charts of the run here (.html).")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the learner here; with --by, one file for each group.")] = None,
    load: Annotated[Path | None, typer.Option(help="Go on with the learner that --save wrote; columns as they were said then.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, parquet, jsonl or arrow. Found out if not given.")] = None,
    header: Annotated[bool | None, typer.Option(help="Whether the first line names the columns.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the columns.")] = None,
    decimal: Annotated[str | None, typer.Option(help="What stands before the fraction of a number: '.' or ','.")] = None,
    skip_bad: Annotated[bool, typer.Option(help="Count malformed lines and go on.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON instead of a table.")] = False,
) -> None:
    """Aggregate columns of forecasts into one, with a bound on how far it is behind the best mixture."""
    from burkholder import losses
    from burkholder.cli.advice import Advice, remembered
    from burkholder.cli.console import emit, say
    from burkholder.cli.forecasts import read_forecasts

    options: dict[str, Any] = {} if quantile is None else {"quantile": quantile}
    wanted = None if experts is None else [name.strip() for name in experts.split(",")]
    model, columns = remembered(load, {"target": target, "experts": wanted, "by": by, "together": together})
    target, wanted, by, together = columns.values()
    chosen = losses.get(loss or "absolute", **options) if model is None else model.loss
    data = read_forecasts(
        file,
        target,
        wanted,
        by,
        format,
        together,
        header=header,
        delimiter=delimiter,
        decimal=decimal,
        skip_bad=skip_bad or None,
        classes=losses.is_classification(chosen),
    )
    if data.shared is not None:
        say(f"several rows share a value of {data.shared!r}: if their labels come at the same time, say --together {data.shared}")
    advice = Advice(data, loss, method, rate, options, load, together is not None)
    advice.run()
    advice.write(predictions, weights, plot, save, columns)
    if report is not None:
        advice.report(str(report), file)
    if json:
        emit(advice.result())
    else:
        advice.show()
