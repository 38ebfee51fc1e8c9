"""`burkholder list`: every name the other commands take."""

from __future__ import annotations

from typing import Annotated

import typer


def list_names(json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False) -> None:
    """Learners, losses, functions and file formats, with one line each."""
    from burkholder import functions, losses
    from burkholder.cli.console import emit
    from burkholder.streams.readers.detect import FORMATS

    catalogue = {name: entry.about for name, entry in functions.CATALOGUE.items()}
    names = {
        "learners": {
            "auto": "nothing to tune: several learners side by side, aggregated with a guarantee",
            **{name: about for name, about in catalogue.items() if usable(name)},
        },
        "losses": {name: (kind.__doc__ or "").strip().splitlines()[0] for name, kind in losses.LOSSES.items()},
        "functions": catalogue,
        "formats": dict(
            zip(
                FORMATS,
                (
                    "delimited text with or without a header",
                    "Parquet (needs burkholder[io])",
                    "label id:value …",
                    "Vowpal Wabbit text",
                    "stored arrays, .npz or a folder of .npy files",
                ),
                strict=True,
            )
        ),
    }
    if json:
        emit(names)
        return
    for title, lines in names.items():
        typer.echo(f"{title}:")
        width = max(map(len, lines)) + 2
        for name, about in lines.items():
            typer.echo(f"  {name.ljust(width)}{about}")
        typer.echo("")


def usable(name: str) -> bool:
    """Whether `learn` can play this function on rows of any width: functions of a fixed shape cannot."""
    from burkholder import functions

    built = functions.CATALOGUE[name].make()
    if hasattr(built, "shape"):
        return False
    geometry = getattr(built, "geometry", None)
    return not any(hasattr(geometry, part) for part in ("shape", "groups", "matrix", "dim"))
