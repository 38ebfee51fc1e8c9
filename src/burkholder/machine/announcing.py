"""Say that something is being compiled: it may take a while, and the next process finds it done."""

from __future__ import annotations

import sys
from collections.abc import Callable

_say: Callable[[str], None] | None = None


def _line(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def announce_compiling(say: Callable[[str], None] = _line) -> None:
    """Ask to be told when something is really compiled, once: by a line on standard error, unless another way is given."""
    global _say
    _say = say


def compiling() -> None:
    """What is called before anything is compiled."""
    global _say
    if _say is not None:
        say, _say = _say, None
        say("compiling for this machine, once")
