"""`burkholder tight`: how much of a learner's bound is real."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def tight(
    learner: Annotated[str, typer.Argument(help="a catalogue name, or file.py:Name / module:Name of your own")],
    rounds: Annotated[int, typer.Option(help="rounds of each path")] = 64,
    paths: Annotated[int, typer.Option(help="independent paths")] = 256,
    dim: Annotated[int | None, typer.Option(help="features a row")] = None,
    process: Annotated[str | None, typer.Option(help="constant, cycle, signs or stopped-walk; default: all")] = None,
    seed: Annotated[int, typer.Option(help="seed of the adversary")] = 0,
    json: Annotated[bool, typer.Option("--json", help="one JSON line on standard output")] = False,
) -> None:
    """Play the adversary of unpredictable labels against a learner and report regret ÷ bound."""
    from ..lab.necessary import tight as play
    from .console import emit, tell

    found = play(_load(learner), rounds, paths, dim, process, seed=seed)
    if json:
        emit(found.to_dict())
    else:
        tell(str(found))


def _load(place: str) -> Any:
    """A catalogue name as it is; `file.py:Name` or `module:Name` as the object (classes are called)."""
    if ":" not in place:
        return place
    import importlib
    import importlib.util
    import sys
    from pathlib import Path

    from ..errors import BadInput

    where, _, name = place.rpartition(":")
    try:
        if where.endswith(".py"):
            spec = importlib.util.spec_from_file_location(Path(where).stem, where)
            if spec is None or spec.loader is None:
                raise FileNotFoundError(where)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(where)
        found = getattr(module, name)
    except (ImportError, FileNotFoundError, AttributeError) as error:
        raise BadInput("learner", place, f"nothing could be loaded there: {error}") from error
    return found() if isinstance(found, type) else found
