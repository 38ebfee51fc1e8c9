"""The work behind `burkholder learn --key`: one learner a key, and what each of them came to."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from burkholder.cli.options import parsed
from burkholder.cli.predictions import Predictions
from burkholder.cli.session import Asked
from burkholder.errors import BadInput, printable
from burkholder.keyed import Keyed
from burkholder.learning.factory import named_learner
from burkholder.storage import load_with_extra
from burkholder.storage import save as store
from burkholder.streams.readers import Reader, open_reader, rows_of
from burkholder.streams.readers.reading import Reading

BLOCK = 1 << 15
SHOWN = 3  # keys at either end


def opened(data: Any, key: str, reading: dict[str, Any], table: Reading | None = None) -> Reader:
    """The reader of a table with a column of keys; read as `table` was, where one is known."""
    if reading.get("target") == key:
        raise BadInput("key", key, "this is the target, which nobody knows before the prediction; name another column")
    given = {name: value for name, value in reading.items() if value not in (None, ())}
    if table is not None:
        table.agree({name: given.pop(name, None) for name in ("target", "weight", "drop", "categorical", "header", "decimal")})
        given = {**given, "reading": table, "classes": "words"}
        given.pop("dates", None)
    else:
        given = {**given, "categorical": (*given.get("categorical", ()), key), "classes": "words"}
    try:
        return open_reader(data, **given)
    except BadInput as error:  # a complaint about the column of keys names it as such
        raise (BadInput("key", key, error.remedy) if error.argument == "categorical" and error.value == key else error) from None


def with_keys(reader: Reader, key: str) -> Iterator[tuple[dict[str, Any], Any, float]]:
    """(row with its key, label, weight) of every row of a table."""
    mark = f"{key}="
    for t, (x, y, weight) in enumerate(rows_of(reader)):
        if not isinstance(x, dict):
            raise BadInput("key", key, "keys stand in a column: give a table")
        found = next((name for name in x if isinstance(name, str) and name.startswith(mark)), None)
        if found is None:
            raise BadInput("key", key, f"row {t + 1} has none; `--key` names a column of the table")
        del x[found]
        yield {key: found[len(mark) :], **x}, y, weight


def learned(
    data: str | None,
    key: str,
    reading: dict[str, Any],
    refused: dict[str, Any],
    asked: Asked,
    predictions: Path | None,
    save: Path | None,
    load: Path | None,
    details: bool,
) -> tuple[dict[str, Any], str]:
    """The whole command. What is told of it, for programs and for people."""
    if data is None:
        raise BadInput("data", None, "give a table with a column of keys")
    intercept = reading["intercept"]
    for name, value in {**refused, "positive": reading["positive"], "bits": reading["bits"]}.items():
        if value:
            raise BadInput(f"--{name}", value, "it is not for keys: leave it out, or leave out --key")
    reading = {name: value for name, value in reading.items() if name not in ("intercept", "positive", "bits")}
    keyed, before, table = _begun(key, asked, intercept, load)
    began, reader = time.perf_counter(), opened(data, key, reading, table)
    rows = with_keys(reader, key)
    written = Predictions(None if predictions is None else str(predictions))
    with written:
        while block := list(islice(rows, BLOCK)):
            if keyed is None:
                keyed = _fresh(key, asked, "logistic" if _classes([y for _, y, _ in block]) else "squared", intercept)
            said = keyed.learn_many([x for x, _, _ in block], [y for _, y, _ in block], [weight for _, _, weight in block])
            if written.path is not None:
                written.write(list(map(repr, said.tolist())))
        written.keep()
    if keyed is None:
        raise BadInput("data", data, "it has no rows")
    seconds = time.perf_counter() - began
    if save is not None:
        table = Reading.of(reader)
        store(keyed, str(save), {"run": {"table": None if table is None else table.to_dict()}})
    found = _result(data, keyed, before, seconds)
    return found, _text(found, keyed, details)


def _begun(key: str, asked: Asked, intercept: bool | None, load: Path | None) -> tuple[Any, int, Reading | None]:
    """(the learner, or None where the loss is still to be found out; rounds it had before; how its table was read)."""
    if load is not None:
        keyed, extra = load_with_extra(str(load))
        if not isinstance(keyed, Keyed) or keyed.key != key:
            raise BadInput("load", str(load), f"it holds no learner of keys called {key!r}")
        return keyed, keyed.rounds, table_of(extra)
    return (None if asked.loss is None else _fresh(key, asked, asked.loss, intercept)), 0, None


def table_of(extra: dict[str, Any]) -> Reading | None:
    """How the table was read that a saved learner of keys learned from; None where the command did not make it."""
    words = extra.get("run", {}).get("table")
    return None if words is None else Reading.from_dict(words)


def _fresh(key: str, asked: Asked, loss: str, intercept: bool | None) -> Keyed:
    """A light Auto for every key unless something else is asked for."""
    given = parsed(list(asked.options))
    pooled = bool(given.pop("pooled", True))
    if asked.learner == "auto":
        given = {"effort": "light", **given}
    return Keyed(named_learner(asked.learner, loss, given, intercept is not False), key=key, pooled=pooled)


def _classes(labels: list[Any]) -> bool:
    found = set(labels)
    return found <= {0.0, 1.0} or found <= {-1.0, 1.0}


def _result(data: str, keyed: Keyed, before: int, seconds: float) -> dict[str, Any]:
    """What is told of a run: all keys, then each, the worst first."""
    each = []
    for key in keyed.keys:
        certificate = keyed.certificate(key)
        each.append({"key": key, "rounds": certificate.rounds, "mean_loss": certificate.mean_loss})
    each.sort(key=lambda one: -one["mean_loss"] if one["mean_loss"] == one["mean_loss"] else 0.0)
    certificate = keyed.certificate()
    rounds = keyed.rounds - before
    return {
        "data": data,
        "key": keyed.key,
        **certificate.to_dict(),
        "keys": each,
        "seconds": seconds,
        "rounds_per_second": rounds / seconds if seconds > 0.0 else None,
    }


def _text(found: dict[str, Any], keyed: Keyed, details: bool) -> str:
    lines = [f"{printable(found['data'])}: {found['rounds']:,} rows of {len(keyed):,} keys, mean loss {found['mean_loss']:.6g}"]
    each = found["keys"]
    shown = {"worst": each[:SHOWN], "best": each[: -SHOWN - 1 : -1] if len(each) > SHOWN else []}
    for word, some in shown.items():
        for one in some:
            lines.append(f"  {word:5}  {printable(str(one['key']))}: mean loss {one['mean_loss']:.6g} in {one['rounds']:,} rows")
    if details:
        lines.append(str(keyed.certificate()))
    return "\n".join(lines)
