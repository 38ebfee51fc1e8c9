"""The interface: paths, what may come in, and what goes out. It decides nothing about models; the journal and the service do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as Asked
from starlette.responses import Response
from starlette.routing import Route

from burkholder.errors import BurkholderError
from burkholder.serve import logs, wire
from burkholder.serve.answers import Answer, Refused, encoded, refusal
from burkholder.serve.bodies import Room, body_of, form_of, send_answer
from burkholder.serve.events import BYTES, JSON, Event
from burkholder.serve.guard import Tokens
from burkholder.serve.journal import Journal
from burkholder.serve.limits import Limits
from burkholder.serve.metrics import CONTENT, Metrics
from burkholder.serve.model import downloaded, servable
from burkholder.serve.openapi import description
from burkholder.serve.page import page
from burkholder.serve.watch import Watch

DEFAULT = "default"
Done = Callable[[Answer, str], None]
SAFE = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}


class Front:
    """Everything an endpoint needs. There is no journal before the log is replayed, nor when the service is about to stop."""

    def __init__(self, tokens: Tokens, limits: Limits) -> None:
        self.tokens, self.limits = tokens, limits
        self.metrics, self.watch = Metrics(), Watch()
        self.coming, self.uploads = Room(limits.queued_bytes), Room(limits.model)
        self.journal: Journal | None = None

    def open(self, journal: Journal) -> None:
        """The log is replayed: take requests."""
        self.journal = self.metrics.journal = journal

    def ready(self) -> Journal:
        """The journal, or 503."""
        if self.journal is None:
            raise Refused(503, "service", "not ready", "it is replaying its log, or stopping: try again in a moment")
        return self.journal

    def room(self) -> Journal:
        """The journal, if it can take one more request."""
        journal = self.ready()
        if journal.waiting >= self.limits.queued or journal.bytes >= self.limits.queued_bytes:
            raise Refused(429, "requests", journal.waiting, "so many are on their way to the disk: try again in a moment")
        return journal

    async def done(self, event: Event) -> Answer:
        """Have an event written and applied."""
        return await self.room().submit(event)


class Rounds:
    """predict, label or learn: read, admit, write, apply, answer."""

    def __init__(self, front: Front, verb: str, model: str = DEFAULT) -> None:
        self.front, self.verb, self.model = front, verb, model

    def ask(self, headers: dict[bytes, bytes], body: bytes, model: str, done: Done) -> None:
        """Have it done; `done` is called with the answer and its form, now, or when what was asked is on disk and applied."""
        began, form, front, verb = time.perf_counter(), JSON, self.front, self.verb

        def answered(answer: Answer) -> None:
            front.metrics.answered(verb, answer.status, began)
            done(answer, form)

        try:
            form = form_of(headers)
            journal = front.room()
            key = headers.get(b"idempotency-key", b"").decode("latin-1") if verb == "learn" else ""
            if len(key) > front.limits.name:
                raise Refused(413, "Idempotency-Key", key, f"keys have at most {front.limits.name} characters")
            event = Event(verb, model, form, body, key)
            request = wire.read(event)
            front.limits.admit(request)
            seen = journal.service.glance(event, request)
            if seen is None:
                journal.enter(event, request, answered)
                return
        except Exception as error:
            seen = refusal(error)
            if seen.status == 500:
                logs.say("fault", what=f"{verb} {model}: {type(error).__name__}: {error}")
        answered(seen)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        said: asyncio.Future[tuple[Answer, str]] = asyncio.get_running_loop().create_future()
        try:
            form_of(headers)
            self.front.room()
            body = await body_of(headers, receive, self.front.limits.body, self.front.coming)
        except Refused as error:
            self.front.metrics.answered(self.verb, error.problem.status, time.perf_counter())
            await send_answer(send, refusal(error))
            return
        model = scope.get("path_params", {}).get("model", self.model)
        self.ask(headers, body, model, lambda answer, form: None if said.done() else said.set_result((answer, form)))
        await send_answer(send, *await said)


class Guarded:
    """The door in front of every path."""

    def __init__(self, app: Any, tokens: Tokens) -> None:
        self.app, self.tokens = app, tokens

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            try:
                self.tokens.check(scope["method"], scope["path"], dict(scope["headers"]))
            except Refused as error:
                await send_answer(send, refusal(error))
                return
        await self.app(scope, receive, send)


def said(answer: Answer) -> Response:
    """An answer as Starlette sends one."""
    kind, content = encoded(answer, "json")
    return Response(content, answer.status, media_type=kind, headers={"cache-control": "no-store"})


class Doors:
    """Everything that is asked less often than rounds are played."""

    def __init__(self, front: Front) -> None:
        self.front = front

    def _model(self, asked: Asked) -> Any:
        return self.front.ready().service.model(asked.path_params.get("model", DEFAULT))

    async def health(self, asked: Asked) -> Response:
        return said(Answer(200, {"status": "alive"}))

    async def ready(self, asked: Asked) -> Response:
        journal = self.front.ready()
        if journal.failed is not None:
            raise Refused(503, "store", journal.failed, "the last write failed: make room on the disk")
        return said(Answer(200, {"status": "ready", "position": journal.service.position}))

    async def certificate(self, asked: Asked) -> Response:
        return said(Answer(200, self._model(asked).learner.certificate().to_dict()))

    async def model(self, asked: Asked) -> Response:
        found = self._model(asked)
        name = {"content-disposition": f'attachment; filename="{found.name}.bk"'}
        content, waiting = found.file()  # as it is between two rounds; what follows keeps nobody waiting
        return Response(await asyncio.to_thread(downloaded, content, waiting), media_type="application/octet-stream", headers=name)

    async def models(self, asked: Asked) -> Response:
        return said(Answer(200, [self.front.watch.brief(model) for model in self.front.ready().service.models.values()]))

    async def change(self, asked: Asked) -> Response:
        return await (self.create if asked.method == "PUT" else self.drop)(asked)

    async def create(self, asked: Asked) -> Response:
        journal, name = self.front.ready(), asked.path_params["model"]
        body = await body_of(dict(asked.scope["headers"]), asked.receive, self.front.limits.model, self.front.uploads)
        if len(name) > self.front.limits.name or not (name.isascii() and name.isidentifier()):
            raise Refused(422, "model", name, "a model's name is a word of letters a to z, digits and underscores")
        if len(journal.service.models) >= self.front.limits.models:
            raise Refused(429, "models", len(journal.service.models), "drop one first")
        await asyncio.to_thread(servable, body, name)  # refused here, it never comes to the log
        key = f"{asked.query_params.get('shadow_of', '')}\na model file, sha256 {sha256(body).hexdigest()}"
        return said(await self.front.done(Event("create", name, BYTES, body, key)))

    async def drop(self, asked: Asked) -> Response:
        self._model(asked)
        return said(await self.front.done(Event("drop", asked.path_params["model"], BYTES, b"")))

    async def compare(self, asked: Asked) -> Response:
        model = self._model(asked)
        comparison = self.front.ready().service.comparisons.get(model.name)
        if comparison is None:
            raise Refused(404, "model", model.name, "a shadow is compared with the model it follows; this one follows none")
        return said(Answer(200, {"model": model.shadow_of, "shadow": model.name, **comparison.to_dict()}))

    async def live(self, asked: Asked) -> Response:
        return said(Answer(200, self.front.watch.live(self.front.ready(), asked.query_params.get("model", DEFAULT))))

    async def metrics(self, asked: Asked) -> Response:
        return Response(self.front.metrics.text(), headers={"content-type": CONTENT.decode()})

    async def openapi(self, asked: Asked) -> Response:
        return said(Answer(200, description()))

    async def page(self, asked: Asked) -> Response:
        return Response(page(), media_type="text/html", headers=SAFE)


async def _refused(asked: Asked, error: Exception) -> Response:
    return said(refusal(error))


async def _nowhere(asked: Asked, error: Any) -> Response:
    answer = said(refusal(Refused(error.status_code, "path", asked.url.path, f"{error.detail}; see /openapi.json")))
    answer.headers.update(error.headers or {})  # which methods there are
    return answer


def application(front: Front) -> Any:
    """All of it, as an ASGI application."""
    doors = Doors(front)
    rounds = {verb: Rounds(front, verb) for verb in wire.KINDS}
    routes = [Route(f"{at}/{verb}", rounds[verb], methods=["POST"]) for at in ("", "/models/{model}") for verb in rounds]
    routes += [
        Route(f"{at}/{name}", getattr(doors, name)) for at in ("", "/models/{model}") for name in ("certificate", "model", "compare")
    ]
    routes += [Route(f"/{name}", getattr(doors, name)) for name in ("health", "ready", "models", "metrics", "live")]
    routes += [
        Route("/", doors.page),
        Route("/openapi.json", doors.openapi),
        Route("/models/{model}", doors.change, methods=["PUT", "DELETE"]),
    ]
    handlers: dict[Any, Any] = dict.fromkeys((Refused, BurkholderError, Exception), _refused) | {HTTPException: _nowhere}
    return Guarded(Starlette(routes=routes, exception_handlers=handlers), front.tokens)
