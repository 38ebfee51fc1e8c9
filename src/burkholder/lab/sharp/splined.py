"""Verify an upper end whose U is a spline: U = r^p·g(t), r = |x| + y, t = |x|/r, by branch and bound in intervals of doubles.

The file says the inequality in the words of `Inequality`, the constant C, and g: its knots, g(0), g′(0), and g″ at each knot, doubles as
they stand. g is the twice differentiable function with these, g″ linear between knots; where g′(0) = −p·g(0) U is smooth across x = 0,
which is asked for square functions.

Both sides are homogeneous of degree p ≥ 1 in x and y (y² = s is the sum of squares; or y the transform), so r = 1 says all. To show:
  majorant   g(t) ≥ left − C·right at x = t and at x = −t
  start      g(½) ≤ 0, so that a first step, to |x| = y, does not raise U above U(0) = 0
  step       with x, y before a jump of d, Y = √(y² + d²) after it, for general jumps
             U(x+d, Y) − U(x, y) − d·U_x(x, y) ≤ 0, and for fair signs its mean over ±d, without U_x. For small d divided by Y − y:
             U_y(x+d, η) + ½(Y+y)·(mean of U_xx(·, y) between, with weights 1−u) ≤ 0;
  transform  U_xx + 2k·U_xy + k²·U_yy ≤ 0, k = ±1, and U_x(0, y) ≤ 0, U_y(x, 0) ≤ 0 across the axes: U concave along the jumps.
For jumps of mean 0 E U never rises, so E[left − C·right] ≤ E U ≤ 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from burkholder.checker import LONGEST, Rejected, digest, fields, rational
from burkholder.errors import BadInput
from burkholder.lab.exact.spans import Array, Span
from burkholder.lab.formulas import Formula
from burkholder.lab.inequality import Inequality

SPLINE = "burkholder spline 1"
KNOTS, BOXES, WIDTH = 600, 3_000_000, 2.0**-34
SMALL, PARTS = 2.0**-7, 16  # jumps up to this are divided by Y − y; the pieces between which U_xx is averaged
ONE, HALF = Span.of(1.0), Span.of(0.5)


class Spline:
    """U and its derivatives over intervals of states."""

    def __init__(self, p: Fraction, knots: Array, first: float, slope: float, second: Array) -> None:
        self.p, self.knots, self.second = p, knots, second
        self.exponent = Span.of(p)
        self.values, self.slopes = [Span.of(first)], [Span.of(slope)]
        sixth = ONE / Span.of(6.0)
        for a, b, m, n in zip(knots, knots[1:], second, second[1:]):
            h, m, n = Span.of(b) - Span.of(a), Span.of(m), Span.of(n)
            self.values.append(self.values[-1] + h * self.slopes[-1] + h * h * (m + m + n) * sixth)
            self.slopes.append(self.slopes[-1] + h * (m + n) * HALF)
        self.table = [Span(np.array([s.low for s in row]), np.array([s.high for s in row])) for row in (self.values, self.slopes)]
        self.spread = _spread(second)

    def at(self, t: Array) -> tuple[Span, Span, Span]:
        """g, g′, g″ at doubles."""
        j = np.clip(np.searchsorted(self.knots, t, "right") - 1, 0, len(self.knots) - 2)
        z, h = Span.of(t) - Span.of(self.knots[j]), Span.of(self.knots[j + 1]) - Span.of(self.knots[j])
        m, n = Span.of(self.second[j]), Span.of(self.second[j + 1])
        third = (n - m) / h
        bend = m + third * z
        slope = self.table[1][j] + z * (m + third * z * HALF)
        return self.table[0][j] + z * (self.table[1][j] + z * (m * HALF + third * z / Span.of(6.0))), slope, bend

    def over(self, t: Span) -> tuple[Span, Span, Span]:
        """g, g′, g″ over intervals within [0, 1]."""
        low, high = np.clip(t.low, 0.0, 1.0), np.clip(t.high, 0.0, 1.0)
        centre = np.clip((low + high) / 2, 0.0, 1.0)
        away = Span(low, high) - Span.of(centre)
        g, slope, _ = self.at(centre)
        ends = self.at(low)[2].hull(self.at(high)[2])
        bend = self._between(low, high, ends)
        slope_over = slope + bend * away
        return (g + slope * away + bend * (away * away).meet(Span(0.0, np.inf)) * HALF).meet(g + slope_over * away), slope_over, bend

    def _between(self, low: Array, high: Array, ends: Span) -> Span:
        """The range of g″: what it is at both ends, and at the knots between them."""
        first, last = np.searchsorted(self.knots, low, "right"), np.searchsorted(self.knots, high, "left")
        count = last - first
        level = np.where(count > 0, np.frexp(np.maximum(count, 1).astype(float))[1] - 1, 0)
        a, b = np.minimum(first, len(self.knots) - 1), np.maximum(last - (1 << level), 0)
        least = np.minimum(self.spread[0][level, a], self.spread[0][level, b])
        most = np.maximum(self.spread[1][level, a], self.spread[1][level, b])
        some = count > 0
        return Span(np.where(some, np.minimum(ends.low, least), ends.low), np.where(some, np.maximum(ends.high, most), ends.high))

    def jet(self, x: Span, y: Span, order: int = 2) -> list[Span]:
        """U; U_x, U_y; U_xx, U_xy, U_yy over x, y ≥ 0 not both 0, up to an order."""
        r = x + y
        # t = x/(x+y) rises with x and falls with y
        low = Span(x.low, x.low) / (Span(x.low, x.low) + Span(y.high, y.high))
        high = Span(x.high, x.high) / (Span(x.high, x.high) + Span(y.low, y.low))
        nowhere = r.low <= 0
        t = Span(
            np.where(nowhere | ~np.isfinite(low.low), 0.0, np.maximum(low.low, 0.0)), np.where(nowhere, 1.0, np.minimum(high.high, 1.0))
        )
        t = Span(np.where(np.isfinite(t.low), t.low, 0.0), np.where(np.isfinite(t.high), t.high, 1.0))
        g, g1, g2 = self.over(t)
        return self._parts(r, t, g, g1, g2, order)

    def unit(self, t: Span, order: int = 2) -> list[Span]:
        """The same on x + y = 1."""
        return self._parts(None, t, *self.over(t), order)

    def _parts(self, r: Span | None, t: Span, g: Span, g1: Span, g2: Span, order: int) -> list[Span]:
        p, q = self.exponent, Span.of(self.p - 1)
        rest = ONE - t

        def scaled(value: Span, k: int) -> Span:
            return value if r is None else value * r.power(self.p - k)

        out = [scaled(g, 0)]
        if order > 0:
            out += [scaled(p * g + rest * g1, 1), scaled(p * g - t * g1, 1)]
        if order > 1:
            a = p * q * g
            out += [
                scaled(a + (q + q) * rest * g1 + rest * rest * g2, 2),
                scaled(a + q * (rest - t) * g1 - t * rest * g2, 2),
                scaled(a - (q + q) * t * g1 + t * t * g2, 2),
            ]
        return out


def _spread(values: Array) -> tuple[Array, Array]:
    """Least and largest of 2^k neighbours, for every k."""
    least, most = [values], [values]
    for k in range(max(1, len(values).bit_length())):
        shift = 1 << k
        least.append(np.minimum(least[-1], np.append(least[-1][shift:], np.full(min(shift, len(values)), np.inf))[: len(values)]))
        most.append(np.maximum(most[-1], np.append(most[-1][shift:], np.full(min(shift, len(values)), -np.inf))[: len(values)]))
    return np.array(least), np.array(most)


def formula(f: Formula, values: Mapping[str, Span]) -> Span:
    """A formula over intervals."""
    if f.kind == "number":
        return Span.of(f.leaf)
    if f.kind == "name":
        return values[f.leaf]
    inner = [formula(part, values) for part in f.parts]
    if f.kind == "**":
        if (2 * f.leaf).denominator != 1:
            raise Rejected("powers are multiples of one half")
        return inner[0].power(f.leaf)
    if f.kind in ("abs", "sqrt"):
        return abs(inner[0]) if f.kind == "abs" else inner[0].sqrt()
    acts: dict[str, Callable[[Span, Span], Span]] = {
        "+": Span.__add__,
        "-": Span.__sub__,
        "*": Span.__mul__,
        "/": Span.__truediv__,
        "max": Span.most,
        "min": Span.least,
    }
    return acts[f.kind](inner[0], inner[-1])


def nowhere_positive(bound: Callable[[Span, Span], Array], box: tuple[float, float, float, float], boxes: int = BOXES) -> tuple[bool, int]:
    """Whether a function is ≤ 0 on a rectangle, by bounds over ever smaller boxes; and how many that took."""
    here, done = np.array([box]), 0
    while len(here):
        done += len(here)
        high = np.concatenate(
            [bound(Span(b[:, 0], b[:, 1]), Span(b[:, 2], b[:, 3])) for b in np.array_split(here, max(1, len(here) // 20_000))]
        )
        here = here[~(high <= 0)]  # NaN proves nothing
        if not len(here):
            return True, done
        wide, tall = here[:, 1] - here[:, 0], here[:, 3] - here[:, 2]
        if done > boxes or np.maximum(wide, tall).min() < WIDTH:
            return False, done
        across, middle = wide >= tall, (here[:, 0] + here[:, 1]) / 2
        other = (here[:, 2] + here[:, 3]) / 2
        first, second = here.copy(), here.copy()
        first[across, 1], second[across, 0] = middle[across], middle[across]
        first[~across, 3], second[~across, 2] = other[~across], other[~across]
        here = np.concatenate([first, second])
    return True, done


class Steps:
    """Bounds on what a step does to U, over boxes of (t, m): x = keep·t, y = keep·(1−t), keep = 1−|m|, the jump m."""

    def __init__(self, u: Spline, general: bool) -> None:
        self.u, self.general = u, general

    def rise(self, sign: int) -> Callable[[Span, Span], Array]:
        """A bound of either kind: for small jumps divided by Y − y, and where that is not enough, as it is."""
        small, large = self.small(sign), self.large(sign)

        def bound(t: Span, m: Span) -> Array:
            found = np.full(t.low.shape, np.inf)
            little = m.high <= SMALL
            if little.any():
                found[little] = small(t[little], m[little])
            rest = ~(found <= 0)
            if rest.any():
                found[rest] = large(t[rest], m[rest])
            return found

        return bound

    def small(self, sign: int) -> Callable[[Span, Span], Array]:
        """U's rise over Y − y for jumps of the sign, or both signs at once."""

        def bound(t: Span, m: Span) -> Array:
            keep = ONE - m
            x, y = keep * t, keep * (ONE - t)
            after = (y * y + m * m).sqrt().most(y)
            total = (
                self._rises(x, y, m, after, sign)
                if self.general
                else (self._rises(x, y, m, after, 1) + self._rises(x, y, m, after, -1)) * HALF
            )
            curves: Span | None = None
            for j in range(PARTS):  # ∫ (1−u)·U_xx(x + u·d, y) du over u in [0, 1], times 2
                part = Span(j / PARTS, (j + 1) / PARTS) * m
                mass = Span.of(Fraction(2 * PARTS - 2 * j - 1, PARTS**2))
                there = self._bend(x, y, part, sign) if self.general else (self._bend(x, y, part, 1) + self._bend(x, y, part, -1)) * HALF
                curves = there * mass if curves is None else curves + there * mass
            assert curves is not None
            return (total + HALF * (after + y) * curves).high

        return bound

    def _bend(self, x: Span, y: Span, part: Span, sign: int) -> Span:
        return self.u.jet(abs(x + part if sign > 0 else x - part), y)[3]

    def _rises(self, x: Span, y: Span, m: Span, after: Span, sign: int) -> Span:
        """The mean of U_y at the new x between the old y and the new."""
        at, total = abs(x + m if sign > 0 else x - m), Span.of(0.0)
        for j in range(4):
            part = [y + (after - y).most(Span.of(0.0)) * Span.of(k / 4) for k in (j, j + 1)]
            total = total + self.u.jet(at, part[0].hull(part[1]).most(Span.of(0.0)), 1)[2] * Span.of(0.25)
        return total

    def large(self, sign: int) -> Callable[[Span, Span], Array]:
        """U's rise itself, over the box and from its centre, whichever is less."""

        def bound(t: Span, m: Span) -> Array:
            plain = self._rise(t, m, sign)[0].high
            centre_t, centre_m = (t.low + t.high) / 2, (m.low + m.high) / 2
            middle = self._rise(Span.of(centre_t), Span.of(centre_m), sign)[0]
            _, by_t, by_m = self._rise(t, m, sign, slopes=True)
            with np.errstate(invalid="ignore"):
                centred = (middle + by_t * (t - Span.of(centre_t)) + by_m * (m - Span.of(centre_m))).high
            return np.where(centred <= plain, centred, plain)

        return bound

    def _rise(self, t: Span, m: Span, sign: int, slopes: bool = False) -> list[Span]:
        u, p = self.u, self.u.p
        keep = (ONE - m).most(Span.of(0.0))
        rest = ONE - t
        x, y = keep * t, keep * rest
        after = (y * y + m * m).sqrt()
        g, g1, g2 = u.over(t)
        scale, slope = keep.power(p), u.exponent * g + rest * g1
        landed = [self._landed(x, y, m, after, t, rest, keep, s, slopes) for s in ((sign,) if self.general else (1, -1))]
        out = [landed[0][0] if self.general else (landed[0][0] + landed[1][0]) * HALF]
        out[0] = out[0] - scale * g
        once = keep.power(p - 1) if p > 1 else ONE
        if self.general:
            out[0] = out[0] - (m if sign > 0 else -m) * once * slope
        if not slopes:
            return out
        by_t, by_m = (landed[0][k] if self.general else (landed[0][k] + landed[1][k]) * HALF for k in (1, 2))
        by_t, by_m = by_t - scale * g1, by_m + u.exponent * once * g
        if self.general:
            d, q = (m if sign > 0 else -m), Span.of(p - 1)
            by_t = by_t - d * once * (q * g1 + rest * g2)
            twice = keep.power(p - 2) if p >= 2 else ONE / keep.power(2 - p)
            less = once * slope - m * q * twice * slope if p > 1 else once * slope
            by_m = by_m - (less if sign > 0 else -less)
        return [out[0], by_t, by_m]

    def _landed(self, x: Span, y: Span, m: Span, after: Span, t: Span, rest: Span, keep: Span, sign: int, slopes: bool) -> list[Span]:
        """U after a jump of ±m, and its derivatives by t and by m."""
        at = x + m if sign > 0 else x - m
        jet = self.u.jet(abs(at), after, 1 if slopes else 0)
        if not slopes:
            return jet
        by_x, by_y = jet[1], jet[2]
        turned = Span(np.where(at.low >= 0, by_x.low, np.where(at.high <= 0, -by_x.high, np.minimum(by_x.low, -by_x.high))),
                      np.where(at.low >= 0, by_x.high, np.where(at.high <= 0, -by_x.low, np.maximum(by_x.high, -by_x.low))))  # fmt: skip
        along = (y / after).meet(Span(0.0, 1.0))
        beside = (m / after).meet(Span(0.0, 1.0))
        step = ONE - t if sign > 0 else -(ONE + t)
        return [jet[0], keep * (turned - by_y * along), turned * step + by_y * (beside - along * rest)]


def verify(certificate: Any, boxes: int = BOXES) -> str:
    """The statement that a spline proves; raises Rejected if it does not."""
    try:
        return _verified(certificate, boxes)
    except Exception as error:  # whatever goes wrong on the way, nothing is proved
        raise error if type(error) is Rejected else Rejected(f"{type(error).__name__}: {error}") from None


def _double(text: Any) -> float:
    value = rational(text)
    near = float(value)
    if Fraction(near) != value or abs(near) > 1e12:
        raise Rejected(f"{str(text)[:40]!r} is no double below 10^12")
    return near


def shape(inequality: Inequality) -> tuple[str, str, Fraction]:
    """Both coordinates and the degree of an inequality that splines are for; Rejected where they are not."""
    steps, degree, weights = inequality.steps, inequality.degree, inequality.weights
    names = list(inequality.state)
    second = "k*a" if inequality.moves == "transform" else "a**2"
    if (
        len(names) != 2
        or inequality.where
        or inequality.peaks
        or str(steps[names[0]]) != "a"
        or str(steps[names[1]]) not in (second, "a*k")
    ):
        raise Rejected(f"splines are for two coordinates, moved by a and by {second}, without limits and maxima")
    if weights is None or degree is None or not 1 <= degree <= 16 or (2 * degree).denominator != 1:
        raise Rejected("the sides scale alike, with a degree from 1 to 16 in halves")
    return names[0], names[1], degree


def read(data: Any) -> Spline:
    """The U of a file."""
    if not 4 <= len(data["knots"]) <= KNOTS or len(data["second"]) != len(data["knots"]):
        raise Rejected(f"there are from 4 to {KNOTS} knots, and as many second derivatives")
    knots, bends = (np.array([_double(text) for text in data[name]]) for name in ("knots", "second"))
    if knots[0] != 0 or knots[-1] != 1 or not (np.diff(knots) > 2.0**-30).all():
        raise Rejected("the knots rise from 0 to 1")
    p = shape(Inequality(data["state"], data["moves"], data["left"], data["right"]))[2]
    return Spline(p, knots, _double(data["first"]), _double(data["slope"]), bends)


def _verified(data: Any, boxes: int) -> str:
    entries = {"format": str, "name": str, "state": dict, "moves": str, "left": str, "right": str, "constant": str}
    fields(data, "the spline", **entries, knots=list, first=str, slope=str, second=list, digest=str)
    if data["format"] != SPLINE or len(data["name"]) > LONGEST or not data["name"].isprintable():
        raise Rejected(f"the format is not {SPLINE!r}, or the name is not plain text")
    try:
        inequality = Inequality(data["state"], data["moves"], data["left"], data["right"])
    except BadInput as error:
        raise Rejected(str(error)) from None
    first, second, p = shape(inequality)
    constant, u = rational(data["constant"]), read(data)
    if inequality.moves != "transform" and rational(data["slope"]) != -p * rational(data["first"]):
        raise Rejected("U is not smooth across x = 0")
    _majorant(u, inequality, first, second, constant, boxes)
    if not u.at(np.array([0.5]))[0].high[0] <= 0:
        raise Rejected("U is above 0 after a first step")
    if inequality.moves == "transform":
        _concave(u, boxes)
    else:
        steps, general = Steps(u, inequality.moves == "general"), inequality.moves == "general"
        for sign in (1, -1) if general else (1,):
            if not nowhere_positive(steps.rise(sign), (0.0, 1.0, 0.0, 1.0), boxes)[0]:
                raise Rejected("a step is not shown to lower U")
    if data["digest"] != digest(data):
        raise Rejected("the file was changed after it was written: its digest differs")
    return f"proved in interval arithmetic with C = {constant}: {inequality}; bounded, finitely many rounds"


def _majorant(u: Spline, inequality: Inequality, first: str, second: str, constant: Fraction, boxes: int) -> None:
    left, right = inequality.sides()
    root = inequality.moves != "transform"

    def excess(turn: tuple[int, int]) -> Callable[[Span, Span], Array]:
        def bound(t: Span, _: Span) -> Array:
            x, y = t, ONE - t
            values = {first: x if turn[0] > 0 else -x, second: y * y if root else (y if turn[1] > 0 else -y), "C": Span.of(constant)}
            gap = u.over(t)[0] - (formula(left, values) - formula(right, values))
            return -gap.low

        return bound

    for turn in ((1, 1), (-1, 1)) if root else ((1, 1), (-1, 1), (1, -1), (-1, -1)):
        if not nowhere_positive(excess(turn), (0.0, 1.0, 0.0, 0.0), boxes)[0]:
            raise Rejected("U is not shown to be above left − C·right")


def _concave(u: Spline, boxes: int) -> None:
    def along(k: int) -> Callable[[Span, Span], Array]:
        def bound(t: Span, _: Span) -> Array:
            _, _, _, xx, xy, yy = u.unit(t)
            return (xx + yy + (xy + xy if k > 0 else -(xy + xy))).high

        return bound

    for k in (1, -1):
        if not nowhere_positive(along(k), (0.0, 1.0, 0.0, 0.0), boxes)[0]:
            raise Rejected("U is not shown to be concave along the jumps")
    if not u.unit(Span.of(np.array([1.0])), 1)[2].high[0] <= 0 or not u.unit(Span.of(np.array([0.0])), 1)[1].high[0] <= 0:
        raise Rejected("U is not concave across an axis")
