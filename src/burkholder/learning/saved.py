"""A `Learner` and an `Audit` as (header, arrays), and back: everything that changes, and how it was made."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from burkholder.errors import BadInput
from burkholder.learning import ledger
from burkholder.learning.feature_maps import Parity
from burkholder.learning.ledger import ROUNDS
from burkholder.learning.rows import DIRECT, LARGEST, TOP, Row, Rows, check_finite
from burkholder.learning.schema import (
    COUNTED,
    SUMMED,
    Array,
    Schema,
    all_of,
    check_header,
    check_plays,
    feature,
    limit,
    maybe,
    name,
    names,
    number,
    one_of,
    size,
    text,
    truth,
    whole,
    within_sizes,
)
from burkholder.learning.tickets import Played

Arrays = dict[str, np.ndarray]
State = tuple[dict[str, Any], Arrays]
L = TypeVar("L")


# --- rows: the kind of features, their number, the vocabulary -----------------------------------------------
def _rows_out(rows: Rows) -> dict[str, Any]:
    _check_names(rows.names)
    return {"intercept": rows.intercept, "kind": rows.kind, "length": rows.length, "names": list(rows.names), "far": list(rows.far)}


def _check_names(given: Iterable[Any]) -> None:
    for key in given:
        if not isinstance(key, (str, int)):
            raise BadInput("name", key, "features named by text or whole numbers can be stored, others cannot")


_ROWS = {
    "intercept": truth,
    "kind": one_of(None, "vector", "sparse", "names"),
    "length": maybe(whole),
    "names": names,
    "far": lambda value: all_of(place)(value) and len(set(value)) == len(value) and (not value or min(value) >= DIRECT),
}


def place(value: Any) -> bool:
    """The index of a feature."""
    return type(value) is int and 0 <= value <= TOP


def rows_in(words: Any) -> Rows:
    """The rows that these words describe; nothing in them may contradict the rest."""
    check_header(words, _ROWS)
    rows = Rows(words["intercept"])
    if words["names"][: len(rows.names)] != list(rows.names):
        raise BadInput("names", words["names"][:3], "the constant is the first of the names, if there is one")
    if (words["kind"] == "vector") != (words["length"] is not None):
        raise BadInput("length", words["length"], "rows that are vectors have a length, others have none")
    if len(words["names"]) > len(rows.names) and words["kind"] != "names":
        raise BadInput("names", words["kind"], "rows of this kind have no names")
    if words["far"] and words["kind"] not in ("vector", "sparse"):
        raise BadInput("far", words["kind"], "rows of this kind have no indices")
    rows.kind, rows.length = words["kind"], words["length"]
    rows.names = {name: place for place, name in enumerate(words["names"])}
    rows.far = {index: place for place, index in enumerate(words["far"])}
    return rows


def checked_row(kind: Any, keys: Any, values: np.ndarray) -> Row:
    """A row that was played; refused if it could not have been. Keys are a tuple of names, or an array of indices."""
    if kind not in ("names", "vector", "sparse") or len(keys) != len(values):
        raise BadInput("pending", kind, "a row has a kind, and a number for each of its features")
    check_finite(values, "pending")
    if kind == "names":
        for key in keys:
            if not name(key):
                raise BadInput("pending", key, "this is no name of a feature")
    elif len(keys) and (keys.min() < 0 or (kind == "vector" and not np.array_equal(keys, np.arange(len(keys))))):
        raise BadInput("pending", int(keys.min()), "these are not the indices of features")
    return Row(kind, keys, values)


_COUNTS = [ledger.ROUNDS, ledger.ERRORS, ledger.STEEP, ledger.LARGE, ledger.CAPPED, ledger.DELAYED, ledger.CLIPPED]


def check_book(book: Arrays, own: bool) -> None:
    """The ledger: sums of sizes, and numbers of rounds; a loss of one's `own` may be below 0."""
    low, high = np.zeros(ledger.SLOTS), np.full(ledger.SLOTS, SUMMED)
    low[ledger.LOSS_LOW] = -SUMMED
    low[ledger.LOSS] = -SUMMED if own else 0.0
    high[_COUNTS] = COUNTED

    def counted(a: Any) -> bool:
        counts = a["ledger"][_COUNTS]
        return bool((counts == np.floor(counts)).all() and (counts <= counts[0]).all())

    def averaged(a: Any) -> bool:
        loss, weight = ledger.loss_of(a["ledger"]), float(a["ledger"][ledger.WEIGHT])
        return (own or loss >= 0.0) and (loss == 0.0 if weight == 0.0 else abs(loss) / weight < math.inf)

    rules = (("ledger: numbers of rounds that are not", counted), ("ledger: a loss without a mean", averaged))
    Schema({"ledger": Array((ledger.SLOTS,), low=low, high=high)}, rules).check(book)


def check_statement(certificate: Any) -> None:
    """Refuse a learner that could not say what it lost: rounds, loss and potential must be numbers."""
    if certificate.potential is not None and math.isnan(certificate.potential):
        raise BadInput("potential", certificate.potential, "these sums are of no stream")
    least = -math.inf if certificate.loss == "custom" else 0.0  # a loss of one's own may be below 0
    told = {"cumulative loss": certificate.cumulative_loss, "mean loss": certificate.mean_loss if certificate.weight else 0.0}
    for key, said in told.items():
        if not (least <= said < math.inf or (key == "mean loss" and certificate.rounds == 0)):
            raise BadInput(key, said, "these sums are of no stream")


def check_numbers(certificate: Any) -> None:
    """Refuse a learner whose certificate is no statement: the three numbers must be numbers, and in order."""
    check_statement(certificate)
    try:
        told = certificate.realised(), certificate.corrected(), certificate.bound()
    except BadInput:
        return  # it has no such numbers over a whole class
    if not -math.inf < told[0] <= told[1] <= told[2]:
        raise BadInput("certificate", told, "these sums are of no stream: realised, corrected and bound are not in order")


# --- learners -------------------------------------------------------------------------------------------------
def learner_out(learner: Any) -> State:
    """A learner in words and arrays; parts that are the user's own code are marked and must be handed to `load`."""
    from burkholder.learning.encoding import storable  # it knows every function by name; most runs need none

    loss_is_data = learner.loss.compiled
    by_name = learner.requested is not None and storable(learner.options)
    function: Any = {"given": learner.function.name}
    if by_name:
        function = {"name": learner.requested, "options": copy.deepcopy(learner.options)}
    elif storable(learner.function):
        function = learner.function
    header: dict[str, Any] = {
        "function": function,
        "loss": learner.loss if loss_is_data else {"given": "custom"},
        "features": learner.features if storable(learner.features) else {"given": "features"},
        "bound": None if math.isinf(learner.bound) else learner.bound,
        "seed": learner.seed,
        "made": copy.deepcopy(learner.made),
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
        header["pending"].append([id, played.round, *played.memo, words])
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
    "max_pending": limit,
    "pending": lambda value: type(value) is list,
    "parts": limit,
}
_PENDING = (number, lambda value: size(value) and value <= LARGEST, lambda value: type(value) is dict)


def _strategy_options(value: Any) -> bool:
    """Names with text or numbers that no grid or search takes too long for."""
    plain = type(value) is dict and all(type(key) is str for key in value)
    return plain and all(text(item) or (number(item) and abs(item) <= 4096) for item in value.values())


def _described(header: dict[str, Any], arrays: Arrays) -> None:
    """The header as such, and the arrays it leaves to the state."""
    check_header(header, _LEARNER)
    check_header(header["made"], _MADE)
    own = {key: array for key, array in arrays.items() if not key.startswith("state.")}
    custom = isinstance(header["loss"], dict)
    check_book({key: own.pop(key) for key in ("ledger",) if key in own}, custom)
    check_plays(header["pending"], header["tickets"], header["max_pending"], int(arrays["ledger"][ROUNDS]), _PENDING)
    described = {}
    for id, _, _, _, words in header["pending"]:
        check_header(
            words, {"kind": one_of("names"), "names": all_of(feature)} if "names" in words else {"kind": one_of("vector", "sparse")}
        )
        described[f"pending.{id}"] = Array((f"row {id}",), low=-LARGEST, high=LARGEST)
        if words["kind"] != "names":
            described[f"pending.{id}.indices"] = Array((f"row {id}",), "<i8", low=0)
    Schema(described).check(own)


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
    learner.rows = rows_in(header["rows"])
    _check_names(learner.rows.names)
    learner.ledger[:] = arrays["ledger"]  # in place: compiled rounds write to this very array
    learner.state.restore({key[6:]: array for key, array in arrays.items() if key.startswith("state.")})
    if not learner.state.atomic:
        learner.state.seed = learner.seed  # kept exactly here, as a float there
    learner._tickets.issued = int(header["tickets"])
    for id, played_at, raw, error, words in header["pending"]:
        keys = tuple(words["names"]) if words["kind"] == "names" else arrays[f"pending.{id}.indices"].copy()
        row = checked_row(words["kind"], keys, arrays[f"pending.{id}"].copy())
        learner._tickets.waiting[id] = Played(row, (float(raw), float(error)), played_at)
    with np.errstate(all="ignore"):
        check_numbers(learner.certificate())
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


def _row_out(row: Row, array: str, arrays: Arrays) -> dict[str, Any]:
    """The features of a play that waits for its label."""
    arrays[array] = row.values.copy()
    if row.kind == "names":
        _check_names(row.keys)
        return {"kind": row.kind, "names": list(row.keys)}
    arrays[f"{array}.indices"] = np.array(row.keys, np.int64)
    return {"kind": row.kind}


# --- audits ---------------------------------------------------------------------------------------------------
def audit_out(audit: Any) -> State:
    """An audit in words and arrays."""
    header = {"loss": audit.loss, "geometry": audit.geometry, "rows": _rows_out(audit.rows)}
    return header, {"ledger": audit.ledger.copy(), "sums": audit.sums.copy(), "lean": audit.lean.copy()}


_SUMS = np.array([-np.finfo(float).max, -np.finfo(float).max, 0.0])  # a sum, its correction, and the sum of sizes


def audit_in(kind: Callable[..., L], header: dict[str, Any], arrays: Arrays) -> L:
    """The audit that `audit_out` described."""
    check_header(header, {"loss": lambda value: True, "geometry": lambda value: True, "rows": lambda value: type(value) is dict})
    check_book({key: array for key, array in arrays.items() if key == "ledger"}, not getattr(header["loss"], "compiled", False))
    described = {"sums": Array((3, "features"), low=_SUMS[:, None]), "lean": Array((3,), low=_SUMS)}
    rules = tuple((f"{key}: larger than what was summed", lambda a, key=key: within_sizes(a[key])) for key in described)
    features = Schema(described, rules).check({key: array for key, array in arrays.items() if key != "ledger"})["features"]
    length = header["rows"].get("length")
    if type(length) is int and features not in (0, length + bool(header["rows"].get("intercept"))):
        raise BadInput("array 'sums'", arrays["sums"].shape, f"rows have {length} features")
    audit: Any = kind(header["loss"], header["geometry"])
    audit.rows = rows_in(header["rows"])
    audit.ledger, audit.sums, audit.lean = (np.array(arrays[name], float) for name in ("ledger", "sums", "lean"))
    with np.errstate(all="ignore"):
        check_numbers(audit.certificate())
    return audit
