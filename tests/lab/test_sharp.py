"""Sharp constants: every row against theory, both ends against independent arithmetic, and wrong ones refused."""

from __future__ import annotations

import json
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burkholder.errors import BadInput
from burkholder.lab.sharp import chains, find, lower_walks, names, sharp, upper_moves, upper_square, walks
from burkholder.lab.sharp.ends import above, below, candidates
from burkholder.lab.sharp.program import Solution
from burkholder.lab.sharp.signs import at, bernstein, nonnegative

pytest.importorskip("flint")


SETTLED = [name for name in names() if find(name).known is not None]


@cache
def found(name: str):
    return sharp(name)


@pytest.mark.parametrize("name", SETTLED)
def test_constant_matches_theory_with_a_narrow_proved_bracket(name: str) -> None:
    answer = found(name)
    assert answer.proved, answer
    assert abs(answer.constant - answer.known) <= 1e-3
    assert answer.lower <= answer.known <= answer.upper + 1e-12
    assert answer.width <= 1e-2
    assert answer.lower < answer.constant <= answer.upper
    # the program is an estimate, but a good one
    assert abs(answer.estimate / answer.known - 1) < 1e-3


def moves(problem, value, x, y, d, rng):
    """E U after a random move, written here from the definition of the moves alone."""
    if problem.moves == "dyadic":
        s = np.sqrt(y**2 + d**2)
        return (value(np.abs(x + d), s) + value(np.abs(x - d), s)) / 2
    if problem.moves == "decoupled":
        return sum(value(np.abs(x + a * d), np.abs(y + b * d)) for a in (-1, 1) for b in (-1, 1)) / 4
    e = np.abs(d) * 10.0 ** rng.uniform(-3, 3, d.shape)  # up by e, down by d, mean zero
    up, chance = e, np.abs(d) / (e + np.abs(d))
    down = -np.abs(d)
    flip = rng.choice([-1.0, 1.0], d.shape)
    up, down = flip * up, flip * down
    if problem.moves == "general":
        after = [value(np.abs(x + step), np.sqrt(y**2 + step**2)) for step in (up, down)]
    else:
        sign = rng.choice([-1.0, 1.0], d.shape)
        after = [value(np.abs(x + step), np.abs(y + sign * step)) for step in (up, down)]
    return chance * after[0] + (1 - chance) * after[1]


@pytest.mark.parametrize("name", [n for n in SETTLED if not n.startswith("smooth")])
def test_certified_function_has_its_three_properties_at_random_points(name: str) -> None:
    answer, rng = found(name), np.random.default_rng(1)
    problem, value = answer.problem, answer.upper_end.value
    t, d = rng.uniform(1e-9, 1 - 1e-9, 200_000), 10.0 ** rng.uniform(-4, 4, 200_000)
    x, y = t, 1 - t
    power = problem.power(answer.constant)
    size = (1 + d) ** problem.p * max(1.0, power)
    assert np.min((value(x, y) - problem.target(x, y, power)) / max(1.0, power)) > -1e-9
    # general moves may be larger than d: their own scale decides the rounding error
    rise = moves(problem, value, x, y, d, rng) - value(x, y)
    slack = 1e-9 * (size if problem.moves in ("dyadic", "decoupled") else size * 1e3 ** max(problem.p, 1))
    assert np.max(rise - slack) <= 0
    assert value(np.array([1.0]), np.array([1.0]))[0] <= 1e-12


@pytest.mark.parametrize("name", [n for n in SETTLED if not n.startswith("smooth")])
def test_two_percent_less_is_not_majorised(name: str) -> None:
    answer = found(name)
    t = np.linspace(1e-6, 1 - 1e-6, 20_001)
    power = answer.problem.power(answer.constant * 0.98)
    gap = answer.upper_end.value(t, 1 - t) - answer.problem.target(t, 1 - t, power)
    assert gap.min() < -1e-4


@pytest.mark.parametrize("name", SETTLED)
def test_no_martingale_is_accepted_above_the_sharp_constant(name: str) -> None:
    answer = found(name)
    problem = answer.problem
    contact = answer.upper_end.contact
    attempts = {
        "transform": lambda c, z: chains.transform(problem, c),
        "smooth": lambda c, z: chains.smooth(problem, c),
        "general": lambda c, z: (chains.general_first if problem.p == 1 else chains.general_power)(problem, c),
        "decoupled": lambda c, z: lower_walks.decoupled(problem, c, z),
        "dyadic": lambda c, z: (lower_walks.inner if problem.reverse or problem.p == 1 else lower_walks.outer)(problem, c, z),
    }
    # a wrong contact ratio, too: the walk is then set up where V_C > 0, and the signs of h and k must refuse it
    wrong = contact * (0.97 if problem.reverse else 1.03)
    for factor in (1.00001, 1.001, 1.02):
        for ratio in (contact, wrong):
            assert not attempts[problem.moves](Fraction(answer.known * factor), ratio).proved


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("transform-1.5", upper_moves._transform),
        ("transform-3", upper_moves._transform),
        ("transform-4", upper_moves._transform),
        ("square-function-3-general", upper_square._general_power),
        ("square-function-4-general", upper_square._general_power),
    ],
)
@settings(deadline=None, max_examples=20)
@given(shift=st.floats(1e-6, 0.2))
def test_families_hold_above_and_fail_below_the_sharp_ratio(name: str, family, shift: float) -> None:
    problem = find(name)
    ratio = Fraction(problem.known if problem.root else problem.known ** (1 / problem.p)).limit_denominator(10)
    assert family(problem, ratio + Fraction(shift)).proved
    assert not family(problem, ratio - Fraction(shift)).proved


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("square-function-dyadic", upper_square.dyadic_first),
        ("square-function-3-dyadic", upper_square.dyadic_third),
        ("reverse-square-function-3-dyadic", upper_square.dyadic_third_reverse),
        ("square-function-general", upper_square.general_first),
        ("decoupled-4", upper_moves.decoupled),
    ],
)
@pytest.mark.parametrize("error", [-0.05, 0.05])
def test_a_poor_estimate_moves_no_bound_below_the_truth(name: str, family, error: float) -> None:
    problem, program = find(name), found(name).program
    off = Solution(problem, program.power * (1 + error), program.spline, program.rounds, program.constraints)
    end = family(problem, off)
    assert end.proved and end.quoted >= problem.known - 1e-12


def test_zigzag_chain_equals_direct_recursion() -> None:
    """The closed formula E V = ½(ρ^N − C^p) against the chain written out step by step."""
    problem, c, d = find("transform-4"), Fraction(5, 2), Fraction(1, 8)
    end = chains.transform(problem, c, d)
    cycles = int(end.parameters["cycles"])
    scale_mass = {Fraction(1): Fraction(1, 2)}  # half of the start goes to (0, 1)
    total = -Fraction(1, 2) * c**4  # the other half stops at (1, 0)
    for _ in range(cycles):
        new: dict[Fraction, Fraction] = {}
        for scale, mass in scale_mass.items():
            for height, chance in ((scale * (1 + 2 * d), Fraction(1, 2)), (scale, Fraction(1, 2))):
                stop = scale * d * (1 + c) / height  # from x = δ·scale on the line x+y = height to y = Cx
                corner = height / (1 + c)
                assert (corner * c) ** 4 - c**4 * corner**4 == 0  # V vanishes where it stops
                new[height] = new.get(height, Fraction(0)) + mass * chance * (1 - stop)
        scale_mass = new
    total += sum(mass * scale**4 for scale, mass in scale_mass.items())
    rho = Fraction(1, 2) * ((1 + 2 * d) ** 4 * (1 - d * (1 + c) / (1 + 2 * d)) + 1 - d * (1 + c))
    assert total == (rho**cycles - c**4) / 2
    assert total > 0 and end.proved


def test_stopped_walk_certificate_against_every_path() -> None:
    """A coarse certified walk, followed over all 2^14 paths: h is a submartingale, k decays at its rate."""
    k, mu, z1, constant = 12, Fraction(1, 20), Fraction(11, 10), Fraction(1)
    h, decay = lower_walks._kummer(-Fraction(1, 2) + mu), lower_walks._kummer(-Fraction(1, 2) - mu)
    target = lower_walks._poly(-constant, 1)
    r, _ = walks.pythagorean(k)
    gain = h * lower_walks._q(at(target, z1) / at(h, z1))
    walk = walks.StoppedWalk(
        walks.rademacher(1, k), Fraction(0), z1, True, target, gain, decay, mu * r**2 / 8, Fraction(1), Fraction(1), Fraction(0)
    )
    checks, steps = walk.certify()
    assert all(passed for _, passed in checks) and steps > 100
    x, s = np.ones(1), np.ones(1)
    for n in range(1, 15):
        step = float(r) * np.sqrt(s) * (np.abs(x) < float(z1) * np.sqrt(s))
        x, s = np.concatenate([x + step, x - step]), np.concatenate([s + step**2] * 2)
        root = np.sqrt(s)
        alive = np.abs(x) < float(z1) * root
        going = root * np.polynomial.Polynomial([float(c.p) / float(c.q) for c in gain.coeffs()])(x / root)
        kept = root * np.polynomial.Polynomial([float(c.p) / float(c.q) for c in decay.coeffs()])(x / root)
        worth = np.where(alive, going, np.abs(x) - float(constant) * root)
        assert np.mean(worth) >= float(at(gain, Fraction(1))) * (1 - 1e-12)
        assert np.mean(kept * alive) <= (1 - float(walk.rate)) ** n * float(at(decay, Fraction(1))) * (1 + 1e-12)


@given(st.lists(st.fractions(-5, 5, max_denominator=20), min_size=1, max_size=6))
@settings(deadline=None, max_examples=60)
def test_bernstein_coefficients_enclose_the_polynomial(coefficients: list[Fraction]) -> None:
    from flint import fmpq, fmpq_poly

    poly = fmpq_poly([fmpq(c.numerator, c.denominator) for c in coefficients])
    enclosure = bernstein(poly, Fraction(-1), Fraction(2))
    values = [at(poly, Fraction(k, 8)) for k in range(-8, 17)]
    assert min(enclosure) <= min(values) and max(values) <= max(enclosure)
    if nonnegative(poly, Fraction(-1), Fraction(2), depth=12):
        assert min(values) >= 0
    if min(values) < 0:
        assert not nonnegative(poly, Fraction(-1), Fraction(2))


@given(st.fractions(-100, 100))
def test_rounding_goes_outward(value: Fraction) -> None:
    assert Fraction(below(value)) <= value <= Fraction(above(value))
    assert above(value) - below(value) <= 2 * np.spacing(abs(float(value)) + 1)


def test_candidates_start_with_simple_numbers() -> None:
    assert candidates(1.99998)[0] == 2
    assert candidates(1.234567)[0] != 1


@pytest.mark.parametrize("name", ["transform-4", "square-function-4-dyadic", "decoupled-4"])
def test_the_program_meets_its_own_constraints_between_grid_points(name: str) -> None:
    """The spline of the program majorises V and is concave along the moves up to the grid's resolution."""
    answer, rng = found(name), np.random.default_rng(2)
    problem, program = answer.problem, answer.program
    t, d = rng.uniform(0.02, 0.98, 20_000), 10.0 ** rng.uniform(-2, 1, 20_000)
    gap = program.value(t, 1 - t) - problem.target(t, 1 - t, program.power)
    assert gap.min() > -1e-3 * program.power
    rise = moves(problem, program.value, t, 1 - t, d, rng) - program.value(t, 1 - t)
    wide = (1 + d * (1 if problem.moves != "transform" else 1e3)) ** problem.p
    assert np.max(rise / (d**2 * wide)) < 1e-2 * program.power


def test_names_can_be_completed_and_unknown_ones_say_what_exists() -> None:
    assert find("square-function", martingale="dyadic", p=4).name == "square-function-4-dyadic"
    assert find("decoupled").name == "decoupled-4"
    assert find("zigzag", p=4).name == "transform-4"
    assert find("transform-2.5").known == 1.5
    with pytest.raises(BadInput, match="square-function-dyadic"):
        sharp("square-functoin")
    with pytest.raises(BadInput):
        sharp(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [n for n in names() if "dyadic" in n or n.startswith("decoupled")])
def test_walks_can_be_checked_again_and_a_larger_gain_fails(name: str) -> None:
    from dataclasses import replace

    walk = found(name).lower_end.walk
    assert all(passed for _, passed in walk.certify()[0])
    # promising 1 % more at the stop than V pays there, or a much faster decay, is refused
    greedy = replace(walk, gain=walk.gain * lower_walks._q(Fraction(101, 100)))
    hasty = replace(walk, rate=walk.rate * 10**6)
    for wrong in (greedy, hasty):
        assert not all(passed for _, passed in wrong.certify()[0])


def test_plot_is_written(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("square-function-dyadic", "smoothness-4"):
        path = tmp_path / f"{name}.png"
        found(name).plot(path)
        assert path.read_bytes()[:4] == b"\x89PNG"


def test_command_prints_the_promised_keys(capsys) -> None:
    from burkholder.cli.sharp import sharp as command

    command("transform-3", False, True, None)
    data = json.loads(capsys.readouterr().out)
    assert {"constant", "lower", "upper", "known", "seconds"} <= set(data)
    assert data["lower"] <= 2 <= data["upper"]
    command(None, True, True, None)
    assert json.loads(capsys.readouterr().out) == names()
    with pytest.raises(BadInput):
        command(None, False, False, None)
