"""`burkholder warm`: compile now what would be compiled at first use, as an image or a new machine wants it."""

from __future__ import annotations

from typing import Annotated

import typer


def warm(
    quick: Annotated[bool, typer.Option("--quick", help="Only the default: Auto with the logistic loss, and the readers.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line.")] = False,
) -> None:
    """Compile every loop once and keep it, so that later runs start at once."""
    import time

    from burkholder.cli.console import emit, say, tell
    from burkholder.cli.warming import kept, place, steps

    folder = place()
    begun, before = time.perf_counter(), kept()
    for name, step in steps(quick):
        start, known = time.perf_counter(), kept()
        step()
        say(f"{name}: {kept() - known} loops compiled, {time.perf_counter() - start:.1f} s")
    new, seconds = kept() - before, time.perf_counter() - begun
    if json:
        emit({"folder": str(folder), "loops": kept(), "compiled": new, "seconds": seconds})
        return
    tell(f"{kept()} loops in {folder}, {new} of them compiled now, {seconds:.0f} s")
