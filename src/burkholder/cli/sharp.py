"""`burkholder sharp`: the best constant of a martingale inequality, with a certified bracket."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def sharp(
    name: Annotated[str | None, typer.Argument(help="an inequality; see --list")] = None,
    list_names: Annotated[bool, typer.Option("--list", help="the inequalities it knows")] = False,
    json: Annotated[bool, typer.Option("--json", help="one JSON line on standard output")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="save U against V and the contact set")] = None,
) -> None:
    """Compute a sharp constant: linear program, proved upper end, explicit martingale below."""
    from ..errors import BadInput
    from ..lab import sharp as lab
    from .console import emit, tell

    if list_names:
        if json:
            emit(lab.names())
        else:
            for known in lab.names():
                tell(f"{known:36s} {lab.find(known).statement}")
        return
    if name is None:
        raise BadInput("name", name, "name an inequality, or use --list")
    found = lab.sharp(name)
    if plot is not None:
        found.plot(plot)
    if json:
        emit(found.to_dict())
    else:
        tell(str(found))
