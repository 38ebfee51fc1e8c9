"""Branch and bound in ball arithmetic: f ≤ 0 on a rectangle, as a proof, or a point where f > 0.

A smooth f(x,θ) with f = ∂f/∂θ = 0 at θ = 0 cannot be bounded away from 0 near θ = 0: there one bounds f divided by a
power of θ instead, through Taylor's formula with its remainder enclosed over the whole box. Elsewhere the mean-value
(centred) form f(box) ⊂ f(centre) + ∇f(box)·(box − centre) keeps the dependency of interval arithmetic quadratically
small.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from typing import Any, Protocol

from burkholder.lab.exact.reals import flint

Box = tuple[float, float, float, float]  # x from, x to, θ from, θ to


class Residual(Protocol):
    """What branch and bound needs of f. Arguments and answers are balls."""

    def value(self, x: Any, theta: Any) -> Any:
        """f itself."""

    def gradient(self, x: Any, theta: Any) -> tuple[Any, Any]:
        """(∂f/∂x, ∂f/∂θ)."""

    def divided(self, x: Any, theta: Any) -> Any:
        """A ball, given theta from 0 upwards: f divided by a positive function of θ that vanishes at 0, or anything
        else whose being ≤ 0 over all of the ball theta says that f ≤ 0 there."""


@dataclass(frozen=True)
class Search:
    """How a branch and bound ended: the boxes it took, and a point with f > 0 if it met one."""

    proved: bool
    boxes: int
    seconds: float
    witness: tuple[float, float] | None = None
    residual: float = 0.0  # a lower bound of f at the witness
    stuck: Box | None = None  # the widest box left when time or boxes ran out


def nonpositive(f: Residual, box: Box, seconds: float = 20.0, boxes: int = 200_000) -> Search:
    """Prove f ≤ 0 on the box, or find where it fails, by splitting the worst box first."""
    started = time.perf_counter()
    queue: list[tuple[float, Box]] = [(0.0, box)]
    done = 0
    while queue:
        _, here = heapq.heappop(queue)
        done += 1
        centre = ((here[0] + here[1]) / 2, (here[2] + here[3]) / 2)
        upper, middle = bound(f, here, centre)
        elapsed = time.perf_counter() - started
        if middle > 0:
            return Search(False, done, elapsed, centre, float(middle.lower()))
        if upper <= 0:
            continue
        if elapsed > seconds or done >= boxes or max(here[1] - here[0], here[3] - here[2]) < 1e-12:
            return Search(False, done, elapsed, stuck=here)
        for half in _split(here, centre):
            heapq.heappush(queue, (-float(upper), half))
    return Search(True, done, time.perf_counter() - started)


def bound(f: Residual, box: Box, centre: tuple[float, float]) -> tuple[Any, Any]:
    """An upper bound of f (divided, near θ = 0) over the box, and f at its centre."""
    arb = flint().arb
    x, theta = interval(box[0], box[1]), interval(box[2], box[3])
    middle = f.value(arb(centre[0]), arb(centre[1]))
    divided = f.divided(x, interval(0.0, box[3])).upper()
    if divided <= 0 or box[2] == 0:
        return divided, middle
    by_x, by_theta = f.gradient(x, theta)
    centred = middle + by_x * (x - centre[0]) + by_theta * (theta - centre[1])
    return centred.upper().min(f.value(x, theta).upper()), middle


def interval(low: float, high: float) -> Any:
    """The ball around two floats, rounded outwards."""
    arb = flint().arb
    return arb(low).union(arb(high))


def _split(box: Box, centre: tuple[float, float]) -> tuple[Box, Box]:
    """Halve the longer side; a box that touches θ = 0 is halved in θ as readily as in x."""
    if box[1] - box[0] >= box[3] - box[2]:
        return (box[0], centre[0], box[2], box[3]), (centre[0], box[1], box[2], box[3])
    return (box[0], box[1], box[2], centre[1]), (box[0], box[1], centre[1], box[3])
