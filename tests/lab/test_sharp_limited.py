"""Given variances, limited steps, running maxima and quotients: both ends proved, what the proofs rest on, and what is refused."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flint")
pytest.importorskip("cvxpy")

from burkholder import Inequality, sharp
from burkholder.checker import Rejected, digest
from burkholder.discovery import discover
from burkholder.discovery.mutations import mutations
from burkholder.errors import BadInput
from burkholder.limited import verify
from burkholder.refuter import refuted

VARIANCE = {"x": "x + a", "v": "v + sigma2"}
BOTH = {"s": "s + a**2", "v": "v + sigma2"}
# (state, left, right, where, the least C by theory or by hand, relative width)
ROWS: list[tuple[dict[str, str], str, str, list[str], float, float]] = [
    (VARIANCE, "v**2", "C*x**4", [], 4.0, 2e-5),
    (VARIANCE, "x**2*v", "C*x**4", [], 2.0, 2e-5),
    (VARIANCE, "v**3", "C*x**6", [], 27.0, 2e-5),
    (BOTH, "v**2", "C*s**2", [], 4.0, 2e-5),
    (BOTH | {"q": "q + a**4"}, "v**2", "C*(s**2 + q)", [], 2.0, 2e-5),
    (VARIANCE | {"m": "max(m, x**2)"}, "v**2", "C*m*x**2", [], 4.0, 1e-4),
]


@cache
def found(row: int) -> Any:
    state, left, right, where, _, _ = ROWS[row]
    return sharp(Inequality(state, "general", left, right, where))


@pytest.mark.parametrize("row", range(len(ROWS)))
def test_both_ends_are_proved_close_and_around_the_least_constant(row, tmp_path) -> None:
    *_, least, width = ROWS[row]
    answer = found(row)
    assert answer.proved and answer.lower < least <= answer.upper and answer.width <= width
    assert f"C = {answer.exact}" in verify(json.loads(answer.save(tmp_path / "upper.json").read_text()))
    assert "> 0 for some" in refuted(json.loads(answer.save(tmp_path / "lower.json", end="lower").read_text()))


def test_steps_of_one_side_only() -> None:
    """E f³ ≤ C·E(v + v²) with steps up to 1: U is a parabola's worth above V, and stopping on a line f = κv reaches it."""
    answer = sharp(Inequality(VARIANCE, "general", "x**3", "C*(v + v**2)", ["a <= 1"]))
    least = (1 + 10**0.5) / 2
    assert answer.proved and answer.lower < least <= answer.upper and answer.width < 1e-3


def test_quotients_of_the_state() -> None:
    answer = sharp(Inequality({"x": "x + a", "s": "s + a**2"}, "rademacher", "x**4/(1 + s)", "C*s"))
    assert answer.exact == 9 and "(s + 1)" in answer.found.statement


def play(rng: np.random.Generator, u, state: dict[str, float], moved) -> float:
    """The largest rise of E U in one round over many laws of two values, relative to the size of U."""
    worst = -np.inf
    for _ in range(300):
        at = {name: float(rng.exponential()) for name in state}
        at["x"] = float(rng.normal()) if "x" in at else 0.0
        up, down = rng.exponential(), rng.exponential()
        law = [(down / (up + down), up), (up / (up + down), -down)]
        allowed, after = moved(at, law)
        if not allowed:
            continue
        before = float(u(*(at[n] for n in state)))
        chances = [0.5, 0.5] if "s" in state else [p for p, _ in law]
        mean = sum(p * float(u(*(now[n] for n in state))) for p, now in zip(chances, after))
        worst = max(worst, (mean - before) / (1 + abs(before) + abs(mean)))
    return worst


def test_u_never_rises_in_mean() -> None:
    rng = np.random.default_rng(0)

    def variance(at, law):
        w = sum(p * a * a for p, a in law)
        return True, [{**at, "x": at["x"] + a, "v": at["v"] + w} for _, a in law]

    def one_sided(at, law):
        return max(a for _, a in law) <= 1, variance(at, law)[1]

    def maximum(at, law):
        at["m"] += max(at["x"], 0.0)
        return True, [{"x": at["x"] + a, "m": max(at["m"], at["x"] + a)} for _, a in law]

    def signs(at, law):
        return True, [{"x": at["x"] + e * law[0][1], "s": at["s"] + law[0][1] ** 2} for e in (1, -1)]

    rules = {
        "conditional-4": variance,
        "conditional-6": variance,
        "one-sided-3": one_sided,
        "maximum-2": maximum,
        "self-normalised-4": signs,
    }
    for name, moved in rules.items():
        answer = discover(name)
        assert play(rng, answer.function, dict.fromkeys(answer.problem.state, 0.0), moved) < 1e-9


def sealed(data: dict[str, Any], **change: Any) -> dict[str, Any]:
    data = copy.deepcopy(data) | change
    return data | {"digest": digest(data)}


@pytest.mark.parametrize("change", [{"within": []}, {"within": ["2 - a"]}, {"within": ["1 - a**3"]}, {"variance": ""}, {"variance": "v"}])
def test_a_proof_under_limits_does_not_serve_without_them(change) -> None:
    honest = json.loads(json.dumps(dict(discover("one-sided-3").certificate.data)))
    verify(honest)
    with pytest.raises(Rejected):
        verify(sealed(honest, problem=honest["problem"] | change))


@pytest.mark.parametrize(
    "change",
    [
        {"within": ["x - 1"]},  # no limit that holds at the start
        {"within": ["s - x**2"]},  # nor one that stays
        {"within": ["C - s"]},
        {"peak": {"m": ["x + 1"]}},
        {"peak": {"x": ["x"]}},
        {"peak": {"m": []}},
        {"below": "x**2"},
        {"below": "1 - s"},
        {"below": "1 + x"},
        {"variance": "w", "statistic": {"x": "e*d", "s": "d**2"}},
        {"peak": {"m": ["x"]}},  # with signs
    ],
)
def test_rules_that_prove_nothing_are_refused(change) -> None:
    honest = json.loads(json.dumps(dict(discover("self-normalised-4").certificate.data)))
    verify(honest)
    with pytest.raises(Rejected):
        verify(sealed(honest, problem=honest["problem"] | change))


def test_no_changed_refutation_is_accepted() -> None:
    """Waits and lattices changed in one place: refused, or a proof of a weaker inequality's failure, worded so."""
    from burkholder.discovery.catalogue import problem
    from burkholder.lab.sharp.lower_limited import sealed as lattice
    from burkholder.stopped import LATTICE

    coarse = lattice(problem("one-sided-3"), LATTICE, Fraction(3, 2), up="1", down="1/10", rounds=40, ups=6)
    assert coarse is not None
    for data in (found(0).walk, found(5).walk, coarse):
        data = json.loads(json.dumps(data))
        said = refuted(data)
        for mutation in mutations(data):
            try:
                again = refuted(mutation.certificate)
            except Rejected:
                continue
            assert not mutation.typed, (mutation.path, mutation.what)
            if again != said:  # another statement: only what a target, a limit or what a maximum is taken of may say differently
                assert mutation.path[0] in ("problem", "constant"), (mutation.path, mutation.what)
                assert simulated(mutation.certificate) > 0, (mutation.path, mutation.what)


def simulated(data: dict[str, Any]) -> float:
    """E V of what the certificate says is played, from its own numbers: waits by their geometric series, lattices by a float recursion."""
    from burkholder.checker import number, parse

    problem, constant = data["problem"], Fraction(data["constant"])
    target = parse(problem["target"]).at(C=number(constant))
    steps = {n: parse(text) for n, text in problem["statistic"].items()}
    w = problem["variance"]

    def value(at: dict[str, float]) -> float:
        return sum(float(c) * float(np.prod([at[n] ** k for n, k in m])) for m, c in target.items())

    def moved(at: dict[str, float], a: float, var: float) -> dict[str, float]:
        jump = {"a": a} | ({w: var} if w else {})
        now = {n: at[n] + sum(float(c) * float(np.prod([jump[x] ** k for x, k in m])) for m, c in p.items()) for n, p in steps.items()}
        for m, tops in problem["peak"].items():
            reach = [sum(float(c) * float(np.prod([(now | jump)[x] ** k for x, k in mm])) for mm, c in parse(t).items()) for t in tops]
            now[m] = max(at[m], *reach)
        return now

    rest = dict.fromkeys([*steps, *problem["peak"]], 0.0)
    if "growth" in data:
        jump, growth = float(Fraction(data["jump"])), float(Fraction(data["growth"]))
        at = moved(rest, 0.0, 1.0)
        return sum(value(moved(at, side * jump, growth**2 - 1)) for side in (1, -1))
    up, down = float(Fraction(data["up"])), float(Fraction(data["down"]))
    chance, variance = down / (up + down), up * down

    def worth(n: int, k: int, at: dict[str, float]) -> float:
        key = (n, k)
        if key not in seen:
            stop = value(at)
            if n < data["rounds"] and k < data["ups"]:
                go = chance * worth(n + 1, k + 1, moved(at, up, variance)) + (1 - chance) * worth(n + 1, k, moved(at, -down, variance))
                stop = max(stop, go)
            seen[key] = stop
        return seen[key]

    seen: dict[tuple[int, int], float] = {}
    return worth(0, 0, rest)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"where": "a <= 1"}, "list of limits"),
        ({"where": ["a < 1"]}, "<= or >="),
        ({"where": ["abs(a) <= 1"]}, "polynomials"),
        ({"where": ["b <= 1"]}, "none of"),
        ({"where": ["a <= 1"], "moves": "rademacher", "state": {"x": "x + a", "v": "v + a**2"}}, "both ways"),
        ({"where": ["a <= 1"], "moves": "transform", "state": {"x": "x + a", "v": "v + k*a"}}, "rademacher and general"),
        ({"moves": "rademacher"}, "not sigma2"),
        ({"state": VARIANCE | {"m": "max(m, x + 1)"}}, "0 at the start"),
        ({"state": VARIANCE | {"m": "max(m, sqrt(x))"}}, "polynomials"),
        ({"state": VARIANCE | {"sigma2": "sigma2 + a"}}, "its variance"),
        ({"state": VARIANCE | {"m": "max(x, m)"}}, "not m|not x|coordinate"),
    ],
)
def test_bad_limits_are_refused_with_a_reason(change, match) -> None:
    with pytest.raises(BadInput, match=match):
        Inequality(**{"state": VARIANCE, "moves": "general", "left": "x**2", "right": "C*v"} | change)
