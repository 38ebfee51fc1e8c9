"""`burkholder list`: every name the other commands take."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer


def list_names(json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False) -> None:
    """Learners, losses, functions, expert rules and file formats, with one line each."""
    from burkholder import functions, losses
    from burkholder.cli.console import emit, tell
    from burkholder.experts import METHODS
    from burkholder.learning.factory import AUTO
    from burkholder.streams.readers.detect import FORMATS

    catalogue = {name: entry.about for name, entry in functions.CATALOGUE.items()}
    names = {
        "learners": {
            AUTO: "nothing to tune: several learners side by side, aggregated with a guarantee",
            **{name: about for name, about in catalogue.items() if usable(name)},
        },
        "losses": {name: first_line(kind) for name, kind in losses.LOSSES.items()},
        "functions": catalogue,
        "expert rules": {name: first_line(sys.modules[rule.record.__module__]) for name, rule in METHODS.items()},
        "formats": dict(
            zip(
                FORMATS,
                (
                    "delimited text with or without a header",
                    "Parquet (needs burkholder[io])",
                    "label id:value …",
                    "Vowpal Wabbit text",
                    "stored arrays, .npz or a folder of .npy files",
                    "one JSON object a line",
                    "Arrow files and streams, Feather (needs burkholder[io])",
                ),
                strict=True,
            )
        ),
    }
    if json:
        emit(names)
        return
    for title, lines in names.items():
        tell(f"{title}:")
        width = max(map(len, lines)) + 2
        for name, about in lines.items():
            tell(f"  {name.ljust(width)}{about}")
        tell("")


def first_line(thing: Any) -> str:
    """What it says of itself."""
    return (thing.__doc__ or thing.__name__).strip().splitlines()[0]


def usable(name: str) -> bool:
    """Whether `learn` can play this function on rows of any width: functions of a fixed shape cannot."""
    from burkholder import functions

    built = functions.CATALOGUE[name].make()
    if hasattr(built, "shape"):
        return False
    geometry = getattr(built, "geometry", None)
    return not any(hasattr(geometry, part) for part in ("shape", "groups", "matrix", "dim"))
