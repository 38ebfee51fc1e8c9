"""`burkholder learn`: a file or a pipe in; predictions, a loss and a certificate out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

ROWS, COLUMNS = "Rows", "Columns of a table"


def learn(
    data: Annotated[
        str | None,
        typer.Argument(help="File, folder of arrays, or '-' for standard input. Without it: the electricity stream shipped here."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column to predict; -1 is the last.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, parquet, jsonl, arrow, libsvm, vw or npz. Found out if not given.")] = None,
    loss: Annotated[
        str | None,
        typer.Option(
            help="absolute, squared, huber, pinball, epsilon-insensitive, logistic or hinge. If not given: logistic when "
            "labels are classes, else squared."
        ),
    ] = None,
    learner: Annotated[str, typer.Option(help="Which learner; see `burkholder list`.")] = "auto",
    option: Annotated[
        list[str] | None, typer.Option(help="key=value for the learner or the loss, such as radius=10 or quantile=0.9. May be repeated.")
    ] = None,
    radius: Annotated[
        float | None, typer.Option(help="Size of the comparators the bounds are stated for. If not given: the learner's own, or 1.")
    ] = None,
    passes: Annotated[int, typer.Option(help="How often to go through the data.", min=1)] = 1,
    multiclass: Annotated[
        bool, typer.Option("--multiclass", help="The target is one of several classes, also where it looks like numbers.")
    ] = False,
    class_weight: Annotated[
        str | None, typer.Option(help="balanced, or class=weight,class=weight: how much rows of each class count.")
    ] = None,
    intercept: Annotated[bool | None, typer.Option(help="Add a constant feature. If not given: yes.")] = None,
    weight: Annotated[str | None, typer.Option(help="Column of importance weights.")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out. May be repeated.")] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column to read as words although it looks like numbers. May be repeated.")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="The target's word for class 1.")] = None,
    header: Annotated[bool | None, typer.Option(help="Whether the first line names the columns.")] = None,
    delimiter: Annotated[str | None, typer.Option(help="What separates the columns.")] = None,
    decimal: Annotated[str | None, typer.Option(help="What stands before the fraction of a number: '.' or ','.")] = None,
    dates: Annotated[bool | None, typer.Option(help="Make hour, weekday, month and trend of dates. If not given: yes.")] = None,
    bits: Annotated[int | None, typer.Option(help="Hash words to 2^bits features.")] = None,
    skip_bad: Annotated[bool, typer.Option(help="Count malformed lines and go on.")] = False,
    predictions: Annotated[Path | None, typer.Option(help="Write one progressive prediction per row here ('-': standard output).")] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Write probabilities: of class 1, or of each of several classes.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the learner to this file when the data end.")] = None,
    load: Annotated[
        Path | None,
        typer.Option(help="Go on with the learner in this file. Without DATA: take its interrupted run up again, with its settings."),
    ] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option(help="Also save after every so many rows, so that a killed run can be taken up again.")
    ] = None,
    intervals: Annotated[
        float | None, typer.Option(help="Also say low and high of every row, such that this share of the targets lies between them.")
    ] = None,
    key: Annotated[str | None, typer.Option(help="Column of keys (a shop, a sensor): one learner for each, helped by all.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a page with charts of the run here (.html).")] = None,
    details: Annotated[bool, typer.Option("--details", help="The whole certificate in the summary.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress line and no summary.")] = False,
) -> None:
    """Learn from a stream: predict each row before learning it, and certify the regret."""
    from burkholder.cli.console import emit, say
    from burkholder.cli.session import Asked, Session, shipped

    reading: dict[str, Any] = {
        "format": format,
        "target": target,
        "weight": weight,
        "drop": tuple(drop or ()),
        "positive": positive,
        "categorical": tuple(categorical or ()),
        "header": header,
        "delimiter": delimiter,
        "bits": bits,
        "decimal": decimal,
        "dates": dates,
        "intercept": intercept,
        "skip_bad": skip_bad or None,
    }
    if intervals is not None:
        from burkholder.cli.banding import learned

        refused = {"loss": loss, "option": option, "load": load, "checkpoint-every": checkpoint_every, "radius": radius}
        refused |= {"multiclass": multiclass, "class-weight": class_weight, "proba": proba, "key": key}
        found, text = learned(data, intervals, reading, refused, learner, passes, predictions, save, report, details)

    elif key is not None:
        from burkholder.cli.keyed import learned as learned_by_key

        others: dict[str, object] = {"multiclass": multiclass, "class-weight": class_weight, "proba": proba, "passes": passes > 1}
        others |= {"checkpoint-every": checkpoint_every, "report": report, "radius": radius}
        asked = Asked(loss, learner, option or ())
        found, text = learned_by_key(data, key, reading, others, asked, predictions, save, load, details)
    if intervals is not None or key is not None:
        if not quiet:
            say(text)
        if json:
            emit(found)
        return

    from burkholder.cli.telling import result, summary
    from burkholder.storage.checkpoints import Checkpoints, interrupted

    recorder = None
    if report is not None:
        from burkholder.report.recorder import Recorder

        recorder = Recorder(str(report), radius)

    again = interrupted(str(load)) if load is not None and data is None else None
    if again is not None:  # with the settings of the run that was interrupted, which nothing said now may change
        data, passes, option = again.data, again.passes, again.options
        save = load if save is None else save
        predictions = again.predictions if predictions is None else predictions
        class_weight, proba = again.class_weight, again.proba
    session = Session(
        data=shipped() if data is None else data,
        name="electricity (shipped)" if data is None else data,
        reading=reading,
        asked=Asked(loss, learner, option or (), multiclass, class_weight, proba),
        radius=radius,
        passes=passes,
        predictions=None if predictions is None else str(predictions),
        quiet=quiet,
        recorder=recorder,
        checkpoints=Checkpoints(None if load is None else str(load), None if save is None else str(save), checkpoint_every),
    )
    session.run()
    if recorder is not None:
        recorder.write(session, result(session))
    if not quiet:
        say(summary(session, details))
    if json:
        emit(result(session))
    if not session.complete:
        raise typer.Exit(session.interrupts.code)
