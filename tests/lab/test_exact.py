"""Exact proofs: they prove what is true, and at a wrong constant they refute it with a point anyone can check."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("flint")
pytest.importorskip("z3")

from burkholder import functions
from burkholder.errors import BadInput
from burkholder.lab.exact import adaptive, davis, experts, lemmas, proofs, smoothness, square, strongly_convex, zigzag
from burkholder.lab.exact.ball import Ball, Undecided, balls
from burkholder.lab.exact.replay import BallLinear, view
from burkholder.lab.verdicts import Verdict, Witness

TRUE: dict[str, Callable[[], Verdict]] = {
    "U_sq majorant": square.majorant,
    "U_sq above V": square.majorises,
    "l_4 smoothness": smoothness.l4,
    "l_4 smoothness in five dimensions": lambda: smoothness.l4(3, 5),
    "strongly convex": strongly_convex.scalar,
    "experts": experts.anyone,
    "adaptive, everywhere": adaptive.everywhere,
    "adaptive, on a box": lambda: adaptive.box(reach=3.0),
    "Davis/Wang": davis.step,
    "Davis/Wang above V": davis.majorises,
    **{f"zigzag concavity, p = {p}": lambda p=p: zigzag.concave(p) for p in (2, "5/2", 3, 4, 7)},
    **{f"U_p above V, p = {p}": lambda p=p: zigzag.majorises(p) for p in (2, 3, 4, 5)},
}
WRONG: dict[str, Callable[[], Verdict]] = {
    "U_sq, outer constant −5 %": lambda: square.majorant(outer="1.9"),
    "U_sq, outer constant +5 %": lambda: square.majorant(outer="2.1"),
    "U_sq, inner constant −5 %": lambda: square.majorant(inner="1.9"),
    "U_sq, inner constant +5 %": lambda: square.majorant(inner="2.1"),
    "V above U_sq": lambda: square.majorises(outer="1.95"),
    "l_4 smoothness −1 %": lambda: smoothness.l4("2.97"),
    "strongly convex −1 %": lambda: strongly_convex.scalar("0.495"),
    "experts −1 %": lambda: experts.anyone("0.495"),
    "adaptive, exponent +1 %": lambda: adaptive.box(exponent="0.505"),
    "adaptive, growth −5 %": lambda: adaptive.box(growth="0.95"),
    "Davis/Wang, ν = 1.3": lambda: davis.step(nu="1.3"),
    "Davis/Wang, ν +5 %": lambda: davis.step(nu="1.3723"),
    "Davis/Wang, c −5 %": lambda: davis.step(c="0.5285"),
    "V above U_dw, ν = 1.3": lambda: davis.majorises(nu="1.3"),
    "V above U_dw, c +5 %": lambda: davis.majorises(c="0.5842"),
    "zigzag, β −5 %": lambda: zigzag.concave(3, beta="1.9"),
    "zigzag, β −1 %, p = 5/2": lambda: zigzag.concave("5/2", beta="1.485"),
    "V above U_3, α −5 %": lambda: zigzag.majorises(3, alpha="19/15"),
    "V above U_3, α +5 %": lambda: zigzag.majorises(3, alpha="7/5"),
    "V above U_4, β +5 %": lambda: zigzag.majorises(4, beta="3.15"),
    "V above U_2, α below 1": lambda: zigzag.majorises(2, alpha="0.95"),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_is_proved(name: str) -> None:
    verdict = TRUE[name]()
    assert verdict.proved, str(verdict)
    assert verdict.domain and verdict.arithmetic and verdict.witness is None


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_constant_is_refuted_with_a_positive_residual(name: str) -> None:
    verdict = WRONG[name]()
    assert verdict.refuted, str(verdict)
    assert verdict.witness is not None and verdict.witness.residual > 0


def test_a_wrong_constant_is_never_proved_even_without_a_witness() -> None:
    # the two lemmas give no witness: they may only fail to prove
    assert not adaptive.everywhere(exponent="0.505").proved
    assert not adaptive.everywhere(growth="0.99").proved
    assert not smoothness.l4(2, dimension=1).proved  # true in one dimension, but not by this proof
    assert not lemmas.hyperbolic("0.4999")


def test_safe_constants_are_still_proved() -> None:
    assert smoothness.l4("3.1").proved
    assert strongly_convex.scalar("0.6").proved
    assert experts.anyone("0.6").proved
    assert adaptive.everywhere(growth="1.05").proved
    assert adaptive.box(exponent="0.475", reach=3.0).proved


# --- witnesses evaluated again, from the definitions, in another arithmetic ------------------------------------


def _point(witness: Witness, name: str) -> mp.mpf | list[mp.mpf]:
    value = witness.point[name]
    if isinstance(value, list):
        return [mp.mpf(Fraction(item).numerator) / Fraction(item).denominator for item in value]
    return mp.mpf(Fraction(value).numerator) / Fraction(value).denominator


@pytest.mark.parametrize("inner, outer", [("2", "1.9"), ("2", "2.1"), ("1.9", "2"), ("2.1", "2")])
def test_the_witness_against_u_sq_holds_in_mpmath(inner: str, outer: str) -> None:
    witness = square.majorant(inner, outer).witness
    assert witness is not None
    with mp.workdps(40):
        k, c = mp.mpf(inner), mp.mpf(outer)
        x, d, y = _point(witness, "x"), _point(witness, "d"), _point(witness, "y")

        def value(norm: mp.mpf, height: mp.mpf) -> mp.mpf:
            return -mp.sqrt(k * height**2 - norm**2) if height >= norm else norm - c * height

        size = mp.norm(x)
        slope = mp.fdot(x, d) / (mp.sqrt(k * y**2 - size**2) if y >= size else size) if size else mp.mpf(0)
        after = value(mp.norm([p + q for p, q in zip(x, d)]), mp.sqrt(y**2 + mp.norm(d) ** 2))
        assert after - value(size, y) - slope == pytest.approx(witness.residual, rel=1e-9)
        assert after - value(size, y) - slope > 0


def test_the_witness_against_a_smaller_nu_holds_in_mpmath() -> None:
    witness = davis.step(nu="1.3").witness
    assert witness is not None
    with mp.workdps(30):
        _, c = (mp.mpf(str(float(value))) for value in davis.constants())
        x, d, nu = _point(witness, "x"), _point(witness, "d"), mp.mpf("1.3")

        def value(place: mp.mpf, square: mp.mpf) -> mp.mpf:
            root = mp.sqrt(square)
            if abs(place) <= nu * root:
                return -c * root * mp.hyp1f1(-0.5, 0.5, (place / root) ** 2 / 2)
            return abs(place) - nu * root

        after = 1 + d * d
        assert (value(x + d, after) + value(x - d, after)) / 2 - value(x, mp.mpf(1)) > 1e-4


def test_the_constants_of_davis_are_those_of_the_potential() -> None:
    nu, c = (float(value) for value in davis.constants())
    assert nu == pytest.approx(functions.SquareFunction().potential.constant, abs=1e-15)
    assert c == pytest.approx(functions.SquareFunction().potential.height, abs=1e-15)
    assert nu == pytest.approx(1.306929727, abs=1e-9)


# --- the pieces proofs are made of ---------------------------------------------------------------------------


@given(st.floats(0.0, 1.306), st.floats(0.0, 1.57))
@settings(max_examples=60, deadline=None)
def test_the_residual_of_davis_agrees_with_mpmath_and_its_enclosures_contain_it(x: float, theta: float) -> None:
    from burkholder.lab.exact.boxes import interval

    with mp.workdps(30):

        def shape(z: mp.mpf) -> mp.mpf:
            return -mp.hyp1f1(-0.5, 0.5, z * z / 2)

        a, t = mp.mpf(x), mp.mpf(theta)
        plain = (shape(a * mp.cos(t) + mp.sin(t)) + shape(a * mp.cos(t) - mp.sin(t))) / 2 - mp.cos(t) * shape(a)
    wide = davis.Inner().value(interval(max(0.0, x - 0.01), x + 0.01), interval(max(0.0, theta - 0.01), theta + 0.01))
    assert float(wide.lower()) <= float(plain) <= float(wide.upper())
    assert plain <= 1e-25


@given(st.floats(0.0, 5.0), st.floats(0.0, 1.5))
@settings(max_examples=60, deadline=None)
def test_the_residual_of_adaptive_is_the_definition_in_other_units(x: float, phi: float) -> None:
    d = math.tan(phi)
    after = 1 + d * d
    both = sum(math.exp((x + sign * d) ** 2 / (2 * after) - x * x / 2) for sign in (1, -1))
    value = adaptive.Step(Fraction(1, 2), Fraction(1)).value(*(Ball(z).arb for z in (x, phi)))
    assert float(value) == pytest.approx(both / 2 / math.sqrt(after) - 1, abs=1e-12)


def test_gram_matrix_of_l4_is_checked_and_not_trusted() -> None:
    gram = smoothness.gram_matrix(Fraction(3), 2)
    assert smoothness.expand(gram, 2) == smoothness.form(Fraction(3), 2)
    gram[0][0] += 1
    assert smoothness.expand(gram, 2) != smoothness.form(Fraction(3), 2)
    assert not smoothness.positive_semidefinite(smoothness.gram_matrix(Fraction(299, 100), 2))


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=3, max_size=3))
@settings(deadline=None)
def test_exact_ldl_agrees_with_eigenvalues(rows: list[list[int]]) -> None:
    matrix = np.array(rows) + np.array(rows).T
    least = np.linalg.eigvalsh(matrix)[0]
    if abs(least) > 1e-9:
        exact = smoothness.positive_semidefinite([[Fraction(int(entry)) for entry in row] for row in matrix])
        assert exact == (least > 0)


def test_balls_never_become_floats_and_never_guess() -> None:
    third = Ball(1.0) / 3.0
    with pytest.raises(TypeError):
        float(third)
    with pytest.raises(TypeError):
        np.asarray(np.array([third], dtype=object), float)
    with pytest.raises(Undecided):
        _ = third * 3.0 > 1.0
    assert third < 0.34


@pytest.mark.parametrize("name", ["square-function", "square-function-l4", "adagrad", "adaptive", "smoothness"])
def test_the_formulas_of_the_stream_loop_run_on_balls(name: str) -> None:
    function = functions.get(name)
    tau, x = function.points(np.random.default_rng(3), 40, 3)
    keep = np.abs(function.value(tau)) < 1e200
    tau, x = tuple(part[keep] for part in tau), x[keep]
    exact = view(function)
    assert isinstance(exact, BallLinear)
    decided = 0
    for k in range(len(x)):
        state, row, play, delta = tuple(part[[k]] for part in tau), x[[k]], np.full(1, 0.3), np.full(1, -0.7)
        try:
            after = exact.expected(tuple(balls(part) for part in state), balls(row), play, delta)[0]
        except Undecided:  # on the border of two regions, such as g = √s after the first step
            continue
        decided += 1
        unit = function.magnitude(function.advance(state, row, play, delta))[0]
        assert abs(float(after.arb) - function.expected(state, row, play, delta)[0]) <= 1e-11 * unit
    assert decided >= 0.5 * len(x)
    function.value = lambda tau: tau[0]  # type: ignore[method-assign]
    assert view(function) is function  # a U replaced by hand is not what the potential says


# --- the catalogue ---------------------------------------------------------------------------------------------

WITH_PROOFS = (
    "square-function",
    "square-function-coordinates",
    "square-function-paper",
    "square-function-paper-coordinates",
    "adagrad",
    "adagrad-norm",
    "adaptive",
    "adaptive-coordinates",
    "smoothness",
    "smoothness-tangent",
    "smoothness-l4",
    "strongly-convex",
    "experts",
    "zigzag",
    "zigzag-3",
    "zigzag-1.5",
    "parameter-free",
    "combination",
    "minimum",
    "softmax",
)


@pytest.mark.parametrize(("unit", "size", "holds"), [(1.0, 1.0, True), (2.0, 1.5, True), (1.0, 1.001, False), (1.0, math.inf, False)])
def test_features_longer_than_the_unit_have_no_proof(unit, size, holds) -> None:
    from burkholder.potentials import Anytime

    function = functions.Linear("mine", Anytime(scale=1.0, unit=unit), "l2", "count", 1.0, size)
    found = proofs(function)
    assert (bool(found) and all(verdict.proved for verdict in found)) == holds
    if not holds and math.isfinite(size):  # and indeed: one step of that length from the start raises the mean
        far = functions.Linear("mine", Anytime(scale=1.0, unit=unit / 2), "l2", "count", 1.0, size)
        after = far.value((np.zeros(()), np.array([1.0]), np.array(1.0)))
        assert float(after) > 0 and proofs(far) == []


@pytest.mark.parametrize("p", [1.05, 1.3, 1.9, 2.5, 6.5, 9.0])
def test_touching_is_what_the_formula_does(p) -> None:
    """The argument's three steps, looked at in high precision: ψ ≥ 0, with its only zero inside at t₀."""
    import mpmath as mp

    function = functions.ZigZag(p=p)
    beta, alpha = mp.mpf(function.beta), mp.mpf(function.alpha)

    def psi(t):
        return alpha * ((1 + beta) * t - beta) - t**p + beta**p * (1 - t) ** p

    contact = beta / (1 + beta)
    scale = max(1, beta**p)
    assert zigzag.touches(p).proved
    assert all(psi(mp.mpf(k) / 997) >= -scale * mp.mpf(10) ** -12 for k in range(998))
    assert abs(psi(contact)) <= scale * mp.mpf(10) ** -13 < psi(contact * mp.mpf("0.9")) and psi((1 + contact) / 2) > 0


@pytest.mark.parametrize("name", WITH_PROOFS)
def test_catalogue_entries_with_a_proof_path_are_proved(name: str) -> None:
    verdicts = proofs(functions.get(name))
    assert verdicts and all(verdict.proved for verdict in verdicts), [str(verdict) for verdict in verdicts]


def test_proofs_follow_the_constants_of_the_function_they_are_given() -> None:
    wrong = functions.SquareFunction(version="tangent")
    wrong.potential = wrong.potential._replace(constant=1.9)
    said = {verdict.claim: verdict for verdict in proofs(wrong)}
    assert said["2"].refuted and said["tangent"].refuted and "3" not in said
    curved = functions.StronglyConvex(curvature=0.5, lipschitz=2.0, constant=3.8)  # 5 % below L²/2ρ = 4
    said = {verdict.claim: verdict for verdict in proofs(curved)}
    assert said["3'"].refuted and "closed-form" not in said
    assert all(verdict.proved for verdict in proofs(functions.StronglyConvex(curvature=0.3, lipschitz=0.7)))
    other = functions.ZigZag(p=1.5)
    assert all(verdict.proved for verdict in proofs(other))
    other.alpha *= 1.0001  # for p that are no whole numbers the defined constants alone have a proof
    assert proofs(other) == []
    bent = functions.ZigZag(p=3.0)
    bent.beta *= 0.95
    assert any(verdict.refuted for verdict in proofs(bent))


@pytest.mark.parametrize(
    "call",
    [
        lambda: square.majorant(inner=1),
        lambda: square.majorant(outer="-1"),
        lambda: smoothness.l4(3, 0),
        lambda: adaptive.box(exponent="-1"),
        lambda: adaptive.box(reach=1000.0),
    ],
)
def test_constants_that_make_no_sense_are_refused(call: Callable[[], Verdict]) -> None:
    with pytest.raises(BadInput):
        call()
