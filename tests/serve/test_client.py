"""The client: what it asks is done once, however often it must ask; and it says what the service says."""

from __future__ import annotations

import asyncio

import httpx
import numpy as np
import pytest

import burkholder as bk
from burkholder.storage import unpack
from serving import LEARNERS, served

ADMIN = "a" * 20


class Losing(httpx.AsyncBaseTransport):
    """A way on which every other answer is lost after the request was done."""

    def __init__(self, inner):
        self.inner, self.count = inner, 0

    async def handle_async_request(self, request):
        answer = await self.inner.handle_async_request(request)
        self.count += 1
        if self.count % 2:
            raise httpx.ReadError("lost")
        return answer


def with_client(folder, work, losing=False, learner="auto", **options):
    """Do the work with a client of a service."""

    async def whole():
        from burkholder.serve.guard import Tokens

        async with served(folder, LEARNERS[learner](), tokens=Tokens(b"", ADMIN.encode())) as http:
            way = httpx.ASGITransport(http.running.app)
            async with bk.AsyncClient("http://localhost", transport=Losing(way) if losing else way, **options) as client:
                return await work(client, http.running.front.journal.service.models["default"].learner)

    return asyncio.run(whole())


def test_answers_lost_on_the_way_are_asked_for_again_and_nothing_is_done_twice(tmp_path, monkeypatch):
    monkeypatch.setattr("burkholder.client.calls.FIRST_PAUSE", 0.0)

    async def work(client, learner):
        first = await client.predict({"a": 1.0})
        await client.label(first.id, 1)
        answers = await client.predict_many([{"a": 2.0}, {"a": 3.0, "b": None}])
        await client.label_many([answer.id for answer in answers], [0, 1])
        predictions = await client.learn([{"a": 1.0}, {"a": np.float64(2.0)}], np.array([1.0, 0.0]))
        assert len(predictions) == 2 and (await client.certificate())["rounds"] == 5
        return learner.rounds, learner.pending

    assert with_client(tmp_path, work, losing=True) == (5, 0)


def test_refusals_are_the_librarys_own(tmp_path):
    async def work(client, learner):
        answer = await client.predict([1.0, 2.0])
        with pytest.raises(bk.BadInput, match="y = "):
            await client.label(answer.id, 7)
        with pytest.raises(bk.ServiceRefused, match="404") as unknown:
            await client.label("nobody", 1)
        await client.label(answer.id, 1)
        with pytest.raises(bk.BadInput, match="2 features"):
            await client.learn([[1.0]], [1])
        with pytest.raises(bk.ServiceRefused, match="409"):
            await client.label(answer.id, 0)
        return unknown.value

    error = with_client(tmp_path, work)
    assert (error.status, error.argument) == (404, "id") and error.remedy


def test_rows_of_every_kind_reach_the_learner(tmp_path):
    async def sparse(client, learner):
        await client.learn([(np.array([0, 70]), [1.0, 2.0])], [1])
        return learner.rows.kind

    async def vectors(client, learner):
        await client.learn(np.eye(3), [1, 0, 1])
        return learner.rows.kind

    assert with_client(tmp_path / "a", sparse) == "sparse" and with_client(tmp_path / "b", vectors) == "vector"


def test_models_go_down_and_up(tmp_path):
    async def work(client, learner):
        await client.learn([[1.0, 0.5]] * 4, [1, 1, 0, 1])
        model = await client.download()
        for _ in range(2):  # asked for again, it is there already
            assert await client.upload("second", model) == {"model": "second", "shadow_of": None, "rounds": 4}
        bk.save(bk.Auto(loss="logistic"), tmp_path / "shade.bk")
        await client.upload("shade", tmp_path / "shade.bk", shadow_of="default")
        return unpack(model).predict([1.0, 0.5]), learner.predict([1.0, 0.5])

    one, other = with_client(tmp_path, work, token=ADMIN)
    assert one == other


def test_a_service_that_is_not_there_is_said_so(monkeypatch):
    monkeypatch.setattr("burkholder.client.calls.FIRST_PAUSE", 0.0)
    with bk.Client("http://127.0.0.1:9", retries=1) as client, pytest.raises(bk.ServiceRefused, match="2 attempts"):
        client.predict([1.0])
    with pytest.raises(bk.BadInput, match="retries"):
        bk.Client("http://localhost", retries=-1)


@pytest.mark.parametrize("x", [[float("nan"), 1.0], [1.0, float("inf")], {"a": float("nan")}, {"a": object()}])
def test_what_cannot_be_sent_is_refused_before_it_is(tmp_path, x):
    async def work(client, learner):
        for call in (client.predict(x), client.predict_many([x]), client.learn([x], [1])):
            with pytest.raises(bk.BadInput, match="cannot be sent"):
                await call
        with pytest.raises(bk.BadInput, match="y = "):
            await client.label("a", float("nan"))
        return learner.rounds, learner.pending

    assert with_client(tmp_path, work) == (0, 0)


def test_a_list_that_is_refused_whole_says_why(tmp_path):
    async def work(client, learner):
        await client.learn([[1.0, 2.0]], [1])
        with pytest.raises(bk.BadInput, match="2 features"):
            await client.predict_many([[1.0], [2.0]])
        with pytest.raises(bk.ServiceRefused, match="404"):
            await client.label_many(["a", "b"], [1, 0])

    with_client(tmp_path, work)
