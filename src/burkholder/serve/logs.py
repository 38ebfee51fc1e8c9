"""Logs: one JSON object a line, on standard error."""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Any

from burkholder.machine.announcing import announce_compiling


def say(event: str, **fields: Any) -> None:
    """One line: when, what, and what goes with it."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + "Z"
    print(json.dumps({"time": moment, "event": event, **fields}, default=str), file=sys.stderr, flush=True)


class Lines(logging.Handler):
    """What other libraries log, as such lines; a trace of theirs is one field."""

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = {"from": record.name, "level": record.levelname.lower()}
        if record.exc_info:
            fields["trace"] = logging.Formatter().formatException(record.exc_info)
        say(record.getMessage(), **fields)


def take_over() -> None:
    """Whatever is logged, or announced, anywhere comes out as our lines."""
    logging.basicConfig(handlers=[Lines()], level=logging.WARNING, force=True)
    announce_compiling(say)
