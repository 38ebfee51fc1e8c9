"""The client: predict, label, learn, from a program. `Client` waits for the answers, `AsyncClient` awaits them (`calls`)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from burkholder.client.calls import Answered, Calls, Pause, Steps
from burkholder.errors import MissingExtra

try:
    import httpx
except ImportError:  # pragma: no cover
    raise MissingExtra("httpx", "client") from None


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"authorization": f"Bearer {token}"}


class Client:
    """A service at a URL. `model` is one of its models, if not the default; `retries` how often to ask again.

    What else is given goes to httpx: timeout, transport, verify, …

    >>> client = Client("http://127.0.0.1:8080", retries=2)  # connects with the first call
    >>> client.close()
    """

    def __init__(self, url: str, token: str | None = None, *, model: str | None = None, retries: int = 5, **http: Any) -> None:
        self._calls = Calls(model, retries)
        self._http = httpx.Client(base_url=url, headers=_headers(token), **{"timeout": 30.0, **http})

    def _run(self, steps: Steps) -> Any:
        sent: Any = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration as end:
                return end.value
            sent = None
            if isinstance(step, Pause):
                time.sleep(step.seconds)
            else:
                try:
                    sent = self._http.request(step.method, step.path, **step.content)
                except httpx.TransportError:
                    pass  # it may have been done, or not: asking again is safe

    def predict(self, x: Any, id: str | None = None) -> Answered:
        """The prediction for a row; it waits for its label under its id."""
        return self._run(self._calls.predict(x, id))

    def predict_many(self, rows: Any, ids: Sequence[str] | None = None) -> list[Answered]:
        """The predictions for many rows. An error is about the first that was refused; give ids to label the others all the same."""
        return self._run(self._calls.predict_many(rows, ids))

    def label(self, id: str, y: Any, weight: float = 1.0) -> None:
        """The label of a prediction."""
        self._run(self._calls.label(id, y, weight))

    def label_many(self, ids: Sequence[str], labels: Any, weights: Any = None) -> None:
        """The labels of many predictions; an error is about the first that was refused, the others are learned."""
        self._run(self._calls.label_many(ids, labels, weights))

    def learn(self, rows: Any, labels: Any, weights: Any = None, key: str | None = None) -> list[Any]:
        """Rows with labels, all or none; the predictions made before each was learned."""
        return self._run(self._calls.learn(rows, labels, weights, key))

    def certificate(self) -> dict[str, Any]:
        """What is guaranteed now."""
        return self._run(self._calls.look("certificate"))

    def compare(self) -> dict[str, Any]:
        """This shadow beside the model it follows."""
        return self._run(self._calls.look("compare"))

    def download(self) -> bytes:
        """The model as a file's bytes."""
        return self._run(self._calls.download())

    def upload(self, name: str, model: Any, shadow_of: str | None = None) -> dict[str, Any]:
        """Add a model: the path of a saved one, or its bytes. It takes the admin token."""
        return self._run(self._calls.upload(name, model, shadow_of))

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


class AsyncClient:
    """`Client`, with every call to be awaited.

    >>> import asyncio
    >>> client = AsyncClient("http://127.0.0.1:8080")
    >>> asyncio.run(client.close())
    """

    def __init__(self, url: str, token: str | None = None, *, model: str | None = None, retries: int = 5, **http: Any) -> None:
        self._calls = Calls(model, retries)
        self._http = httpx.AsyncClient(base_url=url, headers=_headers(token), **{"timeout": 30.0, **http})

    async def _run(self, steps: Steps) -> Any:
        import asyncio

        sent: Any = None
        while True:
            try:
                step = steps.send(sent)
            except StopIteration as end:
                return end.value
            sent = None
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
            else:
                try:
                    sent = await self._http.request(step.method, step.path, **step.content)
                except httpx.TransportError:
                    pass  # it may have been done, or not: asking again is safe

    async def predict(self, x: Any, id: str | None = None) -> Answered:
        """The prediction for a row; it waits for its label under its id."""
        return await self._run(self._calls.predict(x, id))

    async def predict_many(self, rows: Any, ids: Sequence[str] | None = None) -> list[Answered]:
        """The predictions for many rows. An error is about the first that was refused; give ids to label the others all the same."""
        return await self._run(self._calls.predict_many(rows, ids))

    async def label(self, id: str, y: Any, weight: float = 1.0) -> None:
        """The label of a prediction."""
        await self._run(self._calls.label(id, y, weight))

    async def label_many(self, ids: Sequence[str], labels: Any, weights: Any = None) -> None:
        """The labels of many predictions; an error is about the first that was refused, the others are learned."""
        await self._run(self._calls.label_many(ids, labels, weights))

    async def learn(self, rows: Any, labels: Any, weights: Any = None, key: str | None = None) -> list[Any]:
        """Rows with labels, all or none; the predictions made before each was learned."""
        return await self._run(self._calls.learn(rows, labels, weights, key))

    async def certificate(self) -> dict[str, Any]:
        """What is guaranteed now."""
        return await self._run(self._calls.look("certificate"))

    async def compare(self) -> dict[str, Any]:
        """This shadow beside the model it follows."""
        return await self._run(self._calls.look("compare"))

    async def download(self) -> bytes:
        """The model as a file's bytes."""
        return await self._run(self._calls.download())

    async def upload(self, name: str, model: Any, shadow_of: str | None = None) -> dict[str, Any]:
        """Add a model: the path of a saved one, or its bytes. It takes the admin token."""
        return await self._run(self._calls.upload(name, model, shadow_of))

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *reason: object) -> None:
        await self.close()
