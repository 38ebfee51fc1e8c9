"""Exact proofs: z3 over the reals, rational sums of squares, ball arithmetic."""

from __future__ import annotations

from burkholder.functions.base import BurkholderFunction
from burkholder.lab.verdicts import Verdict


def proofs(function: BurkholderFunction) -> list[Verdict]:
    return []
