"""A service without a network: its log on disk, its state, and a way to ask it over HTTP inside this process."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

import burkholder as bk
from burkholder.serve.events import JSON, Event, Group, sealed
from burkholder.serve.journal import recovered
from burkholder.serve.server import Running, Settings, http_server
from burkholder.serve.store import Store
from burkholder.storage import pack

LEARNERS = {
    "l2": lambda: bk.Learner("square-function", loss="logistic", geometry="l2", intercept=True, max_pending=5),
    "adagrad": lambda: bk.Learner("adagrad", loss="absolute", radius=2.0, bound=5.0, max_pending=5),
    "auto": lambda: bk.Auto(loss="logistic", max_pending=5),
    "auto squared": lambda: bk.Auto(loss="squared", max_pending=5),
    "experts": lambda: bk.Experts(loss="absolute", max_pending=5),
}

# learners whose rows or labels are of other kinds: a row, and labels of three rounds
OTHERS = {
    "classes": (lambda: bk.AutoMulticlass(), {"a": 1.0, "b": 0.5}, ["red", "blue", "red"]),
    "intervals": (lambda: bk.Intervals(), {"a": 1.0, "b": 0.5}, [1.0, 2.0, 1.5]),
    "quantiles": (lambda: bk.Quantiles(), {"a": 1.0, "b": 0.5}, [1.0, 2.0, 1.5]),
    "two quantiles": (lambda: bk.Quantiles(levels=[0.1, 0.9]), {"a": 1.0, "b": 0.5}, [1.0, 2.0, 1.5]),
    "sets": (lambda: bk.PredictionSets(), {"red": 0.75, "blue": 0.25}, ["red", "blue", "red"]),
    "probabilities": (lambda: bk.Probabilities(), {"p": 0.75, "q": 0.25}, [1, 0, 1]),
    "experts": (lambda: bk.Experts(loss="absolute"), {"p": 0.75, "q": 0.25}, [1.0, 0.0, 1.0]),
    "keyed": (lambda: bk.Keyed(bk.Auto(loss="squared")), {"key": "u", "a": 0.25}, [1.0, 0.0, 1.0]),
}


def asked(verb: str, body: Any, model: str = "default", key: str = "") -> Event:
    """An event with a JSON body."""
    return Event(verb, model, JSON, json.dumps(body).encode(), key)


def created(learner: Any, name: str = "default", shadow_of: str = "") -> Event:
    """The event that adds a model."""
    return Event("create", name, "bytes", pack(learner), shadow_of)


class Logged:
    """Events written to a store and applied, one group at a time, as the journal does it."""

    def __init__(self, folder: Any, **ways: Any) -> None:
        self.folder, self.ways = folder, ways
        self.store = Store(folder, **ways)
        self.service = recovered(self.store)

    def group(self, *events: Event, moment: float = 0.0) -> list[Any]:
        """Write and apply; the answers."""
        group = Group(moment, list(events))
        self.store.append(self.service.position + 1, sealed(group))
        return self.service.apply(group)

    def one(self, event: Event, moment: float = 0.0) -> Any:
        return self.group(event, moment=moment)[0]

    def tidy(self, snapshot: bool = True) -> None:
        """What is over goes to the store; with a snapshot, the log is cut."""
        rows = self.service.ended.rows()
        self.store.write(rows, self.service.snapshot() if snapshot else None)
        self.service.ended.stored(rows)

    def restarted(self) -> Logged:
        """What a new process finds."""
        self.store.close()
        return Logged(self.folder, **self.ways)

    def bits(self) -> list[bytes]:
        """Everything there is, to compare."""
        return self.service.snapshot().parts


@asynccontextmanager
async def served(folder: Any, learner: Any = None, store: Store | None = None, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A running service, asked over HTTP without a socket."""
    content = None if learner is None else pack(learner)
    running = Running(Settings(str(folder), content, "test", **settings), store)
    async with running.life():
        transport = httpx.ASGITransport(running.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            while (await http.get("/ready")).status_code != 200:
                if running.failure is not None:
                    raise running.failure
                await asyncio.sleep(0.005)
            http.running = running  # type: ignore[attr-defined]
            yield http


def listening(folder: Any, learner: Any, **settings: Any) -> str:
    """A service on a port of this machine, in a thread that ends with the process; its URL."""
    running = Running(Settings(str(folder), pack(learner), "test", port=0, **settings))
    server = http_server(running)

    async def whole() -> None:
        async with running.life():
            await server.serve()

    threading.Thread(target=lambda: asyncio.run(whole()), daemon=True).start()
    while not (server.started and running.front.journal):
        time.sleep(0.01)
    return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
