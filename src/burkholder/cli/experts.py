"""`burkholder experts`: aggregate the forecasts in the columns of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def experts(
    file: Annotated[str, typer.Argument(help="csv or parquet, compressed or not; - reads standard input")],
    target: Annotated[str | None, typer.Option(help="the column to predict; -1 is the last")] = None,
    experts: Annotated[str | None, typer.Option(help="forecast columns, with commas; default: all")] = None,
    loss: Annotated[str, typer.Option(help="absolute, squared, pinball, huber, …")] = "absolute",
    quantile: Annotated[float | None, typer.Option(help="of the pinball loss")] = None,
    method: Annotated[str, typer.Option(help="the rule: huber-root, ewa, ml-poly, boa, squint")] = "huber-root",
    rate: Annotated[float | None, typer.Option(help="the learning rate, for ewa")] = None,
    by: Annotated[str | None, typer.Option(help="a column: one learner for each of its values")] = None,
    weights: Annotated[Path | None, typer.Option(help="write the weights over time to this csv file")] = None,
    plot: Annotated[Path | None, typer.Option(help="draw the weights over time into this file")] = None,
    format: Annotated[str | None, typer.Option(help="csv or parquet; found out if not given")] = None,
    header: Annotated[bool | None, typer.Option(help="whether the first line names the columns")] = None,
    delimiter: Annotated[str | None, typer.Option(help="what separates the columns")] = None,
    skip_bad: Annotated[bool, typer.Option(help="count malformed lines and go on")] = False,
    json: Annotated[bool, typer.Option("--json", help="one line of JSON instead of a table")] = False,
) -> None:
    """Aggregate columns of forecasts into one, with a bound on how far it is behind the best mixture."""
    import time

    import numpy as np

    from burkholder import losses
    from burkholder.cli.console import emit
    from burkholder.cli.forecasts import read_forecasts
    from burkholder.errors import BadInput
    from burkholder.experts.learner import Experts
    from burkholder.experts.run import best_mixture, plot_weights

    if by is not None and plot is not None:
        raise BadInput("--plot", str(plot), "draw one learner at a time: leave out --by")
    options: dict[str, Any] = {} if quantile is None else {"quantile": quantile}
    wanted = None if experts is None else [name.strip() for name in experts.split(",")]
    names, forecasts, targets, groups, left_out, bad_lines = read_forecasts(
        file,
        target,
        wanted,
        by,
        format,
        header=header,
        delimiter=delimiter,
        skip_bad=skip_bad or None,
        classes=losses.is_classification(losses.get(loss, **options)),
    )
    began = time.perf_counter()
    label = np.array(groups)
    summed = dict.fromkeys(("mean_loss", "average_loss", "best_convex_loss", "gap"), 0.0)
    per_expert, bound, realised = np.zeros(len(names)), 0.0, 0.0
    used: Any = None
    certificate: Any = None
    for group in dict.fromkeys(groups):
        mine = np.flatnonzero(label == group)
        learner = Experts(loss, method=method, rate=rate, **options)
        run = learner.run(dict(zip(names, forecasts[mine].T)), targets[mine], trace=0, weights=bool(weights or plot))
        best, certificate = best_mixture(run), learner.certificate()
        summed["mean_loss"] += float(run.losses.sum())
        summed["average_loss"] += learner.average_loss * mine.size
        summed["best_convex_loss"] += best.loss * mine.size
        summed["gap"] += best.gap * mine.size
        per_expert += mine.size * np.array([learner.expert_losses()[name] for name in names])
        bound += certificate.bound(best.weights)
        realised += certificate.realised(best.weights)
        if weights or plot:
            used = np.full((targets.size, len(certificate.names)), np.nan) if used is None else used
            used[mine] = run.details["weights"]
    n = targets.size
    means = {key: total / n for key, total in summed.items()}
    result: dict[str, Any] = {
        "rounds": n,
        "loss": loss,
        "method": method,
        "learners": len(set(groups)),
        "mean_loss": means["mean_loss"],
        "best_expert": names[int(np.argmin(per_expert))],
        "best_expert_loss": float(np.min(per_expert)) / n,
        "average_loss": means["average_loss"],
        "best_convex_loss": means["best_convex_loss"],
        "best_convex_gap": means["gap"],
        "bound": bound if np.isfinite(bound) else None,
        "bound_per_round": bound / n if np.isfinite(bound) else None,
        "realised": realised,
        "experts": names,
        "left_out": left_out,
        "bad_lines": bad_lines,
        "seconds": time.perf_counter() - began,
    }
    if weights is not None:
        np.savetxt(weights, used, delimiter=",", header=",".join(certificate.names), comments="", fmt="%.9g")
    if plot is not None:
        plot_weights(run, str(plot))
    if json:
        emit(result)
        return
    _show(result, names, per_expert / n, certificate if by is None else None)


def _show(result: dict[str, Any], names: list[str], per_expert: Any, certificate: Any) -> None:
    """The table for people."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from burkholder.errors import printable

    table = Table(title=f"{result['rounds']:,} rounds, {result['loss']} loss", title_justify="left")
    table.add_column("forecast")
    table.add_column("mean loss", justify="right")
    for name, paid in zip(names, per_expert):
        table.add_row(escape(printable(name)), f"{paid:.6g}")
    table.add_row("average of the experts", f"{result['average_loss']:.6g}")
    table.add_row("best fixed mixture in hindsight", f"{result['best_convex_loss']:.6g}")
    table.add_row(f"[bold]{result['method']}[/bold]", f"[bold]{result['mean_loss']:.6g}[/bold]")
    console = Console()
    console.print(table)
    if result["left_out"]:
        console.print(f"Columns left out: {printable(', '.join(result['left_out']))}.", markup=False, highlight=False)
    if result["bad_lines"]:
        console.print(f"{result['bad_lines']:,} malformed lines skipped.")
    shown = "none" if result["bound"] is None else f"{result['bound']:.6g}"
    console.print(f"Regret to that mixture over all rounds: promised ≤ {shown}, realised ≤ {result['realised']:.6g}.")
    if certificate is not None:
        console.print(printable(str(certificate), keep="\n"), markup=False, highlight=False, soft_wrap=True)
