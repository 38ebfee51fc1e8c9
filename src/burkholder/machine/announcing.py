"""Say that something is being compiled: it may take a while, and the next process finds it done."""

from __future__ import annotations

import sys

_asked = False


def announce_compiling() -> None:
    """Ask for a line on standard error when something is really compiled, once."""
    global _asked
    _asked = True


def compiling() -> None:
    """What is called before anything is compiled."""
    global _asked
    if _asked:
        _asked = False
        print("compiling for this machine, once", file=sys.stderr, flush=True)
