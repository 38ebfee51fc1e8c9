"""What saved Experts must be before their compiled rounds may trust them."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.experts import beside, curvature, scale, stream, window
from burkholder.experts.boa import BOA
from burkholder.experts.dispatch import PER_EXPERT, PER_PAIR
from burkholder.experts.ewa import EWA
from burkholder.experts.huber_root import HuberRoot
from burkholder.experts.ml_poly import GROWTH, LARGEST, UNIT, MLPoly
from burkholder.experts.rows import LIMIT
from burkholder.experts.squint import Squint
from burkholder.learning import schema
from burkholder.learning.schema import (
    Array,
    Arrays,
    Schema,
    all_of,
    check_plays,
    like,
    limit,
    maybe,
    names,
    number,
    one_of,
    options,
    positive,
    steady,
    text,
    whole,
)

_BEYOND = 16.0 * LIMIT  # of forecasts made outside the experts' hull
VERSION = 7  # of what `Experts.state_dict` writes


def _texts(value: Any) -> bool:
    return all_of(text)(value) and names(value)


HEADER = {
    "kind": one_of("experts"),
    "version": one_of(VERSION),
    "loss": text,
    "options": options,
    "method": text,
    "settings": lambda value: type(value) is dict and all(map(text, value)),  # each is checked by its rule
    "bound": maybe(positive),
    "lipschitz": maybe(positive),
    "outside": all_of(number),
    "lanes": lambda value: type(value) is bool,
    "names": _texts,
    "max_pending": limit,
    "tickets": whole,
    "pending": lambda value: type(value) is list,
}
# numbers that count, or add up sizes and squares
_POSITIVE = {
    EWA: ("ranges",),
    MLPoly: ("square", "totals"),
    BOA: ("square", "largest", "unit"),
    Squint: ("variance", "scale"),
    HuberRoot: ("scale", "cost", "path", "path_clipped", "missed", "path_missed"),
    stream.Tally: ("awake",),
    beside.Beside: ("noise",),
}
_TOTALS = (
    stream.ROUNDS, stream.STEEPEST, stream.TOO_STEEP, stream.SILENT, stream.LOSS_SIZE, stream.WEIGHT, stream.LATE, stream.WIDEST,
)  # fmt: skip
_SUMS = np.array([-schema.SUMMED, -schema.SUMMED, 0.0])  # a sum, its correction, and the sum of sizes


def check_state(header: dict[str, Any], arrays: Arrays, parts: Any) -> None:
    """Refuse arrays that are not those of these parts (made for no expert at all) with the header's experts."""
    state, tally, more = parts
    first, named = beside.width(more), len(header["names"])
    columns = first + named
    booked = described(tally, columns)
    low, high = np.full(tally.totals.size, -schema.SUMMED), np.full(tally.totals.size, schema.SUMMED)
    low[list(_TOTALS)], high[stream.ROUNDS] = 0.0, schema.COUNTED
    booked["totals"] = like(tally.totals, low=low, high=high)
    booked |= {name: booked[name]._replace(low=_SUMS[:, None]) for name in ("paid", "gain", "slope", "way", "way_slope")}
    booked["apart"] = like(curvature.start(columns, len(tally.apart) > 0), low=-schema.SUMMED, high=schema.SUMMED)
    aside = described(more, beside.FIXED + min(named, beside.WIDE) if header["lanes"] else 0)
    aside["outside"] = steady(more.outside)
    parts = {"state": described(state, columns), "tally": booked, "beside": aside}
    plays = {key: array for key, array in arrays.items() if key.startswith("pending.")}
    Schema(
        {f"{part}.{name}": array for part, found in parts.items() for name, array in found.items()},
        (
            *((f"state.{wrong}", _within(holds)) for wrong, holds in rules(state)),
            ("tally.totals: rounds that are not whole", lambda a: float(a["tally.totals"][stream.ROUNDS]).is_integer()),
            ("tally.apart: squares below 0", lambda a: all((np.diag(square) >= 0.0).all() for square in a["tally.apart"])),
            ("beside.seen: labels that no stream has", lambda a: _seen(a["beside.seen"], a["tally.totals"])),
        ),
    ).check({key: array for key, array in arrays.items() if key not in plays})
    _check_plays(header, plays, int(arrays["tally.totals"][stream.ROUNDS]), first)


def _seen(seen: np.ndarray, totals: np.ndarray) -> bool:
    """Labels are in order, counted, and as large as labels can be."""
    low, high, labels, errors, scored, worst = seen.tolist()
    return -LIMIT <= low <= high <= LIMIT and errors >= 0.0 and worst >= 0.0 and 0.0 <= scored <= labels == totals[stream.ROUNDS]


def _check_plays(header: dict[str, Any], plays: Arrays, rounds: int, outside: int) -> None:
    """What every expert said in plays that wait, NaN where it was asleep."""
    check_plays(header["pending"], header["tickets"], header["max_pending"], rounds, (_played, _texts))
    waiting = {f"pending.{id}": len(named) + outside for id, _, _, named in header["pending"]}
    described = {key: Array((size,)) for key, size in waiting.items()}
    Schema(described).check({key: np.where(np.isnan(row), 0.0, row) if row.dtype.kind == "f" else row for key, row in plays.items()})
    for key, row in plays.items():
        if (np.abs(row[outside:]) > LIMIT).any() or (np.abs(row[:outside]) > _BEYOND).any():
            raise BadInput(f"array {key!r}", "forecasts", f"they are at most {LIMIT:g} in size")


def _played(value: Any) -> bool:
    return number(value) and abs(value) <= _BEYOND


def described(state: Any, columns: int) -> dict[str, Array]:
    """The arrays of a record, made for any number of experts, as they are for so many."""
    found = {}
    for name, array in state._asdict().items():
        if isinstance(array, np.ndarray):
            shape = (*array.shape[:-1], columns) if name in PER_EXPERT[type(state)] else array.shape
            shape = (*array.shape[:-2], columns, columns) if name in PER_PAIR.get(type(state), ()) else shape
            found[name] = like(array, shape=shape)
            if array.dtype.kind == "f":
                least = 0.0 if name in _POSITIVE.get(type(state), ()) else -schema.SUMMED
                found[name] = found[name]._replace(low=least, high=schema.SUMMED)
    if isinstance(state, EWA):
        found["ranges"] = found["ranges"]._replace(high=np.inf)  # the squares of what fits need not fit: nothing is promised then
    if isinstance(state, HuberRoot):
        found["shares"] = steady(state.shares)
        farthest = float(2 * scale.FARTHEST_OCTAVE)
        low, high = np.array([-farthest, 0.0, -schema.SUMMED]), np.array([farthest, schema.COUNTED, schema.SUMMED])
        found["window"] = found["window"]._replace(low=low, high=high)
    if isinstance(state, Squint):
        found["alive"] = found["alive"]._replace(low=0.0, high=state.rates, whole=True)
    if isinstance(state, BOA):
        found["met"] = found["met"]._replace(low=0.0, high=1.0, whole=True)
    return found


def rules(state: Any) -> tuple[tuple[str, Any], ...]:
    """What must hold of several numbers of a record together: nothing is divided by 0."""
    if isinstance(state, (HuberRoot, Squint)):
        heaviest = _log_weights if isinstance(state, HuberRoot) else lambda a: _grid_weights(a, state.rates)
        return (
            ("scale: a slope limit without its first value", lambda a: _slopes(a["scale"], state)),
            ("weights whose mean is above 1", heaviest),
            ("window: a part of a rate", lambda a: "window" not in a or bool((a["window"][:2] % 1.0 == 0.0).all())),
        )
    if isinstance(state, MLPoly):
        return (("totals: regrets without their squares", _polynomial),)
    if isinstance(state, BOA):
        return (("largest: regrets without their squares", lambda a: ((a["largest"] > 0.0) >= (a["square"] > 0.0)).all()),)
    return ()


def _log_weights(arrays: Any) -> bool:
    """No weight is above their number when their mean is 1; e times that leaves room for rounding."""
    logs = arrays["log_w"]
    everyone = logs.size + float(arrays["window"][window.GONE]) * logs.shape[2]
    return bool(logs.max(initial=0.0) <= 1.0 + np.log(max(everyone, 1.0)))


def _grid_weights(arrays: Any, rates: int) -> bool:
    """The same for ln W = λR − λ²V over the rates that are left."""
    lam = np.array([scale.rate(k) for k in range(int(arrays["alive"][0]), rates)])[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        logs = lam * (arrays["gained"] - lam * arrays["variance"])
    return bool((logs <= 1.0 + np.log(max(rates * arrays["gained"].size, 1))).all())


def _slopes(scales: np.ndarray, state: Any) -> bool:
    first, now, spread = scales[[scale.FIRST_LIPSCHITZ, scale.LIPSCHITZ, scale.FIRST_SPREAD]].tolist()
    falls = isinstance(state, HuberRoot) and not state.known  # the limit of Squint never does
    if any(0.0 < unit < scale.FINEST for unit in (first, now, spread)) or (now < first and not falls):
        return False
    return bool(first > 0.0 and now > 0.0) if state.known else bool((first > 0.0) == (now > 0.0))


def _polynomial(arrays: Any) -> bool:
    unit, largest, growth = arrays["totals"][[UNIT, LARGEST, GROWTH]]
    if largest > 1.0 or max(np.abs(arrays["regret"]).max(initial=0.0), arrays["square"].max(initial=0.0)) > schema.COUNTED:
        return False  # in units no regret of a round is above 1
    return bool(largest > 0.0 and unit > 0.0) or not (arrays["regret"].any() or arrays["square"].any() or growth > 0.0)


def _within(holds: Any) -> Any:
    return lambda arrays: holds({name[6:]: array for name, array in arrays.items() if name.startswith("state.")})
