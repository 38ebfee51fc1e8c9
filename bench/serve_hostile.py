"""Hostile requests: spoiled JSON, Arrow, headers, sizes, paths. No crash, no 500, and the model's bits are as they were."""

from __future__ import annotations

import json
import random
import socket
import sys
import urllib.request
from collections import Counter

import numpy as np
import pyarrow as pa

from burkholder.serve.arrow import written
from serve_speed import served

WORDS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"x"',
    b'"id"',
    b'"y"',
    b":",
    b",",
    b"1e999",
    b"-1",
    b"NaN",
    b"null",
    b"true",
    b'"\\ud800"',
    b"\x00",
    b"\xff",
    b"[" * 500,
    b"9" * 400,
    b'{"indices": [1e300], "values": [1]}',
    b'"' + b"\xc3\xa9" * 300 + b'"',
]
HEADERS = [
    b"Transfer-Encoding: chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Expect: 100-continue\r\n",
    b"Idempotency-Key: \xff\xfe\r\n",
    b"Idempotency-Key: " + b"k" * 300 + b"\r\n",
    b"Origin: null\r\n",
    b"Authorization: Bearer \xe9\r\n",
    b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
    b"X: " + b"a" * 70_000 + b"\r\n",
    b"\x00: a\r\n",
]


def spoiled(rng: random.Random, body: bytes) -> bytes:
    """A body with a few bytes changed, cut, doubled or replaced by words of its language."""
    data = bytearray(body)
    for _ in range(rng.randrange(1, 5)):
        place = rng.randrange(len(data) + 1)
        how = rng.randrange(5)
        if how == 0 and place < len(data):
            data[place] = rng.randrange(256)
        elif how == 1:
            del data[place : place + rng.randrange(1, 20)]
        elif how == 2:
            data[place:place] = rng.choice(WORDS)
        elif how == 3:
            data[place:place] = data[rng.randrange(len(data) + 1) :][:50]
        else:
            del data[place:]
    return bytes(data)


def request(rng: random.Random) -> bytes:
    """One request, none of which may be good: rows have another length than the model's, ids are unknown."""
    x = rng.choice([[1.0, 2.0, 3.0], {"indices": [0, 2], "values": [1.0, 2.0]}, {"age": 3.0, "city": "Bonn"}])
    rows = {"predict": {"id": "h", "x": x}, "label": {"id": "nobody", "y": 1}, "learn": {"x": x, "y": 1}}
    verb = rng.choice(list(rows))
    arrow = rng.random() < 0.3
    kind = b"application/vnd.apache.arrow.stream" if arrow else rng.choice([b"application/json", b"application/x-ndjson", b"text/html"])
    if arrow:
        x = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(6.0)), 3)
        body = written({"label": {"id": ["nobody", "no"], "y": [1.0, 0.0]}, "predict": {"x": x}, "learn": {"x": x, "y": [1.0, 0.0]}}[verb])
    else:
        body = json.dumps(rng.choice([rows[verb], [rows[verb]] * 3])).encode()
    body = spoiled(rng, body) if rng.random() < 0.9 else rng.randbytes(rng.randrange(200))
    path = rng.choice(
        [f"/{verb}", f"/models/default/{verb}", "/models/%00/predict", "/compare", "/" + "a" * rng.randrange(3000), "/model/../live"]
    )
    length = len(body) if rng.random() < 0.9 else rng.choice([0, 10**12, -1, "x"])
    head = f"{rng.choice(['POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'BREW'])} {path} HTTP/1.1\r\nHost: localhost\r\n".encode()
    head += b"Content-Type: " + kind + f"\r\nContent-Length: {length}\r\nConnection: close\r\n".encode()
    head += rng.choice(HEADERS) if rng.random() < 0.3 else b""
    if rng.random() < 0.1:
        head = spoiled(rng, head)
    return head + b"\r\n" + body


def hostile(count: int, port: int = 8711, seed: int = 0) -> None:
    process, rng, statuses = served(port, "l2"), random.Random(seed), Counter[str]()

    def asked(path: str, body: bytes | None = None) -> bytes:
        return urllib.request.urlopen(
            urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {"content-type": "application/json"})
        ).read()

    try:
        asked("/learn", json.dumps([{"x": [1.0] * 50, "y": 1}, {"x": [0.5] * 50, "y": 0}]).encode())
        before = asked("/model"), asked("/certificate")
        for _ in range(count):
            with socket.create_connection(("127.0.0.1", port), timeout=5) as way:
                try:
                    way.sendall(request(rng))
                    way.shutdown(socket.SHUT_WR)
                    answer = way.recv(64)
                except OSError:
                    answer = b""
            statuses[answer[9:12].decode("latin-1") or "none"] += 1
        after = asked("/model"), asked("/certificate")
        alive, same = process.poll() is None, before == after
        print(f"{count} hostile requests: {dict(statuses)}; 500s: {statuses['500']}; alive: {alive}; same bits: {same}")
    finally:
        process.terminate()


if __name__ == "__main__":
    hostile(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
