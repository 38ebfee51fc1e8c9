"""A line on the terminal that is rewritten while work goes on."""

from __future__ import annotations

import shutil
import sys
import time


class LiveLine:
    """Shows the latest text on standard error, at most ten times a second; silent when quiet or not a terminal."""

    def __init__(self, quiet: bool = False) -> None:
        self._active = not quiet and sys.stderr.isatty()
        self._last = -1.0

    def due(self) -> bool:
        """Whether it is time to show something: making the text may cost more than showing it."""
        return self._active and time.monotonic() - self._last >= 0.1

    def show(self, text: str) -> None:
        self._last = time.monotonic()
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[2K{text[:width]}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> LiveLine:
        return self

    def __exit__(self, *reason: object) -> None:
        if self._active and self._last >= 0.0:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
