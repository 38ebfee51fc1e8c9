"""Exact proofs: z3 over the reals, rational sums of squares, ball arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from burkholder.functions.base import BurkholderFunction
from burkholder.functions.experts import ExpertAdvice
from burkholder.functions.linear import Linear
from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.functions.zigzag import ZigZag
from burkholder.geometries import Coordinates, Euclidean, PNorm
from burkholder.lab.verdicts import Verdict
from burkholder.potentials import NU, Adaptive, DavisWang, Quadratic, SquareRoot


def proofs(function: BurkholderFunction) -> list[Verdict]:
    """What can be proved of this function as it stands, constants included; nothing when no proof path exists.

    >>> from burkholder.functions import SquareFunction
    >>> [verdict.status.value for verdict in proofs(SquareFunction(version="tangent"))]
    ['proved', 'proved']
    """
    for applies, prove in PATHS:
        if applies(function):
            return prove(function)
    return []


def _square(function: Linear) -> list[Verdict]:
    from burkholder.lab.exact import square

    outer = function.potential.constant
    return [square.majorises(outer=outer), square.majorant(outer=outer)]


def _davis(function: Linear) -> list[Verdict]:
    from burkholder.lab.exact import davis

    defined = DavisWang()
    nu = None if function.potential.constant == NU else function.potential.constant
    height = None if function.potential.height == defined.height else function.potential.height
    return [davis.majorises(nu, height), davis.step(nu, height)]


def _adaptive(function: Linear) -> list[Verdict]:
    from burkholder.lab.exact import adaptive

    return [adaptive.everywhere(), adaptive.box()]


def _smoothness(function: Linear) -> list[Verdict]:
    from burkholder.lab.exact import smoothness

    return [smoothness.l4(function.geometry.smoothness)]


def _strongly_convex(function: StronglyConvex) -> list[Verdict]:
    from burkholder.lab.exact import strongly_convex

    coefficient = function.constant * function.curvature / function.lipschitz**2
    # ½ as defined, when the float is its rounding
    return [strongly_convex.scalar("1/2" if abs(coefficient - 0.5) < 1e-12 else coefficient)]


def _experts(function: ExpertAdvice) -> list[Verdict]:
    from burkholder.lab.exact import experts

    return [experts.two()]


def _zigzag(function: ZigZag) -> list[Verdict]:
    from burkholder.lab.exact import zigzag

    whole = int(function.p)
    defined = ZigZag(p=function.p)
    alpha, beta = ((None if given == known else given) for given, known in ((function.alpha, defined.alpha), (function.beta, defined.beta)))
    return [zigzag.majorises(whole, alpha, beta), zigzag.concave(whole, beta)]


def _linear(potential: type, *geometries: type) -> Callable[[BurkholderFunction], bool]:
    return lambda function: (
        isinstance(function, Linear) and isinstance(function.potential, potential) and isinstance(function.geometry, geometries)
    )


PATHS: tuple[tuple[Callable[[BurkholderFunction], bool], Callable[..., list[Verdict]]], ...] = (
    (_linear(SquareRoot, Euclidean, Coordinates), _square),
    (_linear(DavisWang, Euclidean, Coordinates), _davis),
    (_linear(Adaptive, Euclidean, Coordinates), _adaptive),
    (lambda f: _linear(Quadratic, PNorm)(f) and f.geometry.p == 4.0, _smoothness),  # type: ignore[attr-defined]
    (lambda f: isinstance(f, StronglyConvex), _strongly_convex),
    (lambda f: isinstance(f, ExpertAdvice) and not f.second_order, _experts),
    (lambda f: isinstance(f, ZigZag) and f.p == int(f.p) and 2 <= f.p <= 8, _zigzag),
)
