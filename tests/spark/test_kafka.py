"""The Kafka loop of the docs, with the real client against its built-in broker: killed at any moment, it ends at the same bytes."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import burkholder as bk
from burkholder.storage import load_with_extra, pack

kafka = pytest.importorskip("confluent_kafka")
LOOP = Path(__file__).parents[2] / "docs" / "kafka_loop.py"
ROWS = 20_000


def rows():
    rng = np.random.default_rng(0)
    for x in rng.normal(size=(ROWS, 3)):
        yield {"x": dict(zip("abc", x.tolist())), "y": float(np.clip(x[0] - x[1], -1, 1))}


@pytest.fixture(scope="module")
def broker():
    """The client's own broker, on a port of this machine, with the rows in one partition; it lives as long as its client."""
    producer = kafka.Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1})
    for row in rows():
        producer.produce("rows", json.dumps(row).encode(), partition=0)
        producer.poll(0)
    assert producer.flush(30) == 0
    yield next(f"{one.host}:{one.port}" for one in producer.list_topics(timeout=10).brokers.values())


def start(servers, folder):
    return subprocess.Popen([sys.executable, str(LOOP), servers, "rows", "0", str(folder), str(ROWS)])


def test_kills_change_nothing(broker, tmp_path):
    random.seed(1)
    written, model, kills = tmp_path / "predictions.jsonl", tmp_path / "model.bk", 0
    for _ in range(20):
        process, before = start(broker, tmp_path), model.stat().st_mtime_ns if model.exists() else 0
        while process.poll() is None and not (model.exists() and model.stat().st_mtime_ns > before):
            time.sleep(0.001)  # until it has saved something new
        if kills < 5 and process.poll() is None:
            time.sleep(random.random() * 0.01)
            process.kill()
        if process.wait(120) == 0:
            break
        kills += 1
    assert kills >= 3  # it was cut off in the middle, again and again
    learner, lines = bk.Learner("adagrad", loss="absolute", radius=2.0), []
    for offset, row in enumerate(rows()):
        lines.append(json.dumps({"offset": offset, "prediction": learner.predict(row["x"])}))
        learner.update(row["x"], row["y"])
    ended, extra = load_with_extra(model)
    assert pack(ended) == pack(learner) and extra["offset"] == ROWS
    assert written.read_text().splitlines() == lines
