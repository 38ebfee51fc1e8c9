"""What the service says: items, problems, and the bytes they are in the form the request had."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from burkholder.errors import BadInput, BurkholderError, printable
from burkholder.serve.events import ARROW, LINES
from burkholder.serve.store import StoreFailed

TYPES = {"json": "application/json", LINES: "application/x-ndjson", ARROW: "application/vnd.apache.arrow.stream"}


class Predicted(msgspec.Struct, omit_defaults=True):
    """A prediction, with the probability of label 1, of every class, or the interval, where the model has such."""

    id: str
    prediction: Any
    probability: float | None = None
    interval: list[float] | None = None
    probabilities: dict[str, float] | None = None


class Learned(msgspec.Struct):
    """A label that was learned, now or before."""

    id: str
    learned: bool = True


class Progress(msgspec.Struct):
    """Rows that were learned, each predicted before."""

    learned: int
    predictions: list[Any]


class Problem(msgspec.Struct, omit_defaults=True):
    """Why nothing was done: which argument, the value it had, and what to do instead."""

    status: int
    argument: str
    value: str
    remedy: str
    id: str | None = None


class Refused(Exception):
    """A request, or a part of one, that is not done."""

    def __init__(self, status: int, argument: str, value: Any, remedy: str) -> None:
        super().__init__(remedy)
        shown = value if isinstance(value, str) else repr(value)
        self.problem = Problem(status, argument, printable(shown if len(shown) <= 80 else shown[:77] + "..."), printable(remedy))


class Answer(NamedTuple):
    """A status of HTTP, and what goes with it: one item, or a list of them."""

    status: int
    body: Any


def problem(error: BadInput) -> Problem:
    """The library's own refusal: 422, or 429 where too much waits already."""
    return Refused(429 if error.argument == "max_pending" else 422, error.argument, error.value, error.remedy).problem


def gathered(items: list[Any]) -> Answer:
    """The answer to a list: each item by itself. 207 says that they fared differently."""
    found = {item.status if type(item) is Problem else 200 for item in items} or {200}
    return Answer(found.pop() if len(found) == 1 else 207, items)


def refusal(error: Exception) -> Answer:
    """The answer that nothing was done, and why: a refusal of the service, of the library, of the disk, or else a fault of ours."""
    if isinstance(error, Refused):
        found = error.problem
    elif isinstance(error, BadInput):
        found = problem(error)
    elif isinstance(error, StoreFailed):
        found = Refused(503, "store", str(error), "nothing was done: send it again").problem
    elif isinstance(error, BurkholderError):
        found = Refused(422, "body", type(error).__name__, str(error)).problem
    else:
        found = Refused(500, "service", type(error).__name__, "this is a fault of the service; it was noted").problem
    return Answer(found.status, found)


_encoder = msgspec.json.Encoder(enc_hook=lambda item: item.tolist() if hasattr(item, "tolist") else str(item))


def encoded(answer: Answer, form: str) -> tuple[str, bytes]:
    """(type of the content, the content); problems with a whole request are always JSON."""
    if type(answer.body) is Problem or form not in (LINES, ARROW):
        return TYPES["json"], _encoder.encode(answer.body)
    items = answer.body if type(answer.body) is list else [answer.body]
    if form == LINES:
        return TYPES[LINES], _encoder.encode_lines(items)
    from burkholder.serve import arrow

    return TYPES[ARROW], arrow.written(_columns(items))


def _columns(items: list[Any]) -> dict[str, Any]:
    """The items as columns; where one was refused, its status and remedy."""
    if len(items) == 1 and type(items[0]) is Progress:
        return {"prediction": items[0].predictions}
    columns: dict[str, Any] = {"id": [item.id for item in items]}
    columns["status"] = [item.status if type(item) is Problem else 200 for item in items]
    kinds = {type(item) for item in items}
    if Predicted in kinds:
        for name in ("prediction", "probability", "interval", "probabilities"):
            values = [getattr(item, name, None) for item in items]
            if name == "prediction" or any(value is not None for value in values):
                columns[name] = values
    if Problem in kinds:
        columns["remedy"] = [getattr(item, "remedy", None) for item in items]
    return columns
