"""Upper ends by splines: proved in intervals, refused when touched, and intervals that contain what they say."""

from __future__ import annotations

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

from burkholder import Inequality
from burkholder.checker import Rejected, digest
from burkholder.lab.exact.spans import Span
from burkholder.lab.sharp import lifted, own, splined
from burkholder.lab.sharp.shape import Program

PAIR = {"x": "x + a", "y": "y + k*a"}
SQUARE = {"x": "x + a", "s": "s + a**2"}


def _found(inequality: Inequality, gaps: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.setattr(lifted, "GAPS", gaps)
    program = Program(own.game(inequality)[0], 72)
    found = lifted.lifted(inequality, program, program.solve()[0])
    assert found is not None
    return found


@pytest.fixture(scope="module")
def cubes() -> dict:
    with pytest.MonkeyPatch.context() as patch:
        return _found(Inequality(PAIR, "transform", "abs(y)**3", "C*abs(x)**3"), (1e-2,), patch)


def test_transforms_have_an_upper_end_for_every_power(cubes) -> None:
    assert 8 < Fraction(cubes["constant"]) < 8 * 1.011
    assert "proved in interval arithmetic" in splined.verify(json.loads(json.dumps(cubes)))


def _changed(data: dict, **entries: object) -> dict:
    data = copy.deepcopy(data) | entries
    return data | {"digest": digest(data)}


def test_what_is_changed_is_refused(cubes) -> None:
    second = list(cubes["second"])
    second[40] = str(Fraction(second[40]) + 1)
    for entries in (
        {"constant": "8"},  # the very sharp one: nothing is left for a spline
        {"constant": "39/5"},
        {"second": second},
        {"second": second[:-1]},
        {"first": str(Fraction(cubes["first"]) - Fraction(1, 8))},
        {"slope": str(Fraction(cubes["slope"]) + 8)},
        {"left": "abs(y)**3 + abs(x)**3"},
        {"right": "C*abs(x)**3 - abs(y)**3/20"},
        {"right": "C*abs(x)**2"},
        {"state": {"x": "x + a", "y": "y + 2*k*a"}},
        {"moves": "general"},
        {"knots": ["1/2", *cubes["knots"][1:]]},
        {"extra": 1},
        {"format": "burkholder spline 2"},
    ):
        with pytest.raises(Rejected):
            splined.verify(_changed(cubes, **entries), 200_000)
    with pytest.raises(Rejected, match="changed after"):
        splined.verify({**cubes, "name": "other"})


def test_a_name_with_the_letter_of_the_constant_does_not_garble_the_statement(cubes) -> None:
    renamed = _changed(cubes, state={"xC": "xC + a", "y": "y + k*a"}, right="C*abs(xC)**3")
    assert "E[C*abs(xC)**3], xC ← xC + a" in splined.verify(renamed)


@pytest.mark.parametrize("general", [True, False])
def test_bounds_of_a_step_contain_the_step(general) -> None:
    """For random splines, boxes and points in them: no value above its bound."""
    rng = np.random.default_rng(5)
    for p in (1, Fraction(3, 2), 2, 3, Fraction(9, 2)):
        p = Fraction(p)
        knots = np.unique(np.concatenate([[0, 1], np.round(rng.random(6) * 64) / 64]))
        first, second = float(rng.integers(-8, 8)) / 4, rng.normal(size=len(knots)) * 5
        u = splined.Spline(p, knots, first, -float(p) * first, second)
        steps = splined.Steps(u, general)

        def value(x, y, u=u, p=p):
            r = np.abs(x) + y
            return r ** float(p) * u.at(np.abs(x) / r)[0].low

        def slope(t, u=u, p=p):
            g, g1, _ = u.at(t)
            return float(p) * g.low + (1 - t) * g1.low

        for scale in (1e-3, 0.1):
            t0, m0 = rng.random(400) * 0.98, 10 ** rng.uniform(-3, -0.05, 400)
            t, m = Span(t0, np.minimum(t0 + scale * rng.random(400), 0.999)), Span(m0, np.minimum(m0 * (1 + scale), 0.999))
            at = [s.low + rng.random(400) * (s.high - s.low) for s in (t, m)]
            keep = 1 - at[1]
            x, y = keep * at[0], keep * (1 - at[0])
            after = np.hypot(y, at[1])
            for sign in (1, -1) if general else (1,):
                if general:
                    rise = value(x + sign * at[1], after) - value(x, y) - sign * at[1] * keep ** (float(p) - 1) * slope(at[0])
                else:
                    rise = (value(x + at[1], after) + value(x - at[1], after)) / 2 - value(x, y)
                size = 1e-12 * (1 + np.abs(second).max())
                assert (rise <= steps.large(sign)(t, m) + size).all()
                assert (rise <= steps.small(sign)(t, m) * (after - y) + size).all()


def test_intervals_contain_exact_results() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=200), rng.normal(size=200)
    one, two = Span.of(a), Span.of(b)
    for got, act in ((one + two, "__add__"), (one - two, "__sub__"), (one * two, "__mul__"), (one / two, "__truediv__")):
        for low, high, x, y in zip(got.low, got.high, a, b):
            assert Fraction(low) <= getattr(Fraction(x), act)(Fraction(y)) <= Fraction(high)
    for k in (1, 2, 3, 5):
        wide = Span(np.minimum(a, b), np.maximum(a, b)).power(Fraction(k))
        for low, high, x, y in zip(wide.low, wide.high, a, b):
            inside = [Fraction(x), Fraction(y), (Fraction(x) + Fraction(y)) / 2] + [Fraction(0)] * int(x * y < 0)
            assert all(Fraction(low) <= z**k <= Fraction(high) for z in inside)
    assert not (Span(-1.0, 1.0).power(Fraction(-1)).high < np.inf)
    assert np.isnan(Span(-2.0, -1.0).sqrt().high)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moves", "left", "right", "least"), [("rademacher", "abs(x)", "C*sqrt(s)", 1.3069297), ("general", "abs(x)", "C*sqrt(s)", 2.0)]
)
def test_square_functions_of_power_one(moves, left, right, least, monkeypatch) -> None:
    found = _found(Inequality(SQUARE, moves, left, right), (1e-2,), monkeypatch)
    assert least < Fraction(found["constant"]) < least * 1.011
