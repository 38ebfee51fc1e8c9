"""The lower end of an inequality of one's own: a stopped walk, found by linear programs and proved by `burkholder.refuter`.

For a step, an interval and an opening two small linear programs look for the polynomials h (the most that stopping is shown to
earn) and k (how fast the walk dies out) on a grid of ratios, with a little room; the exact check decides.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from burkholder.checker import Poly, Rejected, digest, number, parse, variable
from burkholder.refuter import FORMAT, grown, landing, refuted

Array = np.ndarray
GAPS = (3e-2, 1e-2, 3e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5)


@dataclass(frozen=True)
class Plan:
    """A walk before its polynomials are known."""

    unit: str
    up: Fraction
    down: Fraction
    low: Fraction
    high: Fraction
    opening: tuple[Fraction, ...]

    def ways(self) -> list[tuple[float, float, float]]:
        """(jump, growth, chance)."""
        total = float(self.up + self.down)
        return [
            (float(self.up), float(grown(self.unit, self.up)), float(self.down) / total),
            (-float(self.down), float(grown(self.unit, -self.down)), float(self.up) / total),
        ]

    def drift(self, p: int, powers: list[int], unit: Fraction) -> list[Array]:
        """The polynomials mean (z after)^e − z^e, times the growth of the unit, over `unit`: exact before they become floats."""
        out, z = [], variable("z")
        for e in powers:
            total = number(-1) * z**e
            for d, chance in ((self.up, self.down), (-self.down, self.up)):
                total += number(chance / (self.up + self.down) * grown(self.unit, d) ** p) * landing(self.unit, d) ** e
            out.append(np.array([float(total.get((("z", i),) if i else (), Fraction(0)) / unit) for i in range(e + 1)]))
        return out

    def land(self, z: Array, d: float, g: float) -> Array:
        return (z + d * d) / g**2 if self.unit == "x" else (z + d) / g


class Search:
    """All walks for one target: a polynomial V in x, y and C."""

    def __init__(self, target: str, moves: str, p: int) -> None:
        self.target, self.moves, self.p = target, moves, p

    def ratio(self, unit: str, constant: float) -> Array:
        """The coefficients of V in the ratio, lowest first."""
        key, half = ("y", 2) if unit == "x" else ("x", 1)
        out = np.zeros(self.p // half + 1)
        for m, c in parse(self.target).items():
            powers = dict(m)
            out[powers.get(key, 0) // half] += float(c) * (constant if powers.get("C") else 1.0)
        return out

    def attempt(self, plan: Plan, constant: Fraction) -> dict[str, Any] | None:
        """The certificate of this walk at this constant, or None."""
        v = self.ratio(plan.unit, float(constant))
        step = 2 if plan.unit == "y" else 1
        powers = np.arange(0, (max(self.p + 2, 12) if plan.unit == "y" else self.p // 2 + 1) + 1, step)
        low, high, ways = float(plan.low), float(plan.high), plan.ways()
        inside = np.unique(np.concatenate([np.linspace(low, high, 200), np.geomspace(low or 1e-3 * high, high, 2000 if low else 400)]))
        ends = [plan.land(np.array([low, high]), d, g) for d, g, _ in ways]
        top, bottom = max(high, *(e.max() for e in ends)), min(low, *(e.min() for e in ends))
        strips = np.concatenate([np.linspace(high, top, 60), np.linspace(bottom, low, 60) if plan.unit == "x" else []])
        scale = (low if low else high) ** powers.astype(float)  # coefficients of like size

        def basis(z: Array) -> Array:
            return z[:, None] ** powers / scale

        weight = (1 / (1 + inside) ** (self.p / step if plan.unit == "y" else self.p / 2))[:, None]
        small = plan.up**2
        exact = plan.drift(self.p, [int(e) for e in powers], small)  # of each power, over the square of the step: no cancellation
        drift = np.column_stack([np.polynomial.polynomial.polyval(inside, c) for c in exact]) / scale * weight
        opened = self._opened(plan, v)
        if opened is None or not low <= opened[0] <= high:
            return None
        start = basis(np.array([opened[0]]))[0]
        worth = np.polynomial.polynomial.polyval(strips, v)
        rows = np.vstack(
            [
                np.column_stack([-drift, np.ones(len(inside))]),
                np.column_stack([basis(strips), 1 + np.abs(worth)]) / (1 + np.abs(worth))[:, None],
                np.append(-opened[2] * start, abs(opened[1]))[None, :] / (1 + abs(opened[1])),
            ]
        )
        rhs = np.concatenate([np.zeros(len(inside)), worth / (1 + np.abs(worth)), [opened[1] / (1 + abs(opened[1]))]])
        # the most room that leaves the expectation positive
        h = linprog(np.append(0 * start, -1.0), A_ub=rows, b_ub=rhs, bounds=[(-1e9, 1e9)] * len(powers) + [(None, 1)], method="highs")
        if h.x is None or h.x[-1] <= 1e-6:
            return None
        both = np.concatenate([inside, strips])
        light = (1 / (1 + both) ** (powers[-1] if plan.unit == "x" else 0))[:, None]
        for pace in (0.03, 0.01, 1e-3, 1e-4, 1e-5):
            fall = drift + 2 * pace * basis(inside) * weight
            k = linprog(
                (basis(both) * light).mean(axis=0),
                A_ub=np.vstack([fall, -basis(both) * light]),
                b_ub=np.concatenate([np.zeros(len(inside)), -1.001 * light[:, 0]]),
                bounds=[(-1e12, 1e12)] * len(powers),
                method="highs",
            )
            if k.x is not None:
                return self._written(plan, constant, powers, h.x[:-1] / scale, k.x / scale, Fraction(pace) * small)
        return None

    def _opened(self, plan: Plan, v: Array) -> tuple[float, float, float] | None:
        """(ratio after the opening, what its stops earn, mass × unit^p of what goes on)."""
        z, mass, total = 1.0, 1.0, 0.0
        for d in plan.opening:
            up, back = float(grown(plan.unit, d)), float(grown(plan.unit, -d))
            stop = abs(float(plan.land(np.array([z]), -float(d), back)[0]))
            mass /= 2
            total += mass * back**self.p * float(np.polynomial.polynomial.polyval(stop, v))
            z, mass = abs(float(plan.land(np.array([z]), float(d), up)[0])), mass * up**self.p
        return z, total, mass

    def _written(self, plan: Plan, constant: Fraction, powers: Array, h: Array, k: Array, rate: Fraction) -> dict[str, Any]:
        def text(c: Array) -> str:
            terms = (number(Fraction(float(a))) * variable("z") ** int(e) for a, e in zip(c, powers))
            return str(sum(terms, Poly()))

        data = {
            "format": FORMAT,
            "name": f"{self.target}, {self.moves}",
            "moves": self.moves,
            "target": self.target,
            "constant": str(constant),
            "unit": plan.unit,
            "opening": [str(d) for d in plan.opening],
            "step": [str(plan.up), str(plan.down)],
            "inside": [str(plan.low), str(plan.high)],
            "h": text(h),
            "k": text(k),
            "rate": str(rate),
        }
        return data | {"digest": digest(data)}

    def plans(self, sharp: float, gap: float) -> Iterator[Plan]:
        """Walks whose interval ends near the ratio where V vanishes at the sharp constant."""
        unit = "y" if self.moves == "rademacher" else "x"
        roots = [float(r.real) for r in np.polynomial.polynomial.polyroots(self.ratio(unit, sharp)) if abs(r.imag) < 1e-9 and r.real > 1e-6]
        for contact in roots:
            for near in (0.03, 0.01, 0.003, 0.1, 0.3) if unit == "y" else (0.03, 0.01, 0.003, 0.001, 3e-4):
                away = near * gap
                for fine in (0.2, 0.05):
                    if unit == "y":
                        k = int(2 / (away * fine)) + 2
                        d = Fraction(2 * k, k * k - 1)
                        edge = Fraction(contact * (1 - away)).limit_denominator(10**12)
                        for opening in ((), (Fraction(-3, 4),), (Fraction(-4, 3),)):
                            yield Plan("y", d, d, Fraction(0), edge, opening)
                        continue
                    for down in (Fraction(j, 16) for j in (32, 31, 30, 29, 28, 33, 26, 24)):
                        edge = Fraction(contact * (1 + away)).limit_denominator(10**12)
                        up = Fraction(1, int(1 / (away * fine)))
                        yield Plan("x", up, down, edge, Fraction(int(10 / away)), (Fraction(-5, 4),))


def lower(target: str, moves: str, p: int, sharp: float, seconds: float = 25.0) -> dict[str, Any] | None:
    """The certificate of the largest constant below `sharp` for which a walk was found and passed the exact check."""
    began, best, search = time.process_time(), None, Search(target, moves, p)
    for gap in GAPS:
        constant = Fraction(sharp * (1 - gap)).limit_denominator(10**9)
        found = None
        for plan in search.plans(sharp, gap):
            if time.process_time() - began > seconds:
                return best
            data = search.attempt(plan, constant)
            if data is not None and _holds(data):
                found = data
                break
        if found is None:
            return best
        best = found
    return best


def _holds(data: dict[str, Any]) -> bool:
    try:
        refuted(data)
    except Rejected:
        return False
    return True
