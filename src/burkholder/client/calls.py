"""What a client says, and what it makes of the answers. Each call is written once, as a generator that asks and is answered.

Every prediction is sent under an id, and every learning under a key, made here unless given: the service does such a request
once, however often it comes. So repeating is safe, and what fails on the way is repeated.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from burkholder.errors import BadInput, BurkholderError

AGAIN = frozenset({429, 502, 503, 504})  # nothing was done: try again
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0  # seconds


class Answered(NamedTuple):
    """A prediction of the service; its id is what the label is sent under."""

    id: str
    prediction: Any
    probability: float | None = None
    interval: tuple[float, float] | None = None


class ServiceRefused(BurkholderError):
    """The service did not do it: 404, 409, 410, … with its argument, value and remedy.

    >>> raise ServiceRefused(404, "model", "'clicks'", "models: churn")
    Traceback (most recent call last):
        ...
    burkholder.client.calls.ServiceRefused: 404: model = 'clicks': models: churn
    """

    def __init__(self, status: int, argument: str, value: str, remedy: str) -> None:
        self.status, self.argument, self.value, self.remedy = status, argument, value, remedy
        super().__init__(f"{status}: {argument} = {value}: {remedy}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.argument, self.value, self.remedy)


class Call(NamedTuple):
    """A request to be sent."""

    method: str
    path: str
    content: dict[str, Any] = {}  # noqa: RUF012  what httpx takes: json, content, headers, params


class Pause(NamedTuple):
    """A while to wait."""

    seconds: float


Steps = Generator[Call | Pause, Any, Any]


class Calls:
    """Every call as a generator of steps: it yields what to send, and is sent what came back (None: the way failed)."""

    def __init__(self, model: str | None, retries: int) -> None:
        if type(retries) is not int or retries < 0:
            raise BadInput("retries", retries, "give a whole number ≥ 0")
        self.at, self.retries = "" if model is None else f"/models/{model}", retries

    def answered(self, call: Call) -> Steps:
        """The answer to a call, asked for again where that may help."""
        pause, last = FIRST_PAUSE, None
        for attempt in range(self.retries + 1):
            if attempt:
                yield Pause(pause)
                pause = min(2.0 * pause, LONGEST_PAUSE)
            last = yield call
            if last is not None and last.status_code not in AGAIN:
                break
        if last is None:
            raise ServiceRefused(0, "url", call.path, f"no answer after {self.retries + 1} attempts")
        if last.status_code == 207 or last.status_code < 300:
            return last
        raise _refusal(last)

    def predict(self, x: Any, id: str | None) -> Steps:
        sent = {"x": _row(x), "id": id or uuid4().hex}
        answer = yield from self.answered(Call("POST", f"{self.at}/predict", _json("x", sent)))
        return _answered(answer.json())

    def predict_many(self, rows: Any, ids: Sequence[str] | None) -> Steps:
        ids = [uuid4().hex for _ in range(len(rows))] if ids is None else list(ids)
        sent = [{"x": _row(row), "id": id} for row, id in zip(rows, ids, strict=True)]
        answer = yield from self.answered(Call("POST", f"{self.at}/predict", _json("rows", sent)))
        return [_answered(item) for item in answer.json()]

    def label(self, id: str, y: Any, weight: float) -> Steps:
        sent = {"id": id, "y": _plain(y), "weight": weight}
        yield from self.answered(Call("POST", f"{self.at}/label", _json("y", sent)))

    def label_many(self, ids: Sequence[str], labels: Any, weights: Any) -> Steps:
        weights = [1.0] * len(ids) if weights is None else weights
        sent = [{"id": id, "y": _plain(y), "weight": _plain(weight)} for id, y, weight in zip(ids, labels, weights, strict=True)]
        answer = yield from self.answered(Call("POST", f"{self.at}/label", _json("labels", sent)))
        for item in answer.json():
            if "status" in item:
                raise _problem(item)

    def learn(self, rows: Any, labels: Any, weights: Any, key: str | None) -> Steps:
        weights = [1.0] * len(labels) if weights is None else weights
        sent = [{"x": _row(x), "y": _plain(y), "weight": _plain(w)} for x, y, w in zip(rows, labels, weights, strict=True)]
        content = _json("rows", sent, {"idempotency-key": key or uuid4().hex})
        answer = yield from self.answered(Call("POST", f"{self.at}/learn", content))
        return answer.json()["predictions"]

    def look(self, what: str) -> Steps:
        answer = yield from self.answered(Call("GET", f"{self.at}/{what}"))
        return answer.json()

    def download(self) -> Steps:
        answer = yield from self.answered(Call("GET", f"{self.at}/model"))
        return answer.content

    def upload(self, name: str, model: Any, shadow_of: str | None) -> Steps:
        if not isinstance(model, bytes):
            model = Path(model).read_bytes()
        params = {} if shadow_of is None else {"shadow_of": shadow_of}
        answer = yield from self.answered(Call("PUT", f"/models/{name}", {"content": model, "params": params}))
        return answer.json()


def _json(argument: str, sent: Any, headers: dict[str, str] = {}) -> dict[str, Any]:  # noqa: B006  never changed
    """What httpx takes to send this as JSON."""
    try:
        content = json.dumps(sent, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(argument, str(sent)[:80], f"it cannot be sent ({error}): give finite numbers, text, or None") from None
    return {"content": content, "headers": {"content-type": "application/json", **headers}}


def _row(x: Any) -> Any:
    """A row as JSON has it."""
    if isinstance(x, tuple) and len(x) == 2:
        return {"indices": _plain(x[0]), "values": _plain(x[1])}
    if isinstance(x, dict):
        return {str(name): _plain(value) for name, value in x.items()}
    return [_plain(value) for value in x] if isinstance(x, list) else _plain(x)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _answered(item: dict[str, Any]) -> Answered:
    if "status" in item:
        raise _problem(item)
    interval = item.get("interval")
    return Answered(item["id"], item["prediction"], item.get("probability"), None if interval is None else (interval[0], interval[1]))


def _problem(item: dict[str, Any]) -> BurkholderError:
    if item["status"] == 422:
        return BadInput(item["argument"], item["value"], item["remedy"])
    return ServiceRefused(item["status"], item["argument"], item["value"], item["remedy"])


def _refusal(answer: Any) -> BurkholderError:
    try:
        told = answer.json()
        return _problem(next(item for item in told if "status" in item) if type(told) is list else told)
    except (ValueError, KeyError, TypeError, StopIteration):
        return ServiceRefused(answer.status_code, "url", str(answer.url), "this is no answer of the service")
