"""What the library raises: every message names what was wrong, its value, and what to do instead."""

from __future__ import annotations

import unicodedata
from typing import Any


def printable(text: str, keep: str = "") -> str:
    """The text with everything that could steer a terminal spelled out; characters in `keep` stay as they are.

    >>> printable("a\\x1b[2Jb\\u202e\\n")
    'a\\\\x1b[2Jb\\\\u202e\\\\n'
    """
    if text.isprintable():
        return text
    # spaces of other widths are harmless, and thousands are separated by them
    return "".join(c if c.isprintable() or c in keep or unicodedata.category(c) == "Zs" else ascii(c)[1:-1] for c in text)


class BurkholderError(Exception):
    """The base of every error this library raises on purpose. What files hold is spelled out in its message."""

    def __init__(self, message: str = "") -> None:
        super().__init__(printable(message))


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
