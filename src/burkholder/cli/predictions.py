"""Predictions written as they are made; the file takes its name only when it is whole."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from burkholder.errors import BadInput


class Predictions:
    """One prediction per line in `path` ('-': standard output; None: nowhere).

    Until `keep` is called they are in `path.partial`, which stays after an interruption.
    """

    def __init__(self, path: str | None) -> None:
        self.path = path
        self._file: IO[str] | None = None
        self._whole = False
        self._resumed: int | None = None  # bytes of an earlier run to keep

    @property
    def left_over(self) -> str | None:
        """Where unfinished predictions are, if anywhere."""
        return None if self.path in (None, "-") or self._whole else f"{self.path}.partial"

    def resume(self, length: int | None) -> None:
        """Go on behind the first `length` bytes that an interrupted run left."""
        self._resumed = length

    def settled(self) -> int | None:
        """Everything written so far is on the disk; returns how many bytes that is."""
        if self._file is None or self.path == "-":
            return None
        self._file.flush()
        os.fsync(self._file.fileno())
        return os.fstat(self._file.fileno()).st_size

    def _reopen(self) -> IO[str]:
        """What the interrupted run wrote, cut to what its checkpoint counted."""
        partial, length = f"{self.path}.partial", self._resumed or 0
        if not os.path.exists(partial) and os.path.exists(str(self.path)):
            os.replace(str(self.path), partial)  # the run had ended: its file had its name already
        if (os.path.getsize(partial) if os.path.exists(partial) else 0) < length:
            raise BadInput(
                "predictions",
                self.path,
                f"{length} bytes of the interrupted run's predictions must be in {partial}; start afresh without --load",
            )
        os.truncate(partial, length)
        return open(partial, "a", encoding="utf-8")

    def __enter__(self) -> Predictions:
        if self.path == "-":
            self._file = sys.stdout
        elif self.path is not None:
            try:
                fresh = self._resumed is None
                self._file = open(f"{self.path}.partial", "w", encoding="utf-8") if fresh else self._reopen()
            except OSError as error:
                raise BadInput("predictions", self.path, error.strerror or "it cannot be written") from None
        return self

    def write(self, lines: list[str]) -> None:
        if self._file is not None:
            self._file.write("\n".join(lines) + "\n")
            self._file.flush()  # whoever follows a live stream sees each batch at once

    def keep(self) -> None:
        """All predictions are written: give the file its name."""
        self._whole = True

    def __exit__(self, *reason: object) -> None:
        if self._file is None or self.path is None:
            return
        self._file.flush()
        if self.path != "-":
            self._file.close()
            if self._whole:
                os.replace(f"{self.path}.partial", Path(self.path))
