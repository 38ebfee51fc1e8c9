"""Re-verify inequalities for martingales whose steps are limited, in exact arithmetic: standard library and `checker` only.

One kind of problem more, `limited`: E V ≤ 0 for sums of polynomials in a step a of mean 0, in fair signs, and in what is chosen before.

  variance  the name of E[a² | past], which the steps may use, or ""
  within    polynomials that are ≥ 0: those of the state alone are shown to stay so, all others are what each round keeps to
  peak      {"m": [p, …]}: m is the largest value so far of 0 and of every p, polynomials of the state after a round and of its step
  below     q, every coefficient positive, q(0) too: V is target/q, and U = P/q

The polynomial U of the certificate carries two more: its terms without a are P, those with a times a slope, those with a² times a curvature
(both of the state and of what is chosen). As E a = 0 and E a² = w, it is enough that after every step the rules allow
  P(after)/q(after) ≤ [P + a·slope + (a² - w)·curvature]/q.
As a program: python limited.py < upper.json
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from burkholder import checker
from burkholder.checker import SIGN, WORK, Condition, Poly, Rejected, fields, mean, metered, number, parse, read, stated, variable

KIND, SPENT = "limited", 8 * WORK
ENTRIES: dict[str, type] = {"target": str, "statistic": dict, "variance": str, "within": list, "peak": dict, "below": str}


class Rules(NamedTuple):
    """A problem of the kind, read and checked."""

    base: dict[str, Any]  # the same for all martingales, as the checker knows it
    steps: dict[str, Poly]
    signs: set[str]
    chosen: set[str]
    variance: str
    within: list[Poly]
    peaks: dict[str, list[Poly]]
    below: Poly

    @property
    def state(self) -> set[str]:
        return set(self.steps) | set(self.peaks)


def rules(problem: Any) -> Rules:
    """What a problem of the kind says; Rejected where a name or a polynomial is not what it must be."""
    fields(problem, "the problem", martingale=str, **ENTRIES)
    moved = any("a" in parse(text).variables() for text in problem["statistic"].values())
    base = {"martingale": "general" if moved else "dyadic", "target": problem["target"], "statistic": problem["statistic"]}
    given = stated(base)[1]
    steps = {name: given[f"step of {name}"] for name in problem["statistic"]}
    jumps = {name for step in steps.values() for name in step.variables()}
    signs = {name for name in jumps if SIGN.fullmatch(name)}
    w, within, below = problem["variance"], [parse(text) for text in problem["within"]], parse(problem["below"])
    if any(type(texts) is not list or not texts for texts in problem["peak"].values()) or len(problem["peak"]) > 2:
        raise Rejected("a peak is the largest of one polynomial or more, and there are at most two")
    peaks = {name: [parse(text) for text in texts] for name, texts in problem["peak"].items()}
    if w and not any(w in p.variables() for p in (*steps.values(), *within)):
        raise Rejected("the variance is used by a step or a limit")
    listed = [within, *peaks.values()]
    if any(p in ps[:i] for ps in listed for i, p in enumerate(ps)):
        raise Rejected("a limit, or what a maximum is taken of, is given twice")
    if w and (not moved or parse(w) != variable(w) or w in {"a", "C", *steps} or SIGN.fullmatch(w) or "_" in w):
        raise Rejected("the variance has a name of its own, and the steps use a")
    jumps |= {w} - {""}
    for name in peaks:
        if parse(name) != variable(name) or name in {"a", "C", *jumps, *steps} or SIGN.fullmatch(name) or "_" in name:
            raise Rejected(f"{name[:40]!r} cannot name a running maximum")
    if peaks and signs:
        raise Rejected("running maxima go with steps a, not with signs")
    known = (set(steps) | jumps) - signs
    if any(g.variables() - known - set(peaks) for g in within) or any(
        p.variables() - known or () in p for ps in peaks.values() for p in ps
    ):
        raise Rejected("limits and what a maximum is taken of use the state and the step, without signs; no maximum is taken of a constant")
    if () not in below or not below.plainly_nonnegative({n for n in steps if steps[n].plainly_nonnegative({w})}):
        raise Rejected("q has positive coefficients, q(0) too, and odd powers only of what never falls")
    return Rules(base, steps, signs, jumps - signs - {"a"}, w, within, peaks, below)


def part(p: Poly, name: str, k: int) -> Poly:
    """The coefficient of name^k."""
    return Poly({tuple(f for f in m if f[0] != name): c for m, c in p.items() if dict(m).get(name, 0) == k})


def conditions(problem: Any, u: Poly, constant: Fraction) -> list[Condition]:
    """What must be ≥ 0, and where, for this kind and for those that the checker knows; affine in U and C."""
    if type(problem) is not dict or problem.get("martingale") != KIND:
        return checker.conditions(problem, u, constant)
    with metered(SPENT):
        r = rules(problem)
        target = parse(problem["target"]).at(C=number(constant))
        p, slope, curve = (part(u, "a", k) for k in range(3))
        extra = slope.variables() | curve.variables()
        if any(dict(m).get("a", 0) > 2 for m in u) or (curve and not r.variance) or extra - r.state - r.chosen:
            raise Rejected("U has a slope, and where a variance is given a curvature, of the state and of what is chosen")
        if (p.variables() | target.variables() | r.below.variables()) - r.state:
            raise Rejected(f"U and the target may use {', '.join(sorted(r.state))} and C only")
        if slope and "a" not in {name for step in r.steps.values() for name in step.variables()}:
            raise Rejected("without steps a there is no slope")
        held = [g for g in r.within if not g.variables() - r.state]
        if any(g.get((), Fraction(0)) < 0 for g in held):
            raise Rejected("a limit of the state fails at the start")
        always = {name: variable(name) for name, step in r.steps.items() if step.plainly_nonnegative({r.variance})}
        always |= {name: variable(name) for name in r.peaks} | {f"h_w{i}": g for i, g in enumerate(held)}
        tops = [variable(m) - top for m, ps in r.peaks.items() for top in ps if not top.variables() - r.state]
        always |= {f"h_p{i}": g for i, g in enumerate(tops)}
        found: list[Condition] = [("start", number(-p.get((), Fraction(0))), {})]
        found.append(("majorant", p - target, always))
        w = variable(r.variance) if r.variance else Poly()
        rise = p + variable("a") * slope + (variable("a") ** 2 - w) * curve
        for landed, here in _cases(r, always | _round(r)):
            found += [("stays", g.at(**landed), here) for g in held]
            if r.below.at(**landed).variables() & r.signs:
                raise Rejected("q after a round is known before the signs of the round")
            found.append(("step", mean(rise * r.below.at(**landed) - p.at(**landed) * r.below, r.signs), here))
        return found


def _round(r: Rules) -> dict[str, Poly]:
    """What is ≥ 0 in every round: its limits, their means, and the variance."""
    known = {r.variance: variable(r.variance)} if r.variance else {}
    for i, g in enumerate(r.within):
        if g.variables() - r.state:
            known[f"h_l{i}"] = g
            square = part(g, "a", 2)
            if any(dict(m).get("a", 0) > 2 for m in g) or not g - part(g, "a", 0) or (square and not r.variance):
                continue
            average = part(g, "a", 0) + (square * variable(r.variance) if square else Poly())
            known |= {f"h_m{i}": average} if average.variables() else {}
    return known


def _cases(r: Rules, known: dict[str, Poly]) -> Iterator[tuple[dict[str, Poly], dict[str, Poly]]]:
    """The state after a round, and what is ≥ 0, for each way in which the maxima stay or rise."""
    after = {name: variable(name) + step for name, step in r.steps.items()}
    tops = {m: [p.at(**after) for p in ps] for m, ps in r.peaks.items()}
    for which in product(*([None, *range(len(ps))] for ps in tops.values())):
        landed, here = dict(after), dict(known)
        for (m, reached), k in zip(tops.items(), which):
            landed[m] = variable(m) if k is None else reached[k]
            others = [p for i, p in enumerate(reached) if i != k] + [variable(m)] * (k is not None)
            here |= {f"h_t{m}{i}": landed[m] - p for i, p in enumerate(others)}
        yield landed, here


def statement(problem: Any, constant: Fraction | None = None) -> str:
    """The theorem in words made from the problem alone."""
    if type(problem) is not dict or problem.get("martingale") != KIND:
        return checker.statement(problem, constant)
    r = rules(problem)
    text = checker.statement(r.base, constant)
    if r.below != number(1):
        inner, rest = text[2:].split("] ≤ 0", 1)
        text = f"E[({inner})/({r.below})] ≤ 0{rest}"
    if r.variance:
        text += f"; {r.variance} is the variance of a given all that came before"
    if rounds := [str(g) for g in r.within if g.variables() - r.state]:
        text += f"; in every round {', '.join(f'{g} ≥ 0' for g in rounds)}, with the state before it"
    for name, ps in r.peaks.items():
        text += f"; {name} is the largest value so far of 0, {', '.join(map(str, ps))}, with the state after a round"
    return text


def verify(certificate: Any) -> str:
    """The statement that a certificate proves, of this kind or of those that the checker knows; raises Rejected if it does not prove it."""
    problem = certificate.get("problem") if type(certificate) is dict else None
    if type(problem) is not dict or problem.get("martingale") != KIND:
        return checker.verify(certificate)
    with metered(SPENT):
        return checker.verify(certificate, conditions, statement)


if __name__ == "__main__":
    print(verify(read(sys.stdin.read())))
