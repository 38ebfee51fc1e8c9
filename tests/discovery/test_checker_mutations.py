"""Nothing but an honest certificate is accepted: every entry changed in type and value, and sealed again."""

from __future__ import annotations

import copy
import json
from collections import Counter
from functools import cache
from itertools import islice
from typing import Any

import pytest

pytest.importorskip("flint")
pytest.importorskip("cvxpy")

from burkholder.checker import Rejected, digest
from burkholder.discovery import discover, names
from burkholder.discovery.mutations import attack, mutations, places
from burkholder.limited import verify


@cache
def honest(name: str) -> dict[str, Any]:
    return json.loads(json.dumps(dict(discover(name).certificate.data)))


@pytest.mark.parametrize("name", names())
def test_no_changed_certificate_is_accepted(name: str) -> None:
    """Every seventh change here; `bench/discovery.py` and the slow test try them all."""
    tally = attack(honest(name), islice(mutations(honest(name)), len(name) % 7, None, 7))
    assert tally.tried > 80
    assert not tally.accepted, [(m.path, m.what) for m in tally.accepted]


@pytest.mark.slow
def test_none_of_all_the_changed_certificates_is_accepted() -> None:
    tallies = [attack(honest(name)) for name in names()]
    assert sum(tally.tried for tally in tallies) >= 20_000
    assert not any(tally.accepted for tally in tallies)


def test_there_are_enough_changes_and_they_reach_every_place() -> None:
    total = 0
    for name in names():
        changed = Counter(mutation.path for mutation in mutations(honest(name)))
        assert all(changed[path] >= 10 for path, _ in places(honest(name)))
        total += sum(changed.values())
    assert total >= 20_000


def test_the_attack_notices_what_a_lax_checker_accepts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checker that reads int(p) would prove a false theorem: the attack must say so."""
    from burkholder.discovery import mutations as room

    def lax(certificate: Any) -> str:
        try:
            certificate = copy.deepcopy(certificate)
            certificate["problem"]["p"] = int(certificate["problem"]["p"])
            certificate["digest"] = digest(certificate)
        except Exception as error:
            raise Rejected(str(error)) from None
        return verify(certificate)

    monkeypatch.setattr(room, "verify", lax)
    assert any(mutation.path == ("problem", "p") for mutation in attack(honest("smoothness-4")).accepted)


def test_the_name_is_no_part_of_what_is_proved() -> None:
    data = honest("zigzag-4")
    boast = data | {"name": "E|f|⁴ ≤ 1·E|g|⁴, sharp"}
    assert verify(boast | {"digest": digest(boast)}) == verify(data)
    escape = data | {"name": "\x1b[2Jproved"}
    with pytest.raises(Rejected, match="plain text"):
        verify(escape | {"digest": digest(escape)})
