"""A proof is about the very function asked about: whoever only looks like one is never told "proved".

The functions with an exact proof are found by asking, not listed. Each is told lies about: subclasses and objects in which
one method or attribute is replaced by a wrong one, records and modules that were tampered with.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flint")
pytest.importorskip("z3")

from burkholder import functions, potentials
from burkholder.functions import CATALOGUE, seal
from burkholder.functions.base import BurkholderFunction
from burkholder.functions.linear import Linear
from burkholder.lab.exact import objection, proofs
from burkholder.lab.verdicts import Status
from burkholder.lab.verify import verify

PROVABLE = [name for name in CATALOGUE if objection(functions.get(name)) is None and proofs(functions.get(name))]
Lie = Callable[[Any], Any]  # what a method answers -> what the liar answers


def lies() -> dict[str, Lie]:
    """Wrong constants of every size, for numbers, arrays and states."""

    def each(change: Callable[[np.ndarray], Any]) -> Lie:
        return lambda answer: tuple(map(change, answer)) if isinstance(answer, tuple) else change(np.asarray(answer))

    return {
        "ten per cent less": each(lambda a: 0.9 * a),
        "ten per cent more": each(lambda a: 1.1 * a),
        "opposite": each(lambda a: -a),
        "a little more": each(lambda a: a + 1e-7),
        "a little less": each(lambda a: a * (1 - 1e-13)),
        "much less": each(lambda a: a - 1000.0),
        "nothing": each(lambda a: 0.0 * a),
        "the truth": lambda answer: answer,
    }


def methods(function: BurkholderFunction) -> list[str]:
    """Everything that a subclass could override: public, private, properties, and how the object answers at all."""
    plain = {
        name
        for kind in type(function).__mro__[:-1]
        for name, item in vars(kind).items()
        if isinstance(item, (FunctionType, property, staticmethod)) and not name.startswith("__")
    }
    return sorted(plain)


def overriding(name: str, method: str, lie: Lie) -> BurkholderFunction:
    honest = functions.get(name)
    kind = type(honest)
    item = next(vars(parent)[method] for parent in kind.__mro__ if method in vars(parent))
    original = item.fget if isinstance(item, property) else item.__func__ if isinstance(item, staticmethod) else item

    def told(*arguments: Any, **options: Any) -> Any:
        return lie(original(*arguments, **options))

    liar = type("Liar", (kind,), {method: type(item)(told) if isinstance(item, (property, staticmethod)) else told})
    made = liar.__new__(liar)
    made.__dict__.update(vars(honest))
    return made


class Chameleon(type):
    """The class of classes that say they are any class."""

    def __eq__(cls, other: object) -> bool:
        return True

    def __hash__(cls) -> int:
        return hash(functions.SquareFunction)


class Hiding(dict[str, Any]):
    """A dictionary that does not speak of `value`."""

    def items(self) -> Any:
        return {key: item for key, item in super().items() if key != "value"}.items()

    def __iter__(self) -> Any:
        return iter(dict(self.items()))


def test_classes_and_dictionaries_that_answer_for_themselves_are_not_believed() -> None:
    honest = functions.get("adagrad")
    liar = Chameleon("SquareFunction", (functions.SquareFunction,), {"value": lambda self, tau: tau[0]})
    made = liar.__new__(liar)
    made.__dict__.update(vars(honest))
    quiet(made)
    hidden = functions.get("adagrad")
    hidden.__dict__ = Hiding(vars(hidden), value=lambda tau: tau[0])
    assert float(hidden.value((np.ones(()), np.ones(1), np.ones(1)))) == 1.0  # the lie is told
    quiet(hidden)
    number = Chameleon("float", (float,), {})(2.0)
    odd = functions.get("adagrad")
    odd.lipschitz = number
    quiet(odd)
    odd = functions.get("adagrad")
    odd.potential = odd.potential._replace(constant=number)
    quiet(odd)


def quiet(function: BurkholderFunction) -> None:
    """Nothing is proved of it, and verification says why."""
    assert proofs(function) == []
    assert objection(function)


def test_the_provable_functions_are_those_we_know_and_more_may_come() -> None:
    assert {"square-function", "adagrad", "adaptive", "smoothness-l4", "strongly-convex", "experts", "zigzag-3"} <= set(PROVABLE)


@pytest.mark.parametrize("name", PROVABLE)
def test_no_subclass_that_overrides_a_method_is_proved(name: str) -> None:
    told = 0
    for method in methods(functions.get(name)):
        for lie in lies().values():
            quiet(overriding(name, method, lie))
            told += 1
    assert told > 100


@pytest.mark.parametrize("name", PROVABLE)
def test_no_object_with_a_method_or_an_attribute_of_its_own_is_proved(name: str) -> None:
    for method in methods(functions.get(name)):
        liar = functions.get(name)
        original = getattr(liar, method)
        with contextlib.suppress(AttributeError):  # a property cannot be set
            setattr(liar, method, lambda *a, original=original, **k: original(*a, **k))
            quiet(liar)
    for attribute in ("extra", "__call__", "_total", "value"):
        liar = functions.get(name)
        setattr(liar, attribute, lambda *a: 0.0)
        quiet(liar)


class Two(float):
    """A float that answers for itself."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = float.__hash__


WRONG_TYPES: tuple[Any, ...] = (
    None,
    "2",
    [1.0],
    (1.0,),
    Two(2.0),
    np.float64(1.0),
    np.ones(1),
    float("nan"),
    float("inf"),
    1j,
    object(),
    -1.0,
    0.0,
)


@pytest.mark.parametrize("name", PROVABLE)
def test_a_changed_attribute_is_proved_only_as_the_function_it_then_is(name: str) -> None:
    """Whatever is set: either nothing is proved, or the object is what a constructor makes of those constants."""
    rng = np.random.default_rng(0)
    for attribute in vars(functions.get(name)):
        if attribute in ("name", "options"):
            continue
        for wrong in (
            *WRONG_TYPES,
            True,
            3,
            0.5,
            1.0000001,
            "count",
            "gradient",
            "square",
            frozenset({"tangent"}),
            functions.SquareFunction().potential,
        ):
            liar = functions.get(name)
            setattr(liar, attribute, wrong)
            claims = {verdict.claim for verdict in proofs(liar) if verdict.proved}
            if not claims:
                continue
            tau, x = liar.points(rng, 2000, 3)
            if {"2"} <= claims:
                assert np.all(liar.target(tau) <= liar.value(tau) + 1e-9 * liar.magnitude(tau)), (attribute, wrong)
            if {"3'", "3"} & claims:
                full = np.full(len(x), liar.lipschitz)
                zero = np.zeros(len(x))
                mean = 0.5 * (liar.expected(tau, x, zero, full) + liar.expected(tau, x, zero, -full))
                size = np.maximum(liar.magnitude(tau), liar.magnitude(liar.advance(tau, x, zero, full)))
                fine = np.isfinite(mean) & (np.abs(mean) < 1e200)
                assert np.all(mean[fine] <= (liar.value(tau) + 1e-8 * size)[fine]), (attribute, wrong)


LINEAR = [name for name in PROVABLE if isinstance(functions.get(name), Linear)]


@pytest.mark.parametrize("name", LINEAR)
def test_no_record_of_another_class_or_type_is_proved(name: str) -> None:
    for part in ("potential", "geometry"):
        honest = getattr(functions.get(name), part)
        subclass = type("Liar", (type(honest),), {"__slots__": (), "bound": lambda *a: 0.0, "norm": lambda self, g: 0.0 * g[..., 0]})
        liar = functions.get(name)
        setattr(liar, part, tuple.__new__(subclass, honest))
        quiet(liar)
        for field in honest._fields:
            for wrong in (Two(2.0), "2", None, True, np.float64(2.0), float("nan"), float("inf"), 10**400):
                liar = functions.get(name)
                setattr(liar, part, honest._replace(**{field: wrong}))
                quiet(liar)


@pytest.mark.parametrize("name", LINEAR)
def test_a_negative_scale_or_another_clock_proves_nothing_that_fails(name: str) -> None:
    honest = functions.get(name)
    for field in honest.potential._fields:
        liar = functions.get(name)
        liar.potential = honest.potential._replace(**{field: -1.0})
        assert not {"2", "3", "3'", "tangent", "sign-flip"} & {verdict.claim for verdict in proofs(liar) if verdict.proved}
    with contextlib.suppress(functions.linear.BadInput):
        counted = Linear("counts rounds", honest.potential, honest.geometry, "count")
        assert proofs(counted) == []


def tampering() -> dict[str, tuple[Any, str, Any]]:
    import builtins
    import math

    import scipy.special

    from burkholder.functions import base, linear
    from burkholder.geometries import Euclidean
    from burkholder.machine import elementary
    from burkholder.potentials import DavisWang, SquareRoot, batch, davis_wang, dispatch, square_root

    return {
        "a method of the class": (functions.SquareFunction, "__init__", lambda self: None),
        "a method of its parent": (linear.Linear, "value", lambda self, tau: tau[0]),
        "a method of the base": (base.BurkholderFunction, "linearised", lambda self, w, tau: tau[0]),
        "a function of a module": (batch, "value", lambda *a: 0.0),
        "a registered formula": (dispatch._VALUES, SquareRoot, lambda *a: 0.0),  # type: ignore[dict-item]
        "a registered target": (dispatch._TARGETS, DavisWang, lambda *a: 0.0),  # type: ignore[dict-item]
        "a method of a record": (SquareRoot, "bound", lambda *a: 0.0),
        "a norm": (Euclidean, "norm", lambda self, g: 0.0 * g[..., 0]),
        "a constant of a formula": (square_root, "_ROOT2", 1.4),
        "the coefficients of a series": (davis_wang, "_COEFFICIENTS", (1.0,) * 18),
        "the code of a function": (square_root._value, "__code__", (lambda p, g, s, top, dead: 0.0).__code__),
        "a function of Python's own": (builtins, "abs", lambda z: z),
        "a function of math": (math, "sqrt", lambda z: z),
        "a function of numpy": (np, "square", lambda z: z),
        "a function of numpy's algebra": (np.linalg, "solve", lambda a, b: b),
        "a function of scipy": (scipy.special, "logsumexp", lambda a, axis: a.sum(axis)),
        "what numpy's vectorize calls": (linear._anchored, "pyfunc", lambda *a: (0.0, 0.0)),
        "the text of a compiled loop": (batch._values.py_func, "__code__", (lambda potential, g, s, top, dead, out: None).__code__),
        "a constant of an exponential": (elementary, "_SHIFT", 0.0),
        "the parents of the class": (functions.SquareFunction, "__bases__", (Chameleon("Linear", (linear.Linear,), {}),)),
        "the arguments a function defaults to": (functions.SquareFunction.__init__, "__defaults__", (2.0, "l2", "sharp", None)),
    }


@pytest.mark.parametrize("what", tampering())
def test_nothing_is_proved_while_the_mathematics_is_tampered_with(what: str) -> None:
    owner, name, new = tampering()[what]
    honest = functions.get("square-function-paper")
    old = owner[name] if isinstance(owner, dict) else getattr(owner, name)

    def put(item: Any) -> None:
        if isinstance(owner, dict):
            owner[name] = item
        else:
            setattr(owner, name, item)

    put(new)
    try:
        quiet(honest)
        assert "was changed" in str(objection(honest))
    finally:
        put(old)
    assert seal.altered() == []


def test_every_module_that_the_formulas_call_is_sealed() -> None:
    """A package that was moved would otherwise be left open: every function that a sealed module holds has a sealed home."""
    from importlib.util import find_spec

    assert all(find_spec(package) for package in (*seal.PACKAGES, *seal.OUTSIDE, *seal.LATE))
    # what speaks, checks and compiles, and states no number of a formula
    apart = (
        "burkholder.errors",
        "burkholder.suggestions",
        *(f"burkholder.machine.{part}" for part in ("bookkeeping", "compiling", "llvm", "processor", "cache")),
    )
    for place in seal._sealed:
        for name, item in vars(sys.modules[place]).items():
            home = getattr(item, "__module__", None) if isinstance(item, FunctionType) else None
            if isinstance(home, str) and home.startswith("burkholder."):
                assert home.startswith((*seal.PACKAGES, *apart)), (place, name, home)
    scope = {"np", "math", "scipy", "abs", "solve", "logsumexp", "sqrt"}
    assert scope <= seal._used()


def test_what_is_imported_late_must_be_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    import scipy.special

    assert objection(functions.get("experts")) is None
    monkeypatch.delitem(seal._outside, "scipy.special", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr(scipy.special, "logsumexp", lambda a, axis: a.sum(axis))
        assert "scipy.special.logsumexp" in str(objection(functions.get("experts")))
    assert objection(functions.get("experts")) is None


def test_a_name_that_hides_a_builtin_is_noticed_and_ones_own_potential_is_not_held_against_the_rest() -> None:
    from typing import NamedTuple

    from burkholder.potentials import dispatch, square_root

    square_root.abs = lambda z: 0.0  # type: ignore[attr-defined]
    try:
        quiet(functions.get("adagrad"))
    finally:
        del square_root.abs  # type: ignore[attr-defined]

    @potentials.dispatch.formulas(lambda p, g, s, top, dead: 0.0)
    class Mine(NamedTuple):
        radius: float = 1.0

    assert seal.altered() == []
    dispatch._VALUES.pop(Mine), dispatch._TARGETS.pop(Mine)


# --- lies that are false are found out ---------------------------------------------------------------------------


class Deep(functions.SquareFunction):
    def value(self, tau: Any) -> Any:
        clock = np.sqrt(tau[2])
        return super().value(tau) - 1000.0 * (clock.sum(axis=-1) if self.separable else clock)


class Cheap(functions.ExpertAdvice):
    def value(self, tau: Any) -> Any:
        return super().value(tau) + 0.05 * self.rate * tau[2]


class Steep(functions.AdaptiveParameterFree):
    def value(self, tau: Any) -> Any:
        g, d = np.linalg.norm(tau[1], axis=-1), 1.0 + tau[2]
        with np.errstate(over="ignore"):
            return tau[0] + np.exp(np.minimum(0.525 * g * g / d, 500.0)) / np.sqrt(d) - 1.0


class Generous(functions.SquareFunction):
    def bound(self, w: Any, tau: Any) -> Any:
        return 0.9 * super().bound(w, tau)


class Raised(functions.StronglyConvex):
    def value(self, tau: Any) -> Any:
        return super().value(tau) + 1e-11


class Twofaced(functions.SquareFunction):
    """Tells floats a lie and anything else the truth."""

    def target(self, tau: Any) -> Any:
        honest = np.sqrt((tau[1] * tau[1]).sum(axis=-1)) - 2.0 * np.sqrt(tau[2])
        return tau[0] + (honest if tau[1].dtype == object else honest + 0.1 * np.sqrt(tau[2]))

    def value(self, tau: Any) -> Any:
        return tau[0] + np.sqrt((tau[1] * tau[1]).sum(axis=-1)) - 2.0 * np.sqrt(tau[2])


@pytest.mark.parametrize(
    "liar, claim, dims",
    [
        (Deep(), "2", (1, 2)),
        (Deep(version="paper"), "2", (1, 2)),
        (Deep(geometry="coordinates", version="tangent"), "2", (1,)),
        (Cheap(rate=0.3), "3'", (2,)),
        (Steep(), "3'", (1, 2)),
        (Generous(), "regret", (1, 2)),
        (Raised(), "1", (1,)),
        (Twofaced(), "2", (1, 2)),
    ],
    ids=lambda item: type(item).__name__ if isinstance(item, BurkholderFunction) else None,
)
def test_a_false_lie_is_refuted_with_its_witness(liar: BurkholderFunction, claim: str, dims: tuple[int, ...]) -> None:
    report = verify(liar, exact=True, seconds=4.0, dims=dims)
    assert report.status is Status.REFUTED and not any(verdict.proved for verdict in report.verdicts)
    assert report[claim].refuted and report[claim].witness is not None, str(report)
    assert any("no exact proof" in note for note in report.notes)


# --- and the honest ones are proved ------------------------------------------------------------------------------


@cache
def examined(name: str) -> Any:
    return verify(name, exact=True, seconds=1.0, points=50_000)


@pytest.mark.parametrize("name", PROVABLE)
def test_a_function_whose_every_claim_is_proved_says_so(name: str) -> None:
    report = examined(name)
    assert report.status is Status.PROVED, str(report)
    claims = {verdict.claim for verdict in report.verdicts}
    assert {"1", "regret", "streams"} <= claims
    assert claims == {verdict.claim for verdict in report.verdicts if verdict.proved}


@pytest.mark.parametrize("share, proved", [(1.0, True), (1.0 + 1e-15, True), (1.0 - 1e-13, False), (1.0 - 1e-15, False), (0.95, False)])
def test_a_constant_next_to_the_true_one_is_not_the_true_one(share: float, proved: bool) -> None:
    function = functions.StronglyConvex(curvature=2.0, lipschitz=4.0, constant=4.0 * share)
    said = {verdict.claim: verdict for verdict in proofs(function)}
    assert said["3'"].proved is proved
    assert said["3'"].refuted is not proved


@pytest.mark.parametrize("lipschitz, curvature", [(1e-160, 1.0), (1.1e-161, 1.0), (1e-155, 1e10), (3e-160, 7.0)])
def test_a_constant_that_underflowed_is_not_the_defined_one(lipschitz: float, curvature: float) -> None:
    """The double of L²/2ρ has few bits left, or rounded below it: it is judged at its own value."""
    from fractions import Fraction

    function = functions.StronglyConvex(lipschitz=lipschitz, curvature=curvature)
    enough = Fraction(function.constant) >= Fraction(lipschitz) ** 2 / (2 * Fraction(curvature))
    said = {verdict.claim: verdict for verdict in proofs(function)}
    assert said["3'"].proved is enough and said["3'"].refuted is not enough


@pytest.mark.parametrize("lipschitz", [1e-140, 0.1, 3.0, 1e140])
def test_scale_alone_takes_no_proof_away(lipschitz: float) -> None:
    said = {verdict.claim: verdict for verdict in proofs(functions.StronglyConvex(lipschitz=lipschitz, curvature=0.7))}
    assert said["3'"].proved and said["closed-form"].proved


@pytest.mark.parametrize("change", [2.0, 1.0])
def test_the_next_double_is_another_constant(change: float) -> None:
    sharp = functions.SquareFunction()
    sharp.potential = sharp.potential._replace(constant=float(np.nextafter(sharp.potential.constant, change)))
    assert not {"2", "3'", "convex"} & {verdict.claim for verdict in proofs(sharp) if verdict.proved}
