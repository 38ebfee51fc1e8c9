"""Catalogue functions with one constant moved the unsafe way: what a verification worth its name must refute.

A mutant is the catalogue's own object with one factor changed on the way in or out of its formulas; no formula is
written a second time. A few constants are not sharp: the function stays a Burkholder function until the constant has
been moved by more than its `room`, for the reason stated, and so refuting it there would be wrong. Such a mutant is moved
past its room by the usual step (further where noted).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from burkholder.functions import CATALOGUE, ExpertAdvice, Linear, MatrixPrediction, StronglyConvex, ZigZag
from burkholder.functions import get as named
from burkholder.functions.algebra import Combination, Minimum, Softmax
from burkholder.functions.base import BurkholderFunction, Tau
from burkholder.potentials import Adaptive, Anytime, DavisWang, Mixture, Quadratic, SquareRoot, harmonic


class Room(NamedTuple):
    """How far a constant can be moved before anything breaks (a factor), and why."""

    factor: float
    why: str


SHARP = Room(1.0, "")
# (z − ln(1+z))/z² falls in z: on z ≥ −½ it is largest at −½
CURVED = Room(4.0 * math.log(2.0) - 2.0, "e^{z−cz²} ≤ 1+z holds on z ≥ −½ for every c ≥ 4 ln 2 − 2")
# the root of z − z² = ln(1+z), z < 0
CAPPED = Room(2.0 * 0.683802623752, "e^{z−z²} ≤ 1+z holds down to z = −0.6838, where both sides meet")
# Hoeffding: log E_p e^{ηRX} ≤ ηX·E_p R + η²X²/8 for R in [1, 2], and the charges are at least κη²X²
ALIKE = Room(0.25, "members of radius 1 and 2 jump together: by Hoeffding over [1, 2] a charge of η²γ/8 is enough")


class Mutant(NamedTuple):
    """A function that is no longer one, which constant was moved by what factor, and what room that constant has."""

    name: str
    constant: str
    factor: float
    function: BurkholderFunction
    room: Room = SHARP


def mutants(name: str, step: float = 0.05) -> Iterator[Mutant]:
    """Every constant of a catalogue function, moved by `step` (past its room) in the direction that breaks it."""
    for constant, factor, change, room in _changes(named(name), step):
        function = named(name)
        change(function, factor)
        yield Mutant(name, constant, factor, function, room)


def within_room(name: str, share: float = 0.02) -> Iterator[Mutant]:
    """The constants that are not sharp, moved almost as far as their room allows: these must not be refuted."""
    for constant, _, change, room in _changes(named(name), 0.05):
        if room is not SHARP:
            factor = room.factor * (1.0 + share if room.factor < 1.0 else 1.0 - share)
            function = named(name)
            change(function, factor)
            yield Mutant(name, constant, factor, function, room)


def everything(step: float = 0.05) -> Iterator[Mutant]:
    """The mutants of the whole catalogue."""
    for name in CATALOGUE:
        yield from mutants(name, step)


Change = Callable[[Any, float], None]
Moved = tuple[str, float, Change, Room]


def _changes(function: BurkholderFunction, step: float) -> Iterator[Moved]:
    less, more = 1.0 - step, 1.0 + step
    if isinstance(function, Linear):
        yield from _linear(function, less, more)
    elif isinstance(function, ExpertAdvice):
        yield "½ before η²L²s_j" if function.second_order else "½ before ηL²X²t", less, _state(2), SHARP
        yield "A(w)", less, _promise, SHARP
    elif isinstance(function, StronglyConvex):
        yield "c = L²/2ρ", less, _attribute("constant"), SHARP
        yield "A(w)", less, _promise, SHARP
    elif isinstance(function, MatrixPrediction) and function.version != "tangent":
        yield "½ before η²L²M", less, _state(2), SHARP
    elif isinstance(function, MatrixPrediction):
        # past its room it fails where one direction weighs e^A a little and all others are still: play that follows
        # no plan does not come by, so that it is moved further here
        yield "1 before η²M", 0.5, _state(2), CURVED
    elif isinstance(function, ZigZag):
        yield "β_p in U", less, _attribute("beta"), SHARP
        # U ≥ V touches where |x| = β|y|, so that α is pinned from both sides
        yield "α_p", less, _attribute("alpha"), SHARP
        yield "α_p upwards", more, _attribute("alpha"), SHARP
        yield "A(w)", less, _promise, SHARP
    elif isinstance(function, Softmax):
        # to second order in the jumps the charge needed is η²γ/18
        yield "½ before η²γ", less / 9.0, _charge, ALIKE
    elif isinstance(function, (Combination, Minimum)):
        which = -1 if isinstance(function, Minimum) else 0  # of the two, the least one makes the minimum
        for what, factor, change, room in _linear(function.members[which], less, more):
            if what != "A(w)":
                yield f"a member's {what}", factor, _member(which, change), room


def _linear(function: Any, less: float, more: float) -> Iterator[Moved]:
    potential = function.potential
    if isinstance(potential, Anytime):
        yield "X", less, _record("unit"), SHARP
        yield "e^0, the mass at the start", more, lambda f, k: _replace(f, offset=f.potential.offset + np.log(k)), SHARP
        yield "t", less, _state(2), SHARP
        yield "½ before H_t", less, _harmonic, SHARP
        yield "A(w)", less, _promise, SHARP
        return
    if isinstance(potential, Mixture):
        tight = potential.flat < 1.0  # then c is what the largest atom needs, no more
        curved, capped = (SHARP, SHARP) if tight else (CURVED, CAPPED)
        yield "c before λ²s" if tight else "1 before λ²s", less * curved.factor, _state(2), curved
        yield "½ in λ ≤ 1/(2h)", more * capped.factor, _cap, capped
        yield "A(w)", less, _promise, SHARP
        return
    yield "1 before Σ(L‖x‖)²" if function.clock == "square" else "1 before Σ(δ‖x‖)²", less, _growth, SHARP
    if not function.separable:
        yield "β", less, lambda f, k: setattr(f, "root", f.root * np.sqrt(k)), SHARP
    else:
        yield "1 before g", more, _state(1), SHARP
    if isinstance(potential, (SquareRoot, DavisWang)):
        yield "the constant of V", less, _record("constant"), SHARP
    if isinstance(potential, DavisWang):
        yield "c, the height of U_dw", less, _record("height"), SHARP
        yield "c upwards", more, _record("height"), SHARP
    if isinstance(potential, (SquareRoot, DavisWang, Quadratic, Adaptive)):
        yield "A(w)", less, _promise, SHARP
    if isinstance(potential, Adaptive) and not function.separable:
        yield "½, the power of v/D", less, _power, SHARP


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


def _charge(function: Any, factor: float) -> None:
    """The charges γ of a soft maximum inside U, and the sign-flip rule of that U."""
    value = function.value
    function.value = lambda tau: value((*tau[:-1], factor * tau[-1]))
    function.sign_flip = lambda tau, x: BurkholderFunction.sign_flip(function, tau, x)


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
