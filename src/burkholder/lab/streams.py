"""Whether V really bounds linearised regret: a − ⟨w,g⟩ − A(w) ≤ V on streams played from ζ₀.

The claim is about what streams reach, so streams are played: a = Σδŷ and g = Σδx are kept beside the function's own
state, and many comparators are tried on each. Strongly convex losses give back (ρ/2)Σ(ŷ−⟨w,x⟩)² (`refine`).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from burkholder.functions.base import BurkholderFunction
from burkholder.lab.claims import STATEMENTS
from burkholder.lab.exact.recheck import Rows, judge, stream_excess
from burkholder.lab.guard import Guard
from burkholder.lab.places import overrides, within
from burkholder.lab.search import CLEAR, TOLERANCE
from burkholder.lab.verdicts import Status, Verdict, Witness

STREAMS = 512
COMPARATORS = 16


def streams(guard: Guard, dims: tuple[int, ...], seconds: float, points: int, rng: np.random.Generator) -> Verdict:
    """Play random streams of 1 to 30 rounds and compare."""
    function = guard.inner
    if not overrides(function, "bound"):
        return Verdict("streams", Status.UNCHECKED, STATEMENTS["streams"], note="the function states no bound A")
    started, spent, tried, worst = time.perf_counter(), time.thread_time(), 0, -np.inf
    witness: Witness | None = None
    doubts = 0  # violations that turned out to be rounding
    while tried == 0 or (tried < points and time.thread_time() - spent < seconds):
        dim = dims[int(rng.integers(0, len(dims)))]
        rows = _stream(function, rng, dim)
        state = [np.tile(part, (COMPARATORS, *[1] * (np.ndim(part) - 1))) for part in _play(guard, rows, dim)]
        w = _comparators(function, rng, state[1])
        relative = _relative(guard, state, w)
        tried += len(relative)
        k = int(np.argmax(relative))
        worst = max(worst, float(relative[k]))
        if relative[k] > TOLERANCE and doubts < 20:
            one = [(x[[k % STREAMS]], yhat[[k % STREAMS]], delta[[k % STREAMS]]) for x, yhat, delta in rows]
            found = _witness(guard, rng, one, w[[k]], dim, float(relative[k]))
            doubts += found is None
            witness = found or witness
            if found and relative[k] > CLEAR:
                break
    status = Status.REFUTED if witness else Status.NOT_REFUTED
    return Verdict(
        "streams",
        status,
        STATEMENTS["streams"],
        f"streams of 1 to 30 rounds in dimensions {dims}",
        witness=witness,
        points=tried,
        seconds=time.perf_counter() - started,
        worst=worst,
        note=f"{doubts} residuals above 1e-9 could not be told from rounding" if doubts and not witness else "",
    )


def reads_regret(guard: Guard, dim: int, rng: np.random.Generator) -> bool:
    """Whether `linearised` finds Σδŷ and Σδx in the state: after one round they are known."""
    function = guard.inner
    x = within(function, np.asarray(function.features(rng, 8, dim), float))
    row = (x, rng.standard_normal(8), function.lipschitz * rng.uniform(-1, 1, 8))
    state = _play(guard, [row], dim)
    w = np.asarray(function.comparators(rng, 8, x.shape[-1]), float)
    tau = tuple(state[2:])
    known = state[0] - np.einsum("...i,...i->...", w, state[1]) - function.refine(w, tau)
    try:
        return bool(np.allclose(function.linearised(w, tau), known, rtol=1e-6, atol=1e-9 * np.abs(known).max()))
    except Exception:
        return False


def _stream(function: BurkholderFunction, rng: np.random.Generator, dim: int) -> Rows:
    """Rounds (x, ŷ, δ) for a batch of streams; some push g one way, some toss signs."""
    rows: Rows = []
    start = within(function, np.asarray(function.features(rng, STREAMS, dim), float))
    push = rng.random(STREAMS) < 0.5
    for _ in range(int(rng.choice([1, 2, 3, 5, 10, 30]))):
        fresh = within(function, np.asarray(function.features(rng, STREAMS, dim), float))
        x = start if rng.random() < 0.5 else fresh
        sign = np.where(push, 1.0, rng.choice([-1.0, 1.0], STREAMS))
        delta = function.lipschitz * sign * rng.choice([1.0, 1.0, 0.3, 0.0], STREAMS)
        plays = function.plays(rng, x) if overrides(function, "plays") else rng.choice([0.0, 1.0, -0.3], STREAMS)
        rows.append((x, plays, delta))
    return rows


def _play(guard: Guard, rows: Rows, dim: int) -> list[np.ndarray]:
    """Σδŷ and Σδx, kept apart from the function's own state, then that state."""
    count = len(rows[0][0])
    tau: Any = tuple(np.broadcast_to(part, (count, *np.shape(part))).copy() for part in guard.zero(dim))
    a, g = np.zeros(count), np.zeros(rows[0][0].shape)
    for x, yhat, delta in rows:
        tau = guard.advance(tau, x, yhat, delta)
        a, g = a + delta * yhat, g + delta[:, None] * x
    return [a, g, *tau]


def _comparators(function: BurkholderFunction, rng: np.random.Generator, g: np.ndarray) -> np.ndarray:
    """The function's own comparators; where they have signs, half of them turned against the stream."""
    w = np.asarray(function.comparators(rng, len(g), g.shape[-1]), float)
    against = (rng.random((len(w), 1)) < 0.5) & np.any(w < 0)
    return np.where(against, -np.sign(g) * np.abs(w), w)


def _residual(guard: Guard, state: list[np.ndarray], w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a − ⟨w,g⟩ − (what curvature gives back) − A(w) − V, and the sum of their sizes."""
    a, g, tau = state[0], state[1], tuple(state[2:])
    against = -np.einsum("...i,...i->...", w, g)
    terms = [a, against, -guard.inner.refine(w, tau), -guard.bound(w, tau), -guard.target(tau)]
    with np.errstate(all="ignore"):
        return sum(terms[1:], terms[0]), sum((np.abs(term) for term in terms), np.zeros(len(a)))


def _relative(guard: Guard, state: list[np.ndarray], w: np.ndarray) -> np.ndarray:
    residual, size = _residual(guard, state, w)
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(residual), residual / np.maximum(size, 1e-300), -np.inf)


def _witness(guard: Guard, rng: np.random.Generator, one: Rows, w: np.ndarray, dim: int, relative: float) -> Witness | None:
    """One stream as a witness, unless ball arithmetic, or for want of it a jitter of 1e-11, takes the violation away."""
    end = _play(guard, one, dim)
    amount = float(_residual(guard, end, w)[0][0])
    # beside the numbers inside U, which may be far larger than U and the regret
    relative = min(relative, amount / max(float(guard.magnitude(tuple(end[2:]))[0]), 1e-300))
    jitter = [(x * (1 + 1e-11 * rng.standard_normal((32, 1))), np.repeat(yhat, 32), np.repeat(delta, 32)) for x, yhat, delta in one]
    near, _ = _residual(guard, _play(guard, jitter, dim), np.repeat(w, 32, axis=0))
    stable = bool(np.all(near > 0.3 * amount))
    verdict = judge(stream_excess(guard.inner, one, w, dim, amount), amount, relative, stable)
    if isinstance(verdict, str):
        return None
    amount, arithmetic = verdict[0], verdict[1].removesuffix(", relative")
    return Witness(
        {
            "x": [x[0].tolist() for x, _, _ in one],
            "yhat": [float(yhat[0]) for _, yhat, _ in one],
            "delta": [float(delta[0]) for _, _, delta in one],
            "w": w[0].tolist(),
        },
        amount,
        arithmetic,
    )
