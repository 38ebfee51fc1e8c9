"""The log is the truth: whatever came, a restart at any moment gives the same bits, and goes on with the same answers."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
import time

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import burkholder as bk
from burkholder.errors import BurkholderError
from burkholder.serve.journal import recovered
from burkholder.serve.server import Running, Settings
from burkholder.serve.store import Store, StoreFailed, connection
from serving import LEARNERS, Logged, asked, created

QUICK = "/dev/shm" if os.path.isdir("/dev/shm") else None  # a disk that need not be waited for
NUMBERS = st.sampled_from([-1.0, 0.0, 0.5, 2.0])
NAMED, VECTORS = st.dictionaries(st.sampled_from("abc"), NUMBERS, min_size=1), st.lists(NUMBERS, min_size=2, max_size=2)
IDS = st.one_of(st.none(), st.sampled_from("uvwxyz"))
LABELLED = st.sampled_from(["u", "v", "w", "x", "#1", "#2", "#3"])
KEYS = st.sampled_from(["", "k"])


def events(rows, other):
    return st.one_of(
        st.builds(lambda x, id: asked("predict", {"x": x} | ({"id": id} if id else {})), rows, IDS),
        st.builds(lambda xs: asked("predict", [{"x": x} for x in xs]), st.lists(rows, min_size=1, max_size=3)),
        st.builds(lambda id, y: asked("label", {"id": id, "y": y}), LABELLED, st.sampled_from([0, 1, 7])),
        st.builds(lambda ids: asked("label", [{"id": id, "y": 1} for id in ids]), st.lists(LABELLED, max_size=3)),
        st.builds(lambda xs, key: asked("learn", [{"x": x, "y": 1} for x in xs], key=key), st.lists(rows, max_size=3), KEYS),
        st.builds(lambda x: asked("predict", {"x": x}), other),
        st.builds(lambda: asked("predict", {"x": {"a": 1.0}}, model="nobody")),
        st.builds(lambda before: asked("forget", before), st.sampled_from([1.0, 3.0])),
    )


SCRIPTS = {
    kind: st.lists(st.tuples(st.lists(some, max_size=most), st.sampled_from(["", "restart", "snapshot", "closed"])), max_size=8)
    for kind, some, most in (("named", events(NAMED, VECTORS), 4), ("vectors", events(VECTORS, NAMED), 12))
}


@pytest.mark.parametrize("kind", SCRIPTS)
@pytest.mark.parametrize("name", LEARNERS)
@settings(max_examples=12)
@given(data=st.data())
def test_restarting_anywhere_changes_no_bit_and_no_answer(name, kind, data):
    if name == "experts" and kind == "vectors":
        pytest.skip("experts have names")
    script = data.draw(SCRIPTS[kind])
    folder = tempfile.TemporaryDirectory(dir=QUICK)
    plain, broken = Logged(f"{folder.name}/plain"), Logged(f"{folder.name}/broken")
    try:
        for logged in (plain, broken):
            shadows = [created(LEARNERS[name](), "other", "default")] if kind == "named" else []  # alone, rounds are applied at once
            logged.group(created(LEARNERS[name]()), *shadows)
        for moment, (some, then) in enumerate(script):
            assert plain.group(*some, moment=float(moment)) == broken.group(*some, moment=float(moment))
            if then in ("snapshot", "closed"):
                broken.tidy(then == "snapshot")
            if then:
                broken = broken.restarted()
            assert plain.bits() == broken.bits()
    finally:
        plain.store.close()
        broken.store.close()
        folder.cleanup()


def test_what_was_answered_is_answered_the_same_after_a_snapshot_and_a_restart(tmp_path):
    logged = Logged(tmp_path)
    logged.one(created(LEARNERS["auto"]()))
    first = logged.one(asked("predict", {"x": {"a": 1.0}, "id": "k"}))
    logged.one(asked("label", {"id": "k", "y": 1}))
    logged.one(asked("learn", [{"x": {"a": 2.0}, "y": 0}], key="batch"))
    rounds = logged.service.models["default"].learner.rounds
    logged.tidy()
    logged = logged.restarted()
    assert list(logged.store.log()) == []
    assert logged.one(asked("predict", {"x": {"a": 1.0}, "id": "k"})) == first
    assert logged.one(asked("label", {"id": "k", "y": 1})).status == 200
    assert logged.one(asked("label", {"id": "k", "y": 0})).status == 409
    assert logged.one(asked("learn", [{"x": {"a": 2.0}, "y": 0}], key="batch")).body.learned == 1
    assert logged.one(asked("learn", [{"x": {"a": 3.0}, "y": 0}], key="batch")).status == 409
    assert logged.service.models["default"].learner.rounds == rounds == 2
    logged.store.close()


def test_the_service_learns_what_a_learner_learns(tmp_path):
    logged, alone = Logged(tmp_path), bk.Auto(loss="logistic", max_pending=5)
    logged.one(created(LEARNERS["auto"]()))
    rows = [{"a": 1.0, "b": k % 3} for k in range(40)]
    tickets = {}
    for k, row in enumerate(rows):  # every label comes two rounds late
        tickets[k] = alone.play({name: float(value) for name, value in row.items()})
        assert logged.one(asked("predict", {"x": row, "id": f"r{k}"})).body.prediction == tickets[k].prediction
        if k >= 2:
            alone.reveal(tickets[k - 2].id, (k - 2) % 2)
            assert logged.one(asked("label", {"id": f"r{k - 2}", "y": (k - 2) % 2})).status == 200
    learner = logged.service.models["default"].learner
    assert (learner.rounds, learner.cumulative_loss) == (38, alone.cumulative_loss)
    logged.store.close()


def test_a_log_with_a_gap_is_refused(tmp_path):
    logged = Logged(tmp_path)
    logged.one(created(LEARNERS["l2"]()))
    logged.one(asked("predict", {"x": [1.0]}))
    logged.one(asked("predict", {"x": [1.0]}))
    logged.store._writing.execute("DELETE FROM log WHERE seq = 2")
    logged.store.close()
    with pytest.raises(StoreFailed, match="missing"):
        Logged(tmp_path)


def test_while_the_log_is_replayed_it_is_alive_and_not_ready_and_a_stop_ends_the_replay_before_the_store_is_closed(tmp_path):
    logged = Logged(tmp_path)
    logged.one(created(LEARNERS["l2"]()))
    for k in range(200):
        logged.one(asked("learn", [{"x": [1.0, k], "y": 1}]))
    logged.store.close()
    seen = []

    class Traced(Store):
        def log(self, after=0):
            for group in super().log(after):
                seen.append(group[0])
                time.sleep(0.01)
                yield group

        def close(self):
            seen.append("closed")
            super().close()

    async def brief():
        running = Running(Settings(str(tmp_path)), Traced(tmp_path))
        way = httpx.ASGITransport(running.app)
        async with running.life(), httpx.AsyncClient(transport=way, base_url="http://localhost") as http:
            await asyncio.sleep(0.1)
            answers = [await http.get("/health"), await http.get("/ready"), await http.post("/predict", json={"x": [1.0, 2.0]})]
            return [answer.status_code for answer in answers]

    assert asyncio.run(brief()) == [200, 503, 503]
    assert seen.index("closed") == len(seen) - 1 and 1 < len(seen) < 200  # in the middle of it, and nobody reads any more
    again = Logged(tmp_path)
    assert again.service.models["default"].learner.rounds == 200
    again.store.close()


def test_a_store_belongs_to_one_process_and_to_the_user_alone(tmp_path):
    store = Store(tmp_path / "s")
    with pytest.raises(StoreFailed, match="in use"):
        Store(tmp_path / "s")
    assert (tmp_path / "s").stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in (tmp_path / "s").iterdir())
    store.close()
    Store(tmp_path / "s").close()


def test_a_store_can_be_opened_and_read_where_nothing_can_be_written(tmp_path):
    logged = Logged(tmp_path)
    logged.group(created(LEARNERS["l2"]()), asked("learn", [{"x": [1.0, 2.0], "y": 1}]))
    logged.store.close()

    def only_read(path):
        way = connection(path)
        way.execute("PRAGMA query_only = ON")
        return way

    store = Store(tmp_path, only_read)
    assert recovered(store).models["default"].learner.rounds == 1
    with pytest.raises(StoreFailed):
        store.append(9, b"no")
    store.close()


def test_the_write_ahead_file_stays_short_where_every_life_is(tmp_path, monkeypatch):
    monkeypatch.setattr("burkholder.serve.store.MOVE", 100_000)
    sizes = []
    for life in range(12):
        store = Store(tmp_path / str(life))
        store.append(2 * life + 1, bytes(60_000))
        if store._mover is not None:
            store._mover.join()
        store.append(2 * life + 2, b"more")
        shutil.copytree(tmp_path / str(life), tmp_path / str(life + 1))  # as a kill leaves it
        store.close()
        sizes.append((tmp_path / str(life + 1) / "store.sqlite-wal").stat().st_size)
    store = Store(tmp_path / "12")
    assert [seq for seq, _ in store.log()] == list(range(1, 25))
    assert max(sizes) < 300_000 and sizes[-1] == sizes[-2]
    store.close()


DAMAGES = {
    "a model": "UPDATE snapshot SET body = substr(body, 1, 700) || x'00' || substr(body, 702) WHERE part = 1",
    "a part": "UPDATE snapshot SET body = x'00ff' WHERE part = 1",
    "the head": "UPDATE snapshot SET body = x'c1' WHERE part = 0",
    "a group": "INSERT INTO log SELECT max(seq) + 1, x'6e6f' FROM snapshot",
    "a gap": "INSERT INTO log SELECT max(seq) + 2, x'6e6f' FROM snapshot",
    "a table": "DROP TABLE log",
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_store_is_refused_with_a_reason(tmp_path, what):
    logged = Logged(tmp_path)
    logged.group(created(LEARNERS["l2"]()), asked("learn", [{"x": [1.0, 2.0], "y": 1}]))
    logged.tidy()
    logged.store.close()
    with sqlite3.connect(tmp_path / "store.sqlite") as way:
        way.execute(DAMAGES[what])
    store = Store(tmp_path)
    if what == "a table":  # it is made anew, and what was in the snapshot is there
        assert recovered(store).models["default"].learner.rounds == 1
    else:
        with pytest.raises(BurkholderError, match=r"damaged|missing|checksum"):
            recovered(store)
    store.close()
