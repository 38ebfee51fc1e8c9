"""Ctrl-C between rounds, not inside one: the state of a learner is never left half-updated."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class Interrupts:
    """Inside `with`, Ctrl-C stops reading at once, but lets a batch that is being learned finish.

    A second Ctrl-C stops whatever is running. `requested` says that a stop was asked for.
    """

    def __init__(self) -> None:
        self.requested = False
        self.busy = False
        self._before: Any = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again, self.requested = self.requested, True
        if again or not self.busy:
            raise KeyboardInterrupt

    def __enter__(self) -> Interrupts:
        try:
            self._before = signal.signal(signal.SIGINT, self._handle)
        except ValueError:  # not the main thread: nothing to handle there
            self._before = None
        return self

    def __exit__(self, *reason: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
