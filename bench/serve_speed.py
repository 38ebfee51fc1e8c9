"""Requests a second with durable answers, beside a bare echo of the same bodies and what people write by hand, in one run.

autocannon sends, 64 connections, each in turn a prediction and its label, 50 features. The servers take turns, so that whatever
else the machine does falls on all of them.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CONNECTIONS = 64
ARROW = "application/vnd.apache.arrow.stream"
ECHO = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def echo(request):
    return JSONResponse(await request.json())
app = Starlette(routes=[Route("/predict", echo, methods=["POST"]), Route("/label", echo, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""
BY_HAND = """
import pickle, sys, tempfile, uvicorn
import burkholder as bk
from fastapi import FastAPI
from pydantic import BaseModel
path = tempfile.mktemp()
l2 = bk.Learner("square-function", loss="logistic", geometry="l2", intercept=True)
learner = bk.Auto(loss="logistic") if sys.argv[2] == "auto" else l2
pickle.dump(learner, open(path, "wb"))
learner, tickets = pickle.load(open(path, "rb")), {}
class Row(BaseModel):
    id: str
    x: list[float]
class Label(BaseModel):
    id: str
    y: float
app = FastAPI()
@app.post("/predict")
async def predict(row: Row):
    ticket = learner.play(row.x)
    tickets[row.id] = ticket.id
    return {"id": row.id, "prediction": ticket.prediction}
@app.post("/label")
async def label(label: Label):
    learner.reveal(tickets.pop(label.id), label.y)
    return {"id": label.id, "learned": True}
uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
"""

OPTIONS = {
    "l2": ["--learner", "square-function", "--option", "geometry=l2"],
    "auto": ["--learner", "auto"],
    "light auto": ["--learner", "auto", "--option", "effort=light"],
}


def started(port: int, *command: str) -> subprocess.Popen[bytes]:
    """A server, once it answers."""
    process = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            path = "ready" if "serve" in command else "nowhere"
            urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=1)
            return process
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return process
        except OSError:
            pass
        time.sleep(0.1)
    raise RuntimeError(f"it does not start: {command}")


def served(port: int, learner: str) -> subprocess.Popen[bytes]:
    main = "from burkholder.cli import main; main()"
    return started(port, "-c", main, "serve", "--store", tempfile.mkdtemp(), "--loss", "logistic", "--port", str(port), *OPTIONS[learner])


def load(url: str, seconds: int, what: str = "pairs", kind: str = "") -> dict[str, Any]:
    """What autocannon says."""
    modules = os.environ["BURKHOLDER_NPM"]
    command = ["node", str(HERE / "serve_load.js"), modules, url, str(CONNECTIONS), str(seconds), what, kind]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def processor(process: subprocess.Popen[bytes]) -> float:
    """Seconds of processor time a server took so far, with all its threads: other programs beside it do not count."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def speed(seconds: int = 8, turns: int = 3) -> None:
    """Print requests a second, processor time of a request, and latencies of each server, medians over the turns."""
    servers = {
        "bare echo": (8701, started(8701, "-c", ECHO, "8701")),
        "served l2": (8702, served(8702, "l2")),
        "served auto": (8703, served(8703, "auto")),
        "FastAPI by hand, l2": (8704, started(8704, "-c", BY_HAND, "8704", "l2")),
        "FastAPI by hand, auto": (8705, started(8705, "-c", BY_HAND, "8705", "auto")),
    }
    try:
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in servers}
        for port, _ in servers.values():
            load(f"http://127.0.0.1:{port}", 1)
        for _ in range(turns):
            for name, (port, process) in servers.items():
                before = processor(process)
                found[name].append(load(f"http://127.0.0.1:{port}", seconds))
                found[name][-1]["took"] = (processor(process) - before) / max(1, found[name][-1]["requests"])
        echo = statistics.median(one["requests"] / one["seconds"] for one in found["bare echo"])
        for name, all_of_it in found.items():
            rate = statistics.median(one["requests"] / one["seconds"] for one in all_of_it)
            p99 = statistics.median(one["p99"] for one in all_of_it)
            bad = sum(one["bad"] + one["errors"] for one in all_of_it)
            print(
                f"{name:24} {rate:9,.0f} requests/s  {rate / echo:5.0%} of the echo  {rate / 2:8,.0f} pairs/s  p99 {p99} ms  "
                f"{1e6 * statistics.median(one['took'] for one in all_of_it):5.0f} µs processor a request  {bad} bad",
                flush=True,
            )
    finally:
        for _, process in servers.values():
            process.terminate()
            process.wait()
    batches(seconds)


def batches(seconds: int) -> None:
    """Rows a second in Arrow batches of 100, 50 features: learned with their labels, and how fast the learner is by itself."""
    import numpy as np
    import pyarrow as pa

    from burkholder.serve.arrow import written

    X = np.random.default_rng(0).normal(size=(100, 50))
    y = (X[:, 0] > 0).astype(float)
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(written({"x": pa.FixedSizeListArray.from_arrays(pa.array(X.reshape(-1)), 50), "y": y}))
        for port, name in enumerate(OPTIONS, 8706):
            process, url = served(port, name), f"http://127.0.0.1:{port}/learn"
            try:
                load(url, 1, file.name, ARROW)
                before = processor(process)
                said = load(url, seconds, file.name, ARROW)
                rate, took = 100 * said["good"] / said["seconds"], (processor(process) - before) / (100 * max(1, said["good"]))
            finally:
                process.terminate()
                process.wait()
            print(
                f"learn, Arrow batches of 100, {name}: {rate:,.0f} rows/s  p99 {said['p99']} ms  {1e6 * took:.1f} µs processor a row "
                f"(the learner alone {1e6 * by_itself(name, X, y):.1f})  {said['bad'] + said['errors']} bad",
                flush=True,
            )


def by_itself(name: str, X: Any, y: Any) -> float:
    """Seconds of processor time a row, where the learner learns the same batches in this process."""
    import burkholder as bk

    if name == "l2":
        learner: Any = bk.Learner("square-function", loss="logistic", geometry="l2", intercept=True)
    else:
        learner = bk.Auto(loss="logistic", effort="light" if name == "light auto" else "default")
    for _ in range(30):
        learner.learn_many(X, y)
    start = time.process_time()
    for _ in range(100):
        learner.learn_many(X, y)
    return (time.process_time() - start) / (100 * len(X))


if __name__ == "__main__":
    speed(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
