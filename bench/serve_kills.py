"""kill -9 at random moments under load: nothing acknowledged is lost, nothing is learned twice, the bits are those of an unbroken run.

Each life of the service is a fork of one warm process, so that a thousand of them take minutes. Clients predict, label and learn,
singly and in lists, each round under an id of its own; what got no answer is sent again to the next life, as a client would. The
store keeps every group ever written beside the log, so that in the end one service that was never interrupted can apply them all.

    python bench/serve_kills.py [KILLS] [SEED]     half of them on the l_2 learner, half on Auto
"""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

MANY = 200  # rows of a list
ARCHIVE = "CREATE TABLE IF NOT EXISTS archive (seq INTEGER PRIMARY KEY, body BLOB NOT NULL)"


# --- the process that is forked -------------------------------------------------------------------------------------
def nursery(folder: str, port: int, learner: str) -> None:
    """Fork a service for every line read, and say its process id."""
    import burkholder as bk
    from burkholder.serve.journal import Rhythm
    from burkholder.serve.server import Running, Settings, _warm, check_host, serve
    from burkholder.serve.store import Store
    from burkholder.storage import pack

    class Archiving(Store):
        def _together(self, seq: int, body: bytes, closed: Any, snapshot: Any) -> None:
            if snapshot is not None:
                self._writing.execute("INSERT OR IGNORE INTO archive SELECT seq, body FROM log")
            super()._together(seq, body, closed, snapshot)

        def _prepare(self) -> None:
            super()._prepare()
            self._writing.execute(ARCHIVE)

    assert Running and check_host
    sys.modules["burkholder.serve.server"].Store = Archiving  # type: ignore[attr-defined]
    make = bk.Auto(loss="logistic") if learner == "auto" else bk.Learner("square-function", loss="logistic", geometry="l2", intercept=True)
    first = pack(make)
    model = type("Warm", (), {"file": lambda self: (first, []), "name": "warm"})()
    _warm(type("Warm", (), {"models": {"warm": model}})())  # type: ignore[arg-type]
    child = 0
    for _ in sys.stdin:
        if child:
            os.waitpid(child, 0)  # gone altogether, and its hold on the store with it
        child = os.fork()
        if child == 0:
            quiet = os.open(os.environ.get("BURKHOLDER_SERVE_LOG", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(quiet, 2)
            serve(Settings(folder, first, learner, port=port, rhythm=Rhythm(events=200), forget_after=1e6))
            os._exit(0)
        print(child, flush=True)
    os.waitpid(child, 0)


# --- clients ----------------------------------------------------------------------------------------------------------
class Clients:
    """What was acknowledged, and what was sent without an answer."""

    def __init__(self, port: int, threads: int, seed: int) -> None:
        self.port, self.running = port, True
        self.predicted: dict[str, float] = {}
        self.labelled: dict[str, int] = {}
        self.learned: dict[str, list[float]] = {}
        self.problems: list[str] = []
        self.unsure = self.answers = 0
        self.threads = [threading.Thread(target=self._play, args=(f"c{k}", random.Random(seed + k))) for k in range(threads)]
        for thread in self.threads:
            thread.start()

    def _asked(self, path: str, body: Any, headers: dict[str, str]) -> Any:
        """The answer, however many lives of the service it takes."""
        content, sent = json.dumps(body).encode(), 0
        while True:
            try:
                if self._own.way is None:
                    self._own.way = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
                sent += 1
                self._own.way.request("POST", path, content, {"content-type": "application/json", **headers})
                answer = self._own.way.getresponse()
                data = answer.read()
                if answer.status != 503:
                    if answer.status != 200:
                        self.problems.append(f"{answer.status} {data[:100]!r}")
                    self.unsure += sent > 1
                    self.answers += 1
                    return json.loads(data)
            except (OSError, http.client.HTTPException):
                self._own.way = None
            if not self.running:
                return None
            time.sleep(0.01)

    _own = threading.local()

    def _play(self, name: str, rng: random.Random) -> None:
        self._own.way = None
        serial = 0
        while self.running:
            serial += 1
            first = f"{name}-{serial}"
            rows = [[round(rng.gauss(0, 1), 4) for _ in range(5)] for _ in range(rng.choice((1, 1, MANY)))]
            if rng.random() < 0.1:
                answer = self._asked("/learn", [{"x": x, "y": rng.randrange(2)} for x in rows], {"idempotency-key": first})
                if answer is not None:
                    self.learned[first] = answer["predictions"]
                continue
            ids = [f"{first}-{k}" for k in range(len(rows))]
            answers = self._listed("/predict", [{"id": id, "x": x} for id, x in zip(ids, rows)])
            self.predicted.update((one["id"], one["prediction"]) for one in answers)
            labels = {one["id"]: rng.randrange(2) for one in answers if rng.random() < 0.95}
            learned = self._listed("/label", [{"id": id, "y": y} for id, y in labels.items()])
            self.labelled.update((one["id"], labels[one["id"]]) for one in learned)

    def _listed(self, path: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Every item's answer: a single one is sent as itself, more of them as a list."""
        if not items:
            return []
        answer = self._asked(path, items[0] if len(items) == 1 else items, {})
        return [] if answer is None else answer if type(answer) is list else [answer]

    def some(self, count: int) -> None:
        """Wait for so many answers more, on however slow a machine."""
        until = self.answers + count
        while self.answers < until:
            time.sleep(0.001)

    def stop(self) -> None:
        """Let every thread finish what it has begun."""
        self.running = False
        for thread in self.threads:
            thread.join()


def kills(count: int, learner: str = "l2", threads: int = 4, seed: int = 0) -> dict[str, Any]:
    """So many kills; what was counted."""
    folder, rng = tempfile.mkdtemp(), random.Random(seed)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, __file__, "nursery", folder, str(port), learner]
    births = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert births.stdin is not None and births.stdout is not None
    clients, killed, child = None, 0, 0
    try:
        while True:
            births.stdin.write("life\n")
            births.stdin.flush()
            child = int(births.stdout.readline())
            _ready(port)
            clients = clients or Clients(port, threads, seed)
            if killed == count:
                break
            clients.some(0 if rng.random() < 0.3 else rng.randrange(1, 60))
            time.sleep(rng.expovariate(1 / 0.05))  # at any moment, also before the first answer of this life
            os.kill(child, signal.SIGKILL)
            killed += 1
        time.sleep(0.3)
        clients.stop()
        os.kill(child, signal.SIGTERM)
    finally:
        births.stdin.close()
        births.wait()
    return {"kills": killed, **_checked(folder, clients)}


def _ready(port: int) -> None:
    while True:
        try:
            way = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            way.request("GET", "/ready" if random.random() < 0.8 else "/health")
            if way.getresponse().status == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.005)


def _checked(folder: str, clients: Clients) -> dict[str, Any]:
    from burkholder.serve.events import unsealed
    from burkholder.serve.journal import recovered
    from burkholder.serve.service import KEYED, Service
    from burkholder.serve.store import Store

    store = Store(folder)
    whole = "SELECT seq, body FROM archive UNION SELECT seq, body FROM log ORDER BY seq"
    straight, seqs = Service(lambda model, ids, position: {}), []
    for seq, body in store._reading.execute(whole).fetchall():
        straight.apply(unsealed(body))
        seqs.append(seq)
    again = recovered(store)
    model = straight.models["default"]
    found = {id: fresh.over for (_, id), fresh in straight.ended.fresh.items()}
    learned = sum(len(over.prediction) if id.startswith(KEYED) else 1 for id, over in found.items())
    waiting = {id: waiting.prediction for id, waiting in model.waiting.items()}
    told = {id: found[id].prediction if id in found else waiting.get(id) for id in clients.predicted}
    lost = sum(told[id] is None for id in told) + sum(id not in found for id in clients.labelled)
    return {
        "rounds acknowledged": len(clients.labelled) + sum(map(len, clients.learned.values())),
        "requests sent again": clients.unsure,
        "groups": len(seqs),
        "lost": lost + sum(KEYED + id not in found for id in clients.learned),
        "learned twice": model.learner.rounds - learned,
        "labels that differ": sum(found[id].label != y for id, y in clients.labelled.items() if id in found),
        "predictions that differ": sum(told[id] != value for id, value in clients.predicted.items())
        + sum(found[KEYED + id].prediction != value for id, value in clients.learned.items() if KEYED + id in found),
        "bits that differ": int(straight.snapshot().parts != again.snapshot().parts) + int(seqs != list(range(1, len(seqs) + 1))),
        "problems": clients.problems[:3],
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["nursery"]:
        nursery(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        count, seed = (int(value) for value in (*sys.argv[1:], *("1000", "0")[len(sys.argv) - 1 :]))
        for learner in ("l2", "auto"):
            print(f"kill -9, {learner}:", kills(count // 2, learner, seed=seed), flush=True)
