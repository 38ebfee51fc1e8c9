"""Parameter-free potentials: exponentials of g²/2D, kept in log space.

`Adaptive`: κ[√(v/D)·exp(g²/2D) − 1], D = v + s: no bound on the features is needed.
`Anytime`: L[exp(g²/(2(LX)²t) − ½H_t) − 1], whose s is the number of rounds t: the repaired `thm:param_free`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burkholder.machine.compiling import register_jitable
from burkholder.machine.elementary import exp_up, expm1_up, inverse_root
from burkholder.potentials import batch
from burkholder.potentials.dispatch import LARGEST, formulas

EULER = 0.5772156649015329
_LOG_LARGEST = math.log(LARGEST)


@register_jitable
def harmonic(t):
    """H_t = 1 + 1/2 + … + 1/t = ψ(t+1) + γ, by ψ's asymptotic series beyond t = 16."""
    if t < 16.0:
        total = 0.0
        for k in range(1, int(t) + 1):
            total += 1.0 / k
        return total
    q = 1.0 / (t * t)
    series = q * (1.0 / 12.0 - q * (1.0 / 120.0 - q * (1.0 / 252.0 - q * (1.0 / 240.0 - q / 132.0))))
    return math.log(t) + EULER + 0.5 / t - series


@register_jitable
def signed_exp_sinh(log_scale, middle, half):
    """exp(log_scale + middle)·sinh(half), held within ±1e300."""
    z = abs(half)
    if z == 0.0:
        return 0.0
    if z < 1.0:
        log_size = math.log(math.sinh(z))
    else:
        log_size = z + math.log1p(-math.exp(-2.0 * z)) - math.log(2.0)
    log_size += log_scale + middle
    size = LARGEST if log_size > _LOG_LARGEST else math.exp(log_size)
    return size if half > 0.0 else -size


@register_jitable
def _held_exp(exponent):
    return LARGEST if exponent > _LOG_LARGEST else math.exp(exponent)


def _adaptive_value(p, g, s, top, dead):
    d = p.start + s
    ratio = g / math.sqrt(d)
    exponent = 0.5 * ratio * ratio + 0.5 * math.log(p.start / d)
    if abs(exponent) < 0.1:
        return p.scale * math.expm1(exponent)
    return p.scale * (_held_exp(exponent) - 1.0)


def _adaptive_gap(p, high, low, difference, s):
    # ½κ√(v/D)·e^A(e^B − 1), A = min²/2D and B = |high² − low²|/2D, through halves of the exponents: each fits where
    # the product does, and e^B − 1 = q(q + 2) with q = e^{B/2} − 1. No branch: a loop over it becomes vector code.
    once = 1.0 / (p.start + s)
    least, quarter = min(high, low), 0.25 * once
    start = exp_up(least * (least * quarter))
    rise = expm1_up(abs(difference) * ((high + low) * quarter))
    size = (0.5 * p.scale * math.sqrt(p.start * once)) * (start * rise) * (start * (rise + 2.0))
    return math.copysign(min(size, LARGEST), difference)


def _adaptive_slope(p, g, s, top, dead):
    # κ√v·g·D^(−3/2)·exp(g²/2D); no branch: it can be asked of vectors
    each = inverse_root(p.start + s)
    ratio = g * each
    return min(p.scale * math.sqrt(p.start) * (each * each) * (ratio * exp_up(0.5 * ratio * ratio)), LARGEST)


@formulas(_adaptive_value, _adaptive_gap, _adaptive_slope, tangent=False)
class Adaptive(NamedTuple):
    """κ[√(v/(v+s))·exp(g²/(2(v+s))) − 1]; `scale` is κ, `start` is v."""

    scale: float = 1.0
    start: float = 1.0

    def bound(self, u: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """κ + u·√(2D ln(1 + uD/(κ√v))) ≥ sup_g (u·g − f(g, s))."""
        u, d = np.asarray(u, float), self.start + np.asarray(s, float)
        log = np.log1p(u * (d / (self.scale * math.sqrt(self.start))))
        return self.scale + u * np.sqrt(d) * np.sqrt(2.0 * log)

    def magnitude(self, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """The mass κ at the start is taken away from what it grew to."""
        return self.scale + np.abs(batch.value(self, g, s, top, dead))

    def reach(self, s: ArrayLike) -> np.ndarray:
        """Up to here exp(g²/2D) is a number."""
        return np.sqrt(800.0 * (self.start + np.asarray(s)))


@register_jitable
def _anytime_exponent(p, g, t):
    ratio = g / p.unit
    return p.offset - 0.5 * harmonic(t) + (0.5 * ratio * (ratio / t) if t > 0.0 else 0.0)


def _anytime_value(p, g, s, top, dead):
    exponent = _anytime_exponent(p, g, s)
    if abs(exponent) < 0.1:
        return p.scale * math.expm1(exponent)
    return p.scale * (_held_exp(exponent) - 1.0)


def _anytime_gap(p, high, low, difference, s):
    t = s
    if t <= 0.0:
        return 0.0
    high, low = high / p.unit, low / p.unit
    middle = 0.25 * (high * (high / t) + low * (low / t)) + p.offset - 0.5 * harmonic(t)
    half = 0.25 * (difference / p.unit) * ((high + low) / t)
    return signed_exp_sinh(math.log(p.scale), middle, half)


@formulas(_anytime_value, _anytime_gap)
class Anytime(NamedTuple):
    """`scale` is L, `unit` is L·X. `offset` 0 is the repair; ½(H_n − ln n) is the printed, refuted function."""

    scale: float = 1.0
    unit: float = 1.0
    offset: float = 0.0

    def bound(self, u: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """L[1 + X|u|·√(2t ln(1 + √t·e^{H_t/2}·X|u|))], whose s is t."""
        u, t = np.asarray(u, float), np.asarray(s, float)
        norm = u * (self.unit / self.scale)
        h = np.vectorize(harmonic, otypes=[float])(t)
        inner = np.sqrt(t) * np.exp(0.5 * h - self.offset) * norm
        return self.scale * (1.0 + norm * np.sqrt(2.0 * t * np.log1p(inner)))

    def magnitude(self, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """The mass L at the start is taken away from what it grew to."""
        return self.scale + np.abs(batch.value(self, g, s, top, dead))
