"""What a saved MatrixCompletion and MatrixLearner must be before their compiled rounds may trust it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder import losses
from burkholder.errors import BadInput
from burkholder.experts import schema as experts
from burkholder.learning.schema import (
    COUNTED,
    LARGEST,
    SUMMED,
    Array,
    Arrays,
    Schema,
    all_of,
    check_header,
    check_plays,
    count,
    limit,
    maybe,
    number,
    one_of,
    options,
    positive,
    steady,
    text,
    truth,
    whole,
)
from burkholder.matrix import aims, bet, bias, factors, sign_flip, tangent
from burkholder.matrix.general import MATRICES, SPARSE
from burkholder.matrix.inputs import LARGEST as INPUT
from burkholder.matrix.lanczos import DEPTH
from burkholder.matrix.rules import MIXTURE_RATES

VERSION = 6  # of what both learners' `state_dict` write
_PLAYS = {"max_pending": limit, "issued": whole, "pending": lambda value: type(value) is list}
_RULE = {
    "rate": lambda value: text(value) or positive(value),
    "radius": maybe(positive),
    "loss": text,
    "parameters": options,
    "kappa": number,
}
COMPLETION = {
    "kind": one_of("MatrixCompletion"),
    "version": one_of(VERSION),
    "low": number,
    "high": number,
    "tol": lambda value: number(value) and 0.0 < value <= 1.0,
    "rows": lambda value: _ids(value),
    "columns": lambda value: _ids(value),
    **_PLAYS,
}
DEFAULT = {"strategy": one_of("default"), "fast": truth, "exact": whole, "loss": text, "parameters": options}
SIGN_FLIP = {"strategy": one_of("sign-flip"), **_RULE}
LEARNER = {
    "kind": one_of("MatrixLearner"),
    "version": one_of(VERSION),
    "shape": lambda value: all_of(limit)(value) and len(value) == 2,
    "entries": truth,
    "strategy": text,
    "bound": lambda value: positive(value) or value == math.inf,
    "tol": number,
    "method": text,
    **_RULE,
    **_PLAYS,
}
HUGE = 1e75  # of slopes and of what they are summed to: products of four stay finite

Rules = tuple[tuple[str, Callable[[Any], bool]], ...]


def _ids(value: Any) -> bool:
    """Pairs of an id and the number of its node."""
    plain = type(value) is list and all(type(pair) is list and len(pair) == 2 for pair in value)
    return plain and all(type(pair[0]) in (str, int) and whole(pair[1]) for pair in value)


def sides_of(header: dict[str, Any]) -> np.ndarray:
    """For each node whether it is a row; each row and column must have a number of its own, without gaps, and an id of its own."""
    taken = sorted(node for pair in (header["rows"], header["columns"]) for _, node in pair)
    if taken != list(range(len(taken))):
        raise BadInput("header 'rows'", "numbers", "rows and columns must be numbered 0, 1, 2, … in order of arrival")
    for key in ("rows", "columns"):
        if len({(type(id), id) for id, _ in header[key]}) < len(header[key]):
            raise BadInput(f"header {key!r}", "ids", "an id is there twice")
    sides = np.zeros(len(taken), bool)
    sides[[node for _, node in header["rows"]]] = True
    return sides


# --- the graph ----------------------------------------------------------------------------------------------------
def graph(sides: np.ndarray, steepest: float) -> tuple[dict[str, Array], Rules]:
    """Lists that lie in the pool, apart from each other, of columns for a row and of rows for a column; no slope above `steepest`."""
    nodes = len(sides)
    arrays = {
        "graph.start": Array(("capacity",), "<u8", low=0),
        "graph.length": Array(("capacity",), "<u8", low=0),
        "graph.room": Array(("capacity",), "<u8", low=0),
        "graph.neighbour": Array(("pool",), "<u4", low=0, high=max(nodes - 1, 0)),
        "graph.weight": Array(("pool",), low=-steepest, high=steepest),
        "graph.diagonal": Array(("capacity",), low=0.0, high=min(HUGE, steepest**2 * 2.0**40)),
        "graph.used": count((2,)),
    }
    return arrays, (
        ("graph.used: another number of rows and columns", lambda a: a["graph.used"][0] == nodes <= len(a["graph.start"])),
        ("graph.start: lists outside the pool, or inside each other", _apart),
        ("graph.length: a list of a node that is not there", lambda a: not a["graph.length"][nodes:].any()),
        ("graph.neighbour: a row beside a row, or a column beside a column", lambda a: _two_sided(a, sides)),
    )


def _two_sided(arrays: Any, sides: np.ndarray) -> bool:
    counts = arrays["graph.length"][: len(sides)].astype(np.int64)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(arrays["graph.start"][: len(sides)].astype(np.int64), counts) + within
    return bool((np.repeat(sides, counts) != sides[arrays["graph.neighbour"][places]]).all())


def _apart(arrays: Any) -> bool:
    start, length, room = (arrays[f"graph.{part}"] for part in ("start", "length", "room"))
    pool, taken = len(arrays["graph.neighbour"]), int(arrays["graph.used"][1])
    if taken > pool or (start > pool).any() or (room > pool).any() or (length > room).any():
        return False
    order = np.argsort(start, kind="stable")
    order = order[room[order] > 0]
    ends = (start + room)[order].astype(np.int64)
    return bool((ends <= taken).all() and (ends[:-1] <= start[order][1:].astype(np.int64)).all())


# --- the learners -------------------------------------------------------------------------------------------------
def check_completion(header: dict[str, Any], arrays: Arrays) -> None:
    """Refuse what is not the state of a MatrixCompletion."""
    plain = type(header) is dict and header.get("strategy") == "default"
    check_header(header, COMPLETION | (DEFAULT if plain else SIGN_FLIP))
    sides = sides_of(header)
    if plain:
        _check_default(aims.aim(losses.get(header["loss"], **header["parameters"])), arrays, sides)
    else:
        _check_entries(header, arrays, sides, 4)
    memo = 4 if plain else 1  # ŷ, and what the default learner made it of
    farthest = 2.0 * aims.FARTHEST if losses.get(header["loss"], **header["parameters"]).odds else 4.0

    def played(value: Any) -> bool:
        return all_of(number)(value) and len(value) == memo and all(abs(part) <= farthest for part in value)

    check_plays(header["pending"], header["issued"], header["max_pending"], int(arrays["totals"][0]), (_id, _id, played))


def check_learner(header: dict[str, Any], arrays: Arrays) -> None:
    """Refuse what is not the state of a MatrixLearner."""
    check_header(header, LEARNER)
    engine = {key: array for key, array in arrays.items() if not key.startswith("pending.")}
    rows, columns = header["shape"]
    if header["entries"]:
        if rows + columns > len(engine.get("graph.start", ())):
            raise BadInput("header 'shape'", header["shape"], "there are fewer nodes than rows and columns")
        _check_entries(header, engine, np.arange(rows + columns) < rows, 3)
    else:
        _check_general(header, engine)
    check_plays(header["pending"], header["issued"], header["max_pending"], int(engine["totals"][0]), (_shown, _matrix))
    listed: dict[str, Array] = {}
    for id, _, _, words in header["pending"]:
        listed |= {f"pending.{id}.{part}": array for part, array in _parts(id, words, rows, columns).items()}
    Schema(listed).check({key: array for key, array in arrays.items() if key not in engine})


def _parts(id: int, words: Any, rows: int, columns: int) -> dict[str, Array]:
    """The arrays of a matrix that was played."""

    def numbers(*shape: int | str) -> Array:
        return Array(shape, low=-INPUT, high=INPUT)

    if type(words) is list:
        return {}
    if words == "factors":
        return {"left": numbers(rows, f"width of {id}"), "right": numbers(columns, f"width of {id}")}
    if words == "dense":
        return {"X": numbers(rows, columns)}
    nonzeros = f"nonzeros of {id}"
    ends = {name: Array((nonzeros,), "<i8", low=0, high=size - 1) for name, size in (("row", rows), ("column", columns))}
    return {**ends, "value": numbers(nonzeros)}


def _matrix(value: Any) -> bool:
    """A matrix that was played, in words: what its arrays are, or an entry (i, j, w)."""
    entry = type(value) is list and len(value) == 3 and whole(value[0]) and whole(value[1]) and number(value[2])
    entry = entry and abs(value[2]) <= INPUT
    return entry or (text(value) and value in ("factors", "dense", "sparse"))


def _shown(value: Any) -> bool:
    """What was played: products of it and of an entry stay finite."""
    return number(value) and abs(value) <= INPUT**2


def _id(value: Any) -> bool:
    return type(value) in (str, int)


def _totals(size: int) -> Array:
    """Rounds, and sums of losses; of a MatrixLearner rounds, loss and the last round's steps."""
    high = np.array([COUNTED] + [SUMMED] * (size - 1))
    if size == 3:
        high[2] = COUNTED
    return Array((size,), low=0.0, high=high)


def _check_default(aim: aims.Aim, arrays: Arrays, sides: np.ndarray) -> None:
    """Bias model, tangent direction and bet."""
    fresh, nodes = bias.start(aim.odds, aim.median), len(sides)
    low, high = np.full(tangent.SCALARS, -LARGEST), np.full(tangent.SCALARS, LARGEST)
    low[[tangent.RATE, tangent.CEILING]] = 1e-300, tangent.LIPSCHITZ**2
    high[tangent.RATE] = tangent.CAP
    low[tangent.STEPS], high[tangent.STEPS] = 0.0, DEPTH
    low[[tangent.WIDEST, tangent.SQUARES, tangent.LOWERED, tangent.ERROR, tangent.LEANED, tangent.MOVED, tangent.LATE, tangent.UNSEEN]] = (
        0.0
    )
    listed, rules = graph(sides, 2.0 * tangent.LIPSCHITZ)
    listed |= {
        "totals": _totals(4),
        "scalars": Array((tangent.SCALARS,), low=low, high=high, infinite=nodes == 0),
        "log_wealth": Array((bet.MULTIPLIERS,)),
        "bias.mean": Array((2,), low=[-LARGEST, 0.0]),
        "bias.offset": Array(("offsets", fresh.offset.shape[1]), low=-HUGE, high=HUGE),
        "bias.counts": count(("offsets",)),
        "bias.speed": steady(fresh.speed),
        "bias.prior": steady(fresh.prior),
        "experts.known": Array((), "|b1"),
        "factors.row": Array(("ratings",), "<i8", low=0, high=nodes - 1),
        "factors.column": Array(("ratings",), "<i8", low=0, high=nodes - 1),
        "factors.residual": Array(("ratings",), low=-2.0, high=2.0),
        "factors.counts": count((2,)),
        "factors.now": Array((nodes, factors.RANK)),
        "factors.fitted": Array((nodes, factors.RANK)),
    }
    advice = experts.described(fresh.experts, fresh.experts.log_w.shape[2])
    listed |= {f"experts.{name}": array for name, array in advice.items()}

    def of_experts(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
        return lambda a: holds({name[8:]: array for name, array in a.items() if name.startswith("experts.")})

    rules += tuple((f"experts.{wrong}", of_experts(holds)) for wrong, holds in experts.rules(fresh.experts))
    rules += (
        ("bias.counts: fewer than rows and columns", lambda a: len(a["bias.counts"]) >= nodes),
        ("experts.known: the limit of slopes is known", lambda a: bool(a["experts.known"])),
        # a round multiplies a wealth by ½ at least and by 3/2 at most
        ("log_wealth: more than the rounds can win", lambda a: a["log_wealth"].max() <= 0.41 * a["totals"][0] + 1e-6),
        ("log_wealth: more than the rounds can lose", lambda a: a["log_wealth"].min() >= -0.7 * a["totals"][0] - 1e-6),
        ("factors: not those of so many ratings", lambda a: _fitted(a, sides)),
        ("scalars: no trace", lambda a: nodes == 0 or np.isfinite(a["scalars"]).all()),
    )
    Schema(listed, rules).check(arrays)


def _fitted(arrays: Any, sides: np.ndarray) -> bool:
    """From rows to columns, a rating each, the next fit ahead; ridge regressions of n residuals ≤ 2 are at most 2√(n/ridge) long."""
    ratings, due = (int(number) for number in arrays["factors.counts"])
    if ratings != len(arrays["factors.row"]) or ratings != arrays["totals"][0]:
        return False
    if (due != factors.FIRST and not (ratings < due <= int(ratings * factors.GROWTH) + 1)) or (due == factors.FIRST <= ratings):
        return False
    longest = 2.0 * math.sqrt(max(ratings, 1)) + 1.0
    sound = all((np.abs(arrays[f"factors.{name}"]) <= longest).all() for name in ("now", "fitted"))
    return bool(sound and sides[arrays["factors.row"]].all() and not sides[arrays["factors.column"]].any())


def _rates_of(header: dict[str, Any]) -> int:
    return MIXTURE_RATES if header["rate"] == "mixture" else 1


def _check_entries(header: dict[str, Any], arrays: Arrays, sides: np.ndarray, totals: int) -> None:
    """The sign flip on single entries; a rule that restarts keeps its slopes."""
    nodes, rates = len(sides), _rates_of(header)
    listed, rules = graph(sides, HUGE)
    listed |= {"totals": _totals(totals), **_ledger(rates, infinite=nodes == 0), "steps": Array((rates,), "<i8", low=0, high=DEPTH)}
    if header["rate"] == "doubling":
        ends = {f"slopes.{end}": Array(("slopes",), "<i8", low=0, high=nodes - 1) for end in ("row", "column")}
        listed |= {**ends, "slopes.value": Array(("slopes",), low=-HUGE, high=HUGE)}
        rules += (("slopes.row: not from rows to columns", lambda a: _from_rows(a, sides)),)
    if totals == 4:  # ratings weigh 1 each
        rules += (("graph.diagonal: more than were rated", lambda a: a["graph.diagonal"].max(initial=0.0) <= a["totals"][0]),)
    Schema(listed, (*rules, *_rates("graph.weight"))).check(arrays)


def _from_rows(arrays: Any, sides: np.ndarray) -> bool:
    return bool(sides[arrays["slopes.row"]].all() and not sides[arrays["slopes.column"]].any())


def _check_general(header: dict[str, Any], arrays: Arrays) -> None:
    """Any X: H, M and ΣδX as whole matrices, or as their nonzeros."""
    shape, rates = tuple(header["shape"]), _rates_of(header)
    dimension = sum(shape)
    listed: dict[str, Array] = {"totals": _totals(3), **_ledger(rates, False), "sizes": Array((2,), low=0.0, high=HUGE)}
    rules: Rules = ()
    for name in MATRICES:
        rows, columns = shape if name.startswith("gradient") else (dimension, dimension)
        if dimension <= SPARSE:
            listed[name] = Array((rows, columns), low=-HUGE, high=HUGE)
            continue
        nonzeros = f"nonzeros of {name}"
        listed[f"{name}.data"] = Array((nonzeros,), low=-HUGE, high=HUGE)
        listed[f"{name}.indices"] = Array((nonzeros,), "<i4", low=0, high=columns - 1)
        listed[f"{name}.indptr"] = Array((rows + 1,), "<i4", low=0)
        rules += ((f"{name}.indptr: it does not rise from 0 to the end", _rising(name)),)
    Schema(listed, (*rules, *_rates("H" if dimension <= SPARSE else "H.data"))).check(arrays)


def _rising(name: str) -> Callable[[Any], bool]:
    def holds(arrays: Any) -> bool:
        bounds = arrays[f"{name}.indptr"]
        return bool(bounds[0] == 0 and bounds[-1] == len(arrays[f"{name}.data"]) and (np.diff(bounds) >= 0).all())

    return holds


def _ledger(rates: int, infinite: bool) -> dict[str, Array]:
    low = np.full(sign_flip.SCALARS, -LARGEST)
    low[[sign_flip.CEILING, sign_flip.LOWERED, sign_flip.LEANED, sign_flip.MOVED, sign_flip.DRIFT, sign_flip.TIED, sign_flip.LATE]] = 0.0
    return {
        "rates": Array((rates,), low=1e-150, high=1e150),
        # a mixture takes its exponential
        "log_trace": Array((rates,), high=700.0 if rates > 1 else LARGEST, infinite=infinite),
        "anchor": Array((rates,), infinite=True),
        "scalars": Array((sign_flip.SCALARS,), low=low),
    }


def _rates(slopes: str) -> Rules:
    """A rate is of the size of 1 over the slopes; far beyond that every exponential overflows."""
    return ((f"rates: too large for {slopes}", lambda a: float(np.max(np.abs(a[slopes]), initial=0.0)) * a["rates"].max() < HUGE),)
