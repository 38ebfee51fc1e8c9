"""`burkholder inspect`: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def inspect(
    file: Annotated[Path, typer.Argument(help="A file written by `burkholder learn --save` or `burkholder.save`.")],
    certificate: Annotated[bool, typer.Option("--certificate", help="Load the learner and show its certificate.")] = False,
    json: Annotated[bool, typer.Option("--json", help="One JSON object instead of text.")] = False,
) -> None:
    """Check a model file and say what is in it."""
    from burkholder import storage
    from burkholder.cli.console import emit, tell
    from burkholder.errors import printable

    told = storage.inspect(file)
    if certificate:
        told["certificate"] = storage.load(file).certificate().to_dict()
    if json:
        emit(told)
        return
    tell(
        f"{told['path']}: {told['kind']}, {told['rounds']:,} rounds, {told['bytes']:,} bytes, schema {told['schema']}, "
        f"written by burkholder {told['library']}"
    )
    tell(f"  sha256 {told['sha256']} (checked)")
    for title in ("settings", "extra", "table"):
        for key, value in _flat(told[title] or {}):
            tell(printable(f"  {key}: {value}"))
    for name, array in told["arrays"].items():
        tell(f"  array {printable(name)}: {array['dtype']} {'×'.join(map(str, array['shape'])) or 'scalar'}")
    if certificate:
        tell(str(storage.load(file).certificate()))


def _flat(settings: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Nested settings as lines."""
    lines: list[tuple[str, Any]] = []
    for key, value in settings.items():
        if isinstance(value, dict) and value:
            lines += _flat(value, f"{prefix}{key}.")
        elif value not in (None, [], {}):
            lines.append((f"{prefix}{key}", value if not isinstance(value, list) else ", ".join(map(str, value))))
    return lines
