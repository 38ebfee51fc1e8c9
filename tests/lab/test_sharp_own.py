"""Inequalities of one's own: the language, the estimate, the proved upper end, and what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

from burkholder import Inequality, sharp
from burkholder.checker import Rejected, verify
from burkholder.errors import BadInput
from burkholder.lab.sharp import problems
from burkholder.refuter import refuted

pytest.importorskip("flint")

SQUARE = {"x": "x + a", "s": "s + a**2"}
PAIR = {"x": "x + a", "y": "y + k*a"}

# (state, moves, left, right, the least C by theory); E f²S² from Cauchy and Schwarz, p − 1 and Hermite zeros from the literature
ROWS = [
    (SQUARE, "general", "s**2", "C*x**4", 3 + 2 * math.sqrt(2)),
    (SQUARE, "general", "x**4", "C*s**2", 81.0),
    (SQUARE, "general", "x**2", "C*s", 1.0),
    (SQUARE, "rademacher", "x**4", "C*s**2", (3 + math.sqrt(6)) ** 2),
    (SQUARE, "rademacher", "s**2", "C*x**4", (3 - math.sqrt(6)) ** -2),
    (SQUARE, "general", "x**2*s", "C*x**4", 1 + math.sqrt(2)),
    (SQUARE, "rademacher", "x**2*s", "C*s**2", 3 + math.sqrt(6)),
    (PAIR, "transform", "y**4", "C*x**4", 81.0),
]


@pytest.mark.parametrize(("state", "moves", "left", "right", "least"), ROWS)
def test_upper_end_is_proved_near_the_least_constant(state, moves, left, right, least) -> None:
    found = sharp(Inequality(state, moves, left, right))
    assert found.exact is not None and Fraction(found.upper) >= found.exact
    if found.lower is not None:
        assert found.lower < least * (1 + 1e-12) and f"C = {found.walk['constant']}" in refuted(found.walk)
    assert least * (1 - 1e-12) <= found.upper <= least * (1 + 1e-5)
    assert abs(found.estimate / least - 1) < 1e-3
    assert str(found.exact) in verify(json.loads(json.dumps(dict(found.found.certificate.data))))


def test_the_answer_is_a_file_the_checker_reads(tmp_path) -> None:
    found = sharp(Inequality(SQUARE, "general", "s**2", "C*x**4"))
    path = found.save(tmp_path / "mine.json")
    data = json.loads(path.read_text())
    assert f"C = {found.exact}" in verify(data)
    assert "s**2" in verify(data) and "any law with mean 0" in verify(data)


def test_a_transform_of_any_power_has_an_upper_end_and_a_file(tmp_path) -> None:
    found = sharp(Inequality(PAIR, "transform", "abs(y)**2.5", "C*abs(x)**2.5"))
    assert 1.5**2.5 < found.upper < 1.5**2.5 * 1.011 and abs(found.estimate / 1.5**2.5 - 1) < 2e-3
    assert found.function(0.0, 0.0) == 0 and found.function(1.0, 1.0) <= 0 and found.function(0.1, 2.0) >= 2.0**2.5 - found.upper * 0.1**2.5
    path = found.save(tmp_path / "upper.json")
    with pytest.raises(Rejected):
        verify(json.loads(path.read_text()))  # another file verifies these
    assert "interval arithmetic" in check(path) and str(found.exact) in check(path) and "interval" in str(found)


def check(path) -> str:
    from typer.testing import CliRunner

    from burkholder.cli.app import app

    answer = CliRunner().invoke(app, ["check", str(path)])
    assert answer.exit_code == 0
    return answer.stdout


@pytest.mark.parametrize(("left", "right"), [("abs(x)**1.25", "C*s**0.625"), ("x**2*abs(x)/x**3", "C*x**4"), ("abs(x)", "C*s")])
def test_without_a_program_and_a_polynomial_nothing_is_claimed(left, right) -> None:
    found = sharp(Inequality(SQUARE, "general", left, right))
    assert not found.proved and found.upper is None and found.exact is None and "no upper end is proved" in found.why
    with pytest.raises(BadInput, match="no certificate"):
        found.save("nowhere.json")


def test_nothing_known_is_used(monkeypatch) -> None:
    """Known constants and hand-made families changed: the answer to a problem of one's own is the same."""
    from burkholder.discovery import catalogue
    from burkholder.lab.sharp import chains, lower_walks, result, upper_moves, upper_square

    mine = Inequality(SQUARE, "general", "s**2", "C*x**4")
    before = sharp(mine)

    def lie(*_: object, **__: object) -> None:
        raise AssertionError("a hand-made family was asked")

    assert before.proved
    for module in (chains, lower_walks, upper_moves, upper_square):
        for name in [
            name
            for name in vars(module)
            if callable(getattr(module, name)) and getattr(getattr(module, name), "__module__", "") == module.__name__
        ]:
            monkeypatch.setattr(module, name, lie)
    monkeypatch.setattr(problems, "_problems", lie)
    monkeypatch.setattr(result, "solve", lie)
    monkeypatch.setattr(catalogue, "square_function", lie)
    after = sharp(mine)
    assert (after.exact, after.estimate, after.walk) == (before.exact, before.estimate, before.walk)
    assert after.found.certificate == before.found.certificate


def test_homogeneity_is_found() -> None:
    mine = Inequality({"x": "x + a", "s": "s + a**2", "q": "q + a**4"}, "general", "x**4", "C*(s**2 + q)")
    assert mine.weights == {"x": 1, "s": 2, "q": 4} and mine.degree == 4
    assert Inequality(SQUARE, "general", "x**4", "C*s").degree is None
    assert Inequality(SQUARE, "general", "abs(x)**3", "C*sqrt(s)*x**2").degree == 3


def test_a_third_coordinate_is_proved_without_an_estimate() -> None:
    found = sharp(Inequality({"x": "x + a", "s": "s + a**2", "q": "q + a**4"}, "rademacher", "x**4", "C*s**2 - 2*q"))
    assert found.estimate is None and "two coordinates" in found.why
    least = (3 + math.sqrt(6)) ** 2  # steps without limit have q = 0: nothing below this can do, and with q it still does
    assert found.exact is not None and least <= found.upper <= least * (1 + 1e-6)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"moves": "sideways"}, "general"),
        ({"state": {}}, "coordinates"),
        ({"state": {"x": "x + a", "e1": "e1 + a**2"}}, "begin with e"),
        ({"state": {"x": "x + a", "C": "C + a**2"}}, "C the constant"),
        ({"state": {"x": "x + a", "s": "s + x*a"}}, "not x"),
        ({"state": {"x": "2*x + a", "s": "s + a**2"}}, "polynomial in the jump"),
        ({"state": {"x": "x + a", "s": "s + abs(a)"}}, "polynomials in the jump"),
        ({"state": {"x": "x + a", "s": "max(s, sqrt(a))"}}, "running maximum"),
        ({"left": "z**2"}, "z is no coordinate"),
        ({"left": "C*s**2"}, "right side"),
        ({"right": "x**4"}, "right side"),
        ({"right": "C**2*x**4"}, "linearly"),
        ({"right": "-C*x**4"}, "larger"),
        ({"right": "C*x**4/(x - x)"}, "no finite number"),
        ({"right": "C*(1/0)"}, "no finite number"),
        ({"left": "1/0*x"}, "no finite number"),
        ({"left": "(10**11)**64"}, "no finite number"),
        ({"left": "__import__('os')"}, "abs, sqrt"),
        ({"left": "x.real"}, "abs, sqrt"),
        ({"left": "x**9999999"}, "powers"),
        ({"left": "x**x"}, "powers"),
        ({"left": "(" * 300 + "x" + ")" * 300}, "formula|nested"),
        ({"left": "+".join(["x"] * 1000)}, "too long"),
        ({"left": "x" * 5000}, "plain characters"),
        ({"left": 3}, "formula"),
        ({"left": "1e300*x"}, "abs, sqrt|numbers"),
    ],
)
def test_bad_problems_are_refused_with_a_reason(change, match) -> None:
    with pytest.raises(BadInput, match=match):
        Inequality(**{"state": SQUARE, "moves": "general", "left": "s**2", "right": "C*x**4"} | change)


def test_a_name_takes_no_inequality_options() -> None:
    with pytest.raises(BadInput, match="says these itself"):
        sharp(Inequality(SQUARE, "general", "s**2", "C*x**4"), p=4)  # type: ignore[call-overload]


# both ends proved: (moves, left, right, relative width)
BRACKETS = [
    ("general", "s**2", "C*x**4", 1e-4),
    ("general", "x**2*s", "C*x**4", 1e-3),
    ("general", "s**2 + x**2*s", "C*x**4", 1e-3),
    ("general", "x**2", "C*s", 1e-4),
    ("general", "x**4", "C*s**2", 1e-4),
    ("rademacher", "s**2", "C*x**4", 1e-3),
    ("rademacher", "x**2*s", "C*x**4", 1e-3),
    ("rademacher", "s**2", "C*x**2*s", 1e-3),
    ("rademacher", "s**2 + x**2*s", "C*x**4", 1e-3),
    ("rademacher", "x**4", "C*s**2", 1e-3),
]


@pytest.mark.parametrize(("moves", "left", "right", "width"), BRACKETS)
def test_both_ends_are_proved_and_close(moves, left, right, width, tmp_path) -> None:
    found = sharp(Inequality(SQUARE, moves, left, right))
    assert found.proved and 0 < found.width <= width
    data = json.loads(found.save(tmp_path / "walk.json", end="lower").read_text())
    assert "> 0" in refuted(data)


def test_a_quotient_proves_what_no_polynomial_does() -> None:
    """E S⁶ ≤ C·E f⁶: polynomials end at 56.1753, a quotient within 6e-6 of what walks reach."""
    import numpy as np

    found = sharp(Inequality(SQUARE, "general", "s**3", "C*x**6"))
    assert found.found is not None and found.found.problem.martingale == "quotient" and found.upper < 56.1420
    assert found.lower is not None and 56.08 < found.lower < 56.1417 and found.width < 1.1e-3
    rng, u = np.random.default_rng(0), found.function
    x, s = rng.normal(size=400) * 3, rng.exponential(size=400)
    v = s**3 - float(found.exact) * x**6
    assert np.all(u(x, s) >= v - 1e-9 * np.abs(v).max()) and u(0.0, 0.0) == 0.0
    for up, down in ((0.3, 2.0), (1.7, 0.2), (5.0, 1.0)):  # falls in mean along two-valued steps
        mean = (down * u(x + up, s + up**2) + up * u(x - down, s + down**2)) / (up + down)
        assert np.all(mean <= u(x, s) + 1e-9 * (1 + np.abs(u(x, s))))


def test_discover_sends_what_is_no_polynomial_to_sharp() -> None:
    from burkholder import Problem

    with pytest.raises(BadInput, match=r"bk\.sharp"):
        Problem("third", "dyadic", "abs(x)**3 - C*s**2", statistic={"x": "e*d", "s": "d**2"})


def test_discover_takes_an_inequality_as_sharp_does() -> None:
    from burkholder import discover

    assert discover(Inequality(SQUARE, "general", "x**2", "C*s")).exact == 1
    with pytest.raises(BadInput, match=r"bk\.sharp"):
        discover(Inequality(SQUARE, "rademacher", "abs(x)**3", "C*s**1.5"))


def test_the_command_line_checks_both_ends(tmp_path) -> None:
    from typer.testing import CliRunner

    from burkholder.cli.app import app

    found = sharp(Inequality(SQUARE, "rademacher", "s**2", "C*x**4"))
    for end in ("upper", "lower"):
        path = found.save(tmp_path / f"{end}.json", end=end)
        answer = CliRunner().invoke(app, ["check", str(path), "--json"])
        assert answer.exit_code == 0 and json.loads(answer.stdout)["verified"]
        spoiled = json.loads(path.read_text()) | {"constant": "1" if end == "upper" else "100"}
        path.write_text(json.dumps(spoiled))
        assert CliRunner().invoke(app, ["check", str(path)]).exit_code != 0


@pytest.mark.parametrize(
    ("state", "left", "right", "least"),
    [
        (SQUARE, "x**2", "C*x**2", 1),  # s is used by nothing
        (SQUARE, "x**2 - x**2", "C*x**2", 0),
        ({"s": "s + a**2", "t": "t + a**2"}, "s", "C*t", 1),
    ],
)
def test_a_coordinate_that_nothing_uses_is_no_part_of_the_statement(state, left, right, least) -> None:
    found = sharp(Inequality(state, "general", left, right))
    assert found.exact == least
    assert ("s = " in found.found.statement) == ("s" in left)


def test_a_problem_that_the_checker_refuses_is_not_found_rather_than_an_error_of_ours() -> None:
    from burkholder.discovery import NotFound, Problem, discover

    with pytest.raises(NotFound, match="used by neither"):
        discover(Problem("idle", "dyadic", "x**2 - C*s", {"x": "e*c", "s": "c**2", "t": "c**2"}))
