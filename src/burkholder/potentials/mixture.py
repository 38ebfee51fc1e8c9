"""The gradient-adaptive mixture: f(g, s) = Σ_k π_k cosh(λ_k g)·exp(−c_k λ_k² s), with s = Σ(δx)².

Atoms λ_k = top·2^{−k}, where top = 1/(2h) for the first size h = L|x| that was seen. A larger size deletes the
atoms with λ > 1/(2h): f only falls. The masses are never renormalised, so U keeps counting the initial mass.

c = 1 is valid through a norm and per coordinate (e^{z−z²} ≤ 1 + z for z ≥ −½). Per coordinate less is enough: for |d| ≤ h and λh < 1,
exp(λd − ψd²) ≤ 1 + λd with ψ = (−ln(1−λh) − λh)/h² = λ²·(½ + λh/3 + (λh)²/4 + …). With ρ the atom over the largest living one,
λh ≤ ρ/2, and `SHARP` is c = ½ + ρ/6 + (4 ln 2 − 8/3)ρ²: never below the series, equal to it at ρ = 1 and at ρ = 0. Deleting atoms
raises every ρ, so f falls then too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from burkholder.machine.compiling import register_jitable
from burkholder.machine.elementary import exp, expm1
from burkholder.potentials import batch
from burkholder.potentials.dispatch import LARGEST, formulas

_LOG_LARGEST = math.log(LARGEST)


SHARP = (0.5, 1.0 / 6.0, 4.0 * math.log(2.0) - 8.0 / 3.0 + 1e-15)


@register_jitable
def _log_cosh(z):
    z = abs(z)
    return z + math.log1p(math.exp(-2.0 * z)) - math.log(2.0)


def _value(p, g, s, top, dead):
    if top == 0.0:
        return 0.0
    mass = 1.0 / p.atoms
    total = -mass * min(dead, float(p.atoms))
    rate = top * 2.0**-dead
    unit = 1.0 / rate
    for _ in range(int(dead), p.atoms):
        exponent = -curve(p, rate * unit) * rate * (rate * s)
        exponent += _log_cosh(rate * g)
        if abs(exponent) < 0.1:
            total += mass * math.expm1(exponent)
        else:
            total += mass * ((LARGEST if exponent > _LOG_LARGEST else math.exp(exponent)) - 1.0)
        rate *= 0.5
    return p.scale * total


@register_jitable
def curve(p, ratio):
    """c of the atom that is this part of the largest living one."""
    return p.flat + ratio * (p.rise + ratio * p.bend)


@register_jitable
def pull(p, g, s, rate, unit):
    """An atom's λ·sinh(λg)·exp(−cλ²s) for g ≥ 0, without a branch: a loop over atoms becomes vector code. `unit` is one over the
    largest living atom.
    """
    z = rate * g
    return 0.5 * rate * exp(z - curve(p, rate * unit) * rate * (rate * s)) * -expm1(-2.0 * z)


def _slope(p, g, s, top, dead):
    if top == 0.0 or g == 0.0:
        return 0.0
    total = 0.0
    rate = top * 2.0**-dead
    unit = 1.0 / rate
    for _ in range(int(dead), p.atoms):
        total += pull(p, g, s, rate, unit)
        rate *= 0.5
    return min(p.scale * total / p.atoms, LARGEST)


@register_jitable
def anchored(top, dead, atoms, size):
    """The memory after a feature of size h = L|x| was seen: (top, number of deleted atoms)."""
    if size <= 0.0:
        return top, dead
    if top == 0.0:
        return 0.5 / max(size, 1e-300), 0.0  # an inverse that is a number
    while dead < atoms and top * 2.0**-dead > 0.5 / size:
        dead += 1.0
    return top, dead


@formulas(_value, None, _slope, atom=pull)
class Mixture(NamedTuple):
    """`scale` is κ, `atoms` the number of rates; equal masses 1/atoms, halved between ±λ. c = flat + rise·ρ + bend·ρ²."""

    scale: float = 1.0
    atoms: int = 24
    flat: float = 1.0
    rise: float = 0.0
    bend: float = 0.0

    def bound(self, u: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """κ + min over the living atoms of cλ·u·s + (u/λ)·(ln(2u/(κπλ)) − 1)₊."""
        u, s, top, dead = np.broadcast_arrays(*(np.asarray(z, float) for z in (u, s, top, dead)))
        best = np.where(u == 0.0, 0.0, np.inf)
        for k in range(self.atoms):
            rate = top * 2.0**-k
            alive = (k >= dead) & (rate > 0.0)
            safe = np.where(alive, rate, 1.0)
            with np.errstate(divide="ignore"):
                log = np.log(2.0 * u) - np.log(self.scale / self.atoms) - np.log(safe) - 1.0
            part = np.where(alive, 2.0 ** np.minimum(dead - k, 0.0), 1.0)  # of the largest living atom
            cost = curve(self, part) * safe * u * s + (u / safe) * np.where(u > 0, np.maximum(log, 0.0), 0.0)
            best = np.where(alive, np.minimum(best, cost), best)
        # a coordinate never seen (top = 0) has g = 0 and costs nothing
        return np.where(top == 0.0, 0.0, self.scale + best)

    def magnitude(self, g: ArrayLike, s: ArrayLike, top: ArrayLike = 0.0, dead: ArrayLike = 0.0) -> np.ndarray:
        """The mass κ at the start is taken away from what it grew to."""
        return self.scale + np.abs(batch.value(self, g, s, top, dead))
