"""What saved Experts must be before their compiled rounds may trust them."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder.experts import scale, stream
from burkholder.experts.boa import BOA
from burkholder.experts.dispatch import PER_EXPERT
from burkholder.experts.ewa import EWA
from burkholder.experts.huber_root import HuberRoot
from burkholder.experts.ml_poly import GROWTH, LARGEST, UNIT, MLPoly
from burkholder.experts.squint import Squint
from burkholder.learning.schema import (
    Array,
    Arrays,
    Schema,
    all_of,
    like,
    maybe,
    names,
    number,
    one_of,
    options,
    steady,
    text,
    truth,
    whole,
)

HEADER = {
    "kind": one_of("experts"),
    "version": one_of(1),
    "loss": text,
    "options": options,
    "method": text,
    "bound": maybe(number),
    "lipschitz": maybe(number),
    "rate": maybe(number),
    "linear": truth,
    "shares": all_of(number),
    "rates": whole,
    "outside": all_of(number),
    "names": lambda value: names(value) and all_of(text)(value),
}
# numbers that count, or add up sizes and squares
_POSITIVE = {
    EWA: ("ranges",),
    MLPoly: ("square", "totals"),
    BOA: ("square", "largest", "unit"),
    Squint: ("variance", "scale"),
    HuberRoot: ("scale", "cost", "path", "path_clipped"),
    stream.Tally: ("awake",),
}


def check_state(header: dict[str, Any], arrays: Arrays, state: Any, tally: Any) -> None:
    """Refuse arrays that are not those of this state and tally (made for no expert at all) with the header's experts."""
    columns = len(header["names"]) + len(header["outside"])
    outside = np.array(header["outside"], dtype=float)
    tally = {**described(tally, columns), "outside": steady(outside)}
    parts = {"state": described(state, columns), "tally": tally}
    Schema(
        {f"{part}.{name}": array for part, named in parts.items() for name, array in named.items()},
        tuple((f"state.{wrong}", _within(holds)) for wrong, holds in rules(state)),
    ).check(arrays)


def described(state: Any, columns: int) -> dict[str, Array]:
    """The arrays of a record, made for any number of experts, as they are for so many."""
    found = {}
    for name, array in state._asdict().items():
        if isinstance(array, np.ndarray):
            shape = (*array.shape[:-1], columns) if name in PER_EXPERT[type(state)] else array.shape
            low = {"low": 0.0} if name in _POSITIVE[type(state)] else {}
            found[name] = like(array, shape=shape, **low)
    if isinstance(state, HuberRoot):
        found["shares"] = steady(state.shares)
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
            ("scale: a slope limit without its first value", lambda a: _slopes(a["scale"], state.known)),
            ("weights whose mean is above 1", heaviest),
        )
    if isinstance(state, MLPoly):
        return (("totals: regrets without their squares", _polynomial),)
    if isinstance(state, BOA):
        return (("largest: regrets without their squares", lambda a: ((a["largest"] > 0.0) >= (a["square"] > 0.0)).all()),)
    return ()


def _log_weights(arrays: Any) -> bool:
    """No weight is above their number when their mean is 1; e times that leaves room for rounding."""
    logs = arrays["log_w"]
    return bool(logs.max(initial=0.0) <= 1.0 + np.log(max(logs.size, 1)))


def _grid_weights(arrays: Any, rates: int) -> bool:
    """The same for ln W = λR − λ²V over the rates that are left."""
    lam = np.ldexp(4.0, -np.arange(int(arrays["alive"][0]), rates))[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        logs = lam * (arrays["gained"] - lam * arrays["variance"])
    return bool((logs <= 1.0 + np.log(max(rates * arrays["gained"].size, 1))).all())


def _slopes(scales: np.ndarray, known: bool) -> bool:
    first, now = scales[scale.FIRST_LIPSCHITZ], scales[scale.LIPSCHITZ]
    return bool(first > 0.0 and now > 0.0) if known else bool((first > 0.0) == (now > 0.0))


def _polynomial(arrays: Any) -> bool:
    unit, largest, growth = arrays["totals"][[UNIT, LARGEST, GROWTH]]
    return bool(largest > 0.0 and unit > 0.0) or not (arrays["regret"].any() or arrays["square"].any() or growth > 0.0)


def _within(holds: Any) -> Any:
    return lambda arrays: holds({name[6:]: array for name, array in arrays.items() if name.startswith("state.")})
