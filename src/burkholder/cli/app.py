"""The command `burkholder`: a table of commands, each in a light module of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

# Command -> (module, function). A module that is not there is left out; none may import anything heavy at its top.
COMMANDS: dict[str, tuple[str, str]] = {
    "learn": ("learn", "learn"),
    "predict": ("predict", "predict"),
    "experts": ("experts", "experts"),
    "intervals": ("intervals", "intervals"),
    "compare": ("compare", "compare"),
    "complete": ("complete", "complete"),
    "audit": ("audit", "audit"),
    "bound": ("bound", "bound"),
    "inspect": ("inspect", "inspect"),
    "verify": ("verify", "verify"),
    "sharp": ("sharp", "sharp"),
    "tight": ("tight", "tight"),
    "discover": ("discover", "discover"),
    "check": ("discover", "check"),
    "serve": ("serve", "serve"),
    "list": ("listing", "list_names"),
    "examples": ("examples", "examples"),
    "warm": ("warm", "warm"),
}


def found(module: str, function: str) -> Callable[..., Any] | None:
    """The command's function, or None when its module does not exist."""
    path = f"burkholder.cli.{module}"
    try:
        return getattr(importlib.import_module(path), function, None)
    except ModuleNotFoundError as error:
        if error.name != path:
            raise
        return None


class Command(TyperCommand):
    """Options that nobody gave are not looked at."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [_lenient(parameter) for parameter in super().get_params(ctx)]


class Commands(TyperGroup):
    """The same before the command."""

    def get_params(self, ctx: Any) -> list[Any]:
        return [_lenient(parameter) for parameter in super().get_params(ctx)]


def _lenient(parameter: Any) -> Any:
    """The parameter, whose default is as it was written: to look at it typer would load a library, a tenth of a warm start."""
    if "process_value" in vars(parameter):
        return parameter
    checked, missing = parameter.process_value, () if parameter.nargs == -1 or getattr(parameter, "multiple", False) else None

    def given(ctx: Any, value: Any) -> Any:
        if parameter.required or value != parameter.default:
            return checked(ctx, value)
        kept = missing if value is None else value
        return kept if parameter.callback is None else parameter.callback(ctx, parameter, kept)

    parameter.process_value = given
    return parameter


def _version(wanted: bool) -> None:
    if wanted:
        from burkholder import __version__

        print(__version__)
        raise typer.Exit


def _start(version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and stop.")) -> None:
    """Online learning with guarantees you can check."""


def build() -> typer.Typer:
    """The whole command."""
    # Plain help: drawing boxes would cost more time than everything else together.
    commands = typer.Typer(
        cls=Commands, no_args_is_help=True, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, callback=_start
    )
    for name, (module, function) in COMMANDS.items():
        command = found(module, function)
        if command is not None:
            commands.command(name, cls=Command)(command)
    return commands


app = build()
