"""`burkholder verify`: proved, refuted with a witness, or not refuted and how hard was searched."""

from __future__ import annotations

from typing import Annotated

import typer


def verify(
    name: Annotated[str, typer.Argument(help="A catalogue name, module:object, or file.py:Object.")],
    exact: Annotated[bool, typer.Option("--exact", help="Also run the exact proofs that exist.")] = False,
    seconds: Annotated[float, typer.Option(help="Time for the whole search.")] = 10.0,
    dims: Annotated[str, typer.Option(help="Dimensions to search in, such as 1,2,3.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 1 when anything is refuted.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Check that a function is a Burkholder function: 1°, 2°, 3°, convexity, its strategies, its regret bound."""
    from burkholder.cli.console import emit, tell
    from burkholder.errors import BadInput
    from burkholder.lab.load import load
    from burkholder.lab.verify import verify as examine

    try:
        chosen = [int(part) for part in dims.split(",")] if dims else None
    except ValueError:
        raise BadInput("dims", dims, "give whole numbers separated by commas, such as 1,2,3") from None
    report = examine(load(name), exact=exact, seconds=seconds, dims=chosen, seed=seed)
    if json:
        emit({"name": name, **report.to_dict()})
    else:
        tell(str(report))
    if strict and report.refuted:
        raise typer.Exit(1)
