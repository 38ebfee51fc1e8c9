"""Bodies of requests, read no further than allowed, and answers sent: the part of HTTP every endpoint shares."""

from __future__ import annotations

from typing import Any

from burkholder.serve.answers import Answer, Refused, encoded
from burkholder.serve.events import ARROW, JSON, LINES

FORMS = {
    b"": JSON,
    b"application/json": JSON,
    b"application/x-ndjson": LINES,
    b"application/jsonl": LINES,
    b"application/vnd.apache.arrow.stream": ARROW,
}


def form_of(headers: dict[bytes, bytes]) -> str:
    """What the body is written in."""
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    form = FORMS.get(kind)
    if form is None:
        known = ", ".join(name.decode() for name in FORMS if name)
        raise Refused(415, "Content-Type", kind.decode("latin-1"), f"send one of {known}")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise Refused(415, "Content-Encoding", headers[b"content-encoding"].decode("latin-1"), "send the body as it is")
    return form


class Room:
    """How many bytes of bodies may be half here, of all who send at once."""

    def __init__(self, limit: int) -> None:
        self.limit, self.taken = limit, 0

    def take(self, size: int) -> None:
        """So many came; 429 where there is no room for them."""
        if self.taken + size > self.limit:
            raise Refused(429, "body", f"{self.taken} bytes", "so much is on its way in already: try again in a moment")
        self.taken += size


async def body_of(headers: dict[bytes, bytes], receive: Any, limit: int, room: Room) -> bytes:
    """The whole body, if it is no longer than the limit."""
    length = headers.get(b"content-length", b"")
    if length.isdigit() and int(length) > limit:
        raise _too_long(limit)
    parts: list[bytes] = []
    size, more = 0, True
    try:
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refused(400, "body", f"{size} bytes", "the connection was closed before the whole body had come")
            part, more = message.get("body", b""), message.get("more_body", False)
            if size + len(part) > limit:
                raise _too_long(limit)
            room.take(len(part))
            size += len(part)
            parts.append(part)
    finally:
        room.taken -= size
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_long(limit: int) -> Refused:
    return Refused(413, "body", f"more than {limit} bytes", "send it in several requests")


async def send_answer(send: Any, answer: Answer, form: str = JSON) -> None:
    """An answer in the form the request had."""
    kind, content = encoded(answer, form)
    await send_bytes(send, answer.status, kind.encode(), content)


async def send_bytes(send: Any, status: int, kind: bytes, content: bytes) -> None:
    """Any content."""
    headers = [*heads(status, kind), (b"content-length", b"%d" % len(content))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def heads(status: int, kind: bytes) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, but for its length."""
    more = {429: (b"retry-after", b"1"), 503: (b"retry-after", b"1"), 401: (b"www-authenticate", b"Bearer")}
    return [(b"content-type", kind), *([more[status]] if status in more else [])]
