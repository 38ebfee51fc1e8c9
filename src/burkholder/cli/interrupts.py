"""Ctrl-C between rounds, not inside one: the state of a learner is never left half-updated."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Inside `with`, Ctrl-C and SIGTERM stop reading at once, but let a batch that is being learned finish.

    A second signal stops whatever is running. `requested` says that a stop was asked for, `code` what to exit with.
    """

    def __init__(self) -> None:
        self.requested = False
        self.busy = False
        self.code = 128 + signal.SIGINT
        self._before: dict[signal.Signals, Any] = {}

    def _handle(self, number: int, frame: FrameType | None) -> None:
        again, self.requested = self.requested, True
        self.code = 128 + number
        if again or not self.busy:
            raise KeyboardInterrupt

    def __enter__(self) -> Interrupts:
        try:
            self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        except ValueError:  # not the main thread: nothing to handle there
            self._before = {}
        return self

    def __exit__(self, *reason: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)
