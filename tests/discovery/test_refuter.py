"""Walks that refute: an honest one passes, any change of what it states or rests on is refused, and a simulation agrees."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from burkholder.checker import Poly, Rejected, digest, number, parse
from burkholder.discovery.mutations import mutations
from burkholder.refuter import RAY, refuted


def sealed(data: dict) -> dict:
    data = {k: v for k, v in data.items() if k != "digest"}
    return data | {"digest": digest(data)}


def target(data: dict) -> Poly:
    return parse(data["target"]).at(C=number(Fraction(data["constant"])))


@pytest.fixture(scope="module")
def honest() -> dict:
    pytest.importorskip("flint")
    from burkholder.lab.sharp.lower import lower

    found = lower("y**4 - C*x**4", "rademacher", 4, 3.2996598)
    assert found is not None
    return json.loads(json.dumps(found))


def loosened(before: dict, now: dict) -> bool:
    """Another V ≥ the honest one wherever x, y ≥ 0, or twice it; on a ray x times it, or its square: refuted as well, and worded so."""
    old, new = target(before), target(now)
    ray = now["format"] == RAY and new in (old * parse("x"), old * old)
    return ray or new == old + old or all(c >= 0 for c in (new - old).values())


def test_every_change_is_refused_or_proves_the_same(honest) -> None:
    said, tried = refuted(honest), 0
    for mutation in mutations(honest):
        tried += 1
        try:
            again = refuted(mutation.certificate)
        except Rejected:
            continue
        assert not mutation.typed and (again == said or loosened(honest, mutation.certificate)), (mutation.path, mutation.what)
    assert tried > 500


def two_pieces() -> dict | None:
    """A coarse walk with two pieces and powers of the ratio below: quick to check, so that many changes of it can be tried."""
    from burkholder.lab.sharp.lower import Search
    from burkholder.lab.sharp.plan import Plan

    up = Fraction(1, 9999)
    opening = ((Fraction(1, 3), Fraction(-7, 4)),)
    plan = Plan("x", (Fraction(483, 200), Fraction(8), Fraction(900)), ((up, Fraction(2)), (up, Fraction(33, 16))), opening)
    return Search("y**4 - C*x**4", "general", 4).attempt(plan, Fraction(28, 5))


def ray() -> dict | None:
    from burkholder.lab.sharp.lower import lower

    return lower("x**3 - C*y**3", "general", 3, 8.0)


@pytest.mark.parametrize("make", [two_pieces, ray])
def test_walks_of_several_jumps_and_rays_are_attacked_too(make) -> None:
    pytest.importorskip("flint")
    found = make()
    assert found is not None
    data = json.loads(json.dumps(found))
    said = refuted(data)
    for mutation in list(mutations(data))[:: 5 if "h" in data else 1]:
        try:
            again = refuted(mutation.certificate)
        except Rejected:
            continue
        assert not mutation.typed and (again == said or loosened(data, mutation.certificate)), (mutation.path, mutation.what)


@pytest.mark.parametrize("factor", ["101/100", "2"])
def test_a_larger_constant_is_refused(honest, factor) -> None:
    more = sealed(honest | {"constant": str(Fraction(honest["constant"]) * Fraction(factor))})
    with pytest.raises(Rejected):
        refuted(more)


def test_other_moves_and_steps_are_refused(honest) -> None:
    up = Fraction(honest["steps"][0][0])
    for change in ({"moves": "any"}, {"unit": "z"}, {"unit": "x"}, {"steps": [[str(up), str(2 * up)]]}, {"steps": [["1/3", "1/3"]]}):
        with pytest.raises(Rejected):
            refuted(sealed(honest | change))
    for change in ({"rate": "0"}, {"rate": "1"}, {"k": "1"}, {"h": "0"}, {"h": honest["h"] + " + 1"}, {"opening": [["3/4", "3/4"]]}):
        with pytest.raises(Rejected):
            refuted(sealed(honest | change))


def test_the_walk_earns_what_is_proved() -> None:
    """A coarse refutation, played: the exact mean over all paths of the first rounds is above zero long before the end."""
    pytest.importorskip("flint")
    from burkholder.lab.sharp.lower import Search
    from burkholder.lab.sharp.plan import Plan

    search = Search("x - C*y", "rademacher", 1)
    plan = Plan("y", (Fraction(0), Fraction(11, 10)), ((Fraction(24, 143), Fraction(24, 143)),), ())
    data = search.attempt(plan, Fraction(1))
    assert data is not None and "> 0" in refuted(data)
    mass, x, y = np.ones(1), np.ones(1), np.ones(1)
    total = 0.0
    for _ in range(15):
        d = 24 / 143 * y
        x, y, mass = np.abs(np.concatenate([x + d, x - d])), np.concatenate([np.hypot(y, d)] * 2), np.concatenate([mass, mass]) / 2
        out = x > 1.1 * y
        total += float(np.sum(mass[out] * (x - y)[out]))
        x, y, mass = x[~out], y[~out], mass[~out]
    assert total > 0


@pytest.mark.parametrize(
    "change", [{"down": "1/2"}, {"rounds": 5}, {"rounds": 1}, {"constant": "8"}, {"down": "1"}, {"moves": "rademacher"}]
)
def test_a_ray_that_does_not_pay_is_refused(change) -> None:
    pytest.importorskip("flint")
    from burkholder.lab.sharp.lower import lower

    found = lower("x**3 - C*y**3", "general", 3, 8.0)
    assert found is not None and "rounds" in found and "> 0" in refuted(found)
    with pytest.raises(Rejected):
        refuted(sealed(dict(found) | change))


def test_the_mean_after_a_step_is_that_of_its_two_outcomes() -> None:
    """`change` against the definition, at points, for functions with powers of the ratio below."""
    from burkholder.refuter import change, value, ways

    f, p, under = parse("3*z**5 - z**2 + 2"), 4, 2
    for unit, below in (("x", under), ("y", 0)):
        step = ways(unit, Fraction(3, 4), Fraction(3, 4) if unit == "y" else Fraction(9, 5))
        for z in (Fraction(2), Fraction(7, 3)):
            mean = sum(way.chance * way.growth**p * value(f, way.land(z)) / way.land(z) ** below for way in step)
            scale = z**below
            for way in step:
                scale *= (z + way.shift) ** below
            claimed = value(change(f, below, p, step, Fraction(1, 3)), z)
            assert claimed == (mean - value(f, z) / z**below / 3) * scale
