"""A `Learner` and an `Audit` as (header, arrays), and back: everything that changes, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning.audit import Audit
from burkholder.learning.feature_maps import Parity
from burkholder.learning.learner import Learner, _Pending
from burkholder.learning.merging import MergedLearner
from burkholder.learning.rows import Rows
from burkholder.learning.schema import Array, Schema, check_header, maybe, names, number, one_of, text, truth, whole
from burkholder.rounds.schema import book
from burkholder.rounds.state import LinearState
from burkholder.storage.container import Arrays
from burkholder.storage.words import storable

State = tuple[dict[str, Any], Arrays]


# --- rows: the kind of features, their number, the vocabulary -----------------------------------------------
def _rows_out(rows: Rows) -> dict[str, Any]:
    for name in rows.names:
        if not isinstance(name, (str, int)):
            raise BadInput("name", name, "features named by text or whole numbers can be stored, others cannot")
    return {"intercept": rows.intercept, "kind": rows.kind, "length": rows.length, "names": list(rows.names)}


_ROWS = {"intercept": truth, "kind": one_of(None, "vector", "sparse", "names"), "length": maybe(whole), "names": names}


def _rows_in(words: dict[str, Any]) -> Rows:
    check_header(words, _ROWS)
    rows = Rows(words["intercept"])
    if [name for name in words["names"] if type(name) not in (str, int)] or words["names"][: len(rows.names)] != list(rows.names):
        raise BadInput("names", words["names"][:3], "these are not the names of features, the constant first if there is one")
    if (words["kind"] == "vector") != (words["length"] is not None):
        raise BadInput("length", words["length"], "rows that are vectors have a length, others have none")
    rows.kind, rows.length = words["kind"], words["length"]
    rows.names = {name: place for place, name in enumerate(words["names"])}
    return rows


# --- learners -------------------------------------------------------------------------------------------------
def learner_out(learner: Learner) -> State:
    """A learner in words and arrays; parts that are the user's own code are marked and must be handed to `load`."""
    loss_is_data = not isinstance(learner.loss, losses.Custom)
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
        "tickets": learner._tickets,
        "pending": [],
        "parts": getattr(learner, "parts", 1),
    }
    arrays = {f"state.{name}": array for name, array in learner.state.arrays().items()}
    arrays["ledger"] = learner.ledger.copy()
    for id, pending in learner._pending.items():
        header["pending"].append(
            [id, pending.raw, pending.error, pending.played_at, _x_out(pending.x, f"pending.{id}", arrays, learner.rows.table)]
        )
    return header, arrays


_MADE = {"strategy": maybe(text), "strategy_options": lambda value: _strategy_options(value), "dtype": one_of("<f8", "<f4")}
_LEARNER = {
    "function": lambda value: True,  # their makers check them
    "loss": lambda value: True,
    "features": lambda value: value is None or type(value) in (dict, Parity),
    "bound": maybe(number),
    "seed": lambda value: type(value) is int,
    "made": lambda value: type(value) is dict,
    "rows": lambda value: type(value) is dict,
    "tickets": whole,
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


def learner_in(header: dict[str, Any], arrays: Arrays, **given: Any) -> Learner:
    """The learner that `learner_out` described."""
    _described(header, arrays)
    made = header["made"]
    parts = {key: _part(key, header[key], given) for key in ("function", "loss", "features")}
    named = isinstance(parts["function"], dict)
    options = parts["function"]["options"] if named else {}
    maker = MergedLearner if header["parts"] > 1 else Learner
    learner = maker(
        parts["function"]["name"] if named else parts["function"],
        loss=parts["loss"],
        bound=header["bound"],
        features=parts["features"],
        intercept=header["rows"]["intercept"],
        seed=header["seed"],
        strategy=made["strategy"],
        strategy_options=made["strategy_options"],
        dtype=np.dtype(made["dtype"]),
        **options,
    )
    if isinstance(learner, MergedLearner):
        learner.parts = int(header["parts"])
    learner.rows = _rows_in(header["rows"])
    learner.ledger[:] = arrays["ledger"]  # in place: compiled rounds write to this very array
    learner.state.restore({key[6:]: array for key, array in arrays.items() if key.startswith("state.")})
    if not isinstance(learner.state, LinearState):
        learner.state.seed = learner.seed  # kept exactly here, as a float there
    learner._tickets = int(header["tickets"])
    for id, raw, error, played_at, words in header["pending"]:
        x = _x_in(words, f"pending.{id}", arrays)
        if "fields" not in words:  # those are read by the table, which is not here yet
            learner.rows.read(x)  # refuses a row that could not have been played
        learner._pending[int(id)] = _Pending(x, float(raw), float(error), int(played_at))
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


def _x_out(x: Any, name: str, arrays: Arrays, table: Any) -> dict[str, Any]:
    """The features of a play that waits for its label."""
    if table is not None:
        return {"fields": dict(x)}
    if isinstance(x, Mapping):
        arrays[name] = np.array([float(value) for value in x.values()])
        return {"names": list(x)}
    if hasattr(x, "tocsr"):
        x = (x.tocsr().indices, x.tocsr().data)
    if isinstance(x, tuple):
        arrays[f"{name}.indices"] = np.asarray(x[0], np.int64)
        arrays[name] = np.asarray(x[1], float)
        return {"sparse": True}
    arrays[name] = np.array(x, float)
    return {"vector": True}


def _x_in(words: dict[str, Any], name: str, arrays: Arrays) -> Any:
    if "fields" in words:
        return dict(words["fields"])
    values = arrays[name]
    if "names" in words:
        return dict(zip(words["names"], values.tolist(), strict=True))
    return (arrays[f"{name}.indices"], values) if "sparse" in words else values


# --- audits ---------------------------------------------------------------------------------------------------
def audit_out(audit: Audit) -> State:
    """An audit in words and arrays."""
    header = {"loss": audit.loss, "geometry": audit.geometry, "rows": _rows_out(audit.rows)}
    return header, {"ledger": audit.ledger.copy(), "g": audit._g.copy(), "a": np.array(audit._a)}


def audit_in(header: dict[str, Any], arrays: Arrays) -> Audit:
    """The audit that `audit_out` described."""
    check_header(header, {"loss": lambda value: True, "geometry": lambda value: True, "rows": lambda value: type(value) is dict})
    Schema({"ledger": book(), "g": Array(("features",)), "a": Array(())}).check(arrays)
    length = header["rows"].get("length")
    if type(length) is int and len(arrays["g"]) not in (0, length + bool(header["rows"].get("intercept"))):
        raise BadInput("array 'g'", arrays["g"].shape, f"rows have {length} features")
    audit = Audit(header["loss"], header["geometry"])
    audit.rows = _rows_in(header["rows"])
    audit.ledger, audit._g, audit._a = arrays["ledger"], arrays["g"], float(arrays["a"])
    return audit
