"""The command line. Importing it costs nothing; the commands are loaded when it runs."""

from __future__ import annotations


def main() -> None:
    """Run the command, turning the library's own errors into one line and exit code 1."""
    import sys

    from burkholder.cli.app import app
    from burkholder.cli.console import say
    from burkholder.errors import BurkholderError
    from burkholder.machine.announcing import announce_compiling

    announce_compiling()

    try:
        app()
    except BurkholderError as error:
        say("\n".join(["Error: " + str(error), *([error.more] if error.more else [])]))
        sys.exit(1)
