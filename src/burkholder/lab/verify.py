"""Is it a Burkholder function? `verify` searches for a violation of every property, and runs exact proofs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.lab.claims import CLAIMS, Claim, Plain
from burkholder.lab.guard import Guard
from burkholder.lab.places import Places, Sampler
from burkholder.lab.regret import regret
from burkholder.lab.search import TOLERANCE, genuine, search, tidy
from burkholder.lab.verdicts import Report, Status, Verdict, Witness


def verify(
    function: BurkholderFunction, exact: bool = False, seconds: float = 10.0, points: int = 2_000_000,
    dims: Sequence[int] = (1, 2, 3), seed: int = 0,
) -> Report:
    """Examine 1°, 2°, 3°/3′, convexity in α, the declared strategies, and V against linearised regret.

    `seconds` and `points` bound the whole search; a claim that is found false costs less. With `exact`, the
    proofs that exist for this very function are run too, and come first.

    >>> from burkholder.functions.linear import Linear
    >>> from burkholder.potentials import SquareRoot
    >>> verify(Linear("mine", SquareRoot(constant=1.9), "l2", "square"), seconds=2).status.value
    'refuted'
    """
    if not isinstance(function, BurkholderFunction):
        raise BadInput("function", function, "give an instance of burkholder.BurkholderFunction")
    if not seconds > 0:
        raise BadInput("seconds", seconds, "give a positive number")
    started = time.perf_counter()
    verdicts: list[Verdict] = []
    if exact:
        from burkholder.lab.exact import proofs

        verdicts += proofs(function)
    rng = np.random.default_rng(seed)
    chosen = _dims(function, dims)
    guard = Guard(function)
    verdicts.append(_start(guard, chosen))
    claims = [claim for claim in CLAIMS if claim.applies(function)]
    share, quota = seconds / (len(claims) + 1), points // (len(claims) + 1)
    samplers = [Sampler(function, dim, rng) for dim in chosen]
    for claim in CLAIMS:
        if claim in claims:
            verdicts.append(_examine(claim, guard, samplers, share, quota))
    verdicts.append(regret(function, chosen, share, quota, rng))
    notes = (f"U was infinite at {guard.overflows:,} points, which were left out",) if guard.overflows else ()
    return Report(function.name, tuple(verdicts), time.perf_counter() - started, notes)


def _start(guard: Guard, dims: tuple[int, ...]) -> Verdict:
    """1°: U(ζ₀) ≤ 0."""
    statement = "U(ζ₀) ≤ 0"
    worst, witness = -np.inf, None
    for dim in dims:
        tau = tuple(np.asarray(part, float)[None] for part in guard.function.zero(dim))
        value = float(guard.value(tau)[0])
        if value > worst:
            worst = value
            if value > TOLERANCE:
                witness = Witness({f"tau[{k}]": part[0].tolist() for k, part in enumerate(tau)}, value)
    status = Status.REFUTED if witness else Status.NOT_REFUTED
    return Verdict("1", status, statement, f"dimensions {dims}", witness=witness, points=len(dims), worst=worst)


def _examine(claim: Claim, guard: Guard, samplers: list[Sampler], seconds: float, points: int) -> Verdict:
    clocks = samplers[0].clocks
    floor = 1e-5 * _unit(guard, samplers)

    def residual(at: Places) -> tuple[np.ndarray, np.ndarray]:
        over, parts = claim.residual(guard, at)
        size = sum((np.abs(part) for part in parts), floor + _cancelled(guard.function, at.tau, clocks))
        if claim.name != "2":
            after = guard.advance(at.tau, at.x, at.yhat, guard.function.lipschitz * at.high)
            size = size + _cancelled(guard.function, after, clocks)
        return over, size

    domain = f"dimensions {tuple(sampler.dim for sampler in samplers)}, scales 1e±9" if samplers[0].free else \
        f"states reached by play, dimensions {tuple(sampler.dim for sampler in samplers)}"
    residual(samplers[0].draw(2))  # compiles what is compiled, before the clock starts
    found = search(residual, samplers, seconds, points)
    effort: dict[str, Any] = {"points": found.points, "seconds": found.seconds, "worst": found.relative}
    place = found.place
    if place is None or not found.violated:
        return Verdict(claim.name, Status.NOT_REFUTED, claim.statement, domain, "float64", **effort)
    sampler = next(s for s in samplers if s.dim == place.x.shape[-1])
    if not genuine(residual, sampler, place):
        return Verdict(claim.name, Status.NOT_REFUTED, claim.statement, domain, "float64", **effort,
                       note="the worst residual changes sign under a jitter of 1e-11: rounding")
    short, digits = tidy(residual, sampler, place)
    certified = _certified(claim, guard.function, short, digits)
    amount, arithmetic = certified or (float(residual(short)[0][0]), "float64, stable under jitter")
    if amount <= 0:
        return Verdict(claim.name, Status.NOT_REFUTED, claim.statement, domain, "float64", **effort,
                       note="the worst residual in floats is not one in ball arithmetic: rounding")
    witness = Witness(short.describe(None if digits > 15 else digits, claim.name != "2"), amount, arithmetic)
    return Verdict(claim.name, Status.REFUTED, claim.statement, domain, witness=witness, **effort)


def _unit(guard: Guard, samplers: list[Sampler]) -> float:
    """The usual size of −U, which exponentials bound: far below it only the rounding inside U is left to see."""
    depths = np.concatenate([np.maximum(-guard.value(sampler.draw(512).tau), 0.0) for sampler in samplers])
    return float(np.quantile(depths[np.isfinite(depths)], 0.75)) if np.isfinite(depths).any() else 0.0


def _cancelled(function: BurkholderFunction, tau: Tau, clocks: tuple[bool, ...]) -> np.ndarray:
    """How large the numbers inside U are when U itself is small: |τ·∇U| along a direction of mixed signs."""
    step = 1e-4
    moved = [part if clock else part * (1.0 + (step if k % 2 else -step))
             for k, (part, clock) in enumerate(zip(tau, clocks, strict=True))]
    with np.errstate(all="ignore"):
        change = np.abs(np.asarray(function.value(tuple(moved)), float) - function.value(tau)) / step
    return np.where(np.isfinite(change), change, 0.0)


def _certified(claim: Claim, function: BurkholderFunction, place: Places, digits: int) -> tuple[float, str] | None:
    """The residual in ball arithmetic at the decimal point, when U is written in operations that balls know."""
    if digits > 15:
        return None
    try:
        from burkholder.lab.exact.ball import balls

        at = Places(tuple(balls(part, digits) for part in place.tau), balls(place.x, digits),
                    balls(place.yhat, digits), balls(place.low, digits), balls(place.high, digits))
        over = claim.residual(Plain(function), at)[0][0].arb
    except Exception:  # U uses something balls do not have: floats have the last word
        return None
    return (float(over.lower()), "ball arithmetic at the decimal point shown") if over.is_finite() else None


def _dims(function: BurkholderFunction, dims: Sequence[int]) -> tuple[int, ...]:
    fixed = getattr(function, "dim", None)
    chosen = (int(fixed),) if isinstance(fixed, (int, np.integer)) else tuple(int(dim) for dim in dims)
    if not chosen or min(chosen) < 1:
        raise BadInput("dims", dims, "give dimensions of at least 1")
    return chosen
