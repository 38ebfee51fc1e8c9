"""Claims that follow from others, and claims that a line of algebra settles."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from burkholder.functions.base import BurkholderFunction
from burkholder.lab.claims import STATEMENTS
from burkholder.lab.exact.reals import decide
from burkholder.lab.verdicts import Status, Verdict


def follows(claim: str, why: str, *sources: Verdict) -> list[Verdict]:
    """The claim, when everything it rests on was proved; nothing otherwise."""
    if not sources or not all(source.proved for source in sources):
        return []
    return [
        Verdict(
            claim,
            Status.PROVED,
            STATEMENTS[claim],
            sources[0].domain,
            f"from {' and '.join(dict.fromkeys(source.claim for source in sources))}",
            note=why,
        )
    ]


def settled(
    claim: str, domain: str, why: str, violations: Mapping[str, Sequence[Any]], seconds: float = 10.0, holds: bool = True
) -> Verdict:
    """Proved when z3 finds no violation in any case (`holds` is for what was settled in rationals besides)."""
    started = time.perf_counter()
    outcome = decide(violations, seconds)[0]
    return Verdict(
        claim,
        Status.of(holds and outcome == "none"),
        STATEMENTS[claim],
        domain,
        "z3, exact real algebra",
        seconds=time.perf_counter() - started,
        note=why,
    )


def starts(function: BurkholderFunction, why: str) -> Verdict:
    """1°, for a U that is 0 where everything it is made of is 0: ζ₀ must be nothing but zeros (and a unit)."""
    dims = (1, 2, 3)
    unit = getattr(function, "unit", None)
    clean = all(np.all((part == 0) | (k == 4 and part == unit)) for dim in dims for k, part in enumerate(function.zero(dim)))
    return Verdict("1", Status.of(bool(clean)), STATEMENTS["1"], "every dimension", "exact: U(0) = 0", note=why)
