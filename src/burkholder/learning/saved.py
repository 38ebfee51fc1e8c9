"""A `Learner` and an `Audit` as (header, arrays), and back: everything that changes, and how it was made."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning import ledger
from burkholder.learning.encoding import storable
from burkholder.learning.rows import Row, Rows, check_finite
from burkholder.learning.tickets import Played

Arrays = dict[str, np.ndarray]
State = tuple[dict[str, Any], Arrays]
L = TypeVar("L")


# --- rows: the kind of features, their number, the vocabulary -----------------------------------------------
def _rows_out(rows: Rows) -> dict[str, Any]:
    for name in rows.names:
        if not isinstance(name, (str, int)):
            raise BadInput("name", name, "features named by text or whole numbers can be stored, others cannot")
    return {"intercept": rows.intercept, "kind": rows.kind, "length": rows.length, "names": list(rows.names), "far": list(rows.far)}


def _rows_in(words: dict[str, Any]) -> Rows:
    rows = Rows(words["intercept"])
    if words["kind"] not in (None, "vector", "sparse", "names"):
        raise ValueError(f"rows of kind {words['kind']!r}")
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


def learner_in(kind: type[L], header: dict[str, Any], arrays: Arrays, **given: Any) -> L:
    """The learner that `learner_out` described."""
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
    if arrays["ledger"].shape != learner.ledger.shape or arrays["ledger"].dtype != learner.ledger.dtype:
        raise ValueError("the ledger has another shape")
    learner.ledger[:] = arrays["ledger"]  # in place: compiled rounds write to this very array
    learner.state.restore({key[6:]: array for key, array in arrays.items() if key.startswith("state.")})
    if not learner.state.atomic:
        learner.state.seed = learner.seed  # kept exactly here, as a float there
        expected = [part.shape for part in learner.state.tau()] if learner.state.dim else []
        whole = [part.shape for part in learner.function.zero(learner.state.dim)] if learner.state.dim else []
        if expected != whole or learner.state.g.shape != (learner.state.dim,):
            raise ValueError("the statistics have other shapes than this function's")
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


def audit_in(kind: type[L], header: dict[str, Any], arrays: Arrays) -> L:
    """The audit that `audit_out` described."""
    audit: Any = kind(header["loss"], header["geometry"])
    audit.rows = _rows_in(header["rows"])
    if arrays["ledger"].shape != (ledger.SLOTS,) or arrays["sums"].shape[:1] != (3,) or arrays["lean"].shape != (3,):
        raise ValueError("the sums have other shapes")
    audit.ledger, audit.sums, audit.lean = (np.array(arrays[name], float) for name in ("ledger", "sums", "lean"))
    return audit
