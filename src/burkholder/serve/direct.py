"""The short way through HTTP, for what is asked most: rounds of the default model.

A request to `/predict`, `/label` or `/learn` whose body has a known length, not a great one, is asked as soon as it is there, and
its answer is written when it is ready: no task, no scope, no routes. Whatever is unusual in any way goes the long way, through
Starlette. Both ways ask the same `Rounds`, so the answers are the same. On either way, who sends headers without end, or a request
too slowly, is told so and left.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sized
from functools import cache
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from burkholder.serve.answers import Answer, Refused, encoded, refusal
from burkholder.serve.app import Front, Rounds
from burkholder.serve.bodies import heads
from burkholder.serve.events import JSON
from burkholder.serve.wire import KINDS

PATIENCE = 30.0  # seconds for a request to come, and what it may take more:
SLOWEST = 10_000  # bytes a second
HEADERS = 1 << 16  # bytes of all headers of a request
SHORT = 1 << 16  # bytes of a body: every connection may have so many half here; longer ones share what room there is
OFFER = re.compile(rb"\r\nupgrade:", re.IGNORECASE)
BEGUN = re.compile(rb"\r(\n(\r|u(p(g(r(a(d(e)?)?)?)?)?)?)?)?\Z", re.IGNORECASE)  # an offer, or the end of headers, cut off
UNUSUAL = frozenset({b"expect", b"upgrade", b"transfer-encoding"})


class _Nobody:
    """Nobody waits for the parts of such a body."""

    @staticmethod
    def set() -> None: ...


class _Flow(FlowControl):
    """Who sends many requests at once is read no faster than answered."""

    def __init__(self, transport: Any, pipeline: Sized) -> None:
        super().__init__(transport)
        self.pipeline = pipeline  # requests that came whole while one before them has no answer yet

    def resume_reading(self) -> None:
        if not self.pipeline:
            super().resume_reading()


class Exchange:
    """One request and its answer, with what uvicorn's protocol asks of either."""

    message_event = _Nobody

    def __init__(self, rounds: Rounds, headers: dict[bytes, bytes], keep_alive: bool) -> None:
        self.rounds, self.headers, self.keep_alive = rounds, headers, keep_alive
        self.body: list[bytes] = []
        self.response_complete = self.disconnected = False


def direct(front: Front) -> type[HttpToolsProtocol]:
    """The protocol that uvicorn is to speak for this front."""
    short = {f"/{verb}".encode(): Rounds(front, verb) for verb in KINDS}
    limit = min(SHORT, front.limits.body)

    def allowed(url: bytes, headers: dict[bytes, bytes]) -> bool:
        try:
            front.tokens.check("POST", url.decode(), headers)
        except Refused:
            return False  # the long way says so, before it reads any body
        return True

    class Direct(HttpToolsProtocol):
        heading, size, late = True, 0, 0.0  # whether headers are to come, bytes of a request so far, and when it is too late for the rest
        left, begun = 0.0, b""  # bytes of its body to come, as its headers say; what of its headers waits for the next bytes

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.flow = _Flow(transport, self.pipeline)
            self.late = self.loop.time() + PATIENCE
            if len(self.connections) > front.limits.connections:
                self._leave(503, "connections", len(self.connections), "so many are open already: try again in a moment")

        def data_received(self, data: bytes) -> None:
            if not self.size:
                self.late = self.loop.time() + PATIENCE
            self.size += len(data)
            while data and not self.transport.is_closing():
                part, data = self._headers(data) if self.heading else self._body(data)
                super().data_received(part)
            if self.heading and self.size > HEADERS:
                self._leave(431, "headers", f"{self.size} bytes", f"send at most {HEADERS} bytes of them")

        def _headers(self, data: bytes) -> tuple[bytes, bytes]:
            """(headers, the rest), without offers to go on in another protocol: the parser would take the body for a part of that."""
            data, self.begun = self.begun + data, b""
            end = data.find(b"\r\n\r\n") + 4
            if end < 4:
                half = BEGUN.search(data)
                end = half.start() if half else len(data)
                data, self.begun = data[:end], data[end:]
            return OFFER.sub(b"\r\nx-offered:", data[:end]), data[end:]

        def _body(self, data: bytes) -> tuple[bytes, bytes]:
            if self.left == math.inf:
                end = data.find(b"\n") + 1 or len(data)
            else:
                end = int(min(self.left, len(data)))
                self.left -= end
            return data[:end], data[end:]

        def eof_received(self) -> bool:  # type: ignore[override]
            """Who has said everything may wait for the answer still: to what was asked last, if it came whole."""
            waits = self.cycle is not None and not self.cycle.response_complete and not self.size
            if waits:
                self.cycle.keep_alive = False
            return waits

        def look(self, now: float) -> None:
            """Now and then: leave who is too slow. Between two requests uvicorn's own patience counts."""
            if self.late and now > self.late + self.size / SLOWEST:
                self._leave(408, "request", f"{self.size} bytes", "it came too slowly")

        def _leave(self, status: int, argument: str, value: Any, remedy: str) -> None:
            if not self.transport.is_closing():
                kind, content = encoded(refusal(Refused(status, argument, value, remedy)), JSON)
                self.transport.write(_head(status, kind) + b"connection: close\r\ncontent-length: %d\r\n\r\n%s" % (len(content), content))
                self.transport.close()

        def on_headers_complete(self) -> None:
            self.heading = False
            lengths = [value for name, value in self.headers if name == b"content-length"]
            self.left = float(lengths[0]) if lengths else math.inf  # in chunks: the parser knows where they end, line by line
            rounds = short.get(self.url)
            idle = (self.cycle is None or self.cycle.response_complete) and not self.flow.write_paused
            if rounds is not None and idle and self.parser.get_method() == b"POST" and self.parser.get_http_version() == "1.1":
                headers = dict(self.headers)
                length = headers.get(b"content-length", b"")
                if length.isdigit() and int(length) <= limit and UNUSUAL.isdisjoint(headers) and allowed(self.url, headers):
                    self.cycle = Exchange(rounds, headers, self.parser.should_keep_alive())  # type: ignore[assignment]
                    return
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            exchange: Any = self.cycle
            if type(exchange) is Exchange:
                exchange.body.append(body)
            else:
                super().on_body(body)

        def on_message_complete(self) -> None:
            self.heading, self.size, self.late = True, 0, 0.0
            exchange: Any = self.cycle
            if type(exchange) is not Exchange:
                super().on_message_complete()
                return
            body = exchange.body[0] if len(exchange.body) == 1 else b"".join(exchange.body)
            rounds = exchange.rounds
            rounds.ask(exchange.headers, body, rounds.model, lambda answer, form: self._say(exchange, answer, form))

        def _say(self, exchange: Exchange, answer: Answer, form: str) -> None:
            """Write an answer, unless nobody is there to read it."""
            exchange.response_complete = True
            if exchange.disconnected or self.transport.is_closing():
                return
            kind, content = encoded(answer, form)
            last = b"" if exchange.keep_alive else b"connection: close\r\n"
            self.transport.write(b"%s%scontent-length: %d\r\n\r\n%s" % (_head(answer.status, kind), last, len(content), content))
            if not exchange.keep_alive:
                self.transport.close()
            self.on_response_complete()

    return Direct


@cache
def _head(status: int, kind: str) -> bytes:
    """The first lines of an answer."""
    lines = b"".join(b"%s: %s\r\n" % line for line in heads(status, kind.encode()))
    return b"HTTP/1.1 %d %s\r\n%s" % (status, HTTPStatus(status).phrase.encode(), lines)
