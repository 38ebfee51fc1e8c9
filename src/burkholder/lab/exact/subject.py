"""What a proof is about: a function of the catalogue exactly as it was written, and no other.

`isinstance` is no evidence: a subclass may override anything, an instance may carry a method or a number of its own,
a module's formula may have been replaced. A proof is only run for an object whose very class has one, while the
mathematics is what was imported, and whose attributes are those its constructor gives to the constants it holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.functions import seal
from burkholder.functions.algebra import Combination, Minimum, Softmax
from burkholder.functions.base import BurkholderFunction
from burkholder.functions.experts import ExpertAdvice
from burkholder.functions.linear import Linear
from burkholder.functions.parameter_free import AdaptiveParameterFree, ParameterFree
from burkholder.functions.smoothness import Smoothness
from burkholder.functions.square_function import SquareFunction
from burkholder.functions.strongly_convex import StronglyConvex
from burkholder.functions.zigzag import ZigZag
from burkholder.geometries import Coordinates, Euclidean, PNorm
from burkholder.potentials import Adaptive, Anytime, DavisWang, Quadratic, SquareRoot

RECORDS = (SquareRoot, DavisWang, Adaptive, Anytime, Quadratic, Coordinates, Euclidean, PNorm)
WORDS = ("name", "options")  # what no formula reads


def _linear(f: Any) -> BurkholderFunction:
    return Linear(f.name, f.potential, f.geometry, f.clock, f.lipschitz, f.feature_bound)


# class -> the same function, built anew from the constants that the object holds; constants that the proof reads itself
BUILT: dict[type, tuple[Callable[[Any], BurkholderFunction], tuple[str, ...]]] = {
    **dict.fromkeys((Linear, SquareFunction, AdaptiveParameterFree, ParameterFree, Smoothness), (_linear, ())),
    StronglyConvex: (lambda f: StronglyConvex(f.ridge, f.curvature, f.lipschitz, f.constant), ()),
    ExpertAdvice: (lambda f: ExpertAdvice(f.rate, None, None, f.feature_bound, f.second_order, f.lipschitz), ()),
    ZigZag: (lambda f: ZigZag(f.p, f.radius, f.unit, f.lipschitz), ("alpha", "beta")),
    Combination: (lambda f: Combination(f.members, f.weights.tolist()), ()),
    Minimum: (lambda f: Minimum(f.members), ()),
    Softmax: (lambda f: Softmax(f.members, f.rate), ()),
}


def objection(function: Any) -> str | None:
    """Why nothing can be proved of this object; None when it is the very function that a proof may be about.

    >>> objection(SquareFunction()) is None
    True
    >>> class Mine(SquareFunction):
    ...     pass
    >>> objection(Mine())
    'Mine is not a class that a proof exists for: proofs are about the very functions of the catalogue'
    """
    kind = type(function)
    found = next((how for known, how in BUILT.items() if known is kind), None)  # a metaclass may answer == as it likes
    if found is None:
        return f"{kind.__name__} is not a class that a proof exists for: proofs are about the very functions of the catalogue"
    build, read = found
    own = vars(function)
    if type(own) is not dict:
        return "the attributes of this object are not kept in a plain dictionary"
    for name, value in own.items():
        if name not in WORDS and not _plain(value):
            return f"{name} of this object is not a plain constant"
    if changed := seal.altered():
        return f"{changed[0]} was changed since it was imported: proofs are about the mathematics as it was written"
    try:
        again = vars(build(function))
    except Exception as trouble:  # what the constructor refuses has no proof
        return f"no {kind.__name__} has these constants: {trouble}"
    for name in sorted({*own, *again} - {*WORDS, *read}):
        if name not in own or name not in again or not _same(own[name], again[name]):
            return f"{name} of this object is not what {kind.__name__} gives it"
    return None


def _same(held: Any, built: Any) -> bool:
    """Equal constants of one type; of members, the very same objects (each was looked at by itself)."""
    if type(held) is not type(built):
        return False
    if type(held) is np.ndarray:
        return held.dtype == built.dtype and held.shape == built.shape and held.tobytes() == built.tobytes()
    if type(held) is tuple:
        return len(held) == len(built) and all(mine is its for mine, its in zip(held, built))
    return bool(held == built)


def _is(kind: type, *kinds: type) -> bool:
    return any(kind is known for known in kinds)


def _plain(value: Any) -> bool:
    """Numbers and words of Python's own types, and records of them: nothing that could answer for itself."""
    kind = type(value)
    if kind is float:
        return not math.isnan(value)
    if kind is np.ndarray:
        return value.dtype in (np.dtype(float), np.dtype(np.int64)) and bool(np.isfinite(value).all())
    if kind is tuple:  # members of a combination
        return all(objection(member) is None for member in value)
    if kind is frozenset:
        return all(type(part) is str for part in value)
    if _is(kind, *RECORDS):
        return all(
            (type(part) is float and math.isfinite(part)) or (type(part) is int and abs(part) < 10**15) for part in tuple.__iter__(value)
        )
    return _is(kind, int, bool, str, type(None))
