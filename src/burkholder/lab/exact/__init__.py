"""Exact proofs: z3 over the reals, rational sums of squares, ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burkholder.functions.algebra import Combination, Minimum, Softmax
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
    from burkholder.lab.exact import algebra, experts, linear, strongly_convex, zigzag

    if type(function) in (Combination, Minimum, Softmax):
        known = [{verdict.claim: verdict for verdict in proofs(member) if verdict.proved} for member in function.members]  # type: ignore[attr-defined]
        return algebra.prove(function, known)  # type: ignore[arg-type]
    prove: dict[type, Callable[[Any], list[Verdict]]] = {
        ZigZag: zigzag.prove,
        StronglyConvex: strongly_convex.prove,
        ExpertAdvice: experts.prove,
    }
    return prove.get(type(function), linear.prove)(function)
