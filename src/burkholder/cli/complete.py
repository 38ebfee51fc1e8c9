"""`burkholder complete`: predict a stream of ratings before each is learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def complete(
    ratings: Annotated[str | None, typer.Argument(help="csv, tsv or MovieLens file (.gz, .bz2, .xz too); - reads stdin.")] = None,
    low: Annotated[float | None, typer.Option(help="Lowest rating; the file's own lowest if not given.")] = None,
    high: Annotated[float | None, typer.Option(help="Highest rating; the file's own highest if not given.")] = None,
    row: Annotated[str | None, typer.Option(help="Column of who rates.")] = None,
    column: Annotated[str | None, typer.Option(help="Column of what is rated.")] = None,
    rating: Annotated[str | None, typer.Option(help="Column of the rating.")] = None,
    time: Annotated[str | None, typer.Option(help="Column of the time.")] = None,
    strategy: Annotated[str, typer.Option(help="default, or sign-flip for the paper's own learner.")] = "default",
    rate: Annotated[str | None, typer.Option(help="sign-flip: lowering, doubling, mixture or a number.")] = None,
    radius: Annotated[float | None, typer.Option(help="sign-flip: nuclear norm of the comparators.")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Four block steps a round.")] = False,
    file_order: Annotated[bool, typer.Option("--file-order", help="Ignore times in the file.")] = False,
    predictions: Annotated[Path | None, typer.Option(help="Write row, column, rating and prediction to this csv file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the learner to this file.")] = None,
    load: Annotated[Path | None, typer.Option(help="Go on with the learner that --save wrote.")] = None,
    top: Annotated[list[str] | None, typer.Option(help="Recommend to this row (user). May be repeated; 'all': to everyone.")] = None,
    count: Annotated[int, typer.Option(help="How many to recommend.", min=1)] = 10,
    details: Annotated[bool, typer.Option("--details", help="The whole certificate.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False,
) -> None:
    """Matrix completion over a file of ratings, in time order: progressive errors, a certificate, recommendations."""
    from burkholder import storage
    from burkholder.cli.console import emit, say, tell
    from burkholder.cli.rating import completed, guaranteed, recommended
    from burkholder.errors import BadInput
    from burkholder.matrix.completion import MatrixCompletion

    learner: Any = None
    if load is not None:
        learner = storage.load(load)
        if not isinstance(learner, MatrixCompletion):
            raise BadInput("load", str(load), f"it holds a {type(learner).__name__}, not matrix completion")
    if ratings is None and not (learner is not None and top):
        raise BadInput("ratings", None, "give a file of ratings, or --load with --top")
    told: dict[str, Any] = {}
    if ratings is not None:
        options = {"strategy": strategy, "fast": fast, "rate": rate, "radius": radius}
        columns = {"row": row, "column": column, "rating": rating, "time": time}
        learner, told = completed(ratings, learner, (low, high), options, columns, file_order, predictions, quiet or json)
        if save is not None:
            storage.save(learner, save)
    chosen = recommended(learner, top or [], count)
    if json:
        emit({**told, **({"top": chosen} if top else {})})
        return
    if told:
        order = "time order" if told["time_order"] else "file order"
        say(
            f"{told['rows']:,} × {told['columns']:,}, ratings {learner.low:g}..{learner.high:g}, {order}, {told['seconds']:.1f} s,"
            f" {told['block_steps']:.1f} block steps a round"
        )
        tell(
            f"MAE {told['mae']:.4f}  RMSE {told['rmse']:.4f}"
            f"  ({told['rounds_today']:,} ratings; the mean so far: {told['baseline_mae']:.4f})"
        )
        if told["rounds"] > told["rounds_today"]:
            tell(f"the model's life: {told['rounds']:,} ratings, MAE {learner.mae:.4f}")
        certificate = learner.certificate()
        tell(str(certificate) if details else guaranteed(certificate))
    for user, found in chosen.items():
        tell(f"{user}: " + ", ".join(f"{item} ({score:.2f})" for item, score in found))
