"""Exact proofs: z3 over the reals, rational sums of squares, ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burkholder.functions.base import BurkholderFunction
from burkholder.functions.experts import ExpertAdvice
from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.functions.zigzag import ZigZag
from burkholder.lab.exact.subject import objection
from burkholder.lab.verdicts import Verdict


def proofs(function: BurkholderFunction) -> list[Verdict]:
    """What can be proved of this very function, constants included; nothing when it is not one that a proof is about.

    >>> from burkholder.functions import SquareFunction
    >>> {verdict.claim: verdict.status.value for verdict in proofs(SquareFunction(version="tangent"))}["tangent"]
    'proved'
    """
    if objection(function) is not None:
        return []
    from burkholder.lab.exact import experts, linear, strongly_convex, zigzag

    prove: dict[type, Callable[[Any], list[Verdict]]] = {
        ZigZag: zigzag.prove,
        StronglyConvex: strongly_convex.prove,
        ExpertAdvice: experts.prove,
    }
    return prove.get(type(function), linear.prove)(function)
