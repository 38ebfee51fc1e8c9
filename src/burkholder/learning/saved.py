"""A `Learner` and an `Audit` as (header, arrays), and back: everything that changes, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning.encoding import storable
from burkholder.learning.feature_maps import Parity
from burkholder.learning.rows import Row, Rows, check_finite
from burkholder.learning.schema import Array, Schema, all_of, check_header, maybe, names, number, one_of, text, truth, whole
from burkholder.learning.tickets import Played
from burkholder.rounds.schema import book

Arrays = dict[str, np.ndarray]
State = tuple[dict[str, Any], Arrays]
L = TypeVar("L")


# --- rows: the kind of features, their number, the vocabulary -----------------------------------------------
def _rows_out(rows: Rows) -> dict[str, Any]:
    for name in rows.names:
        if not isinstance(name, (str, int)):
            raise BadInput("name", name, "features named by text or whole numbers can be stored, others cannot")
    return {"intercept": rows.intercept, "kind": rows.kind, "length": rows.length, "names": list(rows.names), "far": list(rows.far)}


_ROWS = {
    "intercept": truth,
    "kind": one_of(None, "vector", "sparse", "names"),
    "length": maybe(whole),
    "names": names,
    "far": all_of(whole),
}


def _rows_in(words: dict[str, Any]) -> Rows:
    check_header(words, _ROWS)
    rows = Rows(words["intercept"])
    if [name for name in words["names"] if type(name) not in (str, int)] or words["names"][: len(rows.names)] != list(rows.names):
        raise BadInput("names", words["names"][:3], "these are not the names of features, the constant first if there is one")
    if (words["kind"] == "vector") != (words["length"] is not None):
        raise BadInput("length", words["length"], "rows that are vectors have a length, others have none")
    rows.kind, rows.length = words["kind"], words["length"]
    rows.names = {name: place for place, name in enumerate(words["names"])}
    rows.far = {int(index): place for place, index in enumerate(words["far"])}
    if len(rows.names) != len(words["names"]) or len(rows.far) != len(words["far"]):
        raise ValueError("a feature is named twice")
    return rows


# --- learners -------------------------------------------------------------------------------------------------
def learner_out(learner: Any) -> State:
    """A learner in words and arrays; parts that are the user's own code are marked and must be handed to `load`."""
    loss_is_data = learner.loss.compiled
    by_name = learner.requested is not None and storable(learner.options)
    function: Any = {"given": learner.function.name}
    if by_name:
        function = {"name": learner.requested, "options": learner.options}
    elif storable(learner.function):
        function = learner.function
    header: dict[str, Any] = {
        "function": function,
        "loss": learner.loss if loss_is_data else {"given": "custom"},
        "features": learner.features if storable(learner.features) else {"given": "features"},
        "bound": None if math.isinf(learner.bound) else learner.bound,
        "seed": learner.seed,
        "made": learner.made,
        "rows": _rows_out(learner.rows),
        "tickets": learner._tickets.issued,
        "max_pending": learner.max_pending,
        "pending": [],
        "parts": learner.parts,
    }
    arrays = {f"state.{name}": array for name, array in learner.state.arrays().items()}
    arrays["ledger"] = learner.ledger.copy()
    for id, played in learner._tickets.waiting.items():
        words = _row_out(played.row, f"pending.{id}", arrays)
        header["pending"].append([id, *played.memo, played.round, words])
    return header, arrays


_MADE = {"strategy": maybe(text), "strategy_options": lambda value: _strategy_options(value)}
_LEARNER = {
    "function": lambda value: True,  # their makers check them
    "loss": lambda value: True,
    "features": lambda value: value is None or type(value) in (dict, Parity),
    "bound": maybe(number),
    "seed": lambda value: type(value) is int,
    "made": lambda value: type(value) is dict,
    "rows": lambda value: type(value) is dict,
    "tickets": whole,
    "max_pending": lambda value: whole(value) and value > 0,
    "pending": lambda value: type(value) is list,
    "parts": lambda value: whole(value) and value > 0,
}
_PENDING = (whole, number, number, whole, lambda value: type(value) is dict)


def _strategy_options(value: Any) -> bool:
    """Names with text or numbers that no grid or search takes too long for."""
    plain = type(value) is dict and all(type(key) is str for key in value)
    return plain and all(text(item) or (number(item) and abs(item) <= 4096) for item in value.values())


def _described(header: dict[str, Any], arrays: Arrays) -> None:
    """The header as such, and the arrays it leaves to the state."""
    check_header(header, _LEARNER)
    check_header(header["made"], _MADE)
    known = {"ledger"}
    for entry in header["pending"]:
        if type(entry) is not list or len(entry) != 5 or not all(kind(part) for kind, part in zip(_PENDING, entry)):
            raise BadInput("pending", entry, "this is no play that waits for its label")
        if entry[0] > header["tickets"] or f"pending.{entry[0]}" in known:
            raise BadInput("pending", entry[0], "no play, or another one, has this id")
        known |= {f"pending.{entry[0]}", f"pending.{entry[0]}.indices"}
    for name, array in arrays.items():
        if name.startswith("state.") or name == "ledger":
            continue
        if name not in known:
            raise BadInput(f"array {name!r}", "there", "this kind of learner has no such array")
        kind = Array(("entries",), "<i8", low=0) if name.endswith(".indices") else Array(("entries",))
        Schema({name: kind}).check({name: array})
    Schema({"ledger": book()}).check({name: array for name, array in arrays.items() if name == "ledger"})


def learner_in(kind: Callable[..., L], header: dict[str, Any], arrays: Arrays, **given: Any) -> L:
    """The learner that `learner_out` described."""
    _described(header, arrays)
    made = header["made"]
    parts = {key: _part(key, header[key], given) for key in ("function", "loss", "features")}
    named = isinstance(parts["function"], dict)
    options = parts["function"]["options"] if named else {}
    learner: Any = kind(
        parts["function"]["name"] if named else parts["function"],
        loss=parts["loss"],
        bound=header["bound"],
        features=parts["features"],
        intercept=header["rows"]["intercept"],
        seed=header["seed"],
        strategy=made["strategy"],
        strategy_options=made["strategy_options"],
        max_pending=header["max_pending"],
        **options,
    )
    learner.parts = int(header["parts"])
    learner.rows = _rows_in(header["rows"])
    learner.ledger[:] = arrays["ledger"]  # in place: compiled rounds write to this very array
    learner.state.restore({key[6:]: array for key, array in arrays.items() if key.startswith("state.")})
    if not learner.state.atomic:
        learner.state.seed = learner.seed  # kept exactly here, as a float there
    learner._tickets.issued = int(header["tickets"])
    for id, raw, error, played_at, words in header["pending"]:
        row = _row_in(words, f"pending.{id}", arrays, learner.rows)
        learner._tickets.waiting[int(id)] = Played(row, (float(raw), float(error)), int(played_at))
    return learner


def _part(key: str, saved: Any, given: dict[str, Any]) -> Any:
    """A part of the learner: from the file, or from the caller where the file only knows its name."""
    if isinstance(saved, dict) and "given" in saved:
        if given.get(key) is None:
            raise BadInput(
                key,
                None,
                f"this model uses a {key} of your own ({saved['given']}), which no file holds: give it again, load(path, {key}=…)",
            )
        return given[key]
    if given.get(key) is not None:
        raise BadInput(key, given[key], f"the file brings its own {key}; leave it out")
    return saved


def _row_out(row: Row, name: str, arrays: Arrays) -> dict[str, Any]:
    """The features of a play that waits for its label."""
    arrays[name] = row.values.copy()
    if row.kind == "names":
        return {"kind": row.kind, "names": list(row.keys)}
    arrays[f"{name}.indices"] = np.asarray(row.keys, np.int64)
    return {"kind": row.kind}


def _row_in(words: dict[str, Any], name: str, arrays: Arrays, rows: Rows) -> Row:
    """That row again; refused if it could not have been played."""
    values = arrays[name]
    if words["kind"] == "names":
        keys: Any = tuple(words["names"])
        if len(keys) != len(values):
            raise ValueError("a row that waits has more names than numbers")
        check_finite(np.asarray(values, float), "x")
        return Row("names", keys, np.array(values, float))
    indices = arrays[f"{name}.indices"]
    return rows.read(np.array(values, float) if words["kind"] == "vector" else (indices, values))


# --- audits ---------------------------------------------------------------------------------------------------
def audit_out(audit: Any) -> State:
    """An audit in words and arrays."""
    header = {"loss": audit.loss, "geometry": audit.geometry, "rows": _rows_out(audit.rows)}
    return header, {"ledger": audit.ledger.copy(), "sums": audit.sums.copy(), "lean": audit.lean.copy()}


def audit_in(kind: Callable[..., L], header: dict[str, Any], arrays: Arrays) -> L:
    """The audit that `audit_out` described."""
    check_header(header, {"loss": lambda value: True, "geometry": lambda value: True, "rows": lambda value: type(value) is dict})
    described = {"ledger": book(), "sums": Array((3, "features")), "lean": Array((3,))}
    features = Schema(described).check(arrays)["features"]
    length = header["rows"].get("length")
    if type(length) is int and features not in (0, length + bool(header["rows"].get("intercept"))):
        raise BadInput("array 'sums'", arrays["sums"].shape, f"rows have {length} features")
    audit: Any = kind(header["loss"], header["geometry"])
    audit.rows = _rows_in(header["rows"])
    audit.ledger, audit.sums, audit.lean = (np.array(arrays[name], float) for name in ("ledger", "sums", "lean"))
    return audit
