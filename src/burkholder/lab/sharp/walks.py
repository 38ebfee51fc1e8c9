"""Lower ends from stopped walks: fair steps in proportion to the state, stopped when a ratio leaves an interval.

The state is scale^p times a function of one ratio z; a step maps z to α·z + β and multiplies scale^p by λ, with a
few equally likely outcomes. Two polynomials certify the expectation (W is the value of going on):

* h with mean h(after) ≥ h while the ratio is in the interval, and h ≤ v on the strips where it can leave it;
* k ≥ 0 on interval and strips with mean k(after) ≤ (1−ε)k, so what is still alive after N steps is at most
  (1−ε)^N·k(start).

Then E V_C ≥ h(start) − M(1−ε)^N·k(start) with M ≥ (h−v)/k, and the losses of the way to the start are added.
Signs of polynomials are decided exactly, in Bernstein form over the rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .ends import Check, LowerEnd, below, flint
from .signs import at, nonnegative


@dataclass(frozen=True)
class Outcome:
    """One outcome of a step: its probability times the growth of scale^p, and the affine map of the ratio."""

    weight: Fraction
    alpha: Fraction
    beta: Fraction

    def land(self, z: Fraction) -> Fraction:
        return self.alpha * z + self.beta


def pythagorean(k: int) -> tuple[Fraction, Fraction]:
    """Rational r ≈ 2/k and q with q² = 1 + r²: a step d = r√s keeps √(s+d²) = q√s rational."""
    return Fraction(2 * k, k * k - 1), Fraction(k * k + 1, k * k - 1)


def rademacher(p: int, k: int) -> tuple[Outcome, ...]:
    """Steps ±r√s: the ratio x/√s, scale √s."""
    r, q = pythagorean(k)
    return tuple(Outcome(q**p / 2, 1 / q, sign * r / q) for sign in (-1, 1))


def corners(p: int, eta: Fraction) -> tuple[Outcome, ...]:
    """Steps (±ηy, ±ηy): the ratio x/y, scale y."""
    return tuple(Outcome((1 + a * eta) ** p / 4, 1 / (1 + a * eta), b * eta / (1 + a * eta)) for a in (-1, 1) for b in (-1, 1))


def mean_change(poly: Any, outcomes: tuple[Outcome, ...]) -> Any:
    """The polynomial z ↦ Σ weight·poly(αz+β) − poly(z)."""
    module = flint()
    total = -poly
    for outcome in outcomes:
        shift = module.fmpq_poly([_q(outcome.beta), _q(outcome.alpha)])
        total = total + poly(shift) * _q(outcome.weight)
    return total


def _q(value: Fraction) -> Any:
    return flint().fmpq(value.numerator, value.denominator)


@dataclass(frozen=True)
class StoppedWalk:
    """The walk, its interval and its two certificates. `even` walks live on |z| < high."""

    outcomes: tuple[Outcome, ...]
    low: Fraction
    high: Fraction
    even: bool
    target: Any  # v: V_C = scale^p·v(z) for z ≥ 0
    gain: Any  # h
    decay: Any  # k
    rate: Fraction  # ε
    start: Fraction  # the ratio where the walk begins
    weight: Fraction  # probability × scale^p of the start
    losses: Fraction  # a lower bound of the contribution of everything that stopped on the way

    def strips(self) -> list[tuple[Fraction, Fraction]]:
        """Where the ratio can be when it has just left the interval."""
        above = max(outcome.land(self.high) for outcome in self.outcomes)
        strips = [(self.high, above)]
        if not self.even:
            strips.append((min(outcome.land(self.low) for outcome in self.outcomes), self.low))
        return strips

    def certify(self) -> tuple[tuple[Check, ...], float]:
        """The checks and the number of steps after which the expectation is certified positive."""
        inside = (Fraction(0) if self.even else self.low, self.high)
        strips = self.strips()
        spans = [inside, *strips]
        affine = all(outcome.alpha > 0 for outcome in self.outcomes)
        # One after another, the cheap ones first: a constant that is too large should be refused quickly.
        certain = self.weight * at(self.gain, self.start) + self.losses
        claims: tuple[tuple[str, Callable[[], bool]], ...] = (
            ("the start is inside the interval", lambda: inside[0] <= self.start < inside[1] and affine),
            ("strips lie in z ≥ 0", lambda: self.even or strips[1][0] >= 0),
            ("weight·h(start) exceeds the losses of the way: E V_C > 0", lambda: certain > 0),
            ("h ≤ v on the strips", lambda: all(nonnegative(self.target - self.gain, *strip) for strip in strips)),
            ("k ≥ 0 inside and on the strips", lambda: all(nonnegative(self.decay, *span) for span in spans)),
            ("mean h(after) ≥ h inside", lambda: nonnegative(mean_change(self.gain, self.outcomes), *inside)),
            (
                "mean k(after) ≤ (1−ε)k inside",
                lambda: nonnegative(-mean_change(self.decay, self.outcomes) - self.decay * _q(self.rate), *inside),
            ),
        )
        checks: list[Check] = []
        for text, claim in claims:
            checks.append((text, bool(claim())))
            if not checks[-1][1]:
                return tuple(checks), 0.0
        factor = self._domination(inside)
        checks.append(("h − v ≤ M·k inside for some M", factor is not None))
        if factor is None:
            return tuple(checks), 0.0
        alive = factor * self.weight * at(self.decay, self.start)
        steps = max(0.0, math.log(alive / certain) / -math.log1p(-float(self.rate))) + 1 if alive > 0 else 1.0
        return tuple(checks), steps

    def _domination(self, inside: tuple[Fraction, Fraction]) -> Fraction | None:
        factor = Fraction(1)
        for _ in range(120):
            if nonnegative(self.decay * _q(factor) - self.gain + self.target, *inside):
                return factor
            factor *= 4
        return None

    def end(self, quoted: Fraction, basis: str, parameters: dict[str, str]) -> LowerEnd:
        checks, steps = self.certify()
        return LowerEnd(below(quoted), basis, parameters, checks, steps, self)
