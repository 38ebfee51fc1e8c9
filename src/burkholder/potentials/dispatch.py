"""A potential is a record of its parameters; the functions here choose the formula by the record's type.

A scalar potential f(g, s) is fed, per coordinate or through a norm, with g = a sum of δx and s = a sum of
squares. `top` and `dead` are the memory of potentials that delete atoms (see `mixture`); others ignore them.
In Python the choice is a look-up; in a compiled loop it is made at compile time, from the same formula.

A potential is one file. What else the library needs to know of it are traits of its class, given to `formulas` or
defined as methods or fields:

    bound(u, s, top, dead)      A ≥ sup_g (u·g − V(g, s)) over arrays, for comparators of size u; always defined by the record
    magnitude(g, s, top, dead)  the size of the terms f is the difference of, which its rounding errors are relative to
    radius                      the largest size of a comparator that `bound` admits; None: any
    atoms                       how many atoms larger features may delete; 0: it remembers nothing but g and s
    tangent                     the slope may be played with s = Σ(δx)²: f then never rises. False: it only tells how f grows
    reach(s)                    how large g may be for f(g, s) to be an ordinary number
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from burkholder.machine.compiling import overload, register_jitable, types
from burkholder.records import record

LARGEST = 1e300  # predictions are held below this, so that nothing overflows to infinity

_VALUES: dict[type, Callable[..., float]] = {}
_GAPS: dict[type, Callable[..., float]] = {}
_SLOPES: dict[type, Callable[..., float]] = {}
_TARGETS: dict[type, Callable[..., float]] = {}
_ATOMS: dict[type, Callable[..., float]] = {}


def _magnitude(p: Any, g: Any, s: Any, top: Any, dead: Any) -> np.ndarray:
    from burkholder.potentials import batch  # which is built on this module

    return np.abs(batch.value(p, g, s, top, dead))


TRAITS: dict[str, Any] = {"magnitude": _magnitude, "radius": None, "atoms": 0, "tangent": True, "reach": lambda p, s: np.inf}


def formulas(
    value: Callable[..., float],
    gap: Callable[..., float] | None = None,
    slope: Callable[..., float] | None = None,
    target: Callable[..., float] | None = None,
    atom: Callable[..., float] | None = None,
    **traits: Any,
) -> Callable[[type], type]:
    """Attach scalar formulas and traits to a record: f itself, and what the strategies and property 2° need of it.

    `atom(p, g, s, rate, unit)` may be given where the slope is scale/atoms times its sum over the rates of the living atoms, `unit`
    being one over the largest of them: a plain formula without branches, which loops over atoms then run as vector code.
    """

    def attach(kind: type) -> type:
        for trait, usual in {**TRAITS, **traits}.items():
            if trait in traits or not hasattr(kind, trait):
                setattr(kind, trait, usual)
        if atom is not None:
            _ATOMS[kind] = register_jitable(atom)
        _VALUES[kind] = register_jitable(value)
        _TARGETS[kind] = register_jitable(target or value)
        if gap is not None:
            _GAPS[kind] = register_jitable(gap)
        if slope is not None:
            _SLOPES[kind] = register_jitable(slope)
        return record(kind)

    return attach


def value(p: Any, g: float, s: float, top: float, dead: float) -> float:
    """f(g, s), for g ≥ 0.

    >>> from burkholder.potentials import SquareRoot
    >>> value(SquareRoot(radius=1.0), 3.0, 1.0, 0.0, 0.0)
    1.0
    """
    return _VALUES[type(p)](p, g, s, top, dead)


def target(p: Any, g: float, s: float, top: float, dead: float) -> float:
    """V's part of the same arguments: what f must dominate (f itself unless the record says otherwise)."""
    return _TARGETS[type(p)](p, g, s, top, dead)


def gap(p: Any, high: float, low: float, difference: float, s: float) -> float:
    """[f(high, s) − f(low, s)]/2, stable when high ≈ low; `difference` is high − low, known accurately."""
    return _GAPS[type(p)](p, high, low, difference, s)


def slope(p: Any, g: float, s: float, top: float, dead: float) -> float:
    """∂f/∂g at g ≥ 0."""
    return _SLOPES[type(p)](p, g, s, top, dead)


def atom(p: Any, g: float, s: float, rate: float, unit: float) -> float:
    """One atom's part of the slope at g ≥ 0."""
    return _ATOMS[type(p)](p, g, s, rate, unit)


def has_gap(p: Any) -> bool:
    return type(p) in _GAPS


def has_slope(p: Any) -> bool:
    return type(p) in _SLOPES


@overload(value)
def _compiled_value(p, g, s, top, dead):
    if isinstance(p, types.BaseNamedTuple):
        return _VALUES[p.instance_class]  # type: ignore[attr-defined]
    return None


@overload(target)
def _compiled_target(p, g, s, top, dead):
    if isinstance(p, types.BaseNamedTuple):
        return _TARGETS[p.instance_class]  # type: ignore[attr-defined]
    return None


@overload(gap)
def _compiled_gap(p, high, low, difference, s):
    if isinstance(p, types.BaseNamedTuple):
        return _GAPS.get(p.instance_class)  # type: ignore[attr-defined]
    return None


@overload(slope)
def _compiled_slope(p, g, s, top, dead):
    if isinstance(p, types.BaseNamedTuple):
        return _SLOPES.get(p.instance_class)  # type: ignore[attr-defined]
    return None


@overload(atom)
def _compiled_atom(p, g, s, rate, unit):
    if isinstance(p, types.BaseNamedTuple):
        return _ATOMS.get(p.instance_class)  # type: ignore[attr-defined]
    return None


def by_atoms(together: Any, one_by_one: Any) -> Any:
    """The first where the potential has an atom's formula, else the second; for use inside an overload."""
    return lambda p: together if p.instance_class in _ATOMS else one_by_one
