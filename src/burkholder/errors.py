"""What the library raises: every message names what was wrong, its value, and what to do instead."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

# The page of the documentation that helps with an argument. Where an argument is not named, nothing is said.
PAGES: dict[str, tuple[str, ...]] = {
    "formats": (
        "path", "data", "target", "format", "delimiter", "header", "decimal", "dates", "positive", "drop", "categorical", "bits", "labels",
    ),
    "command-line": ("option", "passes", "predictions", "output", "proba", "class-weight", "learner", "name"),
    "learners": ("x", "X", "y", "w", "weight", "loss", "bound", "radius", "function", "strategy", "max_pending", "pending", "id"),
    "experts": ("experts", "forecasts", "together", "by", "method", "rate", "outside"),
    "intervals": ("intervals", "coverage", "yhat", "quantiles", "levels", "alpha"),
    "matrix": ("ratings", "rating", "row", "column", "low", "high"),
    "saving": ("load", "model", "checkpoint-every"),
    "scale": ("key", "keys", "pooled", "idle", "learners"),
    "auto": ("effort", "full_features", "classes"),
    "integrations": ("categorical_features", "class_weight", "shuffle", "interval"),
    "report": ("report",),
    "serve": ("store", "host", "token-file"),
    "engine": ("BURKHOLDER_CACHE_DIR",),
    "discovery": ("problem", "degree"),
}  # fmt: skip
_PAGE_OF = {argument: page for page, arguments in PAGES.items() for argument in arguments}


def page_of(argument: str) -> str | None:
    """The page about an argument, which may be named as on the command line or by its place.

    >>> page_of("--target"), page_of("y[17]"), page_of("x['size']"), page_of("nothing known")
    ('formats', 'learners', 'learners', None)
    """
    return _PAGE_OF.get(re.split(r"[\[ ,]", argument.removeprefix("--"))[0])


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
    """The base of every error this library raises on purpose. What files hold is spelled out in its message.

    >>> try:
    ...     raise BadInput("target", "Price", "no column 'Price'. Did you mean 'price'?")
    ... except BurkholderError as error:
    ...     print(error, error.page, sep="\\n")
    target = 'Price' cannot be used: no column 'Price'. Did you mean 'price'?
    formats
    """

    def __init__(self, message: str = "", page: str | None = None) -> None:
        super().__init__(printable(message))
        self.page = page  # of the documentation, where one helps
        if page is not None:
            self.add_note(self.more)

    @property
    def more(self) -> str:
        """Where to read on."""
        return "" if self.page is None else f"More: docs/{self.page}.md"


class BadInput(BurkholderError, ValueError):
    """An argument that cannot be used.

    >>> raise BadInput("radius", -1.0, "give a positive number")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadInput: radius = -1.0 cannot be used: give a positive number
    More: docs/learners.md
    """

    def __init__(self, argument: str, value: Any, remedy: str) -> None:
        self.argument, self.value, self.remedy = argument, value, remedy
        shown = repr(value)
        if len(shown) > 80:
            shown = shown[:77] + "..."
        super().__init__(f"{argument} = {shown} cannot be used: {remedy}", page_of(argument))

    def placed(self, where: Callable[[int], int]) -> BadInput:
        """The same of the row it names, y[3], where that row stands: y[where(3)].

        >>> BadInput("y[3]", 2.5, "give a label").placed(lambda row: row + 100).argument
        'y[103]'
        """
        head, bracket, rest = self.argument.partition("[")
        number, end, tail = rest.partition("]")
        if not (bracket and end and number.isdigit()):
            return self
        return BadInput(f"{head}[{where(int(number))}]{tail}", self.value, self.remedy)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.argument, self.value, self.remedy)


class BadLine(BurkholderError, ValueError):
    """A malformed line of a file, with its place.

    >>> raise BadLine("load.csv", 7, "3 fields where there are 4 columns")
    Traceback (most recent call last):
        ...
    burkholder.errors.BadLine: load.csv, line 7: 3 fields where there are 4 columns
    More: docs/formats.md
    """

    def __init__(self, path: str, line: int, reason: str) -> None:
        self.path, self.line, self.reason = path, line, reason
        super().__init__(f"{path}, line {line}: {reason}", "formats")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.line, self.reason)


class MissingExtra(BurkholderError, ImportError):
    """An optional dependency that is not installed.

    >>> raise MissingExtra("pyarrow", "io")
    Traceback (most recent call last):
        ...
    burkholder.errors.MissingExtra: this needs pyarrow; install it with: pip install 'burkholder[io]'
    More: docs/start.md
    """

    def __init__(self, package: str, extra: str) -> None:
        self.package, self.extra = package, extra
        super().__init__(f"this needs {package}; install it with: pip install 'burkholder[{extra}]'", "start")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.package, self.extra)
