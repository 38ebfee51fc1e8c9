"""Re-verify, in exact arithmetic, that an inequality fails: standard library, `checker` and `stopped` only, nothing of the search.

A certificate names a target V, homogeneous in x = |f|, y = S and m, the largest |f| so far, a constant C, and a martingale from 0 of
finitely many rounds with E V > 0. After a first step |f| = S = m = 1. There are two kinds. Files of two more, for problems with given
variances, limited steps or several sums, go on to `burkholder.stopped`.

*Walks.* First opening steps of two values: after the one comes the next step, the other is the last. Then, while a ratio lies in an
interval, two-point steps of mean 0 in proportion to a unit, the same on each piece of the interval; outside the martingale stops.

  unit y, ratio z = x/y   steps +up·y or -down·y, after which y is rational
  unit x, ratio z = y²/x² steps +up·x or -down·x
Where V has m in it, |f| = m as long as the walk goes on: a step to a smaller |f| is its last.

Two functions of the ratio carry the proof, polynomials over z^under; V, h and k stand for unit^p times their value at the ratio:
  mean h(after) ≥ h inside and h ≤ V where the ratio can be when it has just left; so stopping earns at least h, but for those still inside;
  k ≥ 1 inside, k ≥ 0 there, mean k(after) ≤ (1 - rate)·k inside: E[unit^p; inside after n steps] ≤ (1 - rate)^n·k, which vanishes.

*Rays.* n fair steps of size 1 reach x = n, y = √n with a positive chance; else it stops. Then steps +2x/(n-1), which keep the ratio, or
-down·x, where V ≥ 0 and it stops. Where V > 0 on the ray and the mean of x^p over those still going grows by a factor above 1 a
step, E V ends above 0, whatever was lost on the way.
As a program: python refuter.py < walk.json
"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import pairwise
from math import comb, isqrt
from typing import Any, NamedTuple

from burkholder import stopped
from burkholder.checker import LONGEST, WORK, Poly, Rejected, digest, fields, metered, number, parse, rational, read, spend, variable

FORMAT, RAY = "burkholder walk 3", "burkholder ray 1"
FORMATS = (FORMAT, RAY, stopped.STILL, stopped.LATTICE)
MOVES = {
    "rademacher": "x = |Σ e*d|, y = √(Σ d**2): e a fair sign, fresh in each round, d chosen before it",
    "general": "x = |f|, y = S: f a martingale from 0, S² the sum of the squares of its steps",
    "variance": "x = |f|, y² = Σ E[(df)² | past]: f a martingale from 0",
}
DEGREE, DEPTH, PIECES, SPENT = 24, 60, 40, 8 * WORK
Span = tuple[Fraction, Fraction]


class Way(NamedTuple):
    """One outcome of a step: its chance, what it multiplies the unit by, and the ratio after it, (z + shift)·slope."""

    chance: Fraction
    growth: Fraction
    slope: Fraction
    shift: Fraction

    def land(self, z: Fraction) -> Fraction:
        return (z + self.shift) * self.slope


def ways(unit: str, up: Fraction, down: Fraction, moves: str = "general") -> tuple[Way, Way]:
    """Both outcomes of a step +up or -down, in units."""
    out = []
    for d, chance in ((up, down / (up + down)), (-down, up / (up + down))):
        square = up * down if moves == "variance" else d * d
        if unit == "x":
            if d == -1:
                raise Rejected("a step leads to x = 0")
            out.append(Way(chance, abs(1 + d), 1 / (1 + d) ** 2, square))
            continue
        root = Fraction(isqrt((1 + square).numerator), isqrt((1 + square).denominator))
        if root * root != 1 + square:
            raise Rejected(f"a step of {d} leads to an irrational y")
        out.append(Way(chance, root, 1 / root, d))
    return out[0], out[1]


def value(p: Poly, z: Fraction) -> Fraction:
    return p.at(z=number(z)).get((), Fraction(0))


def nonnegative(p: Poly, low: Fraction, high: Fraction) -> bool:
    """Whether a polynomial of z is ≥ 0 on [low, high]: Bernstein coefficients, halved until none is negative or an end is."""
    if low > high:
        return False
    local = p.at(z=number(low) + number(high - low) * variable("z"))
    n = max((k for m in local for _, k in m), default=0)
    power = [local.get((("z", i),) if i else (), Fraction(0)) for i in range(n + 1)]
    pending = [([sum((Fraction(comb(j, i), comb(n, i)) * power[i] for i in range(j + 1)), Fraction(0)) for j in range(n + 1)], 0)]
    while pending:
        row, depth = pending.pop()
        if min(row) >= 0:
            continue
        if row[0] < 0 or row[-1] < 0 or depth == DEPTH:
            return False
        left, right = [], []
        while row:
            spend(len(row), *row)
            left.append(row[0])
            right.append(row[-1])
            row = [(a + b) / 2 for a, b in pairwise(row)]
        pending += [(left, depth + 1), (right[::-1], depth + 1)]
    return True


def change(f: Poly, under: int, p: int, step: tuple[Way, Way], keep: Fraction) -> Poly:
    """mean F(after) - keep·F for F = f/z^under, times the denominators, which are positive where z is."""
    z, whole, total = variable("z"), number(keep) * f, Poly()
    for way, other in (step, step[::-1]):
        landed = f.at(z=(z + number(way.shift)) * number(way.slope)) * number(way.chance * way.growth**p / way.slope**under)
        total += landed * z**under * (z + number(other.shift)) ** under
        whole = whole * (z + number(way.shift)) ** under
    return total - whole


def around(low: Fraction, high: Fraction) -> Span:
    """Rational bounds of the square roots of an interval."""
    scale = 10**15
    below = Fraction(isqrt(low.numerator * scale**2 // low.denominator), scale)
    return below, Fraction(isqrt(high.numerator * scale**2 // high.denominator) + 1, scale)


def refuted(data: Any) -> str:
    """The statement that the certificate proves: E V > 0 for one martingale. Raises Rejected where it does not."""
    try:
        with metered(SPENT):
            form = data.get("format") if type(data) is dict else None
            if form in (stopped.STILL, stopped.LATTICE):
                return stopped.refuted(data)
            return _ray(data) if form == RAY else _walk(data)
    except Exception as error:  # whatever goes wrong on the way, nothing is proved
        raise error if type(error) is Rejected else Rejected(f"{type(error).__name__}: {error}") from None


def _stated(data: Any, form: str, moves: tuple[str, ...], **entries: type) -> tuple[Poly, int]:
    """V at the constant, and its degree p."""
    fields(data, "the walk", format=str, name=str, moves=str, target=str, constant=str, digest=str, **entries)
    if data["format"] != form or len(data["name"]) > LONGEST or not data["name"].isprintable():
        raise Rejected(f"the format is not {form!r}, or the name is not plain text")
    if data["moves"] not in moves:
        raise Rejected("moves are one of " + ", ".join(moves))
    target = parse(data["target"]).at(C=number(rational(data["constant"])))
    p = max((sum(k for _, k in m) for m in target), default=0)
    if not 1 <= p <= DEGREE or target.variables() - {"x", "y", "m"} or any(sum(k for _, k in m) != p for m in target):
        raise Rejected(f"V is homogeneous in x, y and m, of degree 1 to {DEGREE}")
    return target, p


def _told(data: Any, target: Poly) -> str:
    if data["digest"] != digest(data):
        raise Rejected("the file was changed after it was written: its digest differs")
    who = MOVES[data["moves"]] + (", m = the largest |f| so far" if "m" in target.variables() else "")
    if data.get("ratio"):
        who += f", (df)² ≤ {data['ratio']}·E[(df)² | past]"
    return f"proved in exact arithmetic with C = {data['constant']}: E[{target}] > 0 for some {who}; finitely many rounds"


def _along(target: Poly, unit: str, top: Fraction | int = 1) -> Poly:
    """V/unit^p for m = top·x as a polynomial, of the ratio x/y in units of y, and of its inverse in units of x."""
    other = "x" if unit == "y" else "y"
    return target.at(**{unit: number(1), other: variable("z"), "m": number(top)})


def _ray(data: Any) -> str:
    target, p = _stated(data, RAY, ("general",), rounds=int, down=str)
    n, down, v = data["rounds"], rational(data["down"]), _along(target, "x")
    if n < 2 or not 0 < down < 1 or "m" in target.variables():
        raise Rejected("a ray is reached in 2 rounds or more, the step down is between 0 and 1, in units of x, and V is of x and y")
    up, z = Fraction(2, n - 1), Fraction(1, n)
    rise, fall = ways("x", up, down)
    stop = fall.land(z)
    if rise.land(z) != z or rise.chance * rise.growth**p <= 1:
        raise Rejected("those that go on do not grow")
    if not nonnegative(v, *around(stop, stop)) or not nonnegative(v - number(Fraction(1, 10**9)), *around(z, z)):
        raise Rejected("V is negative where a step down leads, or not positive on the ray")
    return _told(data, target)


def _walk(data: Any) -> str:
    entries = {"ratio": str, "unit": str, "opening": list, "steps": list, "inside": list, "under": int, "h": str, "k": str, "rate": str}
    target, p = _stated(data, FORMAT, tuple(MOVES), **entries)
    unit, under, moves = data["unit"], data["under"], data["moves"]
    topped, ratio = "m" in target.variables(), rational(data["ratio"]) if data["ratio"] else None
    if (topped and unit != "x") or (ratio is not None and (moves != "variance" or ratio < 1)):
        raise Rejected("maxima go with units of x, and steps are limited by their variance where it is the variance that counts")
    if unit not in ("x", "y") or not 0 <= under <= (DEGREE if unit == "x" else 0):
        raise Rejected("the unit is x or y, and only in units of x there is a power of z below")
    if any(type(pair) is not list or len(pair) != 2 for pair in (*data["steps"], *data["opening"])):
        raise Rejected("a step has two parts")
    if not 1 <= len(data["steps"]) <= PIECES or len(data["inside"]) != len(data["steps"]) + 1 or len(data["opening"]) > 64:
        raise Rejected("there is one step for each piece of the interval, and at most 64 opening steps")
    inside, rate = [rational(text) for text in data["inside"]], rational(data["rate"])
    pairs, opening = ([[rational(text) for text in pair] for pair in data[name]] for name in ("steps", "opening"))
    low, high, h, k = inside[0], inside[-1], parse(data["h"]), parse(data["k"])
    if (h.variables() | k.variables()) - {"z"} or max((e for m in (*h, *k) for _, e in m), default=0) > DEGREE:
        raise Rejected(f"h and k are polynomials of z, of degree {DEGREE} at most")
    if any(min(pair) <= 0 or (moves == "rademacher" and pair[0] != pair[1]) for pair in pairs):
        raise Rejected("a step goes up and down, equally for rademacher")
    if ratio is not None and any(max(map(abs, pair)) > ratio * min(map(abs, pair)) for pair in (*pairs, *opening)):
        raise Rejected("a step is longer than its variance allows")
    if any(a >= b for a, b in pairwise(inside)) or low < 0 or (unit == "x" and low == 0) or not 0 < rate < 1:
        raise Rejected("the ends of the pieces rise from 0 or more, in units of x from above 0, and the rate is between 0 and 1")
    even = all(e % 2 == 0 for m in (*h, *k) for _, e in m)
    z = variable("z")

    def top(way: Way) -> Fraction:
        """The largest |f| so far over |f| after a step from |f| = m."""
        return max(Fraction(1), 1 / way.growth) if topped else Fraction(1)

    def below_target(f: Poly, v: Poly, *span: Fraction) -> bool:
        if unit == "y":
            return nonnegative(v - f, *span)
        return nonnegative(v * z ** (2 * under) - f.at(z=z * z), *around(*span))

    for (up, down), piece in zip(pairs, pairwise(inside)):
        step = ways(unit, up, down, moves)
        for way in step:
            a, b = (way.land(end) for end in piece)  # the ratio after a step rises with the ratio before it
            if a < 0:
                if not even:
                    raise Rejected("a step leads to a negative ratio, and h and k are not even")
                a, b = max(Fraction(0), -b), max(-a, b)
            left = [(a, min(b, low))] * (a < low) + [(max(a, high), b)] * (b > high)
            if top(way) > 1 and not (b <= low or a >= high):
                raise Rejected("the walk would go on below its maximum")
            if not all(below_target(h, _along(target, unit, top(way)), *span) and nonnegative(k, *span) for span in left):
                raise Rejected("h exceeds V where the walk stops, or k is negative there")
        if not nonnegative(change(h, under, p, step, Fraction(1)), *piece):
            raise Rejected("h exceeds its mean after a step")
        if not nonnegative(k - z**under, *piece) or not nonnegative(number(-1) * change(k, under, p, step, 1 - rate), *piece):
            raise Rejected("k is below 1, or does not fall at its rate")

    def earned(at: Fraction, above: Fraction = Fraction(1)) -> Fraction:
        """What is shown to be earned from a ratio, in units: h inside, V where it stops."""
        if low <= at <= high and above == 1:
            return value(h, at) / at**under
        v = _along(target, unit, above)
        return value(v, at) if unit == "y" else _least(v, *around(at, at))

    here, mass, total = Fraction(1), Fraction(1), Fraction(0)
    for on, off in opening:
        if on * off >= 0 or (moves == "rademacher" and on + off):
            raise Rejected("an opening step goes two ways, equally far for rademacher")
        both = ways(unit, max(on, off), -min(on, off), moves)
        going, leaving = both if on > 0 else both[::-1]
        if top(going) > 1:
            raise Rejected("the opening goes on below its maximum")
        total += mass * leaving.chance * leaving.growth**p * earned(abs(leaving.land(here)), top(leaving))
        here, mass = abs(going.land(here)), mass * going.chance * going.growth**p
    if total + mass * earned(here) <= 0:
        raise Rejected("the expectation is not shown to be positive")
    return _told(data, target)


def _least(p: Poly, low: Fraction, high: Fraction) -> Fraction:
    """A lower bound of a polynomial on a short interval of positive numbers: each power at the end where its term is least."""
    return sum((c * (low if c > 0 else high) ** sum(k for _, k in m) for m, c in p.items()), Fraction(0))


if __name__ == "__main__":
    print(refuted(read(sys.stdin.read())))
