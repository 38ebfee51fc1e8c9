"""Whether V really bounds linearised regret: a − ⟨w,g⟩ − A(w) ≤ V on streams played from ζ₀.

The claim is about what streams reach, so streams are played: a = Σδŷ and g = Σδx are kept beside the function's own
state, and many comparators are tried on each. Strongly convex losses give back (ρ/2)Σ(ŷ−⟨w,x⟩)² (`refine`).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from burkholder.functions.base import BurkholderFunction
from burkholder.lab.guard import Guard
from burkholder.lab.places import overrides
from burkholder.lab.search import TOLERANCE
from burkholder.lab.verdicts import Status, Verdict, Witness

STATEMENT = "Σδŷ − ⟨w,Σδx⟩ − A(w) ≤ V(ζ_n) for every comparator w"
STREAMS = 512
COMPARATORS = 16

Rows = list[tuple[np.ndarray, Any, Any]]  # (x, ŷ, δ) of each round, for a batch of streams


def streams(guard: Guard, dims: tuple[int, ...], seconds: float, points: int, rng: np.random.Generator) -> Verdict:
    """Play random streams of 1 to 30 rounds and compare."""
    function = guard.inner
    if not overrides(function, "bound"):
        return Verdict("streams", Status.UNCHECKED, STATEMENT, note="the function states no bound A")
    started, tried, worst = time.perf_counter(), 0, -np.inf
    witness: Witness | None = None
    while tried == 0 or (tried < points and time.perf_counter() - started < seconds):
        dim = dims[int(rng.integers(0, len(dims)))]
        rows = _stream(function, rng, dim)
        residual, size, w = _compare(guard, rng, rows, dim)
        tried += residual.size
        with np.errstate(all="ignore"):
            relative = np.where(np.isfinite(residual), residual / np.maximum(size, 1e-300), -np.inf)
        k = int(np.argmax(relative))
        if relative[k] > worst:
            worst = float(relative[k])
            if worst > TOLERANCE:
                stream, which = k % STREAMS, k
                witness = Witness({
                    "x": np.asarray([x[stream] for x, _, _ in rows]).tolist(),
                    "yhat": [float(yhat[stream]) for _, yhat, _ in rows],
                    "delta": [float(delta[stream]) for _, _, delta in rows],
                    "w": w[which].tolist(),
                }, float(residual[which]))
        if worst > 1e-3:
            break
    status = Status.REFUTED if witness else Status.NOT_REFUTED
    return Verdict("streams", status, STATEMENT, f"streams of 1 to 30 rounds in dimensions {dims}", witness=witness,
                   points=tried, seconds=time.perf_counter() - started, worst=worst)


def _stream(function: BurkholderFunction, rng: np.random.Generator, dim: int) -> Rows:
    """Rounds (x, ŷ, δ) for a batch of streams; some push g one way, some toss signs."""
    rows: Rows = []
    start = np.asarray(function.features(rng, STREAMS, dim), float)
    push = rng.random(STREAMS) < 0.5
    for _ in range(int(rng.choice([1, 2, 3, 5, 10, 30]))):
        x = start if rng.random() < 0.5 else np.asarray(function.features(rng, STREAMS, dim), float)
        sign = np.where(push, 1.0, rng.choice([-1.0, 1.0], STREAMS))
        delta = function.lipschitz * sign * rng.choice([1.0, 1.0, 0.3, 0.0], STREAMS)
        plays = function.plays(rng, x) if overrides(function, "plays") else rng.choice([0.0, 1.0, -0.3], STREAMS)
        rows.append((x, plays, delta))
    return rows


def _compare(guard: Guard, rng: np.random.Generator, rows: Rows, dim: int) -> tuple[Any, ...]:
    """(residual, size, w) for every stream and comparator, comparators outermost."""
    function = guard.inner
    tau: Any = tuple(np.broadcast_to(part, (STREAMS, *np.shape(part))).copy() for part in function.zero(dim))
    a, g = np.zeros(STREAMS), np.zeros((STREAMS, rows[0][0].shape[-1]))
    for x, yhat, delta in rows:
        tau = guard.advance(tau, x, yhat, delta)
        a, g = a + delta * yhat, g + delta[:, None] * x
    target = np.tile(guard.target(tau), COMPARATORS)
    many = tuple(np.concatenate([part] * COMPARATORS) for part in tau)
    gs = np.tile(g, (COMPARATORS, 1))
    w = function.comparators(rng, len(gs), g.shape[-1])
    opposite = -np.sign(gs) * np.abs(w)  # the same sizes, against the stream; only where that is still a comparator
    aligned = (rng.random((len(w), 1)) < 0.5) & np.any(w < 0)
    w = np.where(aligned, opposite, w)
    linear = np.einsum("...i,...i->...", w, gs)
    promise = guard.bound(w, many)
    given_back = function.refine(w, many)
    tiled = np.tile(a, COMPARATORS)
    residual = tiled - linear - given_back - promise - target
    with np.errstate(all="ignore"):
        size = np.abs(tiled) + np.abs(linear) + np.abs(given_back) + np.abs(promise) + np.abs(target)
    return residual, size, w
