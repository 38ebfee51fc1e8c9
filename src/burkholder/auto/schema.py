"""What a saved Auto and AutoMulticlass must be before their compiled loops may trust it."""

from __future__ import annotations

from typing import Any

import numpy as np

from burkholder import losses
from burkholder.auto import pooling, softmax
from burkholder.auto import state as slots
from burkholder.auto.classes import WAYS
from burkholder.auto.nonlinear import PREFIX, TREES
from burkholder.auto.nonlinear_schema import check_nonlinear, covariances, same_both_ways, scalar_limits
from burkholder.auto.plan import Plan, plan_for
from burkholder.auto.several_schema import check_several
from burkholder.auto.state import new_state, side_of
from burkholder.errors import BadInput
from burkholder.learning.saved import place, rows_in
from burkholder.learning.schema import (
    COUNTED,
    Array,
    Arrays,
    Schema,
    all_of,
    check_header,
    check_plays,
    count,
    like,
    limit,
    maybe,
    name,
    names,
    number,
    one_of,
    options,
    size,
    steady,
    text,
    truth,
    whole,
)

_COMMON = {"rows": lambda value: type(value) is dict, "tickets": whole, "pending": lambda value: type(value) is list}
_AUTO = {
    "learner": one_of("auto"),
    "loss": text,
    "options": options,
    "intercept": truth,
    "low": maybe(number),
    "high": maybe(number),
    "full_features": whole,
    "effort": one_of(*TREES),
    "max_pending": limit,
    "unit_known": truth,
    "late": lambda value: type(value) is list and len(value) == 2 and whole(value[0]) and size(value[1]),
    **_COMMON,
}
_CLASSES = {
    "learner": one_of("auto-multiclass"),
    "classes": lambda value: names(value) and None not in value,
    "tally": lambda value: type(value) is dict,
    "options": lambda value: type(value) is dict,
    "way_losses": lambda value: all_of(number)(value) and len(value) == 2 * WAYS and _rests(value[:WAYS], value[WAYS:]),
    "blend": lambda value: all_of(number)(value) and len(value) == 5,
    **_COMMON,
}
_STEADY = ("v0", "drift", "wide", "radii", "full_spec", "prior")  # the lanes' constants
# arrays of sums that are never below 0
_SIZES = ("bias_size", "push", "strain", "residual")


_COVARIANCE = ("full_w", "full_p", "full_u", "full_d", "full_drift", "full_variance", "stack_w", "stack_p")
_HUGE = 1e75  # of weights and covariances: products of four stay finite


def _rests(totals: list[float], rests: list[float]) -> bool:
    """Corrections, each small beside its sum."""
    return all(abs(rest) <= 1e-6 * abs(total) + 1e-9 for total, rest in zip(totals, rests))


def _counted(value: Any) -> bool:
    """A number of rounds, in a sum of floats."""
    return size(value) and float(value).is_integer() and value <= COUNTED


_TALLY = {
    "rounds": _counted,
    "loss": number,
    "loss_rest": number,
    "fresh": number,
    "early": size,
    "weight": size,
    "heavy": _counted,
    "late": _counted,
    "late_cost": size,
}


def check(header: dict[str, Any], arrays: Arrays, format: int) -> None:
    """Refuse what is not the state of an Auto."""
    check_header(header, {"format": one_of(format), **_AUTO})
    loss = losses.get(header["loss"], **header["options"])
    ranged = header["low"] is not None
    if not header["unit_known"] and (loss.classes or ranged):
        raise BadInput("header 'unit_known'", False, "the unit of classes, and of labels in a given range, is known")
    plan = plan_for(loss, header["intercept"], ranged, header["full_features"])
    later, arrays = split_off(arrays)
    _schema(plan, arrays, None).check(arrays)
    check_nonlinear(plan, 0 if loss.margin else TREES[header["effort"]], header["effort"] == "thorough", arrays, later)
    unit, rounds = arrays["scalars"][[slots.UNIT, slots.ROUNDS]].tolist()
    if unit != 1.0 and (loss.classes or not header["unit_known"]):
        raise BadInput("array 'scalars'", unit, "this unit of the labels cannot be known")
    if header["late"][0] > rounds:
        raise BadInput("header 'late'", header["late"], f"only {int(rounds)} rounds were learned")
    _check_rows(header, arrays)
    check_plays(header["pending"], header["tickets"], header["max_pending"], int(rounds), (number, _row))


def check_classes(header: dict[str, Any], arrays: Arrays, format: int, own: tuple[str, ...]) -> None:
    """Refuse what is not the state of an AutoMulticlass, whose `own` arrays have one layer a class."""
    check_header(header, {"format": one_of(format), **_CLASSES})
    settings = header["options"]
    check_header(settings, {"intercept": truth, "full_features": whole, "effort": one_of(*TREES), "max_pending": limit})
    check_header(header["tally"], _TALLY)
    if not _rests([header["tally"]["loss"]], [header["tally"]["loss_rest"]]):
        raise BadInput("header 'tally'", header["tally"]["loss_rest"], "a correction is small beside what it corrects")
    _, _, aa, ab, bb = header["blend"]
    if not (aa > 0.0 and bb > 0.0 and aa * bb > ab * ab):
        raise BadInput("header 'blend'", header["blend"], "its precision must be positive definite")
    plan = plan_for(losses.get("logistic"), settings["intercept"], False, settings["full_features"])
    later, arrays = split_off(arrays)
    known, rounds = len(header["classes"]), int(header["tally"]["rounds"])
    _schema(plan, arrays, own, known + 1).check(arrays)
    check_several(TREES[settings["effort"]], rounds, known, arrays, later)
    _check_rows(header, arrays)
    check_plays(header["pending"], header["tickets"], settings["max_pending"], rounds, (_likely, _row))


def split_off(arrays: Arrays) -> tuple[Arrays, Arrays]:
    """The arrays of what follows the linear lanes, by their own names, and all others."""
    later = {name.removeprefix(PREFIX): array for name, array in arrays.items() if name.startswith(PREFIX)}
    return later, {name: array for name, array in arrays.items() if not name.startswith(PREFIX)}


def _check_rows(header: dict[str, Any], arrays: Arrays) -> None:
    """Rows as they were read: vectors brought a place for each of their features."""
    length = rows_in({**header["rows"], "intercept": False}).length
    if length is not None and length > len(arrays["slot_of"]):
        raise BadInput("array 'slot_of'", len(arrays["slot_of"]), f"rows have {length} features")


def _likely(value: Any) -> bool:
    """Probabilities of different classes."""
    pairs = type(value) is list and all(type(pair) is list and len(pair) == 2 and name(pair[0]) for pair in value)
    return pairs and len({label for label, _ in value}) == len(value) and all(number(p) and 0.0 < p <= 1.0 + 1e-9 for _, p in value)


def _row(value: Any) -> bool:
    """A row in words: its kind, names or indices, and numbers."""
    if type(value) is not list or len(value) != 3 or value[0] not in ("names", "vector", "sparse"):
        return False
    return all_of(name if value[0] == "names" else place)(value[1]) and all_of(number)(value[2])


def _schema(plan: Plan, arrays: Arrays, own: tuple[str, ...] | None, classes: int = 0) -> Schema:
    """Everything looks like a fresh state's, but for the rows, one a feature."""
    rows, layers = len(arrays["stat"]) if "stat" in arrays else 0, (() if own is None else (classes,))
    side = side_of(plan, rows)
    largest = Schema({"full_p": Array((*layers, plan.full_lanes, side, side))})  # before anything of that size is made
    largest.check({name: array for name, array in arrays.items() if name == "full_p"})
    fresh = new_state(plan, max(rows, 1))._asdict()
    described = {name: steady(array) if name in _STEADY else like(array) for name, array in fresh.items()}
    described |= {name: like(fresh[name], low=0.0) for name in _SIZES}
    described |= {name: like(fresh[name], low=-_HUGE, high=_HUGE) for name in _COVARIANCE}
    described |= {
        "scalars": like(fresh["scalars"], **scalar_limits(rows)),
        "stat": Array(("rows", slots.STATS)),
        "lanes": Array(("rows", fresh["lanes"].shape[1])),
        "slot_of": Array(("ids",), "<i4", low=-1, high=rows - 1),
        "dense": Array(("rows",), "<i8", low=0, high=rows - 1),
        "dense_count": count((1,), most=rows),
        "weight": like(fresh["weight"], low=0.0, high=2.0),
        "likelihood": like(fresh["likelihood"], low=0.0, high=2.0),
    }
    if own is not None:
        described["pool"] = like(pooling.new_pool(), low=-_HUGE, high=_HUGE)
        described["soft"] = Array((*layers, "rows", softmax.COLUMNS), low=-_HUGE, high=_HUGE)
    for key in own or ():
        described[key] = described[key]._replace(shape=(*layers, *described[key].shape))
    return Schema(
        described,
        (
            (
                "scalars: lanes of full covariance that are not there",
                lambda a: bool(plan.full_lanes) or not a["scalars"][..., slots.FULL_ON].any(),
            ),
            ("no row for the constant", lambda a: len(a["stat"]) > 0),
            ("scalars: counts that are not whole", lambda a: _whole(np.atleast_2d(a["scalars"]))),
            ("scalars: the classes saw different features", lambda a: len(np.unique(np.atleast_2d(a["scalars"])[:, slots.FEATURES])) == 1),
            ("scalars: the labels' range is empty", lambda a: (a["scalars"][..., slots.LOW] <= a["scalars"][..., slots.HIGH]).all()),
            ("slot_of: places beyond the features seen, or one of two features", _places),
            ("dense: not the features that are counted as dense", _dense),
            ("weight: they add up to nothing, or to more than 1", _shares),
            ("stat: heights that are not 1 over their inverses", _heights),
            ("full_u: steps along features that were not seen", lambda a: not a["full_u"][..., _features(a) :].any()),
            ("full_p: covariances with features that were not seen", _apart),
            ("full_variance: not the diagonal of the covariance", _variances),
            ("full_p: no covariance", _positive),
            ("stack_p: no covariance", lambda a: covariances(a["stack_p"]) and same_both_ways(a["stack_p"])),
            ("weight: of a lane that is not there", lambda a: not a["weight"][..., plan.lanes :].any()),
            ("pool: no covariance", _pooled),
            ("soft: sums of squares below 0", lambda a: "soft" not in a or not (a["soft"][..., softmax.LANES :] < 0.0).any()),
        ),
    )


def _whole(scalars: np.ndarray) -> bool:
    counts = scalars[:, [slots.ROUNDS, slots.FEATURES, slots.FULL_ON, slots.LABELS]]
    labels, squares = scalars[:, slots.LABELS], scalars[:, slots.LABEL_SQUARES]
    seen = (labels <= scalars[:, slots.ROUNDS]) & ((labels > 0.0) | (squares == 0.0))
    return bool((counts == np.floor(counts)).all() and seen.all())


def _pooled(arrays: Any) -> bool:
    """The inverse precision of the pool is the same both ways and not negative in any direction, but for rounding."""
    if "pool" not in arrays:
        return True
    found = arrays["pool"][1:]
    room = 1e-6 * np.abs(found).max()
    return bool((np.abs(found - found.T) <= room).all() and (np.linalg.eigvalsh(0.5 * (found + found.T)) >= -room).all())


def _shares(arrays: Any) -> bool:
    total = arrays["weight"].sum(axis=-1)
    return bool(((total > 0.0) & (total <= 1.0 + 1e-6)).all())


def _heights(arrays: Any) -> bool:
    height, inverse = arrays["stat"][:, slots.HEIGHT], arrays["stat"][:, slots.INVERSE]
    seen = height > 0.0
    return bool((height >= 0.0).all() and (np.abs(height[seen] * inverse[seen] - 1.0) <= 1e-9).all())


def _apart(arrays: Any) -> bool:
    """A feature that was not seen yet has its own variance, and goes with no other."""
    side, count = arrays["full_p"].shape[-1], _features(arrays)
    late = np.arange(side) >= count
    touched = (late[:, None] | late[None, :]) & ~np.eye(side, dtype=bool)
    return not (arrays["full_p"] * touched).any()


def _variances(arrays: Any) -> bool:
    """diag(P) + drift − Σ d·u² over the steps that wait is the variance, but for rounding; lanes that retired are not asked."""
    if not arrays["scalars"][..., slots.FULL_ON].any():
        return True
    drift, variance, diagonal, steps, shrunk = _full(arrays)
    taken = np.einsum("clr,clri->cli", shrunk, steps**2)
    return bool((np.abs(diagonal + drift - taken - variance) <= 1e-6 * (np.abs(diagonal) + np.abs(drift))).all())


def _positive(arrays: Any) -> bool:
    """P with its drift, less the steps that wait, is the same both ways and not negative in any direction, but for rounding."""
    if not arrays["scalars"][..., slots.FULL_ON].any():
        return True
    drift, _, diagonal, steps, shrunk = _full(arrays)
    full = arrays["full_p"].reshape(*drift.shape, -1)
    room = 1e-3 * (np.abs(diagonal) + drift).max(axis=-1)[..., None, None]
    if not (np.abs(full - np.swapaxes(full, -1, -2)) <= room).all():
        return False
    now = full - np.einsum("clr,clri,clrj->clij", shrunk, steps, steps) + drift[..., None] * np.eye(full.shape[-1])
    return bool((np.linalg.eigvalsh(0.5 * (now + np.swapaxes(now, -1, -2))) >= -room[..., 0]).all())


def _full(arrays: Any) -> tuple[np.ndarray, ...]:
    """(drift, variance, diagonal, steps that wait, what they shrink by), classes × lanes × …"""
    lanes, side = arrays["full_p"].shape[-3], arrays["full_p"].shape[-1]
    waiting = arrays["scalars"].reshape(-1, slots.SCALARS)[:, slots.ROUNDS] % slots.DELAY
    used = (np.arange(slots.DELAY) < waiting[:, None])[:, None, :]
    drift, variance = (arrays[name].reshape(-1, lanes, side) for name in ("full_drift", "full_variance"))
    diagonal = np.diagonal(arrays["full_p"], axis1=-2, axis2=-1).reshape(-1, lanes, side)
    steps = np.where(used[..., None], arrays["full_u"].reshape(-1, lanes, slots.DELAY, side), 0.0)
    return drift, variance, diagonal, steps, np.where(used, arrays["full_d"].reshape(-1, lanes, slots.DELAY), 0.0)


def _features(arrays: Any) -> int:
    return int(arrays["scalars"].reshape(-1, slots.SCALARS)[0, slots.FEATURES])


def _places(arrays: Any) -> bool:
    """Every feature has a row of its own, among those in use and not the constant's."""
    places = arrays["slot_of"][arrays["slot_of"] >= 0]
    return bool((places > 0).all() and (places < _features(arrays)).all() and len(np.unique(places)) == len(places))


def _dense(arrays: Any) -> bool:
    """The list names each feature that counts as dense once: else it would grow past its room."""
    listed = np.sort(arrays["dense"][: int(arrays["dense_count"][0])])
    dense = np.flatnonzero(arrays["stat"][:, slots.COUNT] < 0.0)
    return bool(np.array_equal(listed, dense[dense > 0]) and (listed < _features(arrays)).all())
