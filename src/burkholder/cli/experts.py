"""`burkholder experts`: aggregate the forecasts in the columns of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

MISSING = {"", "na", "nan", "null", "none", "?"}


def _lines(path: Path) -> Iterator[str]:
    """The text of a plain, gzip, bzip2 or xz file, or of standard input for '-'."""
    import bz2
    import gzip
    import lzma
    import sys

    from burkholder.errors import BadInput

    if str(path) == "-":
        yield from sys.stdin
        return
    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    try:
        with openers.get(path.suffix, open)(path, "rt", encoding="utf-8-sig", newline="") as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise BadInput("FILE", str(path), f"it cannot be read: {error}") from None


def _parquet(path: Path) -> Iterator[list[str]]:
    """A Parquet file as the rows of text that a csv file would have."""
    from burkholder.errors import BadInput, MissingExtra

    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra("pyarrow", "io") from None
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise BadInput("FILE", str(path), f"it cannot be read: {error}") from None
    yield list(table.column_names)
    columns = [column.to_pylist() for column in table.columns]
    for cells in zip(*columns):
        yield ["" if cell is None else str(cell) for cell in cells]


def _column(header: list[str], name: str, path: Path) -> int:
    """The place of a column, or an error that says which there are."""
    import difflib

    from burkholder.errors import BurkholderError

    if name in header:
        return header.index(name)
    near = difflib.get_close_matches(name, header, 1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise BurkholderError(f"no column '{name}' in {path}. Columns: {', '.join(header)}.{hint}")


def _table(path: Path, target: str, experts: str | None,
           by: str | None) -> tuple[list[str], Any, Any, list[str]]:
    """Names, forecasts (NaN = missing), targets and the group of each row."""
    import csv

    import numpy as np

    from burkholder.errors import BadInput, BadLine

    reader: Any = _parquet(path) if path.suffix == ".parquet" else csv.reader(_lines(path))
    header: list[str] = next(reader, [])
    if not header:
        raise BadInput("FILE", str(path), "it is empty; give a csv file with a header")
    y_at = _column(header, target, path)
    by_at = None if by is None else _column(header, by, path)
    rows: list[tuple[int, list[str]]] = []
    for cells in reader:
        if not cells:
            continue
        line = getattr(reader, "line_num", len(rows) + 2)
        if len(cells) != len(header):
            raise BadLine(str(path), line, f"{len(cells)} cells, the header has {len(header)}")
        rows.append((line, cells))
    if not rows:
        raise BadInput("FILE", str(path), "it has a header and no rows")

    def number(line: int, column: str, cell: str, missing: bool) -> float:
        if missing and cell.strip().lower() in MISSING:
            return float("nan")
        try:
            found = float(cell)
        except ValueError:
            raise BadLine(str(path), line, f"column {column}: {cell!r} is not a number") from None
        if not np.isfinite(found):
            raise BadLine(str(path), line, f"column {column}: {cell!r} is not finite")
        return found

    def numeric(j: int) -> bool:
        try:
            [float(cells[j]) for _, cells in rows if cells[j].strip().lower() not in MISSING]
        except ValueError:
            return False
        return True

    if experts is None:
        at = [j for j in range(len(header)) if j not in (y_at, by_at) and numeric(j)]
        if not at:
            raise BadInput("FILE", str(path), "it has no column of numbers besides the target")
    else:
        at = [_column(header, name.strip(), path) for name in experts.split(",")]
        if y_at in at:
            raise BadInput("--experts", target, "the target cannot be an expert as well")
    names = [header[j] for j in at]
    forecasts = np.array([[number(line, header[j], cells[j], True) for j in at] for line, cells in rows])
    targets = np.array([number(line, target, cells[y_at], False) for line, cells in rows])
    groups = ["" if by_at is None else cells[by_at] for _, cells in rows]
    return names, forecasts, targets, groups


def experts(
    file: Annotated[Path, typer.Argument(help="csv with a header (also .gz .bz2 .xz, or - ), or parquet")],
    target: Annotated[str, typer.Option(help="the column to predict")],
    experts: Annotated[str | None, typer.Option(help="forecast columns, with commas; default: all")] = None,
    loss: Annotated[str, typer.Option(help="absolute, squared, pinball, huber, …")] = "absolute",
    quantile: Annotated[float | None, typer.Option(help="of the pinball loss")] = None,
    method: Annotated[str, typer.Option(help="huber-root, ewa, ml-poly, boa, squint")] = "huber-root",
    rate: Annotated[float | None, typer.Option(help="the learning rate, for ewa")] = None,
    by: Annotated[str | None, typer.Option(help="a column: one learner for each of its values")] = None,
    weights: Annotated[Path | None, typer.Option(help="write the weights over time to this csv file")] = None,
    plot: Annotated[Path | None, typer.Option(help="draw the weights over time into this file")] = None,
    json: Annotated[bool, typer.Option("--json", help="one line of JSON instead of a table")] = False,
) -> None:
    """Aggregate columns of forecasts into one, with a bound on how far it is behind the best mixture."""
    import time

    import numpy as np

    from burkholder.cli.console import emit
    from burkholder.errors import BadInput
    from burkholder.experts.learner import Experts

    if by is not None and plot is not None:
        raise BadInput("--plot", str(plot), "draw one learner at a time: leave out --by")
    names, forecasts, targets, groups = _table(file, target, experts, by)
    began = time.perf_counter()
    options: dict[str, Any] = {} if quantile is None else {"quantile": quantile}
    label = np.array(groups)
    summed = dict.fromkeys(("mean_loss", "average_loss", "best_convex_loss", "gap"), 0.0)
    per_expert, bound, realised = np.zeros(len(names)), 0.0, 0.0
    used: Any = None
    certificate: Any = None
    for group in dict.fromkeys(groups):
        mine = np.flatnonzero(label == group)
        learner = Experts(loss, method=method, rate=rate, **options)
        run = learner.run(dict(zip(names, forecasts[mine].T)), targets[mine], weights=bool(weights or plot))
        best, certificate = run.best_convex(), run.certificate
        summed["mean_loss"] += float(run.losses.sum())
        summed["average_loss"] += learner.average_loss * mine.size
        summed["best_convex_loss"] += best.loss * mine.size
        summed["gap"] += best.gap * mine.size
        per_expert += mine.size * np.array([learner.expert_losses()[name] for name in names])
        promised = certificate.bound(best.weights)
        bound = float("nan") if promised is None else bound + promised
        realised += certificate.realised(best.weights)
        if weights or plot:
            used = np.full((targets.size, len(run.names)), np.nan) if used is None else used
            used[mine] = run.weights
    n = targets.size
    means = {key: total / n for key, total in summed.items()}
    result: dict[str, Any] = {
        "rounds": n, "loss": loss, "method": method, "learners": len(set(groups)),
        "mean_loss": means["mean_loss"], "best_expert": names[int(np.argmin(per_expert))],
        "best_expert_loss": float(np.min(per_expert)) / n, "average_loss": means["average_loss"],
        "best_convex_loss": means["best_convex_loss"], "best_convex_gap": means["gap"],
        "bound": bound if np.isfinite(bound) else None, "bound_per_round": bound / n, "realised": realised,
        "seconds": time.perf_counter() - began,
    }
    if weights is not None:
        np.savetxt(weights, used, delimiter=",", header=",".join(run.names), comments="", fmt="%.9g")
    if plot is not None:
        run.plot(str(plot))
    if json:
        emit(result)
        return
    _show(result, names, per_expert / n, certificate if by is None else None)


def _show(result: dict[str, Any], names: list[str], per_expert: Any, certificate: Any) -> None:
    """The table for people."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{result['rounds']:,} rounds, {result['loss']} loss", title_justify="left")
    table.add_column("forecast")
    table.add_column("mean loss", justify="right")
    for name, paid in zip(names, per_expert):
        table.add_row(name, f"{paid:.6g}")
    table.add_row("average of the experts", f"{result['average_loss']:.6g}")
    table.add_row("best fixed mixture in hindsight", f"{result['best_convex_loss']:.6g}")
    table.add_row(f"[bold]{result['method']}[/bold]", f"[bold]{result['mean_loss']:.6g}[/bold]")
    console = Console()
    console.print(table)
    shown = "none" if result["bound"] is None else f"{result['bound']:.6g}"
    console.print(f"Regret to that mixture over all rounds: promised ≤ {shown}, realised ≤ "
                  f"{result['realised']:.6g}.")
    if certificate is not None:
        console.print(str(certificate), markup=False, highlight=False, soft_wrap=True)
