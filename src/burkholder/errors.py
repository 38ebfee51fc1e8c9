"""What the library raises: every message names what was wrong, its value, and what to do instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class BurkholderError(Exception):
    """The base of every error this library raises on purpose."""


class BadInput(BurkholderError, ValueError):
    """An argument that cannot be used.

    >>> raise BadInput("radius", -1.0, "give a positive number")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: radius = -1.0 cannot be used: give a positive number
    """

    def __init__(self, argument: str, value: Any, remedy: str) -> None:
        self.argument, self.value, self.remedy = argument, value, remedy
        shown = repr(value)
        if len(shown) > 80:
            shown = shown[:77] + "..."
        super().__init__(f"{argument} = {shown} cannot be used: {remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.argument, self.value, self.remedy)


class BadLine(BurkholderError, ValueError):
    """A malformed line of a file, with its place."""

    def __init__(self, path: str, line: int, reason: str) -> None:
        self.path, self.line, self.reason = path, line, reason
        super().__init__(f"{path}, line {line}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.line, self.reason)


class MissingExtra(BurkholderError, ImportError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(f"this needs {package}; install it with: pip install 'burkholder[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.package, self.extra)


def choose(argument: str, value: Any, known: Iterable[str], heading: str) -> str:
    """The value if it is one of those known; else an error that lists them and names the nearest.

    >>> choose("fruit", "appel", ["apple", "pear"], "Fruits")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: fruit = 'appel' cannot be used: did you mean 'apple'? Fruits: apple, pear
    """
    names = sorted(known)
    if isinstance(value, str) and value in names:
        return value
    near = difflib.get_close_matches(str(value), names, 1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise BadInput(argument, value, f"{hint}{heading}: {', '.join(names)}")
