"""Is it a Burkholder function? `verify` searches for a violation of every property, and runs exact proofs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions import CATALOGUE, REFUTED, properties
from burkholder.functions import get as named
from burkholder.functions.base import CLOSED, BurkholderFunction
from burkholder.functions.properties import Points
from burkholder.lab.claims import STATEMENTS
from burkholder.lab.exact.recheck import excess, judge, start
from burkholder.lab.guard import Guard
from burkholder.lab.optimal import Optimal, examine
from burkholder.lab.places import Sampler, cut, overrides
from burkholder.lab.search import TOLERANCE, finite, genuine, search, tidy
from burkholder.lab.streams import reads_regret, streams
from burkholder.lab.verdicts import Report, Status, Verdict, Witness

PASSES = (0.15, 0.85)  # every claim gets a quick look before any gets a long one
Property = Callable[[BurkholderFunction, Points], np.ndarray]


def verify(
    function: BurkholderFunction | str,
    exact: bool = False,
    seconds: float = 10.0,
    points: int = 2_000_000,
    dims: Sequence[int] | None = None,
    seed: int = 0,
    first: bool = False,
) -> Report:
    """Examine 1°, 2°, 3°/3′, convexity in α, the declared strategies, and V against linearised regret.

    `seconds` and `points` bound the whole search; a claim that is found false costs less, and with `first` the
    search ends at the first such claim. With `exact`, the proofs that exist for this very function are run as well,
    and come first.

    >>> verify("square-function", seconds=2).status.value
    'not refuted'
    >>> print(verify("parameter-free-printed", seconds=2)["1"])  # a theorem as it was printed
    refuted      1           U(ζ₀) ≤ 0  on dimensions (1, 3)
                             at tau[0] = 0, tau[1] = (0), tau[2] = 0 the residual is 0.367784 > 0 (float64)
    """
    chosen = _dims(function, dims)
    function = named(function)
    if not seconds > 0:
        raise BadInput("seconds", seconds, "give a positive number")
    if type(function) is Optimal:  # a table: every state is looked at, none is drawn
        return examine(function)
    started = time.perf_counter()
    verdicts: list[Verdict] = []
    notes: list[str] = []
    if exact:
        from burkholder.lab.exact import objection, proofs

        verdicts += proofs(function)
        if not verdicts:
            notes.append(f"no exact proof: {objection(function) or 'none is known for this function'}")
    rng = np.random.default_rng(seed)
    guard = Guard(function)
    guard.value(tuple(part[None] for part in guard.zero(chosen[0])))  # fails early and plainly
    samplers = [Sampler(guard, dim, rng) for dim in chosen]
    guard.clocks = samplers[0].clocks
    guard.floor = 1e-5 * _unit(guard, samplers)
    claims = _claims(function, guard)
    readable = "regret" in claims and reads_regret(guard, chosen[0], rng)
    if "regret" in claims and not readable:
        del claims["regret"]
        verdicts.append(
            Verdict(
                "regret",
                Status.UNCHECKED,
                STATEMENTS["regret"],
                note="tau[0] and tau[1] are not Σδŷ and Σδx: override `linearised` to have this examined; streams are, below",
            )
        )
    found: dict[str, Verdict] = {}
    for part in PASSES:
        share, quota = part * seconds / (len(claims) + 1), int(part * points / (len(claims) + 1))
        for name in sorted([*claims, "streams"], key=lambda name: not name.startswith("3")):  # the usual culprit first
            if (first and any(v.refuted for v in found.values())) or (name in found and found[name].refuted):
                continue
            if name == "1":
                verdict = _start(guard, chosen)
            elif name == "streams":
                verdict = streams(guard, chosen, share, quota, rng)
            else:
                verdict = _examine(name, claims[name], guard, samplers, share, quota)
            found[name] = _together(found[name], verdict) if name in found and name != "1" else verdict
    verdicts += [found[name] for name in [*claims, "streams"] if name in found]
    if guard.overflows:
        notes.append(f"U was huge or infinite at {guard.overflows:,} points, which were left out")
    return Report(function.name, tuple(verdicts), time.perf_counter() - started, tuple(notes))


def _together(before: Verdict, after: Verdict) -> Verdict:
    """Two looks at the same claim as one, with the effort of both."""
    worst = [verdict.worst for verdict in (before, after) if verdict.worst is not None]
    return replace(after, points=before.points + after.points, seconds=before.seconds + after.seconds, worst=max(worst, default=None))


def _claims(function: BurkholderFunction, guard: Guard) -> dict[str, Property]:
    claims: dict[str, Property] = dict(properties.applicable(guard))
    if not overrides(function, "target"):
        del claims["2"]  # V is U
    if not overrides(function, "bound"):
        del claims["regret"]
    if CLOSED in function.structure:
        claims["closed-form"] = closed_form
    return claims


def closed_form(function: BurkholderFunction, points: Points) -> np.ndarray:
    """A rule of the function's own: U does not rise, for derivatives that point outward at ±B (B = ¼, 4)."""
    now, size = function.value(points.tau), function.magnitude(points.tau)
    worst = np.full(now.shape, -np.inf)
    for end in (0.25, 4.0):
        yhat = function.closed_form(points.tau, points.x, end)
        delta = np.where(yhat >= end, np.abs(points.alpha), np.where(yhat <= -end, -np.abs(points.alpha), points.alpha))
        after = function.expected(points.tau, points.x, yhat, delta)
        later = function.magnitude(function.advance(points.tau, points.x, yhat, delta))
        worst = np.maximum(worst, (after - now) / np.maximum(np.maximum(size, later), 1e-290))
    return worst


def _start(guard: Guard, dims: tuple[int, ...]) -> Verdict:
    worst, witness = -np.inf, None
    for dim in dims:
        tau = tuple(part[None] for part in guard.zero(dim))
        value = float(guard.value(tau)[0])
        enclosed = start(guard.inner, dim) if value > 0 else None
        certified = enclosed is not None and enclosed.lower > 0  # however little it is
        # at ζ₀ little is computed: 1e-12 of the terms, where the function names their size, is far above rounding
        most = min(TOLERANCE, 1e-12 * float(guard.magnitude(tau)[0])) if guard.measured else TOLERANCE
        if value > worst and (certified or value > most):
            amount, arithmetic = (enclosed.lower, "ball arithmetic") if enclosed and certified else (value, "float64")
            witness = Witness({f"tau[{k}]": part[0].tolist() for k, part in enumerate(tau)}, amount, arithmetic)
        worst = max(worst, value)
    status = Status.REFUTED if witness else Status.NOT_REFUTED
    return Verdict("1", status, STATEMENTS["1"], f"dimensions {dims}", witness=witness, points=len(dims), worst=worst)


def _examine(name: str, property: Property, guard: Guard, samplers: list[Sampler], seconds: float, points: int) -> Verdict:
    def residual(at: Points) -> np.ndarray:
        return property(guard, at)

    where = "every scale the function admits" if samplers[0].free else "states that play reaches, scales 1e±9"
    domain = f"{where}, dimensions {tuple(sampler.dim for sampler in samplers)}"
    finite(residual, samplers[0].draw(2))  # compiles what is compiled, before the clock starts
    found = search(residual, samplers, seconds, points)
    note, witness = "", None
    for sampler, point in found.violations():
        witness, note = _witness(name, residual, guard.inner, sampler, point)
        if witness:
            break
    status = Status.REFUTED if witness else Status.NOT_REFUTED
    return Verdict(name, status, STATEMENTS[name], domain, "float64", witness, found.points, found.seconds, found.relative, note)


def _witness(
    name: str, residual: Callable[[Points], np.ndarray], function: BurkholderFunction, sampler: Sampler, point: Points
) -> tuple[Witness | None, str]:
    """The violation at a point a person can type, evaluated again in balls where that can be done."""
    note = ""
    for place, digits in (tidy(residual, sampler, point), (point, 17)):  # a short point if it will do, else the point itself
        relative = float(residual(place)[0])
        stable = relative > TOLERANCE and genuine(residual, sampler, place)
        verdict = judge(excess(function, name, place), relative, relative, stable)
        if not isinstance(verdict, str):
            return Witness(_typed(name, place, digits), *verdict), ""
        note = verdict
    return None, note


def _typed(name: str, point: Points, digits: int) -> dict[str, Any]:
    """The coordinates that the claim speaks of."""

    def show(part: np.ndarray) -> Any:
        return (cut(part[0], digits) if digits <= 15 else part[0]).tolist()

    shown: dict[str, Any] = {f"tau[{k}]": show(part) for k, part in enumerate(point.tau)}
    if name == "regret":
        return {**shown, "w": point.w[0].tolist()}
    if name == "2":
        return shown
    shown["x"] = show(point.x)
    if np.any(point.yhat != 0):
        shown["yhat"] = show(point.yhat)
    return shown if name == "3'" else {**shown, "alpha": show(point.alpha)}


def _unit(guard: Guard, samplers: list[Sampler]) -> float:
    """The usual size of −U, which exponentials bound: far below it only the rounding inside U is left to see."""
    depths = np.concatenate([np.maximum(-guard.value(sampler.draw(512).tau), 0.0) for sampler in samplers])
    return float(np.quantile(depths[np.isfinite(depths)], 0.75)) if np.isfinite(depths).any() else 0.0


def _dims(function: Any, dims: Sequence[int] | None) -> tuple[int, ...]:
    if dims is None:
        entry = (CATALOGUE.get(function) or REFUTED.get(function)) if isinstance(function, str) else None
        shape = getattr(function, "shape", None)
        dims = entry.dims if entry else (shape[0] * shape[1],) if shape else (1, 2, 3)
    chosen = tuple(int(dim) for dim in dims)
    if not chosen or min(chosen) < 1 or max(chosen) > 10_000:
        raise BadInput("dims", dims, "give dimensions from 1 to 10,000")
    return chosen
