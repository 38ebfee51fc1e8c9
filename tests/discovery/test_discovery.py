"""Discovery finds the sharp constants, proves them exactly, and never claims what it has not proved."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from burkholder.cli.discover import check
from burkholder.cli.discover import discover as discover_command
from burkholder.discovery import Found, NotFound, Problem, discover, exact, names, problem, program, search, suggest
from burkholder.discovery.monomials import candidates, parities, weights
from burkholder.errors import BadInput, BurkholderError, MissingExtra

# What theory proves sharp; written again here so that a slip in the catalogue is noticed.
SHARP = {
    **{f"zigzag-{p}": float((p - 1) ** p) for p in (3, 4, 5, 6, 8)},
    "decoupled-4": (1 + math.sqrt(2)) ** 4,
    "orthogonal-4": (1 + math.sqrt(2)) ** 4,
    "orthogonal-6": (2 + math.sqrt(3)) ** 6,
    "square-function-4-dyadic": (3 + math.sqrt(6)) ** 2,
    "square-function-4-general": 81.0,
    "square-function-4-dyadic-reverse": (3 - math.sqrt(6)) ** -2,
    "smoothness-4": 3.0,
    "smoothness-6": 5.0,
    "conditional-4": 4.0,
    "conditional-6": 27.0,
    "maximum-2": 4.0,
    "strongly-convex": 0.5,
}
RATIONAL = [name for name in SHARP if SHARP[name] == round(SHARP[name], 3)]


@pytest.fixture(scope="module")
def found() -> dict[str, Found]:
    return {name: discover(name) for name in names()}


def test_the_catalogue_holds_every_sharp_constant() -> None:
    assert set(SHARP) <= set(names())
    for name in names():
        assert problem(name).name == name and problem(name).words
        known = problem(name).known
        assert (name in SHARP) == (known is not None)
        assert known is None or float(known) == pytest.approx(SHARP[name], rel=1e-12)


@pytest.mark.parametrize("name", SHARP)
def test_constants_are_proved_next_to_the_sharp_ones(name: str, found: dict[str, Found]) -> None:
    assert SHARP[name] * (1 - 1e-12) <= found[name].constant <= SHARP[name] * (1 + 1e-5)
    assert found[name].numerical == pytest.approx(SHARP[name], rel=1e-5)
    assert str(found[name].exact) in found[name].certificate.verify()


@pytest.mark.parametrize("name", RATIONAL)
def test_rational_sharp_constants_are_proved_exactly(name: str, found: dict[str, Found]) -> None:
    assert found[name].sharp and found[name].exact == Fraction(SHARP[name])


@pytest.mark.parametrize("name", SHARP)
def test_nothing_is_proved_below_the_sharp_constant(name: str) -> None:
    low = Fraction(SHARP[name] * 0.999)
    assert exact.prove(program.Program(problem(name)), low) is None


def test_the_sharp_constant_is_found_without_being_told() -> None:
    for p in (4, 6):
        untold = Problem("untold", "zigzag", f"x**{p} - C*y**{p}")
        assert discover(untold).exact == (p - 1) ** p


def test_a_wrong_belief_about_the_constant_does_no_harm() -> None:
    for belief in (80, 500, Fraction(1, 3)):
        found = discover(Problem("believed", "zigzag", "x**4 - C*y**4", known=belief))
        assert found.exact == 81 and not found.sharp


def test_decoupled_is_between_its_two_bounds(found: dict[str, Found]) -> None:
    # Fair signs have Brownian motion as a limit, so the orthogonal constant bounds the decoupled one below.
    assert SHARP["orthogonal-6"] <= found["decoupled-6"].constant <= SHARP["orthogonal-6"] * 1.002


# --- U itself, evaluated in floating point from the definition of each problem, not from its polynomials.


def on_plane(found: Found, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return found.function(np.abs(x), np.abs(y))


def target(name: str, x: np.ndarray, y: np.ndarray, constant: float) -> np.ndarray:
    if name.startswith("square"):
        return y**2 - constant * x**4 if name.endswith("reverse") else x**4 - constant * y**2
    if name == "strongly-convex":
        return x**2 / 2
    p = int(name.split("-")[1])
    return np.abs(x) ** p - constant * np.abs(y) ** p


# problems of limited steps have theirs evaluated in tests/lab/test_sharp_limited.py
WITH_U = [name for name in names() if not name.startswith("smooth") and problem(name).martingale != "limited"]


@pytest.mark.parametrize("name", WITH_U)
def test_u_majorises_the_target_and_starts_at_zero(name: str, found: dict[str, Found]) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.standard_cauchy((2, 4000))
    y = np.abs(y)
    u, v = found[name].function(np.abs(x), y), target(name, np.abs(x), y, found[name].constant)
    assert np.all(u - v >= -1e-9 * (np.abs(u) + np.abs(v)))
    assert found[name].function(0.0, 0.0) == 0.0


@pytest.mark.parametrize("name", [name for name in WITH_U if name.startswith(("zigzag", "orthogonal"))])
def test_u_loses_in_the_mean_along_its_steps(name: str, found: dict[str, Found]) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 20000))
    if name.startswith("zigzag"):  # mean-zero two-point steps along either diagonal, across the axes too
        up, down = rng.exponential(size=(2, 20000)) * 2
        sign = rng.choice([-1.0, 1.0], 20000)
        later = (down * on_plane(found[name], x + up, y + sign * up) + up * on_plane(found[name], x - down, y - sign * down)) / (up + down)
    else:  # the mean over a circle
        r, angle = rng.exponential(size=20000), np.linspace(0, 2 * np.pi, 720, endpoint=False)
        later = np.mean([on_plane(found[name], x + r * np.cos(a), y + r * np.sin(a)) for a in angle], axis=0)
    size = (np.abs(x) + np.abs(y) + 5) ** 8
    assert np.all(later <= on_plane(found[name], x, y) + 1e-9 * size)


@pytest.mark.parametrize("name", [name for name in WITH_U if not name.startswith(("zigzag", "orthogonal"))])
def test_u_loses_in_the_mean_over_its_signs(name: str, found: dict[str, Found]) -> None:
    rng = np.random.default_rng(3)
    u, constant = found[name].function, found[name].constant
    x, d = rng.standard_cauchy((2, 20000))
    y = rng.exponential(size=20000) ** 2
    if name == "strongly-convex":
        m = y + d**2
        later = (x**2 + d**2) / (2 * m) - constant * np.log(m)  # the mean of (x ± d)² is x² + d²
        now = x**2 / (2 * y) - constant * np.log(y)
    elif name.startswith("decoupled"):
        later = np.mean([u(x + e * d, y + f * d) for e, f in product((-1, 1), repeat=2)], axis=0)
        now = u(x, y)
    else:
        chance = 0.5 if "dyadic" in name else rng.uniform(0.05, 0.95, 20000)
        up, down = d * chance, d * (1 - chance)  # down with probability `chance`: mean zero
        later = (1 - chance) * u(x + up, y + up**2) + chance * u(x - down, y + down**2)
        now = u(x, y)
    assert np.all(later <= now + 1e-9 * (np.abs(now) + np.abs(later) + np.abs(d) ** 6 + np.abs(x) ** 6))


@pytest.mark.parametrize("p", [4, 6])
def test_smoothness_of_the_norm(p: int, found: dict[str, Found]) -> None:
    rng = np.random.default_rng(p)
    x, h = rng.standard_cauchy((2, 20000, 2))
    norm = lambda v: (v**p).sum(axis=1) ** (1 / p)  # noqa: E731
    left = norm(x + h) ** 2 + norm(x - h) ** 2 - 2 * norm(x) ** 2
    constant = found[f"smoothness-{p}"].constant
    assert np.all(left <= 2 * constant * norm(h) ** 2 * (1 + 1e-9) + 1e-9 * norm(x) ** 2)


# --- Problems of one's own

MINE = '''\
"""E |f|⁴ ≤ C·E S⁴ in the plane: does the constant depend on the dimension?"""
import burkholder.discovery as bk

problem = bk.Problem(
    name="square-function-4-plane",
    martingale="dyadic",
    statistic={"x": "e*c", "y": "e*d", "s": "c**2 + d**2"},
    target="(x**2 + y**2)**2 - C*s**2",
)
'''


def test_a_problem_in_a_file_of_ten_lines(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE, encoding="utf-8")
    assert len(MINE.splitlines()) <= 10
    mine = discover(file)
    assert mine.name == "square-function-4-plane"
    assert mine.constant == pytest.approx(SHARP["square-function-4-dyadic"], rel=1e-5)
    assert mine.known is None and not mine.sharp


def test_an_inhomogeneous_problem_is_searched_up_to_its_degree() -> None:
    step = {"x": "e*d", "s": "d**2"}
    found = discover(Problem("mixed", "dyadic", "x**4 + x**2 - C*s**2 - C*s", statistic=step))
    assert found.constant == pytest.approx(SHARP["square-function-4-dyadic"], rel=1e-4)


def test_families_and_files_are_understood() -> None:
    assert problem("zigzag", p=7) == problem("zigzag-7")
    family = problem("square-function", p=4, martingale="general", reverse=True)
    assert family == problem("square-function-4-general-reverse")
    assert problem("square-function-6-general").known == 5**6
    assert problem("smoothness-4-dimension-3") == problem("smoothness", p=4, d=3)
    assert discover("smoothness", p=4, d=3).exact == 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: problem("zigzog-4"), "choose one of zigzag-3"),
        (lambda: problem("zigzag", p=1), "between 2 and 64"),
        (lambda: problem("smoothness", p=5), "even p"),
        (lambda: problem("zigzag", q=4), "zigzag"),
        (lambda: problem("zigzag-4-dimension-3"), "zigzag"),
        (lambda: Problem("a", "zigzag", "x - C*y", statistic={"x": "e*d"}), "are fixed"),
        (lambda: problem("nowhere.py"), "no such file"),
        (lambda: Problem("a", "brownian", "x - C"), "choose one of dyadic"),
        (lambda: Problem("a", "dyadic", "x - C"), "a step for each coordinate"),
        (lambda: Problem("a", "zigzag", "x**4 - y**4"), "as C"),
        (lambda: Problem("a", "zigzag", "x**4 - C**2*y**4"), "linearly"),
        (lambda: Problem("a", "zigzag", "x**4 - C*z**4"), "may use x, y"),
        (lambda: Problem("a", "zigzag", "x^4 - C*y^4"), "polynomial"),
        (lambda: Problem("a", "zigzag", "x**4 -"), "invalid syntax"),
        (lambda: Problem("a", "zigzag", "x**4 - C*y**4", scale={"y": 0}), "positive"),
        (lambda: Problem("a", "zigzag", "x**4 - C*y**4", degree=0), "positive integer"),
        (lambda: suggest("sin(yhat)"), "polynomial"),
        (lambda: suggest("(z - y)**2"), "use"),
        (lambda: suggest("y**2"), "depend on yhat"),
    ],
)
def test_bad_statements_are_refused_in_words(make, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        make()


@pytest.mark.parametrize(
    ("file", "words"), [("x = 1", "define `problem"), ("raise RuntimeError('no')", "RuntimeError: no"), ("x = (", "SyntaxError")]
)
def test_bad_files_are_refused_in_words(file: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(file, encoding="utf-8")
    with pytest.raises(BadInput, match=words):
        problem(path)


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (Problem("false", "dyadic", "x**4 - C*x**2", statistic={"x": "e*d"}), "no polynomial U"),
        (Problem("sign", "dyadic", "x**2 + C*s", statistic={"x": "e*d", "s": "d**2"}), "without end"),
    ],
)
def test_infeasible_and_unbounded_problems_are_named(stated: Problem, words: str) -> None:
    with pytest.raises(NotFound, match=words):
        discover(stated)


def test_a_degree_too_large_for_memory_is_refused_before_it_is_tried() -> None:
    steps = {f"x{i}": f"e*d{i}" for i in range(6)} | {"s": " + ".join(f"d{i}**2" for i in range(6))}
    ball = " + ".join(f"x{i}**2" for i in range(6))
    big = Problem("big", "dyadic", f"({ball})**3 - C*s**3", statistic=steps)
    for stated in (big, problem("smoothness", p=16, d=3)):
        with pytest.raises(BadInput, match="lower"):
            discover(stated)


def test_a_failing_solver_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_run", lambda task: "failed")
    with pytest.raises(NotFound, match="gave up"):
        discover("zigzag-4")


@pytest.mark.parametrize("package", ["cvxpy", "flint"])
def test_missing_packages_are_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"burkholder\[discover\]"):
        discover("zigzag-4")
    assert problem("zigzag-4").known == 81  # stating and checking need neither


def test_a_solver_that_returns_no_numbers_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_run", lambda task: "optimal")  # it never ran, so there are no values
    with pytest.raises(NotFound, match="gave up"):
        discover("zigzag-4")


def test_a_lying_solver_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = search._minimise

    def liar(stated: Problem):
        built, solution = honest(stated)
        solution.constant *= 0.9
        return built, solution

    monkeypatch.setattr(search, "_minimise", liar)
    with pytest.raises(NotFound, match="nothing is claimed"):
        discover(Problem("lied-about", "zigzag", "x**4 - C*y**4"))


# --- The layer below


def test_weights_follow_the_statistic() -> None:
    found = weights(problem("square-function-4-dyadic"))
    assert found is not None and (found["x"], found["s"], found["d"]) == (1, 2, 1)
    mixed = Problem("m", "dyadic", "x**4 + x**2 - C*s**2", statistic={"x": "e*d", "s": "d**2"})
    assert weights(mixed) is None
    assert weights(mixed, with_target=False) == found


def test_symmetric_problems_have_symmetric_candidates() -> None:
    assert candidates(problem("square-function-4-dyadic")) == [(("s", 2),), (("s", 1), ("x", 2)), (("x", 4),)]
    assert len(candidates(problem("zigzag-4"))) == 5


@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), max_size=6))
@settings(max_examples=60, deadline=None)
def test_parities_are_exactly_the_flips_that_change_nothing(vectors: list[list[int]]) -> None:
    basis = parities(vectors, 4)
    span = {tuple(sum(a * f[i] for a, f in zip(pick, basis)) % 2 for i in range(4)) for pick in product((0, 1), repeat=len(basis))}
    brute = {s for s in product((0, 1), repeat=4) if all(sum(a * b for a, b in zip(s, v)) % 2 == 0 for v in vectors)}
    assert span == brute and len(span) == 2 ** len(basis)


def test_suggested_statistics_reproduce_the_papers_example() -> None:
    statistics = {s.name: s for s in suggest("(yhat - y)**2")}
    assert {"yhat**2", "y · x", "x xᵀ"} <= set(statistics)  # the paper's three
    assert set(statistics) == {"yhat**2", "y · x", "x xᵀ", "y*yhat"}  # and the one it leaves out
    rng = np.random.default_rng(4)
    for yhat, y, p in rng.normal(size=(20, 3)):
        total = sum(
            float(c) * math.prod({"yhat": yhat, "y": y}[n] ** k for n, k in m) * p**s.order
            for s in statistics.values()
            for m, c in s.coefficient.items()
        )
        assert total == pytest.approx((yhat - y) ** 2 - (p - y) ** 2, abs=1e-12)


# --- The command line

app = typer.Typer()
app.command()(discover_command)
app.command()(check)


def test_commands_find_write_and_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    listed = run(app, ["discover", "--list", "--json"])
    assert json.loads(listed.stdout) == names()
    result = run(app, ["discover", "zigzag-4", "--json"])
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert {"constant", "known", "exact", "certificate", "seconds"} <= set(data)
    assert (data["constant"], data["known"], data["exact"]) == (81.0, 81.0, "81")
    assert data["certificate"] == "zigzag-4.json"
    checked = run(app, ["check", "zigzag-4.json", "--json"])
    assert json.loads(checked.stdout)["verified"] is True
    file = tmp_path / "zigzag-4.json"
    file.write_text(file.read_text().replace('"81"', '"80"'))
    refused = run(app, ["check", "zigzag-4.json"])
    assert refused.exit_code != 0 and isinstance(refused.exception, BurkholderError)
    file.write_text("not json")
    assert isinstance(run(app, ["check", "zigzag-4.json"]).exception, BadInput)
    assert isinstance(run(app, ["check", "absent.json"]).exception, BadInput)
    assert isinstance(run(app, ["discover"]).exception, BadInput)


def test_readable_output(found: dict[str, Found]) -> None:
    assert str(found["zigzag-4"]).startswith("zigzag-4: C = 81, best possible by theory")
    assert "best possible by theory: 29.69693846" in str(found["square-function-4-dyadic"])
    with pytest.raises(BadInput):
        found["zigzag-4"].function(1.0)
    with pytest.raises(BadInput):
        found["zigzag-4"].certificate.save("/nonexistent/folder/file.json")
