"""The short way through HTTP answers as the long one does, however the request is cut, framed or spoiled."""

from __future__ import annotations

import json
import socket

import pytest

import burkholder as bk
from burkholder.serve.direct import Exchange
from burkholder.serve.guard import Tokens
from burkholder.serve.limits import Limits
from serving import listening

TOKEN = "t" * 20
LIMIT = 20
JSON = "content-type: application/json"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    url = listening(
        tmp_path_factory.mktemp("direct"),
        bk.Learner("square-function", loss="logistic", geometry="l2"),
        tokens=Tokens(TOKEN.encode()),
        limits=Limits(body=3000, connections=LIMIT),
    )
    return int(url.rpartition(":")[2])


def said(port, *parts, answers=1):
    """(status, headers, body) of each answer to bytes that are sent part by part on one connection."""
    found = []
    with socket.create_connection(("127.0.0.1", port), timeout=20) as way:
        way.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            way.sendall(part)
        stream = way.makefile("rb")
        for _ in range(answers):
            status = int(stream.readline().split()[1])
            headers = {}
            while (line := stream.readline().strip()) != b"":
                name, _, value = line.partition(b": ")
                headers[name.decode()] = value.decode()
            found.append((status, headers, stream.read(int(headers["content-length"]))))
    return found


def request(path, body, *headers, length=None, token=TOKEN, version="1.1"):
    lines = [f"POST {path} HTTP/{version}", "host: localhost", f"authorization: Bearer {token}", *headers]
    return "\r\n".join([*lines, f"content-length: {len(body) if length is None else length}", "", ""]).encode() + body


BODIES = {
    "a row": ("predict", {"x": [1.0, 2.0]}, [JSON]),
    "rows": ("predict", [{"x": [1.0, 2.0]}, {"x": [1.0]}], [JSON]),
    "lines": ("predict", {"x": [1.0, 2.0]}, ["content-type: application/x-ndjson"]),
    "a label of nobody": ("label", {"id": "nobody", "y": 1}, [JSON]),
    "another length": ("predict", {"x": [1.0, 2.0, 3.0]}, [JSON]),
    "no shape": ("label", {"id": "a"}, [JSON]),
    "no type of ours": ("predict", {"x": [1.0, 2.0]}, ["content-type: text/plain"]),
    "zipped": ("predict", {"x": [1.0, 2.0]}, [JSON, "content-encoding: gzip"]),
    "another site": ("predict", {"x": [1.0, 2.0]}, [JSON, "origin: http://evil.example"]),
    "too long": ("predict", {"x": [1.0] * 2000}, [JSON]),
    "a long key": ("learn", [{"x": [1.0, 2.0], "y": 1}], [JSON, "idempotency-key: " + "k" * 300]),
}


@pytest.mark.parametrize("kind", BODIES)
def test_both_ways_give_the_same_answer(port, kind):
    said(port, request("/learn", json.dumps([{"x": [1.0, 2.0], "y": 1}]).encode(), JSON))
    verb, body, headers = BODIES[kind]
    content = json.dumps(body).encode()
    short, long = (said(port, request(f"{at}/{verb}", content, *headers))[0] for at in ("", "/models/default"))
    assert short[0] == long[0] and set(short[1]) == set(long[1]) and short[1]["content-type"] == long[1]["content-type"]
    one, other = (json.loads(each[2].splitlines()[0]) for each in (short, long))
    for answer in (one, other):
        for item in answer if type(answer) is list else [answer]:
            if str(item.get("id", "")).startswith("#"):
                del item["id"]
    assert one == other


def test_a_wrong_token_is_refused_on_the_short_way_as_well(port):
    for path in ("/predict", "/models/default/predict"):
        assert said(port, request(path, b'{"x": [1.0, 2.0]}', JSON, token="w" * 20))[0][0] == 401


def test_a_request_may_come_in_pieces_and_several_at_once_on_one_connection(port):
    one = request("/predict", json.dumps({"id": "piece", "x": [1.0, 2.0]}).encode(), JSON)
    whole = said(port, one)[0]
    assert said(port, *[one[k : k + 7] for k in range(0, len(one), 7)])[0] == whole
    other = request("/models/default/predict", b'{"x": [1.0]}', JSON)
    together = said(port, one + other + one + one, answers=4)
    assert [status for status, _, _ in together] == [200, 422, 200, 200] and together[0] == together[2] == together[3] == whole


def test_a_connection_is_closed_when_that_was_asked_for_and_kept_otherwise(port):
    body = b'{"x": [1.0, 2.0]}'
    assert said(port, request("/predict", body, JSON, "connection: close"))[0][1]["connection"] == "close"
    assert said(port, request("/predict", body, JSON, version="1.0"))[0][1]["connection"] == "close"
    assert "connection" not in said(port, request("/predict", body, JSON))[0][1]
    assert len(said(port, request("/predict", body, JSON), request("/predict", body, JSON), answers=2)) == 2


def test_bodies_without_a_length_go_the_long_way(port):
    body = b'{"x": [1.0, 2.0]}'
    chunked = f"POST /predict HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n{JSON}\r\ntransfer-encoding: chunked\r\n\r\n"
    assert said(port, chunked.encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))[0][0] == 200
    assert said(port, request("/predict", b"", JSON, length=10**12))[0][0] == 413


def test_most_rounds_take_the_short_way(port, monkeypatch):
    taken = []
    begun = Exchange.__init__
    monkeypatch.setattr(Exchange, "__init__", lambda self, *given: taken.append(given[0].verb) or begun(self, *given))
    with bk.Client(f"http://127.0.0.1:{port}", TOKEN) as client:
        client.label(client.predict([1.0, 2.0]).id, 1)
        client.learn([[1.0, 2.0]], [0])
    assert taken == ["predict", "label", "learn"]


def test_who_hangs_up_before_the_answer_disturbs_nobody(port):
    for cut in (30, 150, 10_000):
        one = request("/predict", json.dumps({"x": [1.0, 2.0]}).encode(), JSON)
        with socket.create_connection(("127.0.0.1", port)) as way:
            way.sendall(one[:cut])
    assert said(port, one)[0][0] == 200


def test_many_requests_on_one_connection_are_read_no_faster_than_answered(port):
    one = request("/predict", b'{"x": [1.0, 2.0], "id": "many"}', JSON)
    found = said(port, one * 300, one * 300, answers=600)
    assert [status for status, _, _ in found] == [200] * 600


@pytest.mark.parametrize("start", [b"GET / HTTP/1.1\r\nhost: localhost\r\n", b"GET / HTTP/1.1\r\nhost: localhost\r\nx: ", b"GET /"])
def test_headers_without_end_are_refused(port, start):
    more = b"a: b\r\n" * 2000 if start.endswith(b"\r\n") else b"a" * 12000
    with socket.create_connection(("127.0.0.1", port), timeout=20) as way:
        try:
            for part in (start, *[more] * 12):
                way.sendall(part)
        except OSError:
            pass  # it was refused already
        assert way.recv(100).startswith(b"HTTP/1.1 431 ")


def test_who_is_too_slow_is_left(port, monkeypatch):
    monkeypatch.setattr("burkholder.serve.direct.PATIENCE", 0.2)
    one = request("/predict", b'{"x": [1.0, 2.0]}', JSON)
    for sent in (b"", one[:20], one[:-1]):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as way:
            way.sendall(sent)
            assert way.recv(100).startswith(b"HTTP/1.1 408 ")
    assert said(port, one)[0][0] == 200


def test_only_so_many_connections_are_open_at_once(port):
    ways = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(LIMIT)]
    with socket.create_connection(("127.0.0.1", port), timeout=20) as way:
        assert way.recv(100).startswith(b"HTTP/1.1 503 ")
    for way in ways:
        way.close()
    assert said(port, request("/predict", b'{"x": [1.0, 2.0]}', JSON))[0][0] == 200


@pytest.mark.parametrize("path", ["/predict", "/models/default/predict"])
def test_who_has_said_everything_still_gets_the_answers(port, path):
    one = request(path, b'{"x": [1.0, 2.0]}', JSON)
    for count in (1, 3):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as way:
            way.sendall(one * count)
            way.shutdown(socket.SHUT_WR)
            found = way.makefile("rb").read()  # and then the connection is closed
        assert found.count(b"HTTP/1.1 200 OK") == count


def test_who_stops_in_the_middle_is_left(port):
    one = request("/predict", b'{"x": [1.0, 2.0]}', JSON)
    for cut in (0, 30, len(one) - 3):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as way:
            way.sendall(one[:cut])
            way.shutdown(socket.SHUT_WR)
            assert way.makefile("rb").read() == b""


def test_an_offer_of_another_protocol_is_passed_over(port):
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA")
    row = b'{"x": [1.0, 2.0]}'
    one = request("/predict", row, JSON, *offer)
    other = request("/predict", row, JSON, "Connection: upgrade", "UPGRADE: h2c")
    slow = request("/predict", b'{"x": [1.0],   "id": "\\r\\nUpgrade: h2c"}', JSON, *offer)
    assert [status for status, _, _ in said(port, one, other, answers=2)] == [200, 200]
    assert [status for status, _, _ in said(port, one + other + slow + one, answers=4)] == [200, 200, 422, 200]  # all in one piece
    for cut in range(1, len(other)):
        assert [status for status, _, _ in said(port, other[:cut], other[cut:] + one, answers=2)] == [200, 200]


def test_bytes_one_by_one_are_a_request_all_the_same(port):
    one = request("/predict", b'{"x": [1.0, 2.0]}', JSON, "Connection: Upgrade", "Upgrade: h2c")
    assert [status for status, _, _ in said(port, *(one[i : i + 1] for i in range(len(one))))] == [200]
    chunks = b"POST /predict HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer " + TOKEN.encode() + b"\r\n" + JSON.encode()
    chunks += b"\r\ntransfer-encoding: chunked\r\n\r\n11\r\n" + b'{"x": [1.0, 2.0]}' + b"\r\n0\r\n\r\n"
    assert [status for status, _, _ in said(port, *(chunks[i : i + 1] for i in range(len(chunks))))] == [200]
    assert [status for status, _, _ in said(port, chunks, one, answers=2)] == [200, 200]


def test_the_word_bearer_may_be_written_in_any_way(port):
    one = request("/predict", b'{"x": [1.0, 2.0]}', JSON)
    assert [said(port, one.replace(b"Bearer", word))[0][0] for word in (b"bearer", b"BEARER", b"Basic")] == [200, 200, 401]
