"""Walks that refute: an honest one passes, any change of what it states or rests on is refused, and a simulation agrees."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from burkholder.checker import Poly, Rejected, digest, number, parse
from burkholder.discovery.mutations import mutations
from burkholder.refuter import refuted


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


def test_every_change_is_refused_or_proves_the_same(honest) -> None:
    said, tried = refuted(honest), 0
    for mutation in mutations(honest):
        tried += 1
        try:
            again = refuted(mutation.certificate)
        except Rejected:
            continue
        # what is above V wherever x, y ≥ 0, and twice V, are refuted by the same walk: true statements, and worded as what they are
        before, now = target(honest), target(mutation.certificate)
        true = now == before + before or all(c >= 0 for c in (now - before).values())
        assert not mutation.typed and (again == said or true), (mutation.path, mutation.what)
    assert tried > 500


@pytest.mark.parametrize("factor", ["101/100", "2"])
def test_a_larger_constant_is_refused(honest, factor) -> None:
    more = sealed(honest | {"constant": str(Fraction(honest["constant"]) * Fraction(factor))})
    with pytest.raises(Rejected):
        refuted(more)


def test_other_moves_and_steps_are_refused(honest) -> None:
    up = Fraction(honest["step"][0])
    for change in ({"moves": "any"}, {"unit": "z"}, {"unit": "x"}, {"step": [str(up), str(2 * up)]}, {"step": ["1/3", "1/3"]}):
        with pytest.raises(Rejected):
            refuted(sealed(honest | change))
    for change in ({"rate": "0"}, {"rate": "1"}, {"k": "1"}, {"h": "0"}, {"h": honest["h"] + " + 1"}, {"opening": ["3/4"]}):
        with pytest.raises(Rejected):
            refuted(sealed(honest | change))


def test_the_walk_earns_what_is_proved() -> None:
    """A coarse refutation, played: the exact mean over all paths of the first rounds is above zero long before the end."""
    pytest.importorskip("flint")
    from burkholder.lab.sharp.lower import Plan, Search

    search = Search("x - C*y", "rademacher", 1)
    plan = Plan("y", Fraction(24, 143), Fraction(24, 143), Fraction(0), Fraction(11, 10), ())
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
