"""The lower end of an inequality of one's own: a stopped walk or a ray, found by linear programs and proved by `burkholder.refuter`.

For steps, an interval and an opening two small linear programs look for h (the most that stopping is shown to earn) and k (how fast the
walk dies out) on a grid of ratios, with a little room; the exact check decides. What h earns then says which jump is best on each piece
of the interval, and the next, larger constant is tried with those.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linprog

from burkholder.checker import Poly, Rejected, digest, number, parse, variable
from burkholder.lab.sharp.plan import Array, Plan, drift
from burkholder.refuter import FORMAT, RAY, Way, refuted, ways

GAPS = (3e-2, 1e-2, 3e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5)
DOWNS = (29, 32)  # sixteenths of x: the jumps a search begins with
TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
UNDER, PARTS = 4, 20  # powers of 1/z, and pieces of the interval, where jumps differ


class Search:
    """All walks for one target: a polynomial V in x, y and C."""

    def __init__(self, target: str, moves: str, p: int, until: float = math.inf) -> None:
        self.target, self.moves, self.p, self.until = target, moves, p, until  # until: of this process's own time
        self.terms = parse(target)
        self.topped = "m" in self.terms.variables()
        self.served: Plan | None = None  # the jumps of the last walk that passed, made a little better
        self.earned: Callable[[Array], Array] | None = None  # h of the last walk that was found, by rows of powers
        self.powers = np.zeros(0)
        self.tried = 0.0

    def ratio(self, unit: str, constant: float, top: float = 1.0) -> Array:
        """V for m = top·x in units of x as a polynomial of y/x, in units of y of x/y: coefficients, lowest first."""
        other, out = "y" if unit == "x" else "x", np.zeros(self.p + 1)
        for m, c in self.terms.items():
            powers = dict(m)
            out[powers.get(other, 0)] += float(c) * (constant if powers.get("C") else 1.0) * top ** powers.get("m", 0)
        return out

    def worth(self, unit: str, constant: float, z: Array, top: float = 1.0) -> Array:
        return np.polynomial.polynomial.polyval(np.sqrt(z) if unit == "x" else z, self.ratio(unit, constant, top))

    def top(self, way: Way) -> float:
        """The largest |f| so far over |f| after a step from there; 1 where nobody asks."""
        return max(1.0, 1 / float(way.growth)) if self.topped else 1.0

    def exponents(self, plan: Plan) -> Array:
        if plan.unit == "x":
            return np.arange(-(UNDER if len(plan.steps) > 1 else 0), self.p // 2 + 4)
        return np.arange(0, max(self.p + 2, 12) + 1, 2) if not plan.cuts[0] else np.arange(0, self.p + 7)

    def attempt(self, plan: Plan, constant: Fraction) -> dict[str, Any] | None:
        """The certificate of this walk at this constant, or None."""
        self.tried = float(constant)
        try:
            table, powers = plan.ways(), self.exponents(plan)
        except Rejected:
            return None
        low, high = float(plan.cuts[0]), float(plan.cuts[-1])
        grid = np.unique(np.concatenate([np.linspace(low, high, 200), np.geomspace(low or 1e-3 * high, high, 800 if low else 400)]))
        scale = (low or high) ** powers.astype(float)  # coefficients of like size

        def basis(z: Array) -> Array:
            return z[:, None] ** powers / scale

        inside, drifts, left, worths = [], [], [], []
        for pair, step, (a, b) in zip(plan.steps, table, pairwise(map(float, plan.cuts))):
            here = np.unique(np.concatenate([[a, b], grid[(grid >= a) & (grid <= b)]]))
            weight = (1 / (1 + here) ** (self.p / (2 if plan.unit == "x" else 1)))[:, None]
            inside.append(here)
            drifts.append((drift(plan, self.p, powers, here, step, float(pair[0])) / scale * weight, weight))
            for way in step:
                first, last = sorted(abs((end + float(way.shift)) * float(way.slope)) for end in (a, b))
                spans = [(first, min(last, low))] * (first < low) + [(max(first, high), last)] * (last > high)
                left += [np.linspace(*span, 30) for span in spans]
                worths += [self.worth(plan.unit, float(constant), z, self.top(way)) for z in left[len(left) - len(spans) :]]
        falls, weights = np.vstack([rows for rows, _ in drifts]), np.vstack([weight for _, weight in drifts])
        within, stops = np.concatenate(inside), np.concatenate(left) if left else np.zeros(0)
        fixed, masses, places = self._opened(plan, float(constant))
        if not len(places):
            return None
        start, worth = masses @ basis(places), np.concatenate(worths) if worths else np.zeros(0)
        size = 1 + np.abs(worth)
        rows = np.vstack(
            [
                np.column_stack([-falls, np.ones(len(falls))]),
                np.column_stack([basis(stops), size]) / size[:, None],
                np.append(-start, abs(fixed))[None, :] / (1 + abs(fixed)),
            ]
        )
        rhs = np.concatenate([np.zeros(len(falls)), worth / size, [fixed / (1 + abs(fixed))]])
        # the most room that leaves the expectation positive
        h = linprog(
            np.append(0 * start, -1.0),
            A_ub=rows,
            b_ub=rhs,
            bounds=[(-1e9, 1e9)] * len(powers) + [(None, 1)],
            method="highs",
            options=TOLERANCES,
        )
        if h.x is not None:
            self.earned, self.powers = (h.x[:-1] / scale).__rmatmul__, powers
        if h.x is None or h.x[-1] <= 1e-6:
            return None
        both = np.concatenate([within, stops])
        light = (1 / (1 + both) ** (self.p / (2 if plan.unit == "x" else 1)))[:, None]
        # k falls and is positive with as much of a margin as there is, in units of what it is at the start
        k = linprog(
            np.append(0 * start, -1.0),
            A_ub=np.vstack(
                [np.column_stack([falls, np.ones(len(falls))]), np.column_stack([-basis(both) * light, np.full(len(both), 1e-3)])]
            ),
            b_ub=np.zeros(len(falls) + len(both)),
            A_eq=np.append(start, 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(-1e12, 1e12)] * len(powers) + [(None, 1)],
            method="highs",
            options=TOLERANCES,
        )
        if k.x is None or k.x[-1] <= 0:
            return None
        size, fall = basis(within) @ k.x[:-1], -(falls @ k.x[:-1]) / weights[:, 0]
        if min(size.min(), fall.min()) <= 0:
            return None
        pace = Fraction(min(0.3, float(np.min(fall / size)) / 2)).limit_denominator(10**15)
        return self._written(plan, constant, powers, h.x[:-1] / scale, k.x[:-1] / scale / size.min() * 1.001, pace * plan.small)

    def _opened(self, plan: Plan, constant: float) -> tuple[float, Array, Array]:
        """What the opening earns outside the interval, and the masses × unit^p and ratios at which it enters."""
        z, mass, total, entered = 1.0, 1.0, 0.0, list[tuple[float, float]]()

        def ends(weight: float, ratio: float, top: float = 1.0) -> float:
            if plan.cuts[0] <= ratio <= plan.cuts[-1] and top == 1:
                entered.append((weight, ratio))
                return 0.0
            return weight * float(self.worth(plan.unit, constant, np.array([ratio]), top)[0])

        for on, off in plan.opening:
            both = ways(plan.unit, max(on, off), -min(on, off), plan.moves)
            going, leaving = both if on > 0 else both[::-1]
            stopped = abs((z + float(leaving.shift)) * float(leaving.slope))
            total += ends(mass * float(leaving.chance * leaving.growth**self.p), stopped, self.top(leaving))
            z, mass = abs((z + float(going.shift)) * float(going.slope)), mass * float(going.chance * going.growth**self.p)
        total += ends(mass, z)
        pairs = np.array(entered).reshape(-1, 2)
        return total, pairs[:, 0], pairs[:, 1]

    def _written(self, plan: Plan, constant: Fraction, powers: Array, h: Array, k: Array, rate: Fraction) -> dict[str, Any]:
        under = max(0, -int(powers[0]))

        def text(c: Array) -> str:
            return str(sum((number(Fraction(float(a))) * variable("z") ** (int(e) + under) for a, e in zip(c, powers)), Poly()))

        return self._sealed(
            FORMAT,
            constant,
            ratio="",
            unit=plan.unit,
            opening=[[str(d) for d in pair] for pair in plan.opening],
            steps=[[str(d) for d in pair] for pair in plan.steps],
            inside=[str(cut) for cut in plan.cuts],
            under=under,
            h=text(h),
            k=text(k),
            rate=str(rate),
        )

    def _sealed(self, form: str, constant: Fraction, **entries: Any) -> dict[str, Any]:
        about = {"format": form, "name": f"{self.target}, {self.moves}", "moves": self.moves, "target": self.target}
        data = {**about, "constant": str(constant), **entries}
        return data | {"digest": digest(data)}

    def improved(self, plan: Plan) -> Plan:
        """The same walk with as many pieces as allowed, and on each the jump that the last h likes best."""
        if plan.unit != "x" or self.earned is None:
            return plan
        low, high = float(plan.cuts[0]), float(plan.cuts[-1])
        inner = [Fraction(low / (1 - j / PARTS)).limit_denominator(10**6) for j in range(1, PARTS)]
        cuts = (plan.cuts[0], *(cut for cut in inner if cut < high), plan.cuts[-1])
        up, steps = plan.steps[0][0], []
        for a, b in pairwise(map(float, cuts)):
            middle = np.array([min((a + b) / 2, 3 * a)])
            now = plan.steps[max(j for j, cut in enumerate(plan.cuts[:-1]) if cut <= middle[0])][1]
            for grain in (128, 4096):  # coarse, then fine
                downs = [d for j in range(-33, 34) if (d := now + Fraction(j, grain)) > 0 and d != 1]
                gains = [self.gain(plan, middle, up, down) for down in downs]
                now = downs[int(np.argmax(gains))]
            steps.append((up, now))
        return replace(plan, cuts=cuts, steps=tuple(steps))

    def gain(self, plan: Plan, z: Array, up: Fraction, down: Fraction) -> float:
        """What a jump is worth at a ratio, by the last h, per step up."""
        assert self.earned is not None
        step = ways("x", up, down, self.moves)
        rows = drift(plan, self.p, self.powers, z, step, float(up))
        found = float(self.earned(rows)[0])
        if self.top(step[1]) > 1:  # it stops there: V in place of h
            landed = (z + float(step[1].shift)) * float(step[1].slope)
            more = self.worth("x", self.tried, landed, self.top(step[1])) - self.earned(landed[:, None] ** self.powers)
            found += float(more[0] * step[1].chance * step[1].growth ** self.p) / float(plan.small)
        return found * float((up + down) / down)

    def walk(self, constant: Fraction, sharp: float, gap: float) -> dict[str, Any] | None:
        """The first walk that passes at this constant; one that fails still says which jumps are better."""
        for plan in self.plans(sharp, gap):
            for _ in range(3 if plan.unit == "x" else 1):
                if time.process_time() > self.until:
                    return None
                found = self.attempt(plan, constant)
                if found is not None and _holds(found):
                    self.served = self.improved(plan) if plan.unit == "x" else None
                    return found
                plan = self.improved(plan)
        return None

    def plans(self, sharp: float, gap: float) -> Iterator[Plan]:
        """Walks whose interval ends near the ratio where V vanishes at the sharp constant; with the jumps that served before."""
        unit = "y" if self.moves == "rademacher" else "x"
        roots = [float(r.real) for r in np.polynomial.polynomial.polyroots(self.ratio(unit, sharp)) if abs(r.imag) < 1e-6 and r.real > 1e-6]
        for contact in roots:
            if unit == "y":
                yield from self._fair(contact, gap)
                continue
            for near in (5e-4, -7e-4, -2e-3, -5e-3, -2e-2):  # below the contact too: `sharp` is a proved upper end, a little high
                away = abs(near) * gap
                low = Fraction(contact**2 * (1 + near * gap)).limit_denominator(10**12)
                for fine, reach in ((0.2, 2e5), (0.1, 2e8)):
                    high = Fraction(int((reach / away) ** (1 / 3)))
                    up = Fraction(1, int(1 / (away * fine)))
                    if self.served is not None:
                        steps = tuple((up, down) for _, down in self.served.steps)
                        yield replace(self.served, cuts=(low, *self.served.cuts[1:-1], high), steps=steps)
                        continue
                    for down in (Fraction(j, 16) for j in DOWNS):
                        yield Plan("x", (low, high), ((up, down),), ((Fraction(1, self.p - 1 or 1), Fraction(-7, 4)),), self.moves)

    def _fair(self, contact: float, gap: float) -> Iterator[Plan]:
        """Fair steps below the contact, and above it."""
        inner = self.worth("y", 1e9, np.array([1e-3]))[0] < 0 and self.ratio("y", 1.0)[0] < 0
        k = max(3, int(1.7 * contact) + 1)
        climb, z = Fraction(2 * k, k * k - 1), 1.0
        count = 0
        while z < 1.2 * contact and count < 60:
            z, count = (z + float(climb)) / float(1 + climb**2) ** 0.5, count + 1
        for near in (0.03, 0.01, 0.003, 0.1, 0.3):
            away = near * gap
            for fine in (0.2, 0.05):
                k = int(2 / (away * fine)) + 2
                step = (Fraction(2 * k, k * k - 1),) * 2
                edge = Fraction(contact * (1 - away)).limit_denominator(10**12)
                for opening in ((), ((Fraction(-3, 4), Fraction(3, 4)),), ((Fraction(-4, 3), Fraction(4, 3)),)):
                    yield Plan("y", (Fraction(0), edge), (step,), opening, self.moves)
                if inner:
                    edge = Fraction(contact * (1 + away)).limit_denominator(10**12)
                    far = Fraction(int(10 / away**0.25) + 10)
                    yield Plan("y", (edge, far), (step,), ((climb, -climb),) * count, self.moves)

    def ray(self, constant: Fraction, gap: float) -> dict[str, Any] | None:
        """Small steps up that keep a small ratio, against one step down to where V vanishes."""
        if self.topped:
            return None
        v = self.ratio("x", float(constant))
        roots = sorted(r.real for r in np.polynomial.polynomial.polyroots(v) if abs(r.imag) < 1e-6 and r.real > 1e-9)
        if self.moves != "general" or not roots or v[0] <= 0:
            return None
        n = int(min(9e8, 64 + 40 * self.p**2 / gap**2))
        down = Fraction(_landing(roots[0] * (1 - 1e-9), 1 / n)).limit_denominator(10**12)
        data = self._sealed(RAY, constant, rounds=n, down=str(down))
        return data if _holds(data) else None


def _landing(r: float, z: float) -> float:
    """The largest down in (0, 1) with (z + down²)/(1 - down)² ≤ r², a little less."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if z + middle**2 <= (r * (1 - middle)) ** 2 else (low, middle)
    return low


def lower(target: str, moves: str, p: int, sharp: float, seconds: float = 25.0) -> dict[str, Any] | None:
    """The certificate of the largest constant below `sharp` for which a walk or a ray was found and passed the exact check."""
    best, search = None, Search(target, moves, p, time.process_time() + seconds)
    for gap in GAPS:
        constant = Fraction(sharp * (1 - gap)).limit_denominator(10**9)
        found = search.ray(constant, gap) or search.walk(constant, sharp, gap)
        if found is None:
            break
        best = found
    return best


def _holds(data: dict[str, Any]) -> bool:
    try:
        refuted(data)
    except Rejected:
        return False
    return True
