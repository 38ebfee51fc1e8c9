"""Catalogue functions with one constant moved the unsafe way: what a verification worth its name must refute.

A mutant is the catalogue's own object with one factor changed on the way in or out of its formulas; no formula is
written a second time. Constants that have room to spare (the theory does not claim them sharp) are moved further,
by the factor stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from burkholder.functions import CATALOGUE, ExpertAdvice, Linear, MatrixPrediction, StronglyConvex, ZigZag
from burkholder.functions import get as named
from burkholder.functions.algebra import Combination, Minimum, Softmax
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.geometries import Group, Supremum
from burkholder.potentials import Adaptive, Anytime, DavisWang, Mixture, Quadratic, SquareRoot, harmonic


class Mutant(NamedTuple):
    """A function that is no longer one, and which constant was moved by what factor."""

    name: str
    constant: str
    factor: float
    function: BurkholderFunction


def mutants(name: str, step: float = 0.05) -> Iterator[Mutant]:
    """Every constant of a catalogue function, moved by `step` in the direction that breaks it."""
    for constant, factor, change in _changes(named(name), step):
        function = named(name)
        change(function, factor)
        yield Mutant(name, constant, factor, function)


def everything(step: float = 0.05) -> Iterator[Mutant]:
    """The mutants of the whole catalogue."""
    for name in CATALOGUE:
        yield from mutants(name, step)


Change = Callable[[Any, float], None]


def _changes(function: BurkholderFunction, step: float) -> Iterator[tuple[str, float, Change]]:
    less, more = 1.0 - step, 1.0 + step
    if isinstance(function, Linear):
        yield from _linear(function, less, more)
    elif isinstance(function, ExpertAdvice):
        yield "½ before η²L²s_j" if function.second_order else "½ before ηL²X²t", less, _state(2)
        yield "A(w)", less, _promise
    elif isinstance(function, StronglyConvex):
        yield "c = L²/2ρ", less, _attribute("constant")
        yield "A(w)", less, _promise
    elif isinstance(function, MatrixPrediction) and function.version != "tangent":
        yield "½ before η²L²M", less, _state(2)
    elif isinstance(function, MatrixPrediction):
        yield "1 before η²M (has room to spare)", 0.5, _state(2)
    elif isinstance(function, ZigZag):
        yield "β_p in U", less, _attribute("beta")
        # U ≥ V touches where |x| = β|y|, so that α is pinned from both sides
        yield "α_p", less, _attribute("alpha")
        yield "α_p upwards", more, _attribute("alpha")
        yield "A(w)", less, _promise
    elif isinstance(function, Softmax):
        # charges are squares of the larger jump, members jump unequally: Hoeffding is not sharp for them
        yield "½ before η²γ (has room to spare)", 0.0, _state(-1)
    elif isinstance(function, (Combination, Minimum)):
        which = -1 if isinstance(function, Minimum) else 0  # of the two, the least one makes the minimum
        for what, factor, change in _linear(function.members[which], less, more):
            if what != "A(w)":
                yield f"a member's {what}", factor, _member(which, change)


def _linear(function: Any, less: float, more: float) -> Iterator[tuple[str, float, Change]]:
    potential = function.potential
    if isinstance(potential, Anytime):
        if isinstance(function.geometry, Supremum):
            yield "X (its β has room to spare)", 0.6, _record("unit")
        else:
            yield "X", less, _record("unit")
        yield "e^0, the mass at the start", more, lambda f, k: _replace(f, offset=f.potential.offset + np.log(k))
        yield "t", less, _state(2)
        yield "½ before H_t", less, _harmonic
        yield "A(w) (has room to spare)", 0.5, _promise
        return
    if isinstance(potential, Mixture):
        # e^{z−cz²} ≤ 1+z on z ≥ −½ holds down to c = 0.7726
        yield "1 before λ²s (has room to spare)", 0.5, _state(2)
        # and with c = 1 it holds down to z = −0.684
        yield "½ in λ ≤ 1/(2h) (has room to spare)", 4.0, _cap
        yield "A(w) (has room to spare)", 0.5, _promise
        return
    spare = ""
    if isinstance(function.geometry, (Group, Supremum)):  # their β is safe, not sharp
        less, spare = 0.5, " (has room to spare)"
    yield ("1 before Σ(L‖x‖)²" if function.clock == "square" else "1 before Σ(δ‖x‖)²") + spare, less, _growth
    if not function.separable:
        yield "β" + spare, less, lambda f, k: setattr(f, "root", f.root * np.sqrt(k))
    else:
        yield "1 before g", more, _state(1)
    if isinstance(potential, (SquareRoot, DavisWang)):
        yield "the constant of V", less, _record("constant")
    if isinstance(potential, DavisWang):
        yield "c, the height of U_dw", less, _record("height")
        yield "c upwards", more, _record("height")
    if isinstance(potential, (SquareRoot, DavisWang, Quadratic)):
        yield "A(w)", less, _promise
    if isinstance(potential, Adaptive):
        yield "A(w) (has room to spare)", 0.5, _promise
    if isinstance(potential, Adaptive) and not function.separable:
        yield "½, the power of v/D" + spare, less, _power


# --- how a constant is moved ---------------------------------------------------------------------------------


def _replace(function: Any, **fields: Any) -> None:
    function.potential = function.potential._replace(**fields)


def _record(field: str) -> Change:
    """A parameter of the potential's record."""
    return lambda function, factor: _replace(function, **{field: factor * getattr(function.potential, field)})


def _attribute(name: str) -> Change:
    return lambda function, factor: setattr(function, name, factor * getattr(function, name))


def _growth(function: Any, factor: float) -> None:
    """What s grows by."""
    tick = function._tick
    function._tick = lambda x, delta: factor * tick(x, delta)


def _state(part: int) -> Change:
    """The factor of one part of τ inside U (and inside every rule that reads τ)."""
    def change(function: Any, factor: float) -> None:
        def scaled(tau: Tau) -> Tau:
            return tuple(factor * item if k == part % len(tau) else item for k, item in enumerate(tau))

        for method in ("value", "sign_flip", "tangent"):
            original = getattr(function, method)
            setattr(function, method, lambda tau, *rest, original=original: original(scaled(tau), *rest))

    return change


def _harmonic(function: Any, factor: float) -> None:
    """The ½ in exp(… − ½H_t)."""
    value, scale = function.value, function.potential.scale
    h = np.vectorize(harmonic, otypes=[float])

    def changed(tau: Tau) -> np.ndarray:
        return tau[0] + (value(tau) - tau[0] + scale) * np.exp(0.5 * (1.0 - factor) * h(tau[2])) - scale

    function.value = changed


def _power(function: Any, factor: float) -> None:
    """The ½ in (v/D)^½."""
    value, scale, start = function.value, function.potential.scale, function.potential.start

    def changed(tau: Tau) -> np.ndarray:
        grown = (1.0 + tau[2] / start) ** (0.5 * (1.0 - factor))
        return tau[0] + (value(tau) - tau[0] + scale) * grown - scale

    function.value = changed


def _cap(function: Any, factor: float) -> None:
    """The ½ in λ ≤ 1/(2h): atoms are deleted later."""
    memory = function.memory
    function.memory = lambda tau, x: memory(tau, x / factor)


def _member(which: int, change: Change) -> Change:
    return lambda function, factor: change(function.members[which], factor)


def _promise(function: Any, factor: float) -> None:
    """A(w) as announced."""
    bound = function.bound
    function.bound = lambda w, tau: factor * bound(w, tau)
