"""The interface: forms, statuses, limits, tokens; nothing that comes in makes it fail."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import burkholder as bk
from burkholder.errors import BadInput
from burkholder.serve import arrow
from burkholder.serve.guard import Tokens, check_host, token_in
from burkholder.serve.journal import Rhythm
from burkholder.serve.limits import Limits
from burkholder.serve.page import page
from burkholder.serve.store import Snapshot, Store, StoreFailed, connection
from burkholder.storage import pack
from serving import LEARNERS, served

ARROW = {"content-type": "application/vnd.apache.arrow.stream"}
LINES = {"content-type": "application/x-ndjson"}
USER, ADMIN = "u" * 20, "a" * 20


def run(folder, work, learner="l2", **settings):
    """Do the work with a service; its result."""

    async def whole():
        async with served(folder, None if learner is None else LEARNERS[learner](), **settings) as http:
            return await work(http)

    return asyncio.run(whole())


# --- forms --------------------------------------------------------------------------------------------------------
def test_json_lists_lines_and_arrow_are_the_same_rounds(tmp_path):
    X = np.arange(8.0).reshape(4, 2) / 10.0
    ids = ["a", "b", "c", "d"]
    rows = [{"x": x.tolist(), "id": id} for x, id in zip(X, ids)]
    labels = [{"id": id, "y": k % 2} for k, id in enumerate(ids)]
    matrix = pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 2)

    async def singly(http):
        answers = [(await http.post("/predict", json=row)).json() for row in rows]
        for label in labels:
            assert (await http.post("/label", json=label)).json() == {"id": label["id"], "learned": True}
        return answers, (await http.get("/certificate")).json()

    async def listed(http):
        answers = (await http.post("/predict", json=rows)).json()
        assert (await http.post("/label", json=labels)).status_code == 200
        return answers, (await http.get("/certificate")).json()

    async def in_lines(http):
        answer = await http.post("/predict", content="\n".join(map(json.dumps, rows)), headers=LINES)
        assert answer.headers["content-type"] == LINES["content-type"]
        assert (await http.post("/label", content="\n".join(map(json.dumps, labels)), headers=LINES)).status_code == 200
        return [json.loads(line) for line in answer.text.splitlines()], (await http.get("/certificate")).json()

    async def in_arrow(http):
        answer = await http.post("/predict", content=arrow.written({"x": matrix, "id": ids}), headers=ARROW)
        table = pa.ipc.open_stream(answer.content).read_all().to_pylist()
        told = await http.post("/label", content=arrow.written({"id": ids, "y": [0, 1, 0, 1]}), headers=ARROW)
        assert pa.ipc.open_stream(told.content).read_all()["status"].to_pylist() == [200] * 4
        return [{key: row[key] for key in ("id", "prediction", "probability")} for row in table], (await http.get("/certificate")).json()

    found = [run(tmp_path / work.__name__, work) for work in (singly, listed, in_lines, in_arrow)]
    assert found[0] == found[1] == found[2] == found[3]
    assert found[0][1]["rounds"] == 4


def test_named_columns_of_arrow_are_named_features(tmp_path):
    columns = {"age": [1.0, 2.0], "city": ["Bonn", None], "y": [1.0, 0.0]}
    rows = [{"x": {"age": 1.0, "city": "Bonn"}, "y": 1.0}, {"x": {"age": 2.0, "city": None}, "y": 0.0}]

    async def in_arrow(http):
        return (
            pa.ipc.open_stream((await http.post("/learn", content=arrow.written(columns), headers=ARROW)).content)
            .read_all()["prediction"]
            .to_pylist()
        )

    async def in_json(http):
        return (await http.post("/learn", json=rows)).json()["predictions"]

    assert run(tmp_path / "a", in_arrow, "auto") == run(tmp_path / "b", in_json, "auto")


def test_predictions_come_with_probabilities_where_the_loss_has_odds(tmp_path):
    async def work(http):
        await http.post("/learn", json=[{"x": [1.0], "y": 1}] * 3)
        return (await http.post("/predict", json={"x": [1.0]})).json()

    answer = run(tmp_path / "a", work, "auto")
    assert answer["probability"] == pytest.approx(1.0 / (1.0 + np.exp(-answer["prediction"]))) and answer["probability"] > 0.5
    assert "probability" not in run(tmp_path / "b", work, "auto squared")


# --- what is refused ----------------------------------------------------------------------------------------------
LIMITS = Limits(body=2000, batch=3, features=4, name=10)


REFUSED = [
    ("/predict", b"x" * 2001, {}, 413),
    ("/predict", json.dumps([{"x": [1.0]}] * 4).encode(), {}, 413),
    ("/predict", json.dumps({"x": [1.0] * 5}).encode(), {}, 413),
    ("/predict", json.dumps({"x": {"n" * 11: 1.0}}).encode(), {}, 413),
    ("/predict", json.dumps({"x": {"n": "t" * 11}}).encode(), {}, 413),
    ("/predict", json.dumps({"x": [1.0], "id": "i" * 11}).encode(), {}, 413),
    ("/label", json.dumps({"id": "a", "y": "l" * 11}).encode(), {}, 413),
    ("/learn", json.dumps([]).encode(), {"idempotency-key": "k" * 11}, 413),
    ("/predict", b"{", {}, 422),
    ("/predict", b"", {}, 422),
    ("/predict", b"[" * 900, {}, 422),
    ("/predict", b'{"x": [1e999]}', {}, 422),
    ("/predict", b'{"x": [NaN]}', {}, 422),
    ("/predict", b'{"x": {"a": {"b": 1}}}', {}, 422),
    ("/predict", b'{"x": [1], "more": 1}', {}, 422),
    ("/predict", b'{"x": {"indices": [0.5], "values": [1]}}', {}, 422),
    ("/predict", b'{"x": {"indices": [1e300], "values": [1]}}', {}, 422),
    ("/predict", b'{"x": [1], "id": 1' + b"0" * 400 + b"}", {}, 413),
    ("/predict", b'{"x": [1], "id": "\\ud800"}', {}, 422),
    ("/label", b'{"id": "a"}', {}, 422),
    ("/predict", b"\xff\xfe", {}, 422),
    ("/predict", b"rubbish", ARROW, 422),
    ("/predict", b"{}", {"content-type": "text/plain"}, 415),
    ("/predict", b"{}", {"content-encoding": "gzip"}, 415),
    ("/models/none/predict", b'{"x": [1]}', {}, 404),
    ("/nowhere", b"{}", {}, 404),
]


@pytest.mark.parametrize(("path", "body", "headers", "status"), REFUSED)
def test_what_is_too_much_or_malformed_is_refused_with_a_remedy_before_the_log(tmp_path, path, body, headers, status):
    async def work(http):
        before = http.running.front.journal.service.position
        answer = await http.post(path, content=body, headers={"content-type": "application/json", **headers})
        return answer, http.running.front.journal.service.position - before

    answer, written = run(tmp_path, work, limits=LIMITS)
    assert (answer.status_code, written) == (status, 0)
    assert answer.json()["remedy"] and answer.json()["argument"]


def test_an_arrow_stream_that_would_unpack_to_more_is_refused():
    table = pa.table({"x": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(20_000)), 2)})
    for packing in ("lz4", "zstd"):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=packing)) as stream:
            stream.write_table(table)
        with pytest.raises(BadInput, match="uncompressed"):
            arrow.read("predict", sink.getvalue().to_pybytes())
    nothing = pa.record_batch([pa.nulls(arrow.MOST + 1)], ["a"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, nothing.schema) as stream:
        stream.write_batch(nothing)
    with pytest.raises(BadInput, match="at most"):
        arrow.read("predict", sink.getvalue().to_pybytes())


GOOD = arrow.written({"x": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(6.0)), 2), "id": ["a", "b", "c"]})


@given(
    st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), min_size=1, max_size=8),
    st.sampled_from(["predict", "label", "learn"]),
)
def test_spoiled_arrow_streams_are_read_or_refused(changes, verb):
    spoiled = bytearray(GOOD)
    for place, byte in changes:
        spoiled[place] = byte
    try:
        assert arrow.read(verb, bytes(spoiled)).size <= arrow.MOST
    except BadInput as error:
        assert error.remedy


def test_too_much_on_its_way_is_429(tmp_path):
    async def work(http):
        answers = await asyncio.gather(*(http.post("/predict", json={"x": [1.0]}) for _ in range(4)))
        return sorted(answer.status_code for answer in answers), answers[-1].headers.get("retry-after")

    statuses, again = run(tmp_path, work, limits=Limits(queued=2))
    assert statuses == [200, 200, 429, 429] and again == "1"


def test_bodies_that_are_half_here_have_room_for_so_many_bytes_together(tmp_path):
    async def work(http):
        gate = asyncio.Event()

        async def slowly():
            yield b"x" * 600
            await gate.wait()
            yield b"x" * 600

        first = asyncio.create_task(http.post("/predict", content=slowly()))
        await asyncio.sleep(0.05)
        refused = await http.post("/predict", content=b"x" * 600)
        short = await http.post("/predict", json={"x": [1.0]})
        gate.set()
        whole = await first
        return [answer.status_code for answer in (refused, short, whole)], http.running.front.coming.taken

    statuses, left = run(tmp_path, work, limits=Limits(queued_bytes=1000))
    assert statuses == [429, 200, 429] and left == 0


# --- the disk -----------------------------------------------------------------------------------------------------
class Refusing:
    """A way to the disk that can be made to fail, as a full one does."""

    full = False

    def __init__(self, path):
        self.way = connection(path)

    def execute(self, statement, *rest):
        if Refusing.full and statement.startswith(("INSERT", "BEGIN")):
            raise sqlite3.OperationalError("database or disk is full")
        return self.way.execute(statement, *rest)

    def __getattr__(self, name):
        return getattr(self.way, name)


def test_a_full_disk_is_503_and_nothing_happened_and_then_it_goes_on(tmp_path):
    async def work(http):
        service = http.running.front.journal.service
        await http.post("/predict", json={"x": [1.0, 2.0], "id": "a"})
        before = service.snapshot()
        Refusing.full = True
        try:
            refused = [
                await http.post("/label", json={"id": "a", "y": 1}),
                await http.post("/learn", json=[{"x": [1.0, 2.0], "y": 1}]),
                await http.get("/ready"),
            ]
            assert [answer.status_code for answer in refused] == [503] * 3
            assert service.snapshot() == before
        finally:
            Refusing.full = False
        assert (await http.post("/label", json={"id": "a", "y": 1})).status_code == 200
        assert (await http.get("/ready")).status_code == 200
        return service.models["default"].learner.rounds

    assert run(tmp_path, work, store=Store(tmp_path, Refusing)) == 1


class Slow(Refusing):
    """A way to a disk that takes its time over every write."""

    writes = 0

    def execute(self, statement, *rest):
        if statement.startswith(("INSERT", "BEGIN")):
            Slow.writes += 1
            time.sleep(0.2)
        return super().execute(statement, *rest)


def test_on_a_slow_disk_many_share_a_write_and_nobody_else_waits(tmp_path):
    async def work(http):
        before = Slow.writes
        sent = asyncio.gather(*(http.post("/learn", json=[{"x": [1.0, k], "y": 1}]) for k in range(40)))
        await asyncio.sleep(0.1)
        assert (await http.get("/health")).status_code == 200 and not sent.done()  # reading goes on meanwhile
        assert [answer.status_code for answer in await sent] == [200] * 40
        return Slow.writes - before

    assert run(tmp_path, work, store=Store(tmp_path, Slow)) <= 3


def test_a_clock_that_jumps_back_forgets_nothing_early_and_nothing_never(tmp_path, monkeypatch):
    real = time.time

    async def first(http):
        await http.post("/predict", json={"x": [1.0], "id": "a"})
        return http.running.front.journal.service.moment

    written = run(tmp_path, first)
    monkeypatch.setattr(time, "time", lambda: real() - 1e6)

    async def second(http):
        journal = http.running.front.journal
        assert journal.clock.now() >= written
        assert (await http.post("/label", json={"id": "a", "y": 1})).status_code == 200
        await http.post("/predict", json={"x": [1.0], "id": "b"})
        await asyncio.sleep(1.3)
        return (await http.post("/label", json={"id": "b", "y": 1})).status_code

    assert run(tmp_path, second, None, forget_after=0.05) == 410


def test_a_disk_that_cannot_be_read_stops_the_service_and_the_next_one_has_done_it(tmp_path, monkeypatch):
    stopped = []
    monkeypatch.setattr("burkholder.serve.server.os.kill", lambda pid, number: stopped.append(number))

    async def broken(http):
        journal = http.running.front.journal
        await http.post("/predict", json={"x": [1.0, 2.0], "id": "a"})
        find, journal.service.ended.find = journal.service.ended.find, unreadable
        told = await http.post("/predict", json={"x": [1.0, 2.0], "id": "b"})
        looked = await http.post("/label", json={"id": "c", "y": 1})
        journal.service.ended.find = find
        after = await http.post("/label", json={"id": "a", "y": 1})  # who knows what is in memory now
        return [answer.status_code for answer in (told, looked, after)]

    def unreadable(model, ids, position):
        raise StoreFailed("disk I/O error")

    async def mended(http):
        told = await http.post("/predict", json={"x": [1.0, 2.0], "id": "b"})
        assert (await http.post("/label", json={"id": "a", "y": 1})).json() == {"id": "a", "learned": True}
        return told.status_code, http.running.front.journal.service.models["default"].learner.rounds

    assert run(tmp_path, broken) == [503, 503, 503] and len(stopped) == 1
    assert run(tmp_path, mended, None) == (200, 1)


def test_a_log_that_was_never_cut_is_cut_by_the_next_life(tmp_path):
    async def some(http):
        for k in range(3):
            await http.post("/learn", json=[{"x": [1.0, k], "y": 1}])
        service, store = http.running.front.journal.service, http.running.store
        service.snapshot = lambda: Snapshot(service.position, [])  # killed, it would write none
        store.write = lambda closed, snapshot: None
        return store.snapshot().seq

    async def more(http):
        for k in range(2):
            await http.post("/learn", json=[{"x": [2.0, k], "y": 1}])
        await asyncio.sleep(0.05)
        await http.post("/learn", json=[{"x": [3.0, 1.0], "y": 1}])
        return http.running.store.snapshot().seq

    assert run(tmp_path, some, rhythm=Rhythm(events=5)) == 0
    assert run(tmp_path, more, None, rhythm=Rhythm(events=5)) >= 5


def test_a_folder_of_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    tmp_path.chmod(0o755)
    with pytest.raises(StoreFailed, match="folder of its own"):
        Store(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreFailed, match="cannot be used"):
        Store(tmp_path / "file")
    assert tmp_path.stat().st_mode & 0o777 == 0o755


# --- who may come in ----------------------------------------------------------------------------------------------
def test_tokens(tmp_path):
    async def work(http):
        def sent(token):
            return {"headers": {"authorization": f"Bearer {token}"}}

        row, model = {"x": [1.0]}, pack(bk.Auto(loss="logistic"))
        return [
            (await http.post("/predict", json=row)).status_code,
            (await http.post("/predict", json=row, **sent("x" * 20))).status_code,
            (await http.post("/predict", json=row, **sent(USER))).status_code,
            (await http.get("/certificate")).status_code,
            (await http.get("/health")).status_code,
            (await http.get("/")).status_code,
            (await http.put("/models/other", content=model, **sent(USER))).status_code,
            (await http.put("/models/other", content=model, **sent(ADMIN))).status_code,
            (await http.put("/models/bad", content=b"rubbish", **sent(ADMIN))).status_code,
            (await http.put("/models/no-word", content=model, **sent(ADMIN))).status_code,
            (await http.put("/models/modèle", content=model, **sent(ADMIN))).status_code,
            sorted((await http.patch("/models/other", **sent(ADMIN))).headers["allow"].split(", ")),
            (await http.post("/models/other/predict", json=row, **sent(USER))).status_code,
            (await http.delete("/models/other", **sent(USER))).status_code,
            (await http.delete("/models/other", **sent(ADMIN))).status_code,
            (await http.post("/models/other/predict", json=row, **sent(USER))).status_code,
        ]

    found = run(tmp_path, work, tokens=Tokens(USER.encode(), ADMIN.encode()))
    assert found == [401, 401, 200, 401, 200, 200, 401, 201, 422, 422, 422, ["DELETE", "PUT"], 200, 401, 200, 404]


def test_without_an_admin_token_no_model_comes_from_outside(tmp_path):
    async def work(http):
        return (await http.put("/models/other", content=pack(bk.Auto()))).status_code

    assert run(tmp_path, work) == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"host": "evil.example"}, 403),
        ({"origin": "http://localhost", "host": "localhost"}, 200),
        ({"host": "127.0.0.1:8080"}, 200),
    ],
)
def test_pages_of_other_sites_cannot_speak_through_a_browser(tmp_path, headers, status):
    async def work(http):
        return (await http.post("/predict", json={"x": [1.0]}, headers=headers)).status_code

    assert run(tmp_path, work) == status


def test_without_a_token_it_listens_to_this_machine_only():
    for host in ("127.0.0.1", "localhost", "::1"):
        check_host(host, Tokens())
    for host in ("0.0.0.0", "::", "example.org"):
        with pytest.raises(BadInput, match="token"):
            check_host(host, Tokens())
        check_host(host, Tokens(b"t" * 20))


@pytest.mark.parametrize("content", [b"", b"short", b"two words of a token here", b"\xff" * 20])
def test_a_token_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(BadInput, match="token-file"):
        token_in(tmp_path / "token")
    (tmp_path / "token").write_bytes(b"0123456789abcdef\n")
    assert token_in(tmp_path / "token") == b"0123456789abcdef"


# --- what it says of itself -----------------------------------------------------------------------------------------
def test_a_fault_of_ours_is_500_without_a_trace_and_the_next_request_is_answered(tmp_path, monkeypatch):
    async def work(http):
        model = http.running.front.journal.service.models["default"]
        monkeypatch.setattr(model.learner, "play", lambda row: 1 / 0)
        monkeypatch.setattr(model.learner, "certificate", lambda: 1 / 0)
        answers = [await http.post("/predict", json={"x": [1.0]}), await http.get("/certificate")]
        monkeypatch.undo()
        return answers, (await http.post("/predict", json={"x": [1.0]})).status_code

    answers, after = run(tmp_path, work)
    for answer in answers:
        assert (answer.status_code, after) == (500, 200) and answer.json()["remedy"]
        assert "Traceback" not in answer.text and "line" not in answer.text


def test_metrics_follow_the_conventions_and_count(tmp_path):
    from prometheus_client.parser import text_string_to_metric_families

    async def work(http):
        await http.post("/predict", json=[{"x": [1.0], "id": "a"}, {"x": [2.0], "id": "b"}])
        await http.post("/label", json={"id": "a", "y": 1})
        await http.post("/label", json={"id": "zz", "y": 1})
        return (await http.get("/metrics")).text

    samples = {}
    for family in text_string_to_metric_families(run(tmp_path, work)):
        assert family.documentation
        samples |= {(sample.name, *sorted(sample.labels.values())): sample.value for sample in family.samples}
    assert samples["burkholder_rounds_total", "default"] == 1
    assert samples["burkholder_pending_labels", "default"] == 1
    assert samples["burkholder_requests_total", "404", "label"] == 1
    assert samples["burkholder_request_seconds_count", "label"] == 2
    assert samples["burkholder_regret", "default", "realised"] <= samples["burkholder_regret", "bound", "default"]
    assert samples["burkholder_cumulative_loss", "default"] == pytest.approx(np.log(2.0))


def test_the_description_knows_every_path(tmp_path):
    async def work(http):
        described = (await http.get("/openapi.json")).json()
        paths = {route.path: route.methods for route in http.running.app.app.routes}
        return described, paths

    described, paths = run(tmp_path, work)
    assert set(described["paths"]) == set(paths) - {"/", "/openapi.json"}
    text = json.dumps(described)
    for name in re.findall(r"#/components/schemas/(\w+)", text):
        assert name in described["components"]["schemas"]
    for path, _, _, status in REFUSED[:-1]:
        assert str(status) in described["paths"][path.replace("none", "{model}")]["post"]["responses"]
    for operations in described["paths"].values():
        for operation in operations.values():
            assert {"408", "431", "500"} <= operation["responses"].keys()
            assert all(response["description"] and response["content"] for response in operation["responses"].values())
    several = [found for found in re.findall(r'"oneOf": (\[[^]]*\])', text) if "Problem" in found and "array" not in found]
    assert not several  # a problem has all that an answer must have: it may look like both


def test_the_page_loads_nothing_from_elsewhere():
    text = page()
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:)""", text)
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) and "@import" not in text and "url(" not in text


def test_the_live_numbers_are_those_of_the_certificate(tmp_path):
    async def work(http):
        await http.post("/learn", json=[{"x": [1.0, k % 3], "y": k % 2} for k in range(20)])
        await http.post("/predict", json={"x": [1.0, 1.0]})
        http.running.front.watch.look(http.running.front.journal)
        return (await http.get("/live")).json(), (await http.get("/certificate")).json()

    live, certificate = run(tmp_path, work)
    told = {guarantee["name"]: guarantee["value"] for guarantee in certificate["guarantees"]}
    assert (live["rounds"], live["pending"], live["mean_loss"]) == (20, 1, certificate["mean_loss"])
    assert (live["realised"], live["promised"]) == (told["realised regret"], told["promised regret"])
    assert sum(n for _, _, n in live["calibration"]) == 20
    assert live["curve"][-1]["rounds"] == 20
