"""The checker proves exactly what a certificate states, and nothing else."""

from __future__ import annotations

import ast
import copy
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder import checker
from burkholder.checker import Poly, Rejected, conditions, digest, number, parse, positive_semidefinite
from burkholder.discovery import discover, names
from burkholder.discovery.monomials import written
from burkholder.discovery.problems import MARTINGALES
from burkholder.limited import verify

SOURCE = Path(checker.__file__)
fractions = st.fractions(min_value=-9, max_value=9, max_denominator=7)
polynomials = st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 3)), fractions.filter(bool), max_size=5).map(
    lambda terms: Poly({tuple((n, k) for n, k in zip("xy", at) if k): c for at, c in terms.items()})
)


@pytest.fixture(scope="module")
def certificates() -> dict[str, dict]:
    return {name: dict(discover(name).certificate.data) for name in names()}


def value(p: Poly, **at: Fraction) -> Fraction:
    total = Fraction(0)
    for monomial, c in p.items():
        for name, k in monomial:
            c *= at[name] ** k
        total += c
    return total


@given(polynomials, polynomials, fractions, fractions)
@settings(deadline=None)
def test_arithmetic_agrees_with_evaluation(p: Poly, q: Poly, x: Fraction, y: Fraction) -> None:
    a, b = value(p, x=x, y=y), value(q, x=x, y=y)
    assert value(p + q, x=x, y=y) == a + b
    assert value(p - q, x=x, y=y) == a - b
    assert value(p * q, x=x, y=y) == a * b
    assert value(p**3, x=x, y=y) == a**3
    assert value(p.at(x=q), x=x, y=y) == value(p, x=b, y=y)
    assert all((p * q).values())  # zeros are never stored, so equality is that of dictionaries


@given(polynomials, polynomials)
@settings(deadline=None)
def test_derivative_is_linear_and_leibniz(p: Poly, q: Poly) -> None:
    assert (p * q).d("x") == p.d("x") * q + p * q.d("x")
    assert (p + q).d("y") == p.d("y") + q.d("y")
    assert p.d("x").d("y") == p.d("y").d("x")


@given(polynomials)
@settings(deadline=None)
def test_written_polynomials_read_back(p: Poly) -> None:
    assert parse(written(p)) == p


@pytest.mark.parametrize(
    "text", ["x // 2", "x % 2", "1.5*x", "x**y", "x/y", "f(x)", "x if y else x", "x @ y", "'x'", "x**-1", "x**0.5", "True", "", "x/0", "+x"]
)
def test_only_polynomials_are_read(text: str) -> None:
    with pytest.raises((Rejected, SyntaxError, ArithmeticError, RecursionError, TypeError, ValueError)):
        parse(text)


@given(st.lists(st.lists(st.integers(-4, 4), min_size=3, max_size=3), min_size=1, max_size=4))
@settings(deadline=None)
def test_gram_matrices_are_semidefinite_and_their_negatives_are_not(rows: list[list[int]]) -> None:
    gram = [[sum(Fraction(row[i] * row[j]) for row in rows) for j in range(i + 1)] for i in range(3)]
    assert positive_semidefinite(gram)
    lowered = copy.deepcopy(gram)
    lowered[2][2] -= 1 + 3 * 16 * 4  # more than any diagonal entry
    assert not positive_semidefinite(lowered)
    if any(gram[i][i] for i in range(3)):
        assert not positive_semidefinite([[-entry for entry in row] for row in gram])


def test_zero_pivot_needs_a_zero_column() -> None:
    assert not positive_semidefinite([[Fraction(0)], [Fraction(1), Fraction(5)]])
    assert positive_semidefinite([[Fraction(0)], [Fraction(0), Fraction(5)]])


def test_checker_is_short_and_stands_alone() -> None:
    text = SOURCE.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 400
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(text))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert imported <= set(sys.stdlib_module_names) | {"__future__"}


def test_checker_runs_as_a_program(certificates: dict[str, dict], tmp_path: Path) -> None:
    def run(data: dict) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-I", str(SOURCE)], input=json.dumps(data), text=True, capture_output=True)

    good = run(certificates["zigzag-4"])
    assert good.returncode == 0 and "C = 81" in good.stdout
    bad = run(certificates["zigzag-4"] | {"constant": "80"})
    assert bad.returncode != 0 and "Rejected" in bad.stderr


@pytest.mark.parametrize("name", names())
def test_certificates_verify_after_a_round_trip(name: str, certificates: dict[str, dict]) -> None:
    again = json.loads(json.dumps(certificates[name]))
    assert f"C = {again['constant']}" in verify(again)


def leaves(data: object, path: tuple = ()) -> list[tuple]:
    if isinstance(data, dict):
        return [leaf for key, item in data.items() for leaf in leaves(item, (*path, key))]
    if isinstance(data, list):
        return [leaf for i, item in enumerate(data) for leaf in leaves(item, (*path, i))]
    return [path]


def changes(old: object) -> list[object]:
    """Small and large changes of one entry that keep it well formed, where it can be."""
    if isinstance(old, int):
        return [old + 1, old + 2, 0]
    try:
        number_ = Fraction(str(old))
    except ValueError:
        if old in MARTINGALES:
            return [kind for kind in MARTINGALES if kind != old]
        return [f"{old} + 1", f"2*({old})", f"({old})*x", "1"]
    return [str(c) for c in (number_ + 1, number_ - Fraction(1, 10**12), -number_, 0) if c != number_]


def changed(certificate: dict, path: tuple, new: object, seal: bool) -> dict:
    """A copy with one entry replaced; `seal` recomputes the digest, as one who meant to deceive would."""
    copied = copy.deepcopy(certificate)
    target = copied
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = new
    return copied | {"digest": digest(copied)} if seal else copied


@pytest.mark.parametrize("name", names())
def test_any_single_changed_entry_is_rejected(name: str, certificates: dict[str, dict]) -> None:
    certificate = certificates[name]
    for path in leaves(certificate):
        old = certificate
        for key in path:
            old = old[key]
        for new in changes(old):
            with pytest.raises(Rejected):
                verify(changed(certificate, path, new, seal=False))
            if path[0] in ("name", "digest"):
                continue  # a name proves nothing, and is shown as unverified
            if "basis" in path[-2:] and (old, new) == ("1", "-1"):
                continue  # (-1)² = 1²: resealed, it is another proof of the same statement
            with pytest.raises(Rejected):
                verify(changed(certificate, path, new, seal=True))


@pytest.mark.parametrize("name", names())
def test_any_entry_removed_or_renamed_is_rejected(name: str, certificates: dict[str, dict]) -> None:
    certificate = certificates[name]
    for monomial in certificate["U"]:
        renamed = {("x**7" if key == monomial else key): c for key, c in certificate["U"].items()}
        dropped = {key: c for key, c in certificate["U"].items() if key != monomial}
        for u in (renamed, dropped):
            with pytest.raises(Rejected):
                verify(changed(certificate, ("U",), u, seal=True))
    for i, proof in enumerate(certificate["proofs"]):
        with pytest.raises(Rejected):
            others = certificate["proofs"][:i] + certificate["proofs"][i + 1 :]
            verify(changed(certificate, ("proofs",), others, seal=True))
        for j in range(len(proof["blocks"])):
            blocks = proof["blocks"][:j] + proof["blocks"][j + 1 :]
            with pytest.raises(Rejected):
                verify(changed(certificate, ("proofs", i, "blocks"), blocks, seal=True))


def test_a_multiplier_of_unknown_sign_is_rejected() -> None:
    block = {"basis": ["1"], "gram": [["1"]]}
    assert checker.squares({"multiplier": "s*d**2", **block}, {"s": checker.variable("s")}) == parse("s*d**2")
    for multiplier in ("d", "s*d**3", "-s", "s - d**2"):
        with pytest.raises(Rejected):
            checker.squares({"multiplier": multiplier, **block}, {"s": checker.variable("s")})


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        ({"martingale": "dyadic", "target": "x**2 - C*d", "statistic": {"x": "e*d"}}, "may use x"),
        ({"martingale": "dyadic", "target": "x**2", "statistic": {"x": "x*d"}}, "names of their sums"),
        ({"martingale": "smooth", "norm": "x**2*y**2", "p": 4}, "p-th power"),
        ({"martingale": "smooth", "norm": "x**4 - y**4", "p": 4}, "even monomials"),
        ({"martingale": "smooth", "norm": "x**3 + y**3", "p": 3}, "even monomials"),
        ({"martingale": "markov", "target": "x"}, "unknown kind"),
    ],
)
def test_statements_outside_the_theory_are_rejected(problem: dict, why: str) -> None:
    with pytest.raises(Rejected, match=why):
        conditions(problem, Poly(), Fraction(1))


@pytest.mark.parametrize("kind", ["smooth", "logarithmic"])
def test_negative_constants_prove_nothing_where_the_argument_needs_a_sign(kind: str) -> None:
    problem = {"martingale": kind, "norm": "x**4", "p": 4, "target": "x**2", "power": 1}
    fields = {"smooth": ("norm", "p"), "logarithmic": ("target", "power")}[kind]
    with pytest.raises(Rejected, match="negative"):
        conditions({key: problem[key] for key in ("martingale", *fields)}, Poly(), Fraction(-3))


def test_a_decreasing_coordinate_is_not_taken_for_a_nonnegative_one() -> None:
    for step, known in (("d**2", True), ("d**2 + e*d", False), ("-d**2", False), ("d", False)):
        problem = {"martingale": "dyadic", "target": "s", "statistic": {"s": step}}
        assert all((set(cone) == {"s"}) == known for _, _, cone in conditions(problem, Poly(), Fraction(1)))


QUOTIENT = {"martingale": "quotient", "target": "s**3 - C*x**6", "statistic": {"x": "a", "s": "a**2"}, "below": "s + x**2", "power": 1}


def test_a_quotient_is_the_tangent_form_times_its_denominators() -> None:
    u, q = parse("s**4 - 3*s**3*x**2 + x**8/2"), parse("s + x**2")
    (_, start, _), (_, major, _), (_, step, cone) = conditions(QUOTIENT, u, Fraction(7))
    assert not start and set(cone) == {"s"} and major == u - parse("s**3 - 7*x**6") * q

    def of(x, s):
        return u.at(x=number(x), s=number(s)).get((), 0) / q.at(x=number(x), s=number(s)).get((), 0)

    x, s, a, h = Fraction(2), Fraction(3), Fraction(-5, 2), Fraction(1, 10**8)
    slope = (of(x + h, s + h * h) - of(x - h, s + h * h)) / (2 * h)
    before, after = (s + x * x, s + a * a + (x + a) ** 2)
    claimed = step.at(x=number(x), s=number(s), a=number(a))[()] / before**2 / after
    assert abs(claimed - (of(x, s) + a * slope - of(x + a, s + a * a))) < Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("change", "u"),
    [
        ({"below": "s - x**2"}, "s**4"),
        ({"below": "x**2"}, "s**4"),
        ({"below": "x + s"}, "s**4"),
        ({"below": "0"}, "s**4"),
        ({"below": "C*s"}, "s**4"),
        ({"below": "s + z**2"}, "s**4"),
        ({"power": 0}, "s**4"),
        ({"power": -1}, "s**4"),
        ({"power": 65}, "s**4"),
        ({"power": 4}, "s**4"),
        ({}, "s"),
        ({}, "1"),
        ({"statistic": {"x": "a*e", "s": "a**2"}}, "s**4"),
        ({"statistic": {"x": "a", "s": "a"}}, "s**4"),
    ],
)
def test_a_quotient_that_is_not_sure_is_refused(change, u) -> None:
    conditions(QUOTIENT, parse("s**4"), Fraction(1))
    with pytest.raises(Rejected):
        conditions(QUOTIENT | change, parse(u), Fraction(1))
