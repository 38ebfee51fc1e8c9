"""What every command shares: plain error messages, JSON for machines, progress for people."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from burkholder.errors import printable


def plain(data: Any) -> Any:
    """Data as JSON can carry it: numpy numbers become Python's, NaN and infinities become null."""
    if isinstance(data, dict):
        return {str(key): plain(item) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain(item) for item in data]
    if hasattr(data, "tolist"):
        return plain(data.tolist())
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def counted(number: int, noun: str) -> str:
    """How many of something.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def emit(data: Any) -> None:
    """One JSON value on one line of standard output; what could steer a terminal is escaped as JSON does it."""
    text = json.dumps(plain(data), ensure_ascii=False)
    print(text if text.isprintable() else json.dumps(plain(data)).replace("\x7f", "\\u007f"), flush=True)


def say(text: str) -> None:
    """Lines for people, on standard error, so that standard output stays clean for data."""
    print(fitted(printable(text, keep="\n"), sys.stderr), file=sys.stderr, flush=True)


def tell(text: str) -> None:
    """Lines for people that are the answer, on standard output."""
    print(fitted(printable(text, keep="\n"), sys.stdout), flush=True)


def fitted(text: str, stream: Any) -> str:
    """On a terminal, lines are broken between words, where it would break them in the middle of one."""
    if not stream.isatty():
        return text
    import shutil

    return wrapped(text, shutil.get_terminal_size().columns)


def wrapped(text: str, width: int) -> str:
    """Lines no longer than this, unless one word is; what follows a name and a gap stays in its column.

    >>> print(wrapped("  name    what it is, in several words", 24))
      name    what it is, in
              several words
    """
    import re
    import textwrap

    lines = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        columns = [gap.end() for gap in re.finditer(r"(?<=\S)\s{2,}(?=\S)", line) if 2 * gap.end() <= width]
        hang = max([*columns, indent if indent > 8 else indent + 4])
        long = textwrap.wrap(line, width, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False)
        lines += long if len(line) > width else [line]
    return "\n".join(lines)


@contextmanager
def progress(description: str, total: int | None, quiet: bool = False) -> Iterator[Any]:
    """A progress line on standard error; `advance(n, note)` moves it. Silent when quiet or not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda n=1, note="": None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.fields[note]}")]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total, note="")
        yield lambda n=1, note="": bar.update(task, advance=n, note=note)
