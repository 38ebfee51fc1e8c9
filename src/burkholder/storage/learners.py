"""A `Learner` and an `Audit` as (header, arrays), and back: everything that changes, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.learning import ledger
from burkholder.learning.audit import Audit
from burkholder.learning.learner import Learner, _Pending
from burkholder.learning.merging import MergedLearner
from burkholder.learning.rows import Rows
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


def _rows_in(words: dict[str, Any]) -> Rows:
    rows = Rows(words["intercept"])
    if words["kind"] not in (None, "vector", "sparse", "names"):
        raise ValueError(f"rows of kind {words['kind']!r}")
    rows.kind, rows.length = words["kind"], words["length"]
    rows.names = {name: place for place, name in enumerate(words["names"])}
    if len(rows.names) != len(words["names"]):
        raise ValueError("a feature is named twice")
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
        header["pending"].append([id, pending.raw, pending.error, pending.played_at, _x_out(pending.x, f"pending.{id}", arrays)])
    return header, arrays


def learner_in(header: dict[str, Any], arrays: Arrays, **given: Any) -> Learner:
    """The learner that `learner_out` described."""
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
    if arrays["ledger"].shape != learner.ledger.shape or arrays["ledger"].dtype != learner.ledger.dtype:
        raise ValueError("the ledger has another shape")
    learner.ledger[:] = arrays["ledger"]  # in place: compiled rounds write to this very array
    learner.state.restore({key[6:]: array for key, array in arrays.items() if key.startswith("state.")})
    if not isinstance(learner.state, LinearState):
        learner.state.seed = learner.seed  # kept exactly here, as a float there
        expected = [part.shape for part in learner.state.tau()] if learner.state.dim else []
        whole = [part.shape for part in learner.function.zero(learner.state.dim)] if learner.state.dim else []
        if expected != whole or learner.state.g.shape != (learner.state.dim,):
            raise ValueError("the statistics have other shapes than this function's")
    learner._tickets = int(header["tickets"])
    for id, raw, error, played_at, words in header["pending"]:
        x = _x_in(words, f"pending.{id}", arrays)
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


def _x_out(x: Any, name: str, arrays: Arrays) -> dict[str, Any]:
    """The features of a play that waits for its label."""
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
    audit = Audit(header["loss"], header["geometry"])
    audit.rows = _rows_in(header["rows"])
    if arrays["ledger"].shape != (ledger.SLOTS,) or arrays["g"].ndim != 1 or arrays["a"].shape != ():
        raise ValueError("the sums have other shapes")
    audit.ledger, audit._g, audit._a = arrays["ledger"], arrays["g"], float(arrays["a"])
    return audit
