"""What `sharp` states is what it solves: statements are made from the problem, and the open one says that it is open."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

pytest.importorskip("flint")

from burkholder.lab.sharp import find, names, sharp
from burkholder.lab.sharp.ends import shown_above, shown_below
from burkholder.lab.sharp.one_sided import upper


@pytest.mark.parametrize("name", names())
def test_a_statement_names_what_moves_and_what_is_compared(name: str) -> None:
    problem = find(name)
    words = problem.statement
    if problem.moves == "smooth":
        assert "(‖x+h‖² + ‖x−h‖²)/2" in words and "E" not in words  # one step, not a martingale
        return
    left, right = words.split(",")[0].split(" ≤ C")
    first, second = ("f", "S" if "square" in name else "g")[:: -1 if problem.reverse else 1]
    assert first in left and second in right
    assert (f"{problem.p:g}" in left) == (problem.p != 1)
    assert ("both sequences" in words) == (problem.moves == "decoupled")
    assert ("e_{t−1} alone" in words) == (problem.moves == "one-sided")
    assert ("any martingale" in words) == (problem.moves in ("general", "transform"))


def test_the_papers_decoupled_inequality_has_the_bracket_that_is_proved() -> None:
    answer = sharp("one-sided-decoupled-4")
    assert answer.proved and answer.known is None
    assert answer.upper == 25.0 and answer.upper_end.parameters["a"] == "5/2"
    h2, root = 2**0.5 - 1, 2**0.25
    walk = (h2**0.5 * (2 - root) / (root - 1)) ** 4 / (2 * (3 - 2 * h2**2))  # what the walk tends to
    assert walk - 1e-8 < answer.lower < walk == pytest.approx(10.8878157825)
    assert "not known" in str(answer)


@pytest.mark.parametrize("a", [1.5, 2.0, 2.4, 2.6, 4.0])
def test_any_member_of_the_family_is_valid_and_none_is_better(a: float) -> None:
    end = upper(a)
    assert end.proved and end.quoted > 25.0


def test_the_inequality_holds_on_random_trees_at_25_and_fails_at_9() -> None:
    """v chosen by e alone, E over every path; E g⁴ by the second signs' own tree."""
    rng = np.random.default_rng(0)
    worst, n = 0.0, 5
    for _ in range(300):
        steps = [rng.standard_normal(2**t) * 10.0 ** rng.uniform(-1, 1, 2**t) for t in range(n)]
        left = right = 0.0
        for signs in product((1, -1), repeat=n):
            nodes = [int("".join("1" if s > 0 else "0" for s in signs[:t]) or "0", 2) for t in range(n)]
            v = np.array([steps[t][nodes[t]] for t in range(n)])
            left += float(np.dot(signs, v)) ** 4
            right += 3 * float(v @ v) ** 2 - 2 * float((v**4).sum())
        worst = max(worst, left / right)
    assert 1.0 < worst <= 25.0
    assert Fraction(sharp("one-sided-decoupled-4").lower) > 9


def test_the_digits_printed_are_proved_too() -> None:
    """Rounding to nearest would print an upper end below what was proved, every other time."""
    rng = np.random.default_rng(1)
    for number in [25.0, 1.0, 81.0, 9.999999999999, *np.exp(rng.uniform(-3, 8, 500)).tolist()]:
        high, low = Fraction(shown_above(number)), Fraction(shown_below(number))
        assert low <= Fraction(number) <= high and high - low <= Fraction(number) / 10**7
    answer = sharp("square-function-dyadic")
    low, high = str(answer).split("bracket   [")[1].split("]")[0].split(", ")
    assert Fraction(low) <= Fraction(answer.lower) and Fraction(answer.upper) <= Fraction(high)


def test_the_catalogues_inequality_is_stated_with_a_constant_that_holds() -> None:
    """1.3069 is below the sharp constant 1.30693: with it the inequality would be false."""
    from burkholder.lab.inequalities import inequality
    from burkholder.potentials import NU

    for name in ("square-function", "square-function-coordinates", "square-function-l4"):
        stated = float(inequality(name).statement.split("≤ ")[1].split("·")[0])
        assert NU <= stated < NU + 1e-5


@pytest.mark.parametrize("steps", [1, 7, 200])
def test_the_walk_of_the_papers_inequality_step_by_step(steps: int) -> None:
    """E f⁴ ÷ E g⁴ summed along the walk, g⁴ over all signs e' for a short one, against the closed form."""
    import itertools

    from burkholder.lab.sharp.one_sided import lower

    h, root = (2**0.5 - 1) ** 0.5, 2**0.25
    r = h / (root - 1)
    last = (11 - (121 - (r * r - 1) * (11 * r * r - 121)) ** 0.5) / (r * r - 1)
    x = s = q = above = below = 0.0
    for k in range(12 + steps):
        step = 1.0 if k < 11 else last if k == 11 else h * s**0.5
        s, q = s + step**2, q + step**4
        above, below = above + 0.5 ** (k + 1) * (x - step) ** 4, below + 0.5 ** (k + 1) * (3 * s * s - 2 * q)
        x += step
    above, below = above + 0.5 ** (12 + steps) * x**4, below + 0.5 ** (12 + steps) * (3 * s * s - 2 * q)
    assert lower(steps).quoted == pytest.approx(above / below, rel=1e-9)
    v = [1.0, 1.0, 0.7, 2.0]
    fourth = sum(sum(e * a for e, a in zip(signs, v)) ** 4 for signs in itertools.product([1, -1], repeat=4)) / 16
    assert fourth == pytest.approx(3 * sum(a**2 for a in v) ** 2 - 2 * sum(a**4 for a in v))
