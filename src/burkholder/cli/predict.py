"""`burkholder predict`: a saved model and new rows in, predictions out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def predict(
    model: Annotated[Path, typer.Argument(help="A model file, written by --save or `burkholder.save`.")],
    data: Annotated[str, typer.Argument(help="Rows to predict, with or without their target; '-' for standard input.")] = "-",
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities: of the second class, or a column for each of several.")] = False,
    intervals: Annotated[
        float | None, typer.Option(help="Also the interval that covers with this probability; needs a model of intervals.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here instead of standard output.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, parquet, jsonl, arrow, libsvm, vw or npz. Found out if not given.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the columns.")] = None,
    skip_bad: Annotated[bool, typer.Option(help="Count malformed lines and go on.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a row.")] = False,
) -> None:
    """Predict new rows with a saved model: one line a row, read as the model's own data were."""
    from burkholder.cli.console import say
    from burkholder.cli.predicting import Answers, asked

    with Answers(None if output is None else str(output), json) as answers:
        skipped = asked(
            str(model), data, answers, proba, intervals, {"format": format, "delimiter": delimiter, "skip_bad": skip_bad or None}
        )
    if skipped:
        say(f"{skipped:,} malformed lines skipped: they have no prediction")
