"""Re-verify, in exact arithmetic, that an inequality fails: standard library and `checker` only, nothing of the search.

A certificate names a target V, homogeneous in x = |f| and y = S, a constant C, and a martingale from 0 of finitely many rounds with
E V > 0. After a first step |f| = S = 1. Then come opening steps ±d, fair, of which d goes on and -d stops; then, while a ratio
lies in an interval, the same two-point step again and again, of mean 0 and in proportion to a unit; outside the interval it stops.

  unit y, ratio z = x/y   fair steps ±d·y, √(1+d²) rational; the interval is [0, high], h and k even
  unit x, ratio z = y²/x² steps +up·x or -down·x; V has even powers of y alone

Two polynomials of the ratio carry the proof, V, h and k standing for unit^p times their value at the ratio:
  mean h(after) ≥ h inside and h ≤ V where the ratio can be when it has just left; so stopping earns at least h, but for those still inside;
  k ≥ 1 inside and there, mean k(after) ≤ (1 - rate)·k inside: E[unit^p; inside after n steps] ≤ (1 - rate)^n·k, which vanishes.
As a program: python refuter.py < walk.json
"""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import pairwise
from math import comb, isqrt
from typing import Any

from burkholder.checker import LONGEST, WORK, Poly, Rejected, digest, fields, metered, number, parse, rational, read, spend, variable

FORMAT = "burkholder walk 1"
MOVES = {
    "rademacher": "x = |Σ e*d|, y = √(Σ d**2): e a fair sign, fresh in each round, d chosen before it",
    "general": "x = |f|, y = S: f a martingale from 0, S² the sum of the squares of its steps",
}
DEGREE, DEPTH = 24, 60


def grown(unit: str, d: Fraction) -> Fraction:
    """What a step of d units multiplies the unit by."""
    if unit == "x":
        return abs(1 + d)
    square = 1 + d * d
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if root * root != square:
        raise Rejected(f"a step of {d} leads to an irrational y")
    return root


def landing(unit: str, d: Fraction) -> Poly:
    """The ratio after a step, affine in the ratio z before it."""
    g, z = grown(unit, d), variable("z")
    if not g:
        raise Rejected("a step leads to x = 0")
    return (z + number(d * d)) * number(1 / g**2) if unit == "x" else (z + number(d)) * number(1 / g)


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


def refuted(data: Any) -> str:
    """The statement that the walk proves: E V > 0 for one martingale. Raises Rejected where it does not."""
    try:
        with metered(WORK):
            return _refuted(data)
    except Exception as error:  # whatever goes wrong on the way, nothing is proved
        raise error if type(error) is Rejected else Rejected(f"{type(error).__name__}: {error}") from None


def _refuted(data: Any) -> str:
    entries = {"format": str, "name": str, "moves": str, "target": str, "constant": str, "unit": str, "opening": list, "step": list}
    fields(data, "the walk", **entries, inside=list, h=str, k=str, rate=str, digest=str)
    move, unit = data["moves"], data["unit"]
    if data["format"] != FORMAT or len(data["name"]) > LONGEST or not data["name"].isprintable():
        raise Rejected(f"the format is not {FORMAT!r}, or the name is not plain text")
    if move not in MOVES or unit not in ("x", "y") or len(data["step"]) != 2 or len(data["inside"]) != 2 or len(data["opening"]) > 64:
        raise Rejected("moves are rademacher or general, the unit is x or y, a step has two parts, and so has the interval")
    target = parse(data["target"]).at(C=number(rational(data["constant"])))
    p = max((sum(k for _, k in m) for m in target), default=0)
    if not 1 <= p <= DEGREE or target.variables() - {"x", "y"} or any(sum(k for _, k in m) != p for m in target):
        raise Rejected(f"V is homogeneous in x and y, of degree 1 to {DEGREE}")
    if unit == "x" and any(dict(m).get("y", 0) % 2 for m in target):
        raise Rejected("in units of x, V has even powers of y alone")
    key, half = ("y", 2) if unit == "x" else ("x", 1)
    v = sum((number(c) * variable("z") ** (dict(m).get(key, 0) // half) for m, c in target.items()), Poly())
    (up, down), (low, high), opening = ([rational(text) for text in data[name]] for name in ("step", "inside", "opening"))
    h, k, rate = parse(data["h"]), parse(data["k"]), rational(data["rate"])
    if (h.variables() | k.variables()) - {"z"} or max((e for m in (*h, *k) for _, e in m), default=0) > DEGREE:
        raise Rejected(f"h and k are polynomials of z, of degree {DEGREE} at most")
    if min(up, down) <= 0 or (move == "rademacher" and up != down) or not 0 <= low < high or not 0 < rate < 1:
        raise Rejected("a step goes up and down (equally for rademacher), the interval has a length, the rate is between 0 and 1")
    even = all(e % 2 == 0 for m in (*h, *k) for _, e in m)
    if unit == "y" and (move != "rademacher" or low != 0 or not even):
        raise Rejected("in units of y the moves are rademacher, the interval begins at 0, and h and k are even")

    def mean(f: Poly) -> Poly:
        ways = ((up, down / (up + down)), (-down, up / (up + down)))
        return sum((number(chance * grown(unit, d) ** p) * f.at(z=landing(unit, d)) for d, chance in ways), Poly())

    ends = [value(landing(unit, d), z) for d in (up, -down) for z in (low, high)]  # landings rise with z
    spans = [(low, high), (high, max(high, *ends))] + [(min(low, *ends), low)] * (unit == "x")
    if spans[-1][0] < 0:
        raise Rejected("a step leads to a negative ratio")
    if not nonnegative(mean(h) - h, low, high) or not all(nonnegative(v - h, *span) for span in spans[1:]):
        raise Rejected("h exceeds its mean after a step, or V where the walk stops")
    if not all(nonnegative(k - number(1), *span) for span in spans) or not nonnegative(number(1 - rate) * k - mean(k), low, high):
        raise Rejected("k is below 1, or does not fall at its rate")
    z, mass, total = Fraction(1), Fraction(1), Fraction(0)
    for d in opening:
        stop, mass = abs(value(landing(unit, -d), z)), mass / 2
        total += mass * grown(unit, -d) ** p * value(v, stop)
        z, mass = abs(value(landing(unit, d), z)), mass * grown(unit, d) ** p
    if not low <= z <= high or total + mass * value(h, z) <= 0:
        raise Rejected("the opening does not lead inside, or the expectation is not shown to be positive")
    if data["digest"] != digest(data):
        raise Rejected("the file was changed after it was written: its digest differs")
    return f"proved in exact arithmetic with C = {data['constant']}: E[{target}] > 0 for some {MOVES[move]}; finitely many rounds"


if __name__ == "__main__":
    print(refuted(read(sys.stdin.read())))
