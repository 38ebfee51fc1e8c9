"""The short way through HTTP, for what is asked most: rounds of the default model.

A request to `/predict`, `/label` or `/learn` whose body has a known length is asked as soon as it is there, and its answer is written
when it is ready: no task, no scope, no routes. Whatever is unusual in any way goes the long way, through Starlette. Both ways ask
the same `Rounds`, so the answers are the same.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from burkholder.serve.answers import Answer, Refused, encoded, refusal
from burkholder.serve.app import Front, Rounds
from burkholder.serve.bodies import heads
from burkholder.serve.events import JSON
from burkholder.serve.wire import KINDS

UNUSUAL = frozenset({b"expect", b"upgrade", b"transfer-encoding"})


class _Nobody:
    """Nobody waits for the parts of such a body."""

    @staticmethod
    def set() -> None: ...


class Exchange:
    """One request and its answer, with what uvicorn's protocol asks of either."""

    message_event = _Nobody

    def __init__(self, rounds: Rounds, path: str, headers: dict[bytes, bytes], keep_alive: bool) -> None:
        self.rounds, self.path, self.headers, self.keep_alive = rounds, path, headers, keep_alive
        self.body: list[bytes] = []
        self.response_complete = self.disconnected = False


def direct(front: Front) -> type[HttpToolsProtocol]:
    """The protocol that uvicorn is to speak for this front."""
    short = {f"/{verb}".encode(): Rounds(front, verb) for verb in KINDS}
    limit = front.limits.body

    class Direct(HttpToolsProtocol):
        def on_headers_complete(self) -> None:
            rounds = short.get(self.url)
            idle = self.cycle is None or self.cycle.response_complete
            if rounds is not None and idle and self.parser.get_method() == b"POST" and self.parser.get_http_version() == "1.1":
                headers = dict(self.headers)
                length = headers.get(b"content-length", b"")
                if length.isdigit() and int(length) <= limit and UNUSUAL.isdisjoint(headers):
                    self.cycle = Exchange(rounds, self.url.decode(), headers, self.parser.should_keep_alive())  # type: ignore[assignment]
                    return
            super().on_headers_complete()

        def on_body(self, body: bytes) -> None:
            exchange: Any = self.cycle
            if type(exchange) is Exchange:
                exchange.body.append(body)
            else:
                super().on_body(body)

        def on_message_complete(self) -> None:
            exchange: Any = self.cycle
            if type(exchange) is not Exchange:
                super().on_message_complete()
                return
            body = exchange.body[0] if len(exchange.body) == 1 else b"".join(exchange.body)
            try:
                front.tokens.check("POST", exchange.path, exchange.headers)
            except Refused as error:
                self._say(exchange, refusal(error), JSON)
                return
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
