"""What a saved MatrixCompletion and MatrixLearner must be before their compiled rounds may trust it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts import schema as experts
from burkholder.learning.schema import (
    LARGEST,
    Array,
    Arrays,
    Schema,
    all_of,
    count,
    maybe,
    number,
    one_of,
    options,
    steady,
    text,
    truth,
    whole,
)
from burkholder.matrix import bet, bias, sign_flip, tangent
from burkholder.matrix.lanczos import DEPTH

COMPLETION = {
    "kind": one_of("MatrixCompletion"),
    "version": one_of(1),
    "low": number,
    "high": number,
    "tol": lambda value: number(value) and 0.0 < value <= 1.0,
    "dtype": one_of("float64", "float32"),
    "rows": lambda value: _ids(value),
    "columns": lambda value: _ids(value),
}
DEFAULT = {"strategy": one_of("default"), "fast": truth}
SIGN_FLIP = {
    "strategy": one_of("sign-flip"),
    "rate": lambda value: text(value) or number(value),
    "radius": maybe(number),
    "loss": text,
    "kappa": number,
}
LEARNER = {
    "kind": one_of("MatrixLearner"),
    "version": one_of(1),
    "shape": lambda value: all_of(whole)(value) and len(value) == 2,
    "entries": truth,
    "parameters": options,
    "radius": maybe(number),
    "rate": lambda value: text(value) or number(value),
    "strategy": text,
    "bound": number,
    "kappa": number,
    "tol": lambda value: number(value) and 0.0 < value <= 1.0,
    "method": text,
    "loss": text,
}
HUGE = 1e75  # of slopes and of what they are summed to: products of four stay finite
STEEPEST = 1e8  # of a rate times summed slopes: over n rounds they stay below the root of n log D

Rules = tuple[tuple[str, Callable[[Any], bool]], ...]


def _ids(value: Any) -> bool:
    """Pairs of an id and the number of its node."""
    plain = type(value) is list and all(type(pair) is list and len(pair) == 2 for pair in value)
    return plain and all(type(pair[0]) in (str, int) and whole(pair[1]) for pair in value)


def nodes_of(header: dict[str, Any]) -> int:
    """How many rows and columns there are; each must have a number of its own, without gaps, and an id of its own."""
    taken = sorted(node for pair in (header["rows"], header["columns"]) for _, node in pair)
    if taken != list(range(len(taken))):
        raise BadInput("header 'rows'", "numbers", "rows and columns must be numbered 0, 1, 2, … in order of arrival")
    for key in ("rows", "columns"):
        if len({(type(id), id) for id, _ in header[key]}) < len(header[key]):
            raise BadInput(f"header {key!r}", "ids", "an id is there twice")
    return len(taken)


# --- the graph ----------------------------------------------------------------------------------------------------
def graph(nodes: int, dtype: str, steepest: float) -> tuple[dict[str, Array], Rules]:
    """Lists that lie in the pool, apart from each other, and name nodes that exist; no slope above `steepest`."""
    arrays = {
        "graph.start": Array(("capacity",), "<u8", low=0),
        "graph.length": Array(("capacity",), "<u8", low=0),
        "graph.room": Array(("capacity",), "<u8", low=0),
        "graph.neighbour": Array(("pool",), "<u4", low=0, high=max(nodes - 1, 0)),
        "graph.weight": Array(("pool",), "<f8" if dtype == "float64" else "<f4", low=-steepest, high=steepest),
        "graph.diagonal": Array(("capacity",), low=0.0, high=min(HUGE, steepest**2 * 2.0**40)),
        "graph.used": count((2,)),
    }
    return arrays, (
        ("graph.used: another number of rows and columns", lambda a: a["graph.used"][0] == nodes <= len(a["graph.start"])),
        ("graph.start: lists outside the pool, or inside each other", _apart),
    )


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
def check_default(arrays: Arrays, nodes: int, dtype: str) -> None:
    """Bias model, tangent direction and bet."""
    fresh = bias.start()
    low, high = np.full(tangent.SCALARS, -LARGEST), np.full(tangent.SCALARS, LARGEST)
    low[[tangent.RATE, tangent.CEILING]] = 1e-300, tangent.LIPSCHITZ**2
    high[tangent.RATE] = tangent.CAP
    low[tangent.STEPS], high[tangent.STEPS] = 0.0, DEPTH
    low[tangent.LOG_TRACE], high[tangent.LOG_TRACE] = -1e9, 1e9
    listed, rules = graph(nodes, dtype, 2.0 * tangent.LIPSCHITZ)
    listed |= {
        "totals": Array((4,), low=0.0),
        "scalars": Array((tangent.SCALARS,), low=low, high=high, infinite=nodes == 0),
        "log_wealth": Array((bet.MULTIPLIERS,)),
        "bias.mean": Array((2,), low=[-LARGEST, 0.0]),
        "bias.offset": Array(("offsets", len(fresh.speed)), low=-1e3, high=1e3),
        "bias.counts": count(("offsets",)),
        "bias.speed": steady(fresh.speed),
        "experts.known": Array((), "|b1"),
    }
    advice = experts.described(fresh.experts, len(fresh.speed))
    listed |= {f"experts.{name}": array for name, array in advice.items()}

    def of_experts(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
        return lambda a: holds({name[8:]: array for name, array in a.items() if name.startswith("experts.")})

    rules += tuple((f"experts.{wrong}", of_experts(holds)) for wrong, holds in experts.rules(fresh.experts))
    rules += (
        ("bias.counts: fewer than rows and columns", lambda a: len(a["bias.counts"]) >= nodes),
        ("experts.known: the limit of slopes is known", lambda a: bool(a["experts.known"])),
        ("bias.mean: labels beyond ±1", lambda a: abs(a["bias.mean"][0]) <= a["bias.mean"][1] * (1.0 + 1e-9)),
        ("log_wealth: more won or lost than so many rounds allow", _won),
        ("scalars: no trace", lambda a: nodes == 0 or np.isfinite(a["scalars"]).all()),
    )
    Schema(listed, rules).check(arrays)


def _won(arrays: Any) -> bool:
    """A round multiplies a wealth by 1 − δ·stake, from ½ to 1½."""
    rounds, wealth = float(arrays["totals"][0]), arrays["log_wealth"]
    return bool((wealth <= 1.0 + 0.41 * rounds).all() and (wealth >= -1.0 - 0.7 * rounds).all())


def check_entries(arrays: Arrays, nodes: int, dtype: str, rates: int, totals: int) -> None:
    """The sign flip on single entries."""
    listed, rules = graph(nodes, dtype, HUGE if dtype == "float64" else 1e6)
    listed |= {
        "totals": Array((totals,), low=0.0),
        **_ledger(rates, infinite=nodes == 0),
        "steps": Array((rates,), "<i8", low=0, high=DEPTH),
    }
    Schema(listed, (*rules, *_rates("graph.weight"))).check(arrays)


def check_general(arrays: Arrays, dimension: int, rates: int, sparse: bool) -> None:
    """Any X: H and M as whole matrices, or as their nonzeros."""
    listed: dict[str, Array] = {"totals": Array((3,), low=0.0), **_ledger(rates, False), "sizes": Array((2,), low=0.0, high=HUGE)}
    rules: Rules = ()
    for name in ("H", "M"):
        if not sparse:
            listed[name] = Array((dimension, dimension), low=-HUGE, high=HUGE)
            continue
        nonzeros = f"nonzeros of {name}"
        listed[f"{name}.data"] = Array((nonzeros,), low=-HUGE, high=HUGE)
        listed[f"{name}.indices"] = Array((nonzeros,), "<i4", low=0, high=dimension - 1)
        listed[f"{name}.indptr"] = Array((dimension + 1,), "<i4", low=0)
        rules += ((f"{name}.indptr: it does not rise from 0 to the end", _rising(name)),)
    Schema(listed, (*rules, *_rates("H.data" if sparse else "H"))).check(arrays)


def _rising(name: str) -> Callable[[Any], bool]:
    def holds(arrays: Any) -> bool:
        bounds = arrays[f"{name}.indptr"]
        return bool(bounds[0] == 0 and bounds[-1] == len(arrays[f"{name}.data"]) and (np.diff(bounds) >= 0).all())

    return holds


def _ledger(rates: int, infinite: bool) -> dict[str, Array]:
    low = np.full(sign_flip.SCALARS, -LARGEST)
    low[sign_flip.CEILING] = 0.0
    return {
        "rates": Array((rates,), low=1e-150, high=1e150),
        "log_trace": Array((rates,), infinite=infinite),
        "anchor": Array((rates,), infinite=True),
        "scalars": Array((sign_flip.SCALARS,), low=low),
    }


def _rates(slopes: str) -> Rules:
    """A rate is of the size of 1 over the slopes; far beyond that every exponential overflows."""
    return ((f"rates: too large for {slopes}", lambda a: float(np.max(np.abs(a[slopes]), initial=0.0)) * a["rates"].max() < STEEPEST),)
