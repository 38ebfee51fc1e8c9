"""The description of the interface, made from the very records that requests are read into."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from burkholder import __version__
from burkholder.serve.answers import TYPES, Learned, Predicted, Problem, Progress
from burkholder.serve.wire import Example, Play, Truth

ROUNDS = {
    "predict": (Play, Predicted, "Predict a row, or many. Repeating an id gives the same answer."),
    "label": (Truth, Learned, "The label of a prediction, or many. Repeating it changes nothing."),
    "learn": (Example, Progress, "Rows with labels, all or none. An Idempotency-Key makes repeating it safe."),
}
STATUS = {
    "207": "Of a list, some were done and some not: each item says.",
    "401": "The token is wrong or missing.",
    "403": "Pages of other sites may not ask, nor other machines without a token; models are taken only with an admin's token.",
    "404": "There is no such model, or no prediction of that id.",
    "408": "It came too slowly.",
    "409": "The id, or the key, belongs to something else.",
    "410": "The label came too late.",
    "413": "Too large: the body, the batch, a row or a name.",
    "415": "Not a type of content that is read here.",
    "422": "It cannot be used: argument, value and remedy say why. Nothing was changed.",
    "429": "Too much waits already: try again later.",
    "431": "Headers without end.",
    "500": "A fault of the service, which it noted.",
    "503": "Not ready, or the disk refused: nothing was done, try again.",
}
ALWAYS = ("408", "431", "500")
NAME = "^[A-Za-z_][A-Za-z0-9_]*$"
OBJECT, FILE = (
    {TYPES["json"]: {"schema": {"type": "object"}}},
    {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
)
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "/certificate": ("What is guaranteed now, against whom, and under what.", OBJECT),
    "/model": ("The learner as a model file.", FILE),
    "/compare": ("A shadow and the model it follows: which is better, valid at every moment.", OBJECT),
    "/models": ("Every model in a line.", {TYPES["json"]: {"schema": {"type": "array", "items": {"type": "object"}}}}),
    "/health": ("Alive.", OBJECT),
    "/ready": ("Ready to answer; 503 while the log is replayed.", OBJECT),
    "/metrics": ("For Prometheus.", {"text/plain": {"schema": {"type": "string"}}}),
    "/live": ("What the page shows.", OBJECT),
}


@cache
def description() -> dict[str, Any]:
    """OpenAPI 3.1."""
    records = [record for asked, answered, _ in ROUNDS.values() for record in (asked, answered)]
    _, components = msgspec.json.schema_components([*records, Problem], ref_template="#/components/schemas/{name}")
    paths: dict[str, Any] = {}
    for verb, (asked, answered, words) in ROUNDS.items():
        for at in (f"/{verb}", f"/models/{{model}}/{verb}"):
            body = {"required": True, "content": _content(asked)}
            more = [_parameter("Idempotency-Key", "header")] if verb == "learn" else []
            paths[at] = {"post": {**_named(at, words, *more), "requestBody": body, "responses": _responses(answered)}}
    for path, (words, content) in LOOKS.items():
        responses = {"200": {"description": words, "content": content}, **_problems("401", "403", "404", "422", "503")}
        more = [_parameter("model", "query")] if path == "/live" else []
        for at in (path, f"/models/{{model}}{path}") if path in ("/certificate", "/model", "/compare") else (path,):
            paths[at] = {"get": {**_named(at, words, *more), "responses": responses}}
    paths["/models/{model}"] = {
        "put": {
            "summary": "Add a model from a file; with ?shadow_of= it learns what another learns. Admin only. Repeating it changes nothing.",
            "parameters": [_parameter("model", "path", pattern=NAME), _parameter("shadow_of", "query")],
            "requestBody": {"required": True, "content": FILE},
            "responses": {
                "201": {"description": "Added.", "content": OBJECT},
                "200": {"description": "It was there.", "content": OBJECT},
                **_problems("401", "403", "404", "409", "413", "422", "429", "503"),
            },
        },
        "delete": {
            **_named("/models/{model}", "Drop a model and its shadows. Admin only."),
            "responses": {"200": {"description": "Dropped.", "content": OBJECT}, **_problems("401", "403", "404", "429", "503")},
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "burkholder", "version": __version__, "description": "Predictions whose labels come later, and a certificate."},
        "paths": paths,
        "components": {"schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}, {}],
    }


def _named(at: str, words: str, *more: dict[str, Any]) -> dict[str, Any]:
    parameters = [*([_parameter("model", "path")] if "{model}" in at else []), *more]
    return {"summary": words, **({"parameters": parameters} if parameters else {})}


def _parameter(name: str, where: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": where, "required": where == "path", "schema": {"type": "string", **more}}


def _content(record: Any) -> dict[str, Any]:
    one = {"$ref": f"#/components/schemas/{record.__name__}"}
    whole = {"schema": {"oneOf": [one, {"type": "array", "items": one}]}}
    return {TYPES["json"]: whole, TYPES["lines"]: {"schema": one}, TYPES["arrow"]: {"schema": {"type": "string", "format": "binary"}}}


def _responses(record: Any) -> dict[str, Any]:
    """Of a list each item has an answer, or a problem, of its own."""
    one, problem = ({"$ref": f"#/components/schemas/{kind.__name__}"} for kind in (record, Problem))
    items = {"207": {"anyOf": [one, problem]}} | {status: problem for status in STATUS if status != "207"}
    listed = {status: {"type": "array", "items": item} for status, item in items.items()}
    found = {status: {"oneOf": [problem, many]} if status != "207" else many for status, many in listed.items()}
    told: dict[str, Any] = {
        status: {"description": STATUS[status], "content": {TYPES["json"]: {"schema": schema}}} for status, schema in found.items()
    }
    for form in ("lines", "arrow"):
        for answer in told.values():
            answer["content"][TYPES[form]] = _content(record)[TYPES[form]] if form == "arrow" else {"schema": {"anyOf": [one, problem]}}
    return {"200": {"description": "Done, and on disk.", "content": _content(record)}, **told}


def _problems(*statuses: str) -> dict[str, Any]:
    content = {TYPES["json"]: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": STATUS[status], "content": content} for status in (*statuses, *ALWAYS)}
