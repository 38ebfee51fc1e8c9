"""The process: open the store, listen, replay, serve, and stop in good order when asked to."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import msgspec
import uvicorn

from burkholder.errors import BadInput, MissingExtra
from burkholder.serve import logs
from burkholder.serve.app import DEFAULT, Front, application
from burkholder.serve.direct import direct
from burkholder.serve.events import BYTES, JSON, Event
from burkholder.serve.guard import Tokens, check_host
from burkholder.serve.journal import Journal, Rhythm, recovered
from burkholder.serve.limits import Limits
from burkholder.serve.model import downloaded, servable
from burkholder.serve.service import Service
from burkholder.serve.store import Store

SWITCH = 0.0005  # seconds a thread keeps the interpreter while the writer waits for it
GRACE = 10  # seconds for requests that are half here when the service is asked to stop


@dataclass
class Settings:
    """What one service is started with. `model` is the file that the first model is made of, `origin` says where from."""

    store: str
    model: bytes | None = None
    origin: str = ""
    host: str = "127.0.0.1"
    port: int = 8080
    tokens: Tokens = field(default_factory=Tokens)
    limits: Limits = field(default_factory=Limits)
    rhythm: Rhythm = field(default_factory=Rhythm)
    forget_after: float = 7 * 86400.0  # seconds
    server: str = "uvicorn"  # or granian


class Running:
    """A store, the front that answers, and what happens at its beginning and end."""

    def __init__(self, settings: Settings, store: Store | None = None) -> None:
        settings.limits.check()
        if not 0.0 < settings.forget_after < float("inf"):
            raise BadInput("forget-after", settings.forget_after, "give a positive number of seconds")
        self.settings = settings
        self.store = Store(settings.store) if store is None else store
        self.front = Front(settings.tokens, settings.limits)
        self.app = application(self.front)
        self.failure: Exception | None = None
        self._journal: Journal | None = None
        self._stopping, self._told = False, time.monotonic()

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Replay in the background, then serve; at the end write, answer, snapshot."""
        begun = asyncio.create_task(self._begin())
        try:
            yield
        finally:
            self._stopping, self.front.journal = True, None
            begun.cancel()
            await asyncio.gather(begun, return_exceptions=True)
            journal = self._journal
            if journal is not None:
                await journal.close()
            self.store.close()
            logs.say("stopped", position=journal.service.position if journal else None)

    async def _begin(self) -> None:
        try:
            service = await _to_its_end(recovered, self.store, self._replaying)
            journal = self._journal = Journal(self.store, service, self.settings.rhythm, logs.say, self._fail)
            await self._first(journal)
            await _to_its_end(_warm, service)
            gc.collect()
            gc.freeze()  # what is there now stays: looking through it again and again would hold up everyone
        except Exception as error:
            self._fail(error)
            return
        self.front.open(journal)
        logs.say("ready", position=service.position, models=list(service.models))
        await self._keep_time(journal)

    def _replaying(self, events: int) -> None:
        """Between two groups: say now and then how far it is, and end when the service is asked to."""
        if self._stopping:
            raise _Stopped
        if time.monotonic() - self._told > 1.0:
            self._told = time.monotonic()
            logs.say("replaying", events=events)

    def _fail(self, error: Exception) -> None:
        """Stop, and say why."""
        self.failure = error
        os.kill(os.getpid(), signal.SIGTERM)

    async def _first(self, journal: Journal) -> None:
        """The first model, if the store has none; a store that has one goes on with its own."""
        settings, known = self.settings, journal.service.models.get(DEFAULT)
        if known is not None:
            if settings.model is not None and known.origin != settings.origin:
                raise BadInput("store", settings.store, f"its model was made from {known.origin!r}; start it without a model, or elsewhere")
            return
        if settings.model is None:
            if not journal.service.models and not settings.tokens.admin:
                raise BadInput("store", settings.store, "it holds no model yet: start it with a saved model, or with --loss")
            return
        answer = await journal.submit(Event("create", DEFAULT, BYTES, settings.model, f"\n{settings.origin}"))
        if answer.status != 201:
            raise BadInput("model", settings.origin, answer.body.remedy)

    async def _keep_time(self, journal: Journal) -> None:
        """Once a second: look for the page, and forget what was waited for long enough."""
        while True:
            await asyncio.sleep(1.0)
            try:
                self.front.watch.look(journal)
            except Exception as error:  # a certificate that fails keeps nobody from being forgotten
                logs.say("fault", what=f"page: {type(error).__name__}: {error}")
            before = journal.clock.now() - self.settings.forget_after
            models = journal.service.models.values()
            if any(next(iter(model.waiting.values())).moment < before for model in models if model.waiting):
                await journal.submit(Event("forget", "", JSON, msgspec.json.encode(before)))


class _Stopped(Exception):
    """Asked to stop while the log was replayed."""


async def _to_its_end(work: Callable[..., Any], *given: Any) -> Any:
    """In a thread of its own; a stop waits for its end, since what it works on is closed then."""
    done = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.gather(done, return_exceptions=True)
        raise


def _warm(service: Service) -> None:
    """Compile what rounds need before the first one comes: they are played on copies, which are thrown away."""
    for model in service.models.values():
        for row in ({"warm": 1.0}, [1.0]):
            copy = servable(downloaded(*model.file()), model.name)
            try:
                copy.reveal(copy.play(row).id, 1.0)
                copy.learn_many([row, row], [1.0, 1.0])
            except BadInput:
                continue  # rows of another kind, or length


class _Server(uvicorn.Server):
    """uvicorn, with signals that are ours: a stop that was asked for is an exit with 0."""

    def capture_signals(self) -> Any:
        return nullcontext()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)  # ends the process, and says why, where the port is taken
        host, port, *_ = self.servers[0].sockets[0].getsockname()
        logs.say("listening", host=host, port=port)

    async def on_tick(self, counter: int) -> bool:
        if counter % 10 == 0:  # once a second
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                connection.look(now)  # type: ignore[union-attr]
        return await super().on_tick(counter)


class _Granian:
    """granian in uvicorn's place: HTTP/2, and parsing that is not Python's; every request goes the long way."""

    def __init__(self, running: Running) -> None:
        try:
            from granian.constants import Interfaces
            from granian.server.embed import Server
        except ModuleNotFoundError:
            raise MissingExtra("granian", "granian") from None
        host, port = running.settings.host, running.settings.port
        self._server = Server(running.app, host, port, interface=Interfaces.ASGINL, websockets=False, log_enabled=False)
        self._host, self._port = host, port

    async def serve(self) -> None:
        logs.say("listening", host=self._host, port=self._port)
        await self._server.serve()

    def handle_exit(self, number: int, frame: Any) -> None:
        self._server.stop()


def http_server(running: Running) -> Any:
    """What listens for it."""
    settings = running.settings
    if settings.server == "granian":
        return _Granian(running)
    if settings.server != "uvicorn":
        raise BadInput("server", settings.server, "there are uvicorn and granian")
    config = uvicorn.Config(
        running.app, host=settings.host, port=settings.port, lifespan="off", access_log=False, log_config=None,
        server_header=False, date_header=False, timeout_keep_alive=75, http=direct(running.front), ws="none", proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
    )  # fmt: skip
    return _Server(config)


async def _serve(running: Running) -> None:
    server, loop = http_server(running), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.handle_exit, number, None)
    async with running.life():
        await server.serve()
    if running.failure is not None:
        raise running.failure


def serve(settings: Settings) -> None:
    """Run until SIGTERM or Ctrl-C."""
    check_host(settings.host, settings.tokens)
    logs.take_over()
    sys.setswitchinterval(SWITCH)
    running = Running(settings)
    with asyncio.Runner(loop_factory=_loop()) as runner:
        runner.run(_serve(running))


def _loop() -> Any:
    """uvloop's, where it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
