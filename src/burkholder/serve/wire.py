"""Requests as bytes, and as rows: JSON (one object or a list), JSON lines, Arrow IPC streams.

Reading says whether a body has the right shape; what the numbers in it mean is for the model to judge. It knows no limits
that can be set: what the log holds reads the same for ever. Limits are checked once, when a request comes in (`limits`).
"""

from __future__ import annotations

from array import array
from operator import attrgetter
from typing import Annotated, Any, NamedTuple
from zlib import crc32

import msgspec
import numpy as np

from burkholder.errors import BadInput
from burkholder.serve.events import ARROW, JSON, Event

Named = dict[str, float | str | bool | list[float] | None]
Label = float | str | bool
# what the description says of them; whether it is so the model judges, an item at a time
Id = Annotated[str, msgspec.Meta(extra_json_schema={"minLength": 1, "pattern": "^[^#]"})]
Weight = Annotated[float, msgspec.Meta(extra_json_schema={"minimum": 0})]


class Malformed(BadInput):
    """A body that is not what it says it is."""


class Play(msgspec.Struct, forbid_unknown_fields=True):
    """A row to predict: a list of numbers, named features, or {"indices": …, "values": …}. The id is yours to give."""

    x: Named | list[float]
    id: Id | int | None = None


class Truth(msgspec.Struct, forbid_unknown_fields=True):
    """The label of a prediction."""

    id: str | int
    y: Label
    weight: Weight = 1.0


class Example(msgspec.Struct, forbid_unknown_fields=True):
    """A row with its label."""

    x: Named | list[float]
    y: Label
    weight: Weight = 1.0


class Request(NamedTuple):
    """What a body says, column by column. Rows are as learners take them."""

    single: bool  # one object, not a list of them
    ids: list[str | None]
    rows: Any = ()  # a list of rows, or a matrix
    labels: Any = ()
    weights: Any = ()

    @property
    def size(self) -> int:
        return len(self.ids)


_COLUMNS = tuple(map(attrgetter, Request._fields[1:]))
KINDS: dict[str, Any] = {"predict": Play, "label": Truth, "learn": Example}
_json: dict[str, Any] = {verb: msgspec.json.Decoder(kind | list[kind]) for verb, kind in KINDS.items()}  # type: ignore[valid-type]
_groups: dict[str, Any] = {verb: msgspec.json.Decoder(list[kind | list[kind]]) for verb, kind in KINDS.items()}  # type: ignore[valid-type]
_lines = {verb: msgspec.json.Decoder(kind) for verb, kind in KINDS.items()}


def read(event: Event) -> Request:
    """What an event asks for; Malformed when that cannot be said.

    >>> read(Event("predict", "default", JSON, b'{"x": {"age": 3, "city": "Bonn"}, "id": "a"}'))
    Request(single=True, ids=['a'], rows=[{'age': 3.0, 'city': 'Bonn'}], labels=(), weights=())
    >>> read(Event("label", "default", JSON, b'[{"id": 1}]'))
    Traceback (most recent call last):
        ...
    burkholder.serve.wire.Malformed: body = '[{"id": 1}]' cannot be used: Object missing required field `y` - at `$[0]`
    """
    if event.form == ARROW:
        from burkholder.serve import arrow  # only where it is spoken

        return arrow.read(event.verb, event.body)
    try:
        if event.form == JSON:
            said = _json[event.verb].decode(event.body)
        else:
            said = _lines[event.verb].decode_lines(event.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError) as error:
        raise Malformed("body", event.body[:60].decode(errors="replace"), str(error)) from None
    return _listed(event.verb, said) if type(said) is list else _single(event.verb, said)


def _listed(verb: str, items: list[Any]) -> Request:
    """What a list of objects asks for."""
    ids: list[str | None] = [None] * len(items) if verb == "learn" else [None if item.id is None else str(item.id) for item in items]
    rows = () if verb == "label" else [_row(item.x) for item in items]
    if verb == "predict":
        return Request(False, ids, rows)
    return Request(False, ids, rows, [item.y for item in items], [item.weight for item in items])


def together(events: list[Event]) -> Request:
    """What events of one verb ask for, as one list. Bodies that can each be read alone, which most are, are read as one.

    >>> together([Event("label", "m", JSON, b'{"id": "a", "y": 1}'), Event("label", "m", JSON, b'[{"id": 7, "y": 0}]')]).ids
    ['a', '7']
    """
    verb = events[0].verb
    if all(event.form == JSON for event in events):
        try:
            said = _groups[verb].decode(b"[%s]" % b",".join([event.body for event in events]))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OverflowError):
            said = []  # reading them one by one says which
        if len(said) == len(events):
            if any(type(item) is list for item in said):
                said = [one for item in said for one in (item if type(item) is list else [item])]
            return _listed(verb, said)
    return joined([read(event) for event in events])


def joined(requests: list[Request]) -> Request:
    """Many requests as one list."""
    if len(requests) == 1:
        return requests[0]
    return Request(False, *([value for request in requests for value in column(request)] for column in _COLUMNS))


def _single(verb: str, item: Any) -> Request:
    """What one object asks for: most bodies are no more."""
    if verb == "label":
        return Request(True, [str(item.id)], (), [item.y], [item.weight])
    if verb == "predict":
        return Request(True, [None if item.id is None else str(item.id)], [_row(item.x)])
    return Request(True, [None], [_row(item.x)], [item.y], [item.weight])


def _row(x: Any) -> Any:
    """The row as learners take it: lists and dicts as they are, sparse rows as pairs."""
    if type(x) is list:
        return x
    if len(x) == 2 and type(x.get("indices")) is list and type(x.get("values")) is list:
        indices = x["indices"]
        if not all(abs(index) < 2.0**63 and index == int(index) for index in indices):
            raise Malformed("indices", indices, "feature indices are whole numbers below 2**63")
        return [int(index) for index in indices], x["values"]
    return x


def digest(row: Any) -> int:
    """A short mark of a row, the same in every process and in whatever form it came: another row under the same id is noticed.

    >>> digest([1.0, 2.0]) == digest(array("d", [1.0, 2.0])) != digest([2.0, 1.0])
    True
    """
    if type(row) is list:
        row = array("d", row)
    return crc32(memoryview(row)) if hasattr(row, "tobytes") else crc32(msgspec.msgpack.encode(row))


def digests(rows: Any) -> tuple[Any, list[int]]:
    """The rows, as one matrix where they are vectors of one length, and the digest of each.

    >>> digests([[1.0, 2.0], [3.0, 4.0]])[1] == [digest([1.0, 2.0]), digest([3.0, 4.0])]
    True
    """
    if type(rows) is list and rows and all(type(row) is list for row in rows) and len(set(map(len, rows))) == 1 and rows[0]:
        rows = np.array(rows)
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float64 or not rows.size:
        return rows, [digest(row) for row in rows]
    data, wide = np.ascontiguousarray(rows).data.cast("B"), 8 * rows.shape[1]
    return rows, [crc32(data[start : start + wide]) for start in range(0, len(data), wide)]
