"""`burkholder discover` and `burkholder check`: find a Burkholder function, and re-verify what was found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from burkholder.cli.console import emit, say, tell


def discover(
    source: Annotated[str, typer.Argument(metavar="NAME|FILE", help="a name of the list, or a Python file that defines `problem`")] = "",
    list_: Annotated[bool, typer.Option("--list", help="the names of the catalogue")] = False,
    output: Annotated[Path | None, typer.Option(help="where to write the certificate [NAME.json]")] = None,
    json: Annotated[bool, typer.Option("--json", help="one JSON value on standard output")] = False,
) -> None:
    """Search for a Burkholder function with the smallest constant, and write an exact proof."""
    from burkholder import discovery
    from burkholder.errors import BadInput

    if list_:
        if json:
            emit(discovery.names())
        else:
            for name in discovery.names():
                tell(f"{name:36s} {discovery.problem(name).words}")
        return
    if not source:
        raise BadInput("name", source, f"choose one of {', '.join(discovery.names())}, or a Python file")
    found = discovery.discover(source)
    path = found.certificate.save(output or Path(f"{found.name}.json"))
    result: dict[str, Any] = found.to_dict() | {"certificate": str(path)}
    if json:
        emit(result)
    else:
        tell(str(found))
        say(f"certificate written to {path}; re-verify it with: burkholder check {path}")


def check(
    certificate: Annotated[Path, typer.Argument(help="a file written by `burkholder discover`, or by `save` of a sharp constant")],
    json: Annotated[bool, typer.Option("--json", help="one JSON value on standard output")] = False,
) -> None:
    """Re-verify a certificate in exact arithmetic, sharing nothing with the search that wrote it."""
    from burkholder.checker import LARGEST, Rejected, read
    from burkholder.errors import BadInput, BurkholderError
    from burkholder.limited import verify
    from burkholder.refuter import FORMATS, refuted

    try:
        with certificate.open(encoding="utf-8") as file:
            data = read(file.read(LARGEST + 1))
    except (OSError, UnicodeDecodeError, Rejected) as error:
        raise BadInput("certificate", str(certificate), f"it cannot be read: {error}") from None
    try:
        form = data.get("format") if type(data) is dict else None
        if form == "burkholder spline 1":
            from burkholder.lab.sharp.splined import verify as verify_spline

            statement = verify_spline(data)
        else:
            statement = refuted(data) if form in FORMATS else verify(data)
    except Rejected as rejected:
        raise BurkholderError(f"{certificate} proves nothing: {rejected}") from None
    if json:
        emit({"verified": True, "constant": data["constant"], "statement": statement, "unverified": {"name": data["name"]}})
    else:
        tell(statement)
        tell(f"  (the file calls itself {data['name']!r}: a name, which nobody verified)")
