"""The checker and the statement of a problem refuse what would take too long, and names that would stand for two things."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from time import thread_time
from typing import Any

import pytest

from burkholder.checker import Rejected, conditions, digest, parse, rational, read, statement, verify
from burkholder.discovery import Problem, problem, suggest
from burkholder.errors import BadInput
from burkholder.refuter import refuted

SIX = "+".join(f"x{i}" for i in range(6))
DECOUPLED = {"martingale": "dyadic", "target": "x**4 - C*y**4", "statistic": {"x": "e1*d", "y": "e2*d"}}
PATIENCE = 20.0  # seconds of work: a guard against hanging, not a measure of speed


def certificate(**entries: Any) -> dict[str, Any]:
    made = {"format": "burkholder certificate 1", "name": "n", "problem": {"martingale": "zigzag", "target": "x**4 - C*y**4"},
            "constant": "81", "U": {"x**4": "1"}, "proofs": [], "digest": "", **entries}  # fmt: skip
    return made | {"digest": digest(made)}


def gram(rows: int, digits: int) -> dict[str, Any]:
    entries = [[str(Fraction(7**digits + 2 * i + 1, 10**digits + j)) for j in range(i)] + [str(10**digits * 9)] for i in range(rows)]
    return {"multiplier": "1", "basis": [f"x**{1 + i % 60}" for i in range(rows)], "gram": entries}


def proofs(*blocks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"condition": name, "blocks": list(blocks)} for name in ("start", "majorant", "step", "step", "step", "step")]


HOSTILE: dict[str, Callable[[], Any]] = {
    "a float's exponent": lambda: rational("1e999999999"),
    "a long number": lambda: rational("9" * 10**6),
    "an exponent in a polynomial": lambda: parse("1e999999999"),
    "degree 80 in six variables": lambda: parse(f"({SIX})**80"),
    "degree 60 in six variables": lambda: parse(f"({SIX})**60"),
    "a power of a power": lambda: parse(f"((({SIX})**8)**8)**8"),
    "a tower": lambda: parse("2**9**9**9"),
    "a tower of numbers": lambda: parse("((((10**64)**64)**64)**64)**64*x"),
    "a high power": lambda: parse("x**999999999"),
    "parentheses": lambda: parse("(" * 1900 + "x" + ")" * 1900),
    "minus signs": lambda: parse("-" * 3900 + "x"),
    "a long sum": lambda: parse("x" + "+x" * 1900),
    "a long text": lambda: parse("x+" * 10**6 + "x"),
    "a large Gram matrix": lambda: verify(certificate(proofs=proofs(gram(120, 60)))),
    "a Gram matrix of long numbers": lambda: verify(certificate(proofs=proofs(gram(30, 1500)))),
    "many blocks": lambda: verify(certificate(proofs=proofs(*[{"multiplier": "1", "basis": ["1"], "gram": [["1"]]}] * 50_000))),
    "a wide basis": lambda: verify(
        certificate(proofs=proofs({"multiplier": "1", "basis": [f"({SIX})**7"] * 20, "gram": [["0"] * i + ["1"] for i in range(20)]}))
    ),
    "deep JSON": lambda: read("[" * 10**5),
    "a long file": lambda: read(" " * 10**7),
    "a float": lambda: read('{"p": 4.0}'),
    "a long integer": lambda: read("9" * 5000),
    "a key twice": lambda: read('{"p": 4, "p": 6}'),
    "not a number": lambda: read("NaN"),
    "a target of degree 80": lambda: Problem("a", "zigzag", f"({SIX})**80 - C"),
    "a norm of degree 4000": lambda: Problem("a", "smooth", norm="x**4000", p=4000),
    "a dimension without end": lambda: problem("smoothness-4-dimension-9999999999"),
    "a step without end": lambda: Problem("a", "dyadic", "x**64 - C*s", statistic={"x": f"e*({SIX})**64", "s": "d**2"}),
    "a loss without end": lambda: suggest("(yhat + y)**999999999"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_would_take_too_long_is_refused_soon(what: str) -> None:
    began = thread_time()
    with pytest.raises((Rejected, BadInput)):
        HOSTILE[what]()
    assert thread_time() - began < PATIENCE


@pytest.mark.parametrize("stated", [
    {"martingale": "smooth", "norm": "x**4 + h_x**4", "p": 4},
    {"martingale": "smooth", "norm": "e**4 + x**4", "p": 4},
    {"martingale": "smooth", "norm": "a**4 + C**4", "p": 4},
    {"martingale": "dyadic", "target": "x**2 - C*s", "statistic": {"x": "energy*d", "s": "d**2"}},
    {"martingale": "dyadic", "target": "e1**2 - C*s", "statistic": {"e1": "e*d", "s": "d**2"}},
    {"martingale": "dyadic", "target": "h_x**2 - C*s", "statistic": {"h_x": "e*d", "s": "d**2"}},
    {"martingale": "dyadic", "target": "C**2 - s", "statistic": {"C": "e*d", "s": "d**2"}},
    {"martingale": "general", "target": "a**2 - C*s", "statistic": {"a": "e*d", "s": "a**2"}},
    {"martingale": "dyadic", "target": "x**2 - C*s", "statistic": {"x": "e*d", "s": "x**2"}},
    {"martingale": "dyadic", "target": "x**2 - C*s", "statistic": {"x": "-e*d", "s": "d**2"}},
    {"martingale": "dyadic", "target": "x**2 - C*s", "statistic": {"x": "e*d", "s ": "d**2"}},
    {"martingale": "dyadic", "target": "ｘ**2 - C", "statistic": {"ｘ": "e*d"}},
    {"martingale": "zigzag", "target": "x**2 - C*a**2"},
])  # fmt: skip
def test_a_name_stands_for_one_thing(stated: dict[str, Any]) -> None:
    with pytest.raises(Rejected):
        conditions(stated, parse("0"), Fraction(1))
    with pytest.raises(Rejected):
        statement(stated)


@pytest.mark.parametrize(("stated", "words"), [
    (DECOUPLED, "d chosen before the round from everything seen, every earlier sign"),
    ({"martingale": "general", "target": "x - C*s", "statistic": {"x": "e*a", "s": "a**2"}}, "independent of the signs of the round"),
    ({"martingale": "smooth", "norm": "x**4 + y**4", "p": 4}, "(‖x+h‖² + ‖x-h‖²)/2 ≤ ‖x‖² + 3·‖h‖²"),
    ({"martingale": "logarithmic", "target": "x**2/2", "power": 1}, "≤ 3·E[log(m/λ)]"),
    ({"martingale": "orthogonal", "target": "x**4 - C*y**4"}, "independent Brownian motions"),
])  # fmt: skip
def test_the_statement_is_made_from_the_problem(stated: dict[str, Any], words: str) -> None:
    assert words in statement(stated, Fraction(3))
    ends = {"smooth": "for all x and h", "orthogonal": "up to a fixed time"}.get(stated["martingale"], "finitely many rounds")
    assert ends in statement(stated)  # E Σ e*d ≤ 0 is false of a sum without end that stops at 1
    assert "C" in statement(stated) or stated["martingale"] == "orthogonal"


LIMITED = {
    "martingale": "limited", "target": "x**24 - C*y**24", "statistic": {"x": "a", "y": "w"}, "variance": "w", "within": [], "peak": {},
    "below": "1",
}  # fmt: skip


@pytest.mark.parametrize(
    "entries",
    [
        {"format": "burkholder lattice 1", "up": "1", "down": "1", "rounds": 20_000, "ups": 70},
        {"format": "burkholder lattice 1", "up": "9" * 60 + "/7", "down": "1", "rounds": 1_200, "ups": 1_200},
        {"format": "burkholder still 1", "weights": {"x": 1, "y": 2}, "jump": "9" * 3000, "growth": "9" * 2000 + "/" + "7" * 1999},
    ],
)
def test_lower_ends_that_would_take_too_long_are_refused_soon(entries: dict[str, Any]) -> None:
    made = {"name": "n", "problem": LIMITED, "constant": "2", "digest": "", **entries}
    began = thread_time()
    with pytest.raises(Rejected):
        refuted(made | {"digest": digest(made)})
    assert thread_time() - began < PATIENCE
