"""Re-verify, in exact arithmetic, that an inequality of the kind `limited` fails: standard library, `checker` and `limited` only.

A certificate names a problem of `burkholder.limited`, a constant C, and a martingale of finitely many rounds with E V > 0, of two kinds.

*Stills*, for V homogeneous. In the first round a variance of 1 is announced, which passes by with a positive chance: f stays 0. In
each further one the step is +jump or -jump times √v with the chance that makes its variance (growth² - 1)·v, and else 0. After a step
other than 0 it stops. Where that earns something, V ≥ 0 for those still waiting, and (1 - chance)·growth^p > 1, E V has no bound.

*Lattices*. In each round a = up or a = -down with the chances of mean 0, or it stops, whichever is worth more: the worth of every state of
`rounds` rounds is computed from the last round backwards, rounded down; after `ups` steps up it stops.
As a program: python stopped.py < lower.json
"""

from __future__ import annotations

import sys
from fractions import Fraction
from math import lcm
from typing import Any

from burkholder import limited
from burkholder.checker import LONGEST, Poly, Rejected, digest, fields, metered, number, parse, rational, read, variable
from burkholder.limited import SPENT, Rules

STILL, LATTICE = "burkholder still 1", "burkholder lattice 1"
DEGREE, STATES, BITS, MULTIPLIED = 24, 1_500_000, 96, 60_000_000  # the last: numbers of 64 bits multiplied, for the worth of all states


def refuted(data: Any) -> str:
    """The statement that the certificate proves: E V > 0 for one martingale. Raises Rejected where it does not."""
    try:
        with metered(SPENT):
            kinds = {STILL: _still, LATTICE: _lattice}
            form = data.get("format") if type(data) is dict else None
            if type(form) is not str or form not in kinds:
                raise Rejected("the format is " + " or ".join(kinds))
            return kinds[form](data)
    except Exception as error:  # whatever goes wrong on the way, nothing is proved
        raise error if type(error) is Rejected else Rejected(f"{type(error).__name__}: {error}") from None


def _stated(data: Any, **entries: type) -> tuple[Rules, Poly]:
    """The rules of the problem, and V at the constant."""
    fields(data, "the certificate", format=str, name=str, problem=dict, constant=str, digest=str, **entries)
    if len(data["name"]) > LONGEST or not data["name"].isprintable():
        raise Rejected("the name is not plain text")
    r = limited.rules(data["problem"])
    if r.signs or r.chosen - {r.variance} or r.below != number(1) or not any("a" in step.variables() for step in r.steps.values()):
        raise Rejected("a moves the state, there are no signs, nothing but a and its variance is chosen, and V is a polynomial")
    target = parse(data["problem"]["target"]).at(C=number(rational(data["constant"])))
    used = target.variables().union(*(p.variables() for ps in r.peaks.values() for p in ps))
    if target.variables() - r.state or r.state - used:
        raise Rejected("V has a name that is no coordinate, or a coordinate is used by nothing")
    return r, target


def _told(data: Any) -> str:
    if data["digest"] != digest(data):
        raise Rejected("the file was changed after it was written: its digest differs")
    text = limited.statement(data["problem"], Fraction(data["constant"])).replace("] ≤ 0,", "] > 0 for some", 1)
    return f"proved in exact arithmetic with C = {data['constant']}: {text}"


def _constant(p: Poly) -> Fraction:
    if p.variables():
        raise Rejected("a name has no value")
    return p.get((), Fraction(0))


def _still(data: Any) -> str:
    r, target = _stated(data, weights=dict, jump=str, growth=str)
    jump, growth, weights, w = rational(data["jump"]), rational(data["growth"]), data["weights"], r.variance
    waits = [name for name, step in r.steps.items() if "a" not in step.variables()]
    if not w or r.within or len(waits) != 1 or r.steps[waits[0]] != variable(w):
        raise Rejected("one coordinate is the sum of the variances, and there are no limits")
    if set(weights) != r.state or any(type(k) is not int or not 1 <= k <= DEGREE for k in weights.values()):
        raise Rejected(f"each coordinate has a weight, from 1 to {DEGREE}")
    still = {n: number(0) for n in ("a", *r.steps) if n not in waits}
    if any(step.at(**still) for n, step in r.steps.items() if n not in waits) or any(p.at(**still) for ps in r.peaks.values() for p in ps):
        raise Rejected("something besides the sum of the variances changes without a step")
    scale = weights | {"a": 1, w: 2}
    degrees = {sum(k * scale[n] for n, k in m) for m in target}
    rest = [(weights[n], p) for n, p in (*r.steps.items(), *((m, p) for m, ps in r.peaks.items() for p in ps))]
    if len(degrees) != 1 or any(sum(j * scale[n] for n, j in m) != k for k, p in rest for m in p):
        raise Rejected("V, the steps and what maxima are taken of do not scale alike")
    if max(degrees) > DEGREE:
        raise Rejected(f"V is of degree {DEGREE} at most")
    variance = growth**2 - 1
    chance = variance / jump**2 if jump > 0 and growth > 1 else Fraction(2)
    if chance >= 1:
        raise Rejected("the jump is above 0, the growth above 1, and the chance of a step below 1")

    def after(a: Fraction) -> Fraction:
        """V after a step a from f = 0, v = 1."""
        step = {"a": number(a), w: number(variance)}
        moved = {n: p.at(**step) for n, p in r.steps.items()} | {waits[0]: number(1 + variance)}
        tops = {m: max(Fraction(0), *(_constant(p.at(**step, **moved)) for p in ps)) for m, ps in r.peaks.items()}
        return _constant(target.at(**moved, **{m: number(top) for m, top in tops.items()}))

    waiting = _constant(target.at(**{n: number(int(n in waits)) for n in r.state}))
    if after(jump) + after(-jump) <= 0 or waiting < 0 or (1 - chance) * growth ** degrees.pop() <= 1:
        raise Rejected("the expectation is not shown to be positive")
    return _told(data)


def _lattice(data: Any) -> str:
    r, target = _stated(data, up=str, down=str, rounds=int, ups=int)
    up, down, rounds, ups = rational(data["up"]), rational(data["down"]), data["rounds"], data["ups"]
    if min(up, down) <= 0 or min(rounds, ups) < 1 or rounds * (ups + 1) > STATES or max(sum(k for _, k in m) for m in target) > DEGREE:
        raise Rejected(f"steps go up and down, there are rounds and steps up, and at most {STATES} states")
    if r.peaks:
        raise Rejected("there are no running maxima on a lattice")
    outcomes = [{"a": number(a)} | ({r.variance: number(up * down)} if r.variance else {}) for a in (up, -down)]
    for g in r.within:
        if g.variables() & r.state and g.variables() - r.state:
            raise Rejected("a limit depends on the state")
        if g.variables() - r.state and any(_constant(g.at(**step)) < 0 for step in outcomes):
            raise Rejected("a step is not allowed")
    moves = {n: [_constant(step.at(**way)) for way in outcomes] for n, step in r.steps.items()}
    if max(c.numerator.bit_length() + c.denominator.bit_length() for pair in moves.values() for c in pair) > 256:
        raise Rejected("the steps are too long numbers")
    low = {n: lcm(*(c.denominator for c in pair)) for n, pair in moves.items()}
    whole = {n: (int(pair[0] * low[n]), int(pair[1] * low[n])) for n, pair in moves.items()}
    scaled = {m: c / _power(low, m) for m, c in target.items()}
    unit = lcm(*(c.denominator for c in scaled.values()))
    if unit.bit_length() > 4096:
        raise Rejected("the numbers of the lattice are too long")
    longest = max(abs(c).bit_length() for pair in whole.values() for c in pair) + rounds.bit_length()
    if rounds * (ups + 1) * sum(1 + sum(k for _, k in m) * (1 + longest // 64) for m in target) > MULTIPLIED:
        raise Rejected("too much work: fewer states, terms or powers, or shorter steps")
    terms = [(int(c * unit) << BITS, [(whole[n], k) for n, k in m]) for m, c in scaled.items()]
    chance = down / (up + down)
    on, out, of = chance.numerator, chance.denominator - chance.numerator, chance.denominator

    def worth(n: int) -> list[int]:
        """V where it stops after n rounds, by steps up, in units of 2^-BITS/unit."""
        found = []
        for k in range(min(n, ups) + 1):
            total = 0
            for term, factors in terms:
                for (u, d), power in factors:
                    term *= (k * u + (n - k) * d) ** power
                total += term
            found.append(total)
        return found

    here = worth(rounds)
    for n in range(rounds - 1, -1, -1):
        stop = worth(n)
        go = [(on * above + out * below) // of for above, below in zip(here[1:], here)]
        here = [max(pair) for pair in zip(stop, go)] + stop[len(go) :]
    if here[0] <= 0:
        raise Rejected("the expectation is not shown to be positive")
    return _told(data)


def _power(low: dict[str, int], m: tuple[tuple[str, int], ...]) -> int:
    total = 1
    for n, k in m:
        total *= low[n] ** k
    return total


if __name__ == "__main__":
    print(refuted(read(sys.stdin.read())))
