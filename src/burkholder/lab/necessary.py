"""How tight is a learner? The adversary of `prop:necessary` plays against it.

Absolute loss, labels y_t = ε_t that nobody can predict, features from a predictable process with |⟨w, x⟩| ≤ 1. Every
learner then loses at least 1 a round on average, while the best comparator in hindsight earns sup_w⟨w, Σε_t x_t⟩:
the regret is forced by the martingale, and regret ÷ bound says how much of the bound is real.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from burkholder.errors import BadInput
from burkholder.functions.base import CLOSED, TANGENT, BurkholderFunction, Tau
from burkholder.functions.registry import CATALOGUE, get
from burkholder.lab.expectation import advance, interval
from burkholder.lab.processes import PROCESSES, Directions, process_features

CONFIDENCE = 0.99


@dataclass(frozen=True)
class Tightness:
    """Mean regret and mean bound over paths of the adversary, and their ratio with a normal interval."""

    learner: str
    process: str  # the features that were hardest among those tried
    rounds: int
    paths: int
    regret: float
    regret_low: float
    regret_high: float
    bound: float | None
    bound_is: str
    error: float | None = None  # half the width of the interval of the ratio

    @property
    def ratio(self) -> float | None:
        """Regret ÷ bound: 1 would mean that the bound cannot be improved on these features."""
        return None if self.bound is None or self.bound <= 0 else self.regret / self.bound

    @property
    def exceeded(self) -> bool:
        """Whether the mean regret is above the mean bound beyond chance: a guarantee would be wrong."""
        return self.ratio is not None and self.error is not None and self.ratio - self.error > 1 + 1e-9

    def to_dict(self) -> dict[str, Any]:
        return {
            "learner": self.learner,
            "process": self.process,
            "rounds": self.rounds,
            "paths": self.paths,
            "regret": self.regret,
            "regret_low": self.regret_low,
            "regret_high": self.regret_high,
            "confidence": CONFIDENCE,
            "bound": self.bound,
            "bound_is": self.bound_is,
            "ratio": self.ratio,
            "ratio_error": self.error,
            "exceeded": self.exceeded,
        }

    def __str__(self) -> str:
        lines = [
            f"{self.learner} against y = ε, absolute loss, {self.rounds} rounds, {self.paths} paths",
            f"  hardest features tried: {self.process}",
            f"  mean regret  {self.regret:.6g}   [{self.regret_low:.6g}, {self.regret_high:.6g}] normal, 99 %",
        ]
        if self.bound is not None:
            lines += [f"  mean bound   {self.bound:.6g}   ({self.bound_is})", f"  ratio        {self.ratio:.4f} ± {self.error:.4f}"]
        else:
            lines.append("  no bound was given")
        if self.exceeded:
            lines.append("  THE BOUND WAS EXCEEDED")
        return "\n".join(lines)


def tight(
    learner: Any,
    rounds: int = 64,
    paths: int = 256,
    dim: int | None = None,
    process: str | None = None,
    bound: Callable[[np.ndarray], float] | None = None,
    radius: float | None = None,
    seed: int = 0,
) -> Tightness:
    """Play `prop:necessary`'s adversary against a learner and report regret ÷ bound.

    `learner` is a catalogue name, a BurkholderFunction, or any object with `predict(x)` (or callable) and
    `update(x, y)`; it is copied for every path. A learner built on a BurkholderFunction is held to its own
    certificate over its own ball; for others `bound(X)` gives the promise for the features X of a path against the
    Euclidean ball of that radius (1 unless given). Without `process` every known one is tried and the hardest kept.

    >>> found = tight("square-function", rounds=16, paths=64)
    >>> 0 < found.ratio < 1 and not found.exceeded
    True
    """
    if not (isinstance(rounds, int) and 1 <= rounds <= 100_000 and isinstance(paths, int) and paths >= 2):
        raise BadInput("rounds", (rounds, paths), "give at least one round and two paths")
    if process is not None and process not in PROCESSES:
        raise BadInput("process", process, "choose one of " + ", ".join(PROCESSES))
    play: Callable[[str], Tightness]
    if isinstance(learner, (str, BurkholderFunction)):
        function = _merely_convex(get(learner))
        entry = CATALOGUE.get(learner) if isinstance(learner, str) else None
        dim = dim or _dimension(function, entry)
        label = learner if isinstance(learner, str) else function.name

        def play(name: str) -> Tightness:
            return _function(function, label, name, rounds, paths, dim, radius, seed)
    else:
        if not (hasattr(learner, "update") and (hasattr(learner, "predict") or callable(learner))):
            raise BadInput("learner", learner, "give a name, a BurkholderFunction, or an object with predict and update")

        def play(name: str) -> Tightness:
            return _object(learner, name, rounds, paths, dim, radius, bound, seed)

    found = [play(name) for name in ([process] if process else PROCESSES)]
    return max(found, key=lambda one: one.ratio if one.ratio is not None else one.regret)


def _dimension(function: BurkholderFunction, entry: Any) -> int:
    shape = getattr(function, "shape", None)
    if shape is not None:
        return int(shape[0] * shape[1])
    return int(entry.dims[-1]) if entry else 1


def _function(
    function: BurkholderFunction, label: str, process: str, rounds: int, paths: int, dim: int, radius: float | None, seed: int
) -> Tightness:
    """All paths at once, with the function's own strategy."""
    rng = np.random.default_rng(seed)
    own = radius if radius is not None or _has_ball(function, dim) else 1.0

    def support(g: np.ndarray) -> float:
        return function.support(g, own)

    directions = Directions(dim, lambda x: max(support(x), support(-x)), np.random.default_rng(seed + 1))
    tau = tuple(np.broadcast_to(part, (paths, *np.shape(part))).copy() for part in function.zero(dim))
    total, squares, losses = np.zeros((paths, dim)), np.zeros(paths), np.zeros(paths)
    for t in range(rounds):
        x = process_features(process, directions, t, rounds, total, squares)
        x = _admitted(function, x)
        yhat = np.clip(_predict(function, tau, x), -1.0, 1.0)
        y = rng.choice([-1.0, 1.0], paths)
        losses += np.abs(yhat - y)
        delta = np.sign(yhat - y)
        tau = advance(function, tau, x, yhat, delta, rng.choice([-1.0, 1.0], paths))
        total += y[:, None] * x
        squares += np.square(x).sum(1)
    regret = np.array([losses[i] - rounds + support(-total[i]) for i in range(paths)])
    bounds = np.array([function.ball(own, tuple(part[i] for part in tau)) for i in range(paths)])
    return _report(label, process, rounds, regret, bounds, "the learner's own A, averaged")


def _has_ball(function: BurkholderFunction, dim: int) -> bool:
    try:
        function.support(np.ones(dim), None)
    except BadInput:
        return False
    return True


def _admitted(function: BurkholderFunction, x: np.ndarray) -> np.ndarray:
    """Features within what the function assumes of them."""
    for seen, limit in function.sizes(x).values():
        x = x * np.minimum(1.0, limit / np.maximum(seen, 1e-300))[:, None]
    return x


def _predict(function: BurkholderFunction, tau: Tau, x: np.ndarray) -> np.ndarray:
    if TANGENT in function.structure:
        played = function.tangent(tau, x)
    elif CLOSED in function.structure:
        played = function.closed_form(tau, x, 1.0)
    else:
        played = function.sign_flip(tau, x)
    played = np.asarray(played, float)
    return np.where(np.isfinite(played), played, 0.0)


def _merely_convex(function: BurkholderFunction) -> BurkholderFunction:
    if getattr(function, "curvature", None) is not None:
        raise BadInput("learner", function.name, "its guarantee needs a curved loss, and this adversary plays the absolute loss")
    return function


def _object(
    learner: Any,
    process: str,
    rounds: int,
    paths: int,
    dim: int | None,
    radius: float | None,
    bound: Callable[[np.ndarray], float] | None,
    seed: int,
) -> Tightness:
    """One path after another, against the learner's own ball, or the Euclidean one."""
    function = getattr(learner, "function", None)
    if isinstance(function, BurkholderFunction):
        known, dim = _merely_convex(function), dim or _dimension(function, None)
        ball = radius if radius is not None or _has_ball(known, dim) else 1.0

        def support(g: np.ndarray) -> float:
            return known.support(g, ball)
    else:
        dim, ball = dim or 1, radius or 1.0

        def support(g: np.ndarray) -> float:
            return (radius or 1.0) * float(np.linalg.norm(g))

    own = bound is None and isinstance(function, BurkholderFunction) and hasattr(learner, "certificate")
    rng = np.random.default_rng(seed)
    directions = Directions(dim, lambda x: max(support(x), support(-x)), np.random.default_rng(seed + 1))
    regret, bounds = np.zeros(paths), np.zeros(paths)
    for i in range(paths):
        player = copy.deepcopy(learner)
        predict = player.predict if hasattr(player, "predict") else player
        total, squares, loss, seen = np.zeros((1, dim)), np.zeros(1), 0.0, []
        for t in range(rounds):
            x = process_features(process, directions, t, rounds, total, squares)
            x = (x if not isinstance(function, BurkholderFunction) else _admitted(function, x))[0]
            yhat = float(predict(x.copy()))
            if not math.isfinite(yhat):
                raise BadInput("learner", yhat, f"it predicted this in round {t} for x = {x.tolist()}")
            y = float(rng.choice([-1.0, 1.0]))
            loss += abs(yhat - y)
            player.update(x.copy(), y)
            total, squares = total + y * x, squares + float(x @ x)
            seen.append(x)
        regret[i] = loss - rounds + support(-total[0])
        if bound is not None:
            bounds[i] = bound(np.array(seen))
        elif own:
            bounds[i] = player.certificate().bound(radius=ball)
    label = getattr(learner, "requested", None) or getattr(learner, "name", type(learner).__name__)
    kind = "its certificate's bound, averaged" if own else "the bound given, averaged"
    return _report(str(label), process, rounds, regret, bounds if own or bound is not None else None, kind)


def _report(label: str, process: str, rounds: int, regret: np.ndarray, bounds: np.ndarray | None, kind: str) -> Tightness:
    mean = interval(regret, CONFIDENCE)
    if bounds is None:
        return Tightness(label, process, rounds, len(regret), mean.value, mean.low, mean.high, None, "none")
    average = float(np.mean(bounds))
    # The ratio of two means: its error is that of the mean of regret − ratio·bound (delta method).
    spread = interval(regret - mean.value / average * bounds, CONFIDENCE)
    error = (spread.high - spread.low) / 2 / average
    return Tightness(label, process, rounds, len(regret), mean.value, mean.low, mean.high, average, kind, error)
