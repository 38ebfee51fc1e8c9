"""`burkholder complete`: predict a stream of ratings before each is learned."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def complete(
    ratings: Annotated[str, typer.Argument(help="csv, tsv or MovieLens file (.gz, .bz2, .xz too); - reads stdin")],
    low: Annotated[float | None, typer.Option(help="lowest rating; the file's own lowest if not given")] = None,
    high: Annotated[float | None, typer.Option(help="highest rating; the file's own highest if not given")] = None,
    strategy: Annotated[str, typer.Option(help="default, or sign-flip for the paper's own learner")] = "default",
    rate: Annotated[str | None, typer.Option(help="sign-flip: lowering, doubling, mixture or a number")] = None,
    radius: Annotated[float | None, typer.Option(help="sign-flip: nuclear norm of the comparators")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="four block steps a round")] = False,
    file_order: Annotated[bool, typer.Option("--file-order", help="ignore times in the file")] = False,
    predictions: Annotated[str | None, typer.Option(help="write the predictions to this csv file")] = None,
    json: Annotated[bool, typer.Option("--json", help="one JSON object on standard output")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no progress")] = False,
) -> None:
    """Matrix completion over a file of ratings, in time order: progressive errors and a certificate."""
    import time

    from burkholder.cli.console import emit, progress, say, tell
    from burkholder.matrix.completion import MatrixCompletion
    from burkholder.matrix.ratings import read_ratings

    data = read_ratings(ratings, time_order=not file_order)
    lowest = min(data.ratings) if low is None else low
    highest = max(data.ratings) if high is None else high
    if lowest == highest and (low is None or high is None):
        highest = lowest + 1.0  # a file with one rating value: any range around it serves
    number = rate if rate is None or rate in ("lowering", "doubling", "mixture") else _number(rate)
    learner = MatrixCompletion(lowest, highest, strategy=strategy, fast=fast, rate=number, radius=radius)
    begun = time.perf_counter()
    with progress("ratings", len(data.ratings), quiet=quiet or json) as advance:
        run = learner.run(data.rows, data.columns, data.ratings, progress=advance)
    seconds = time.perf_counter() - begun
    if predictions is not None:
        _write(predictions, data, run.predictions.tolist())
    certificate: Any = run.certificate
    summary = {
        "data": ratings, "rounds": certificate.rounds, "features": certificate.rows + certificate.columns,
        "loss": certificate.loss, "learner": certificate.learner, "mean_loss": certificate.mean_loss,
        "bound": _value(certificate, "promised"), "realised_regret_bound": _value(certificate, "realised"),
        "comparators": certificate.comparators.to_dict(),
        "potential": certificate.potential, "assumptions": [a.to_dict() for a in certificate.assumptions],
        "seconds": seconds, "rounds_per_second": certificate.rounds / seconds, "rows": certificate.rows,
        "columns": certificate.columns, "mae": certificate.mae, "rmse": certificate.rmse,
        "low": lowest, "high": highest, "time_order": data.timed, "block_steps": float(run.details["steps"].mean()),
        "krylov_error": float(run.details["errors"].max()), "guarantees": [g.to_dict() for g in certificate.guarantees],
    }  # fmt: skip
    if json:
        emit(summary)
        return
    order = "time order" if data.timed else "file order"
    say(
        f"{certificate.rows:,} × {certificate.columns:,}, ratings {lowest:g}..{highest:g}, {order},"
        f" {seconds:.1f} s, {run.details['steps'].mean():.1f} block steps a round"
    )
    print(f"MAE {certificate.mae:.4f}  RMSE {certificate.rmse:.4f}")
    tell(str(certificate))


def _value(certificate, name):
    """The guarantee of that kind about the certificate's own comparators."""
    return next((g.value for g in certificate.guarantees if name in g.name), None)


def _number(text: str) -> float:
    from burkholder.errors import BadInput

    try:
        return float(text)
    except ValueError:
        raise BadInput("rate", text, "give lowering, doubling, mixture or a positive number") from None


def _write(path, data, predictions):
    """row, column, rating, prediction: one line a round, in the order played."""
    import csv

    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["row", "column", "rating", "prediction"])
        writer.writerows(zip(data.rows, data.columns, data.ratings, predictions))
